/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A stream of RDMA writes over a bond, checked by a peer that polls the last
 * byte of each, as MPI libraries do: every write arrives whole, in order, once.
 */
#ifndef TESTS_PROVIDER_BOND_H
#define TESTS_PROVIDER_BOND_H

#include "peer.h"

/** Writes rounds to the peer, over this IA. Before each round it calls
 *  @p disturb (NULL: nothing). */
void bond_stream(const char *ia, unsigned rounds,
                 void (*disturb)(unsigned round));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A stream of RDMA writes over a bond. The peer polls the last byte of each
 * write, as MPI libraries do, and checks that every write arrives whole, in
 * order, once.
 */
#ifndef TESTS_PROVIDER_BOND_H
#define TESTS_PROVIDER_BOND_H

#include "peer.h"

/** Writes rounds to the peer, over this IA. Before each round it calls
 *  @p disturb (NULL: nothing). */
void bond_stream(const char *ia, unsigned rounds,
                 void (*disturb)(unsigned round));

#endif

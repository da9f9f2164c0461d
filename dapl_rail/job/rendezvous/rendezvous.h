/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a launched job come together: rank 0 lets in who proves
 * to be one of them. Strangers may come, be silent or talk nonsense, in any
 * number: they only take turns in a few places.
 */
#ifndef DRAIL_JOB_GATE_H
#define DRAIL_JOB_GATE_H

#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/rendezvous/secret.h"
#include "dapl_rail/platform/deadline.h"

/*
 * Rank 0: fds[r] gets the connection of each rank r > 0. @p listener stays
 * open. On failure those that had come are told, and err says who is missing,
 * or who does not fit.
 */
int gate_keep(int listener, unsigned size, const struct secret *secret,
              struct deadline deadline, int *fds, drail_error_t *err);

/* Another rank: the connection to rank 0, or a DRAIL_E…. Tries again until it
 * has come in, or been refused. */
int gate_enter(const struct addresses *where, unsigned rank, unsigned size,
               const struct secret *secret, struct deadline deadline,
               drail_error_t *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* How a message is cut for rails that have yet to carry parts of earlier ones.
 * Pure. */
#ifndef DRAIL_STRIPE_LEVEL_H
#define DRAIL_STRIPE_LEVEL_H

/* A rail that is used gets at least this part of a message. */
#define LEVEL_LEAST 0.03125

/*
 * So that all of them end at the same time. @param rates of n rails, bytes per
 * any time; 0: not to be used. @param backlog bytes that each has yet to carry.
 * @param parts bytes of each rail's part of the message; may be rates. A rail
 * that would end too late without a part of it gets none.
 */
void level(unsigned n, const double *rates, const double *backlog, double bytes,
           double *parts);

#endif

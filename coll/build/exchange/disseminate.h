/* SPDX-License-Identifier: BSD-3-Clause */
/* Dissemination for k ports, the exchange of barriers. */
#ifndef DCOLL_DISSEMINATE_H
#define DCOLL_DISSEMINATE_H

#include "coll/schedule.h"

/** A barrier of @p n ranks. In step i of ⌈log_{k+1} n⌉ a rank notifies the
 * ranks at distances (k+1)^i, 2 (k+1)^i, … k (k+1)^i after it, one per port,
 * and waits for those at the same distances before it.
 *  @param ranks the ranks by number; NULL: all ranks of the team.
 *  @param me this rank's number. */
void disseminate(dcoll_schedule_t *s, const unsigned *ranks, unsigned n,
                 unsigned me, unsigned k, dcoll_tag_t tag);

#endif

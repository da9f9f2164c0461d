/* SPDX-License-Identifier: BSD-3-Clause */
/* Dissemination for k ports, the exchange of barriers. */
#ifndef DCOLL_DISSEMINATE_H
#define DCOLL_DISSEMINATE_H

#include "coll/schedule.h"

/** Among @p n ranks, of which this is number @p me: in step i of
 *  ⌈log_{k+1} n⌉ it notifies those at distances (k+1)^i, 2 (k+1)^i …
 *  k (k+1)^i, one a port, and waits for those as far before it.
 *  @param ranks their numbers; NULL: all of the team. */
void disseminate(dcoll_schedule_t *s, const unsigned *ranks, unsigned n,
                 unsigned me, unsigned k, dcoll_tag_t tag);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Over which rails other ranks are reached, seen from all of them. */
#ifndef DRAIL_LINKS_CONNECT_REACH_H
#define DRAIL_LINKS_CONNECT_REACH_H

#include "dapl_rail/dapl_rail.h"

/* Finds the rails whose ways are compared, t->measured. Has that changed? Then
 * what is known of ways is to begin anew. */
bool reach_measured(drail_t *t);

#endif

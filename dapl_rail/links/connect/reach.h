/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails by which this rank reaches the others. */
#ifndef DRAIL_LINKS_CONNECT_REACH_H
#define DRAIL_LINKS_CONNECT_REACH_H

#include "dapl_rail/dapl_rail.h"

/* Sets t->measured: the rails on which ways to send are compared. True: they
 * have changed, and what was learnt is void. */
bool reach_measured(drail_t *t);

#endif

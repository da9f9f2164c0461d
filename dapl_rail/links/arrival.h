/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that have come on a link, or for it over another one. */
#ifndef DRAIL_LINKS_ARRIVAL_H
#define DRAIL_LINKS_ARRIVAL_H

#include <stdint.h>

struct slot;

/* Count it, take its credits, and pass it on: NULL, or what is wrong with
 * it. The second, for an RDMA write with immediate data. */
const char *arrival_message(struct slot *slot);
const char *arrival_immediate(struct slot *slot, uint32_t data);

#endif

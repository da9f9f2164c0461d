/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a link does for others that are lost. Its own account of DTOs, credits
 * and messages knows nothing of that: such DTOs have a queue of their own, each
 * has an event; such messages have receives of their own, which the peer
 * acknowledges. Those of credits may all be taken by notifications whose other
 * part is just what is to be carried.
 */
#ifndef DRAIL_LINKS_FAILOVER_CARRIER_H
#define DRAIL_LINKS_FAILOVER_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct carried;
struct dto;
struct link;
struct wire;

/* The link's number in messages over other ones: 1, 2, … */
unsigned lane_number(const struct link *link);
/* That with this number, or NULL. */
struct link *lane_of(const struct link *link, unsigned number);

/* Posts data. False: not now. */
bool carrier_post(struct link *link, struct dto *d, struct link *lane,
                  uint64_t number);
/* Sends a message; lane NULL: one between the two ends. False: not now. */
bool carrier_send(struct link *link, struct link *lane, uint64_t number,
                  const struct wire *wire, const void *payload, size_t bytes);
/* Acknowledges what has come, if there is room. */
void carrier_acknowledge(struct link *link);
/* Has the peer acknowledged all messages up to this one? */
bool carrier_acknowledged(const struct link *link, uint32_t number);
/* Has it nothing under way for others, nor for the two ends? */
bool carrier_idle(const struct link *link);
/* Its event has come: it is complete. */
void carrier_done(const struct carried *carried);

#endif

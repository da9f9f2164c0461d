/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the two ends. b->lock is held. */
#ifndef DAPL_BOND_MESSAGE_H
#define DAPL_BOND_MESSAGE_H

#include "providers/bond/conn.h"

/* arrival.c */
void bond_on_message(struct bond_link *l, struct bond_slot *slot,
                     uint64_t bytes);

/* atomic.c */
/* Carries out an atomic of the peer. */
void bond_atomic_execute(struct bond_conn *c, const struct bond_header *h);
void bond_on_answers(struct bond_conn *c, const struct bond_answers *answers);

/* deliver.c */
void bond_deliver(struct bond_conn *c);
/* Flushes the receive that is being filled, and drops the waiting messages. */
void bond_deliver_end(struct bond_conn *c);

/* message.c */
void bond_intro_send(struct bond_link *l);
/* A message without data of the consumer. False: there is no room now. */
bool bond_say(struct bond_link *l, enum bond_message_kind kind,
              const void *data, size_t bytes);
/* Is there a slot for a numbered message? */
bool bond_may_send(const struct bond_link *l);
/* Tells the peer of atomics, free slots and delivered messages, if that is due.
 * A message that finds no room stays due. */
void bond_news_send(struct bond_conn *c);
/* The slot can be used again. */
void bond_slot_done(struct bond_slot *slot);

#endif

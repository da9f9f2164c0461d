/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes that no launcher has started meet over a TCP connection, apart
 * from what is measured. */
#ifndef BENCH_PEERS_MEET_H
#define BENCH_PEERS_MEET_H

#include <stddef.h>

#define MEET_ADDRESS_MAX 2048

typedef struct meet {
    int rank, socket;
} meet_t;

/** The address of a library's endpoint, as meet_exchange() takes it. */
typedef struct meet_card {
    size_t length;
    char address[MEET_ADDRESS_MAX];
} meet_card_t;

/** @p rank: "0", which listens, or "1"; @p place: HOST:PORT of rank 0. Every
 * wait is bounded; errors end the program. */
meet_t meet_open(const char *rank, const char *place);
/** Each gets what the other gives, of the same length. */
void meet_exchange(const meet_t *meet, const void *mine, void *theirs,
                   size_t bytes);
/** Waits until both have come here. */
void meet_close(const meet_t *meet);

#endif

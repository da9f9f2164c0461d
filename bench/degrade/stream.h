/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of messages from rank 0 to rank 1: notified puts into the slots of a
 * window. Rank 1 checks every byte, and the number of each message against
 * those before.
 */
#ifndef BENCH_DEGRADE_STREAM_H
#define BENCH_DEGRADE_STREAM_H

#include "bench/degrade/hand.h"
#include "bench/pair/session.h"

typedef struct stream {
    session_t *session;
    unsigned window; /**< messages that rank 1 has not acknowledged */
    size_t bytes;    /**< of a message */
    size_t stride;   /**< of slots, for the longest */
    uint64_t *pattern;
    uint8_t *slots;
    drail_mem_t *mem;
    drail_key_t remote;
} stream_t;

/** What a rank has seen of a stream; of acknowledgements, rank 0. */
typedef struct tally {
    uint64_t messages;   /**< rank 0: that must have been received, rank 1: that
                              were */
    uint64_t begun;      /**< rank 0 */
    uint64_t duplicates; /**< came again */
    uint64_t losses;     /**< were left out */
    uint64_t wrong;      /**< arrived with other bytes */
    uint64_t ns;         /**< that it took */
    int code;            /**< how it ended: 0, or a DRAIL_E… code */
    char why[192];
    drail_rail_stats_t rails[DRAIL_MAX_RAILS]; /**< of this stream */
} tally_t;

/** Rank 1: bytes that were received in each millisecond. */
typedef struct bins {
    uint32_t *bytes;
    unsigned count;
} bins_t;

/** Both ranks: memory for the longest message. @return 0 or an error. */
int stream_open(stream_t *stream, session_t *session, size_t longest,
                unsigned window, uint64_t seed);
void stream_close(stream_t *stream);

/** Rank 0: sends for so long, or until the hand is done; NULL: no events. */
void stream_put(stream_t *stream, uint64_t ns, hand_t *hand, tally_t *tally);
/** Rank 1: receives until rank 0 says that it was the last. */
void stream_receive(stream_t *stream, bins_t *bins, tally_t *tally);
/** Rank 1, when nothing is under way: are the last messages still what they
 *  were? No late write has come. Counts those that are not. */
void stream_check(stream_t *stream, tally_t *tally);

#endif

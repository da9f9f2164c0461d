/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of scripts/degrade-any, the same over each library: rank 0 sends
 * numbered messages that fill a window, rank 1 checks each byte and answers
 * after each quarter of the window. A library's program gives four functions
 * (stream_ops_t).
 *
 * A program's first arguments are BYTES WINDOW SECONDS TRACE. Each rank writes
 * lines to the file TRACE.RANK, as things happen; times are seconds of
 * CLOCK_MONOTONIC:
 *
 *   message TIME NUMBER WRONG  rank 0: it was begun; rank 1: it came; WRONG: 1
 *                              if bytes differ, else 0
 *   end TIME                   all was sent and answered, or received
 *   failed TIME TEXT           the library reported an error
 */
#ifndef BENCH_PEERS_STREAM_H
#define BENCH_PEERS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Slots of messages, at most, and of answers, which are behind those. */
#define STREAM_WINDOW_MAX 256
#define STREAM_ANSWERS    8
#define STREAM_SLOTS_MAX  (STREAM_WINDOW_MAX + STREAM_ANSWERS)

typedef struct stream {
    size_t bytes; /**< of a message */
    unsigned window;
    double seconds; /**< that rank 0 sends for */
    const char *trace;
    unsigned slots; /**< of messages and of answers, the same in both ranks */
    size_t stride;
    char *memory; /**< all slots; the program may set it after the parsing */
    bool begun[STREAM_SLOTS_MAX]; /**< what is under way, also in the end:
                                       receives that no message is for */
    uint64_t *pattern;
    FILE *file; /**< the trace */
} stream_t;

/** What a library does. Nothing of it waits. A slot is used in one direction
 * only: messages from rank 0 to rank 1, answers back; in the order of slots. */
typedef struct stream_ops {
    /** Begins to send the first bytes of a slot to the same slot of the other
     * rank, or to receive it. @return 1: begun; 0: not now; -1: an error. */
    int (*send)(void *library, unsigned slot, size_t bytes);
    int (*receive)(void *library, unsigned slot);
    /** Makes progress. @return 1: what was begun in this slot is complete (said
     * once); 0: not yet; -1: an error. */
    int (*test)(void *library, unsigned slot);
    /** The text of the last error. */
    const char *(*error)(void *library);
} stream_ops_t;

/** Parses the first arguments, and bounds the whole program. Ends it with
 * status 2 and one line on stderr if one is wrong. */
void stream_parse(stream_t *stream, int argc, char **argv);
/** Memory for all slots; without it, ends the program. */
void stream_allocate(stream_t *stream);
static inline char *stream_slot(const stream_t *stream, unsigned slot)
{
    return stream->memory + slot * stream->stride;
}
static inline size_t stream_capacity(const stream_t *stream)
{
    return stream->slots * stream->stride;
}
/** Runs it to its end, or to an error. @return the program's exit status. */
int stream_run(stream_t *stream, int rank, const stream_ops_t *ops,
               void *library);
/** For an error outside of stream_run(): ends the program. */
_Noreturn void stream_die(const char *call, const char *why);

#endif

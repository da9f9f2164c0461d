/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the peers of scripts/compare-p2p, compare-coll and degrade-any:
 * command line, clock and output. For p2p each argument is a run,
 * WHAT:BYTES:MESSAGES:
 *
 *   lat  ping-pong, MESSAGES there and back
 *   bw   windows of RUN_WINDOW sends of one buffer, an answer after each
 *   put  the same with one-sided writes, flushed after each window, or, where
 *        there is no flush (libfabric), answered
 *
 * With :BUFFERS behind it, messages of windows take turns in so many buffers of
 * the source and of the target. With :BUFFERS:read, the target reads each byte
 * of a window before it answers; then puts are answered, too.
 */
#ifndef BENCH_PEERS_RUN_H
#define BENCH_PEERS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_WINDOW 64
#define RUN_WARMUP 16 /* in so many batches our engine auto has learnt */

typedef enum { RUN_LAT, RUN_BW, RUN_PUT } run_what_t;

typedef struct run {
    run_what_t what;
    size_t bytes;
    uint64_t messages; /**< bw, put: a multiple of RUN_WINDOW */
    uint64_t buffers;  /**< 1 or more; of lat 1 */
    bool read;
} run_t;

/** The arguments of a program; ends it with status 2 and one line on stderr
 * if one is wrong. @return as many runs as there are arguments, to free(). */
run_t *run_parse_all(int nargs, char **args);

/** Bytes that the buffers of one side take, of the largest run. */
size_t run_capacity(const run_t *runs, int count);

/** Bytes of the pages that hold so many. */
size_t run_pages(size_t bytes);

/** Whole pages of its own, to free(), as ours are: written to, as all pages
 * that were only read would be one page of zeros that stays in cache. @return
 * NULL: no memory. */
void *run_buffer(size_t bytes);

/** Where the buffer of a message is, the @p message-th of its run. */
size_t run_place(const run_t *run, uint64_t message);

/** Reads each byte of the window whose first message this is, if the run wants
 * that, as railbench --read does. */
void run_look(const run_t *run, const char *target, uint64_t first);

/** Bounds the whole program: it ends with its parent, or after a minute. */
void run_guard(void);

/** Seconds of the monotonic clock. */
double run_now(void);

/** Iterations that warm up @p iterations of the same. */
uint64_t run_warmup(uint64_t iterations);

/** Comments with the library and the cores that the ranks run on (as
 * run_core() tells). */
void run_print_library(const char *library, const int *cores, int count);

/** The same, and the header of the CSV. */
void run_print_header(const char *library, const int cores[2]);

/** One line of CSV. @p seconds: of all messages, without warm-up. */
void run_print(const run_t *run, double seconds);

/** A number from 1 to @p max with @p end behind it. @return behind that, or
 * NULL. */
const char *run_parse_number(const char *text, uint64_t max, char end,
                             uint64_t *value);

/** Rank r on the r-th of the allowed cores, and again from the first: as
 * launchers don't do if ranks outnumber them. */
void run_pin(int rank);

/** The only core that the caller may run on, or -1 if it is not pinned. */
int run_core(void);

#endif

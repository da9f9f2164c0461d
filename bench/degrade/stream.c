/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "pattern.h"
#include "stream.h"

#define NUMBERS 0x80000000u /* of messages: modulo this */
#define LAST    0x80000000u /* instead of a number: no more */
#define SOON_MS 1           /* between looks at what the hand is to do */
#define ALIGN   64

/* ---------------------------------------------------------------- life --- */

int stream_open(stream_t *stream, session_t *session, size_t longest,
                unsigned window, uint64_t seed)
{
    void *slots = NULL;
    struct card { /* each rank's message to the other */
        drail_key_t key;
        uint64_t seed; /* rank 0's counts: it may be another process's */
    } mine = {.seed = seed}, both[2];
    *stream = (stream_t){.session = session, .window = window};
    stream->stride = (longest + ALIGN) / ALIGN * ALIGN;
    int rc = drail_mem_alloc(session->rail, window * stream->stride,
                             DRAIL_ACCESS_REMOTE_WRITE, &slots, &stream->mem);
    if (rc)
        return rc;
    stream->slots = memset(slots, 0, window * stream->stride);
    drail_mem_key(stream->mem, &mine.key);
    rc = drail_job_allgather(session->job, &mine, sizeof mine, both, -1);
    if (rc)
        return rc;
    stream->remote = both[session->peer].key;
    stream->pattern = pattern_new(longest, both[0].seed);
    return stream->pattern ? 0 : DRAIL_ENOMEM;
}

void stream_close(stream_t *stream)
{
    if (stream->mem)
        drail_mem_release(stream->mem);
    free(stream->pattern);
}

static uint8_t *slot_of(const stream_t *stream, uint64_t number)
{
    return stream->slots + number % stream->window * stream->stride;
}

static void ended(const stream_t *stream, tally_t *tally, int code)
{
    tally->code = code;
    snprintf(tally->why, sizeof tally->why, "rank %u: %.80s: %.96s",
             stream->session->rank, drail_strerror(code),
             drail_last_error(stream->session->rail));
}

/* Numbers must come one after the other. */
typedef enum order { IN_TURN, AGAIN } order_t;

static order_t take_number(tally_t *tally, uint64_t *expected, uint32_t number)
{
    uint32_t ahead = (number - (uint32_t)*expected) % NUMBERS;
    if (ahead >= NUMBERS / 2) {
        tally->duplicates++;
        return AGAIN;
    }
    tally->losses += ahead;
    *expected += ahead + 1;
    return IN_TURN;
}

/* -------------------------------------------------------------- sender --- */

typedef struct sender {
    stream_t *stream;
    hand_t *hand;
    tally_t *tally;
    uint64_t start, heard; /* ns: of the last acknowledgement */
    uint64_t begun;        /* messages */
    uint64_t completed;    /* of these, in order */
    uint64_t acknowledged;
    uint64_t acks;    /* acknowledgements that have come */
    uint64_t filled;  /* messages that lie in their slots */
    drail_req_t *req; /* by slot */
} sender_t;

static uint32_t rails_up(const drail_t *rail)
{
    uint32_t up = 0;
    for (unsigned r = 0; r < drail_nrails(rail); r++) {
        drail_rail_stats_t stats;
        drail_rail_stats(rail, r, &stats);
        up |= (uint32_t)stats.up << r;
    }
    return up;
}

/* The number of an acknowledgement is that of the messages it is for. */
static int take_acks(sender_t *s, int timeout_ms)
{
    session_t *session = s->stream->session;
    uint32_t count;
    int rc =
        drail_notify_wait(session->rail, session->peer, &count, timeout_ms);
    if (rc == DRAIL_EAGAIN || rc == DRAIL_ETIMEOUT)
        return clock_ns() - s->heard <
                       (uint64_t)drail_config_of(session->rail)->timeout_ms *
                           1000000
                   ? 0
                   : DRAIL_ETIMEOUT;
    if (rc)
        return rc;
    uint32_t more = (count - (uint32_t)s->acknowledged) % NUMBERS;
    if (!more || more > s->begun - s->acknowledged)
        s->tally->duplicates++;
    else
        s->acknowledged += more;
    s->acks++;
    s->heard = clock_ns();
    return 0;
}

/* Takes complete requests in order; waits for the first. */
static int take_completions(sender_t *s, int timeout_ms)
{
    drail_t *rail = s->stream->session->rail;
    while (s->completed < s->begun) {
        drail_req_t *req = &s->req[s->completed % s->stream->window];
        int rc = timeout_ms ? drail_wait(rail, req, timeout_ms)
                            : drail_test(rail, req);
        if (rc == DRAIL_EAGAIN || rc == DRAIL_ETIMEOUT)
            return 0;
        if (rc)
            return rc;
        s->completed++;
        timeout_ms = 0;
    }
    return 0;
}

static int begin(sender_t *s)
{
    stream_t *stream = s->stream;
    session_t *session = stream->session;
    uint64_t number = s->begun;
    uint8_t *slot = slot_of(stream, number);
    if (s->filled == number) {
        pattern_fill(slot, stream->pattern, stream->bytes, number);
        s->filled++;
    }
    drail_xfer_t xfer = {.local = slot,
                         .local_mem = stream->mem,
                         .remote = &stream->remote,
                         .remote_offset = (uint64_t)(slot - stream->slots),
                         .bytes = stream->bytes};
    int rc = drail_put(session->rail, session->peer, &xfer,
                       DRAIL_NOTIFY | DRAIL_NOWAIT, (uint32_t)number % NUMBERS,
                       &s->req[number % stream->window]);
    s->begun += !rc;
    return rc;
}

/* Something moves, or a moment passes. */
static int step(sender_t *s)
{
    int rc = take_acks(s, 0);
    if (!rc)
        rc = take_completions(s, 0);
    if (rc)
        return rc;
    if (s->begun - s->acknowledged < s->stream->window) {
        if (s->begun - s->completed == s->stream->window)
            return take_completions(s, SOON_MS);
        rc = begin(s);
        if (rc != DRAIL_EAGAIN)
            return rc;
    }
    return take_acks(s, SOON_MS);
}

static bool goes_on(sender_t *s, uint64_t ns)
{
    sight_t sight = {.now_ns = clock_ns() - s->start,
                     .begun = s->begun,
                     .acknowledged = s->acknowledged};
    if (!s->hand)
        return sight.now_ns < ns;
    sight.up = rails_up(s->stream->session->rail);
    hand_poll(s->hand, &sight);
    return sight.now_ns < hand_end(s->hand, ns) && !hand_done(s->hand, &sight);
}

/* Until everything has arrived and is acknowledged. */
static int finish(sender_t *s)
{
    session_t *session = s->stream->session;
    int rc = drail_notify(session->rail, session->peer, 0, LAST);
    while (!rc && s->completed < s->begun)
        rc = take_completions(s, SOON_MS);
    while (!rc && s->acknowledged < s->begun)
        rc = take_acks(s, SOON_MS);
    return rc ? rc : drail_fence(session->rail, session->peer);
}

void stream_put(stream_t *stream, uint64_t ns, hand_t *hand, tally_t *tally)
{
    sender_t s = {.stream = stream, .hand = hand, .tally = tally};
    *tally = (tally_t){0};
    s.req = calloc(stream->window, sizeof *s.req);
    int rc = s.req ? 0 : DRAIL_ENOMEM;
    s.start = s.heard = clock_ns();
    while (!rc && goes_on(&s, ns))
        rc = step(&s);
    if (!rc)
        rc = finish(&s);
    tally->ns = clock_ns() - s.start; /* of all that is counted */
    for (uint64_t i = s.completed; rc && i < s.begun; i++)
        drail_forget(stream->session->rail, &s.req[i % stream->window]);
    tally->begun = s.begun;
    /* after an error, what is complete need not have been delivered */
    tally->messages = rc ? s.acknowledged : s.completed;
    if (rc)
        ended(stream, tally, rc);
    free(s.req);
}

/* ------------------------------------------------------------ receiver --- */

typedef struct receiver {
    stream_t *stream;
    bins_t *bins;
    tally_t *tally;
    uint64_t start, expected, acknowledged;
} receiver_t;

static int acknowledge(receiver_t *r)
{
    session_t *session = r->stream->session;
    r->acknowledged = r->expected;
    return drail_notify(session->rail, session->peer, 0,
                        (uint32_t)r->expected % NUMBERS);
}

static int take_message(receiver_t *r, uint32_t number)
{
    stream_t *stream = r->stream;
    uint64_t ms = (clock_ns() - r->start) / 1000000;
    if (take_number(r->tally, &r->expected, number) == AGAIN)
        return 0;
    uint64_t last = r->expected - 1;
    if (!pattern_is(slot_of(stream, last), stream->pattern, stream->bytes,
                    last))
        r->tally->wrong++;
    r->tally->messages++;
    if (ms < r->bins->count)
        r->bins->bytes[ms] += (uint32_t)stream->bytes;
    return r->expected - r->acknowledged >= (stream->window + 3) / 4
               ? acknowledge(r)
               : 0;
}

void stream_receive(stream_t *stream, bins_t *bins, tally_t *tally)
{
    session_t *session = stream->session;
    receiver_t r = {.stream = stream, .bins = bins, .tally = tally};
    uint32_t number;
    int rc = 0;
    *tally = (tally_t){0};
    r.start = clock_ns();
    while (!rc) {
        rc = drail_notify_wait(session->rail, session->peer, &number, -1);
        if (!rc && number == LAST)
            break;
        if (!rc)
            rc = take_message(&r, number);
    }
    tally->ns = clock_ns() - r.start;
    if (!rc && r.acknowledged < r.expected)
        rc = acknowledge(&r);
    if (!rc)
        rc = drail_fence(session->rail, session->peer);
    if (rc)
        ended(stream, tally, rc);
}

void stream_check(stream_t *stream, tally_t *tally)
{
    uint64_t end = tally->messages + tally->losses;
    uint64_t at = end > stream->window ? end - stream->window : 0;
    for (; at < end; at++)
        if (!pattern_is(slot_of(stream, at), stream->pattern, stream->bytes,
                        at))
            tally->wrong++;
}

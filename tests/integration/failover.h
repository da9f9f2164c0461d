/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks' script while their rails break: every kind of operation, with
 * contents that tell their order. */
#ifndef TESTS_FAILOVER_H
#define TESTS_FAILOVER_H

#include "dapl_rail/batch.h"

#include "cut.h"
#include "memory.h"

#define STRIPED (64u << 10)
#define HALF    (256u << 10) /* from the first one, to the peer's second */

struct script {
    struct memory m;
    unsigned char *in, *out;
};

static inline void script_open(struct rank *r, struct script *s)
{
    memory_open(r, &s->m, 2 * HALF);
    s->in = malloc(STRIPED);
    s->out = malloc(STRIPED);
    check(s->in && s->out);
}

static inline void script_close(struct rank *r, struct script *s)
{
    memory_close(r, &s->m);
    free(s->in);
    free(s->out);
}

static inline unsigned char content_at(unsigned start, size_t i)
{
    return (unsigned char)((start * 2654435761u + i * 40503u) >> 7);
}

static inline void fill(unsigned char *to, size_t bytes, unsigned start)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = content_at(start, i);
}

static inline void verify(const unsigned char *from, size_t bytes,
                          unsigned start)
{
    for (size_t i = 0; i < bytes; i++)
        check(from[i] == content_at(start, i));
}

static inline drail_xfer_t to_peer(const struct rank *r, const struct memory *m,
                                   size_t bytes)
{
    drail_xfer_t x = memory_xfer(r, m, bytes);
    x.remote_offset = HALF;
    return x;
}

static inline void await_note(struct rank *r, uint32_t want)
{
    uint32_t id;
    expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
    check(id == want);
}

/* Before anybody writes again. */
static inline void both_have_read(struct rank *r, uint32_t id)
{
    expect(r, 0, drail_notify(r->t, r->peer, 0, id));
    await_note(r, id);
}

/* Both put at once, with a notification. */
static inline void puts_cross(struct rank *r, const struct script *s,
                              size_t bytes, unsigned flags, uint32_t id)
{
    const struct memory *m = &s->m;
    drail_xfer_t x = to_peer(r, m, bytes);
    drail_req_t req;
    fill(m->bytes, bytes, id + r->rank);
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY | flags, id, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    await_note(r, id);
    verify(m->bytes + HALF, bytes, id + r->peer);
}

/* Sends messages one after the other. */
static inline void messages(struct rank *r, const struct script *s,
                            size_t bytes, unsigned id)
{
    size_t got;
    for (unsigned rank = 0; rank < 2; rank++) {
        fill(s->out, bytes, id + rank);
        if (r->rank == rank) {
            expect(r, 0, drail_send(r->t, r->peer, s->out, bytes, NULL));
            continue;
        }
        memset(s->in, 0, STRIPED);
        expect(r, 0, drail_recv(r->t, r->peer, s->in, STRIPED, &got, -1));
        check(got == bytes);
        verify(s->in, bytes, id + rank);
    }
}

/* Reads back the own put. */
static inline void get_back(struct rank *r, const struct script *s,
                            size_t bytes, uint32_t id)
{
    drail_xfer_t x = to_peer(r, &s->m, bytes);
    memset(s->m.bytes, 0, bytes);
    expect(r, 0, drail_get(r->t, r->peer, &x, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
    verify(s->m.bytes, bytes, id + r->rank);
}

static inline void batches(struct rank *r, const struct script *s, unsigned id)
{
    drail_batch_t batch = {.xfer = to_peer(r, &s->m, STRIPED),
                           .count = 5,
                           .id = id,
                           .await_reply = true};
    uint32_t asked;
    if (r->rank == id % 2) {
        fill(s->m.bytes, STRIPED, id);
        expect(r, 0, drail_batch(r->t, r->peer, &batch));
        check(batch.reply_id == id + 1);
    } else {
        expect(r, 0, drail_batch_answer(r->t, r->peer, true, id + 1, &asked));
        check(asked == id);
        verify(s->m.bytes + HALF, STRIPED, id);
    }
}

static inline void script_run(struct rank *r, const struct script *s,
                              unsigned turn)
{
    static const size_t sizes[] = {8, STRIPED, 3000, 2 * STRIPED + 7};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t id = turn * 16 + 2 * i;
        puts_cross(r, s, sizes[i],
                   (i % 2 ? DRAIL_ALL_RAILS : 0) | (turn % 2 ? DRAIL_EAGER : 0),
                   id);
        messages(r, s, i % 2 ? STRIPED : 1000, id); /* announced, or eager */
        get_back(r, s, sizes[i], id);
        both_have_read(r, id + 1);
    }
    for (unsigned rank = 0; rank < 2; rank++) {
        batches(r, s, 2 * turn + rank);
        both_have_read(r, turn);
    }
}

/* Of all rails. */
static inline drail_rail_stats_t stats_sum(const struct rank *r)
{
    drail_rail_stats_t sum = {.up = true};
    for (unsigned i = 0; i < drail_nrails(r->t); i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        sum.failures += s.failures;
        sum.retries += s.retries;
        sum.carried += s.carried;
        sum.gets += s.gets;
        sum.up &= s.up;
    }
    return sum;
}

/* Until all are up again, at both ends: who has not heard of a break yet helps
 * the other one, by being in a call. */
static inline void await_rails(struct rank *r)
{
    const uint32_t up = 0x1111111;
    bool told = false, heard = false;
    double end = seconds() + 20;
    while (!told || !heard) {
        uint32_t id;
        check(seconds() < end);
        if (!told && stats_sum(r).up) {
            expect(r, 0, drail_notify(r->t, r->peer, 0, up));
            told = true;
        }
        int rc = drail_notify_wait(r->t, r->peer, &id, 1);
        check(rc == DRAIL_ETIMEOUT || (rc == 0 && id == up));
        heard |= rc == 0;
    }
    barrier(r);
}

#endif

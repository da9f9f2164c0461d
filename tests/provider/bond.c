/* SPDX-License-Identifier: BSD-3-Clause */
#include "bond.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PLACES 8u
#define PLACE  (512u << 10)
#define BYTES  (PLACES * PLACE)
#define AHEAD  4u /* rounds that are under way */
#define QUIET  60 /* seconds without progress: a failure */

/* Memory of both processes: the data that they exchange without DAT. */
struct meeting {
    const char *ia;
    unsigned rounds;
    _Atomic uint64_t qual; /* of the peer, when it listens */
    DAT_RMR_TRIPLET target;
};

/* Short writes, long writes, and writes whose end is not aligned. */
static size_t bytes_of(unsigned round)
{
    static const size_t sizes[] = {8, 64, 200, 4096, 40008, 65536, 300016};
    return sizes[round % (sizeof sizes / sizeof *sizes)];
}

static uint64_t word_of(unsigned round)
{
    return 0x0101010101010101u * (round % 255 + 1);
}

static size_t place_of(unsigned round)
{
    return round % PLACES * PLACE;
}

/* The last word of a round holds the round's number. No other word does. */
static _Atomic uint64_t *end_of(const region_t *mem, unsigned round)
{
    return (void *)(mem->data + place_of(round) + bytes_of(round) - 8);
}

/* ------------------------------------------------------------- the peer --- */

static bool has_come(const region_t *mem, unsigned round)
{
    return atomic_load(end_of(mem, round)) == round + 1;
}

static void await_round(end_t *end, unsigned round, unsigned rounds)
{
    time_t until = time(NULL) + QUIET;
    DAT_EVENT event;
    for (unsigned polls = 0;; polls++) {
        bool next = round + 1 < rounds && has_come(&end->mem, round + 1);
        if (has_come(&end->mem, round))
            return;
        assert_false(next); /* the next write has overtaken this one */
        if (polls % 64)
            continue;
        dat_evd_dequeue(end->request, &event); /* for progress */
        if (dat_evd_dequeue(end->conn, &event) == DAT_SUCCESS)
            fail_msg("round %u: the connection has ended", round);
        assert_true(time(NULL) < until);
    }
}

static void check_round(const region_t *mem, unsigned round)
{
    const unsigned char *at = mem->data + place_of(round);
    for (size_t i = 0; i + 8 < bytes_of(round); i++)
        if (at[i] != (unsigned char)word_of(round))
            fail_msg("round %u: byte %zu is %#x", round, i, at[i]);
}

static void peer_main(void *arg)
{
    struct meeting *m = arg;
    end_t end;
    DAT_EVENT event;
    end_open_on(&end, m->ia, NULL);
    region_create(&end.mem, MEMORY_MEMFD, BYTES, end.ia, end.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    memset(end.mem.data, 0, BYTES);
    m->target = remote(&end.mem, 0, BYTES);
    atomic_store(&m->qual, end.qual);
    end_accept(&end);
    for (unsigned round = 0; round < m->rounds; round++) {
        await_round(&end, round, m->rounds);
        check_round(&end.mem, round);
        memset(end.mem.data + place_of(round), 0, PLACE);
        DAT_LMR_TRIPLET seg = local(&end.mem, 0, 0);
        while (DAT_GET_TYPE(dat_ep_post_send(end.ep, 1, &seg, cookie(round),
                                             DAT_COMPLETION_SUPPRESS_FLAG)) ==
               DAT_INSUFFICIENT_RESOURCES)
            dat_evd_dequeue(end.request, &event);
    }
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    /* no write came twice: all bytes are as this process has left them */
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(end.mem.data[i], 0);
    end_close(&end);
}

/* ----------------------------------------------------------- the writer --- */

static void write_round(end_t *me, const struct meeting *m, unsigned round)
{
    size_t bytes = bytes_of(round), at = place_of(round);
    memset(me->mem.data + at, (int)(word_of(round) & 0xff), bytes);
    atomic_store(end_of(&me->mem, round), round + 1);
    DAT_LMR_TRIPLET seg = local(&me->mem, at, bytes);
    DAT_RMR_TRIPLET to = m->target;
    to.virtual_address += at;
    to.segment_length = bytes;
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(round), &to,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
}

/* Waits until the peer has checked this round. */
static void await_answer(end_t *me, unsigned round)
{
    DAT_EVENT event;
    time_t until = time(NULL) + QUIET;
    while (dat_evd_dequeue(me->recv, &event) != DAT_SUCCESS) {
        if (time(NULL) > until)
            fail_msg("round %u: no answer", round);
        if (dat_evd_dequeue(me->conn, &event) == DAT_SUCCESS)
            fail_msg("round %u: the connection has ended", round);
    }
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->status, DAT_DTO_SUCCESS);
    assert_int_equal(dto->user_cookie.as_64, round);
}

static void expect_answer(end_t *me, unsigned round)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, 0);
    DAT_OK(dat_ep_post_recv(me->ep, 1, &seg, cookie(round),
                            DAT_COMPLETION_DEFAULT_FLAG));
}

void bond_stream(const char *ia, unsigned rounds,
                 void (*disturb)(unsigned round))
{
    struct meeting *m = shared_memory(sizeof *m);
    m->ia = ia;
    m->rounds = rounds;
    pid_t peer = spawn(peer_main, m);
    end_t me;
    end_open_on(&me, ia, NULL);
    region_create(&me.mem, MEMORY_MEMFD, BYTES, me.ia, me.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    while (!atomic_load(&m->qual))
        poll_pause();
    DAT_OK(end_connect(&me, m->qual));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (unsigned round = 0; round < rounds + AHEAD; round++) {
        if (round >= AHEAD)
            await_answer(&me, round - AHEAD);
        if (round >= rounds)
            continue;
        if (disturb)
            disturb(round);
        expect_answer(&me, round);
        write_round(&me, m, round);
    }
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    join(peer);
    end_close(&me);
    shared_free(m, sizeof *m);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive: sizes, lists, order, late receives, completion flags. */
#include "peer.h"

#include <pthread.h>
#include <unistd.h>

#define BYTES (2 << 20)

static const peer_place_t places[] = {PEER_HERE, PEER_PROCESS};

typedef struct fixture {
    peer_t peer;
    end_t me;
    unsigned char *image; /* the peer's memory as it should be */
    unsigned char *found; /* and as it is */
} fixture_t;

static void open_pair(fixture_t *f, peer_place_t place)
{
    peer_open(
        &f->peer, &f->me,
        &(peer_options_t){place, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG});
    f->image = malloc(BYTES + 2 * GUARD);
    f->found = malloc(BYTES + 2 * GUARD);
    assert_true(f->image && f->found);
    fill(f->image, BYTES + 2 * GUARD, 42);
    peer_fill(&f->peer, 42);
}

static void close_pair(fixture_t *f)
{
    peer_close(&f->peer, &f->me);
    free(f->image);
    free(f->found);
}

static void check_image(fixture_t *f)
{
    peer_read(&f->peer, f->found);
    assert_memory_equal(f->found, f->image, BYTES + 2 * GUARD);
}

static void send_one(fixture_t *f, size_t offset, size_t bytes, uint64_t id,
                     DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, offset, bytes);
    DAT_OK(dat_ep_post_send(f->me.ep, 1, &iov, cookie(id), flags));
}

static void sizes(void **state)
{
    static const size_t bytes[] = {0,     1,     7,     8,      63,     64,
                                   65,    127,   128,   255,    256,    257,
                                   1000,  4095,  4096,  4097,   16383,  16384,
                                   16385, 65536, 65537, 262144, 1048576};
    for (size_t p = 0; p < 2; p++) {
        fixture_t f;
        open_pair(&f, places[p]);
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            size_t from = i * 13, to = i * 7, n = bytes[i];
            fill(f.me.mem.data, BYTES, i + 100);
            peer_post_recv(&f.peer, to, n + 5, i);
            send_one(&f, from, n, i, 0);
            peer_expect_dto(&f.peer, EVD_RECV, i, DAT_DTO_SUCCESS, n);
            EXPECT_DTO(f.me.request, i, DAT_DTO_SUCCESS, n);
            memcpy(f.image + GUARD + to, f.me.mem.data + from, n);
        }
        check_image(&f);
        close_pair(&f);
    }
}

/* The same data cut differently on both sides. */
static void scatter_and_gather(void **state)
{
    end_t a, b;
    uint64_t seed = 99;
    ends_open(&a, &b, MEMORY_MALLOC, 65536);
    end_connect_both(&a, &b);
    for (uint64_t round = 0; round < 50; round++) {
        DAT_LMR_TRIPLET out[4], in[4];
        unsigned char sent[4 * 4000], received[4 * 4000];
        size_t total = 0, at = 0;
        fill(a.mem.data, 65536, round);
        for (int i = 0; i < 4; i++) { /* some segments are empty */
            size_t n = random_next(&seed) % 4 ? random_next(&seed) % 4000 : 0;
            out[i] = local(&a.mem, (size_t)i * 16384 + i, n);
            memcpy(sent + total, a.mem.data + i * 16384 + i, n);
            total += n;
        }
        for (int i = 0; i < 4; i++) {
            size_t n =
                i == 3 ? total - at : random_next(&seed) % (total / 4 + 1);
            in[i] = local(&b.mem, (size_t)i * 16384 + 3, n);
            at += n;
        }
        DAT_OK(dat_ep_post_recv(b.ep, 4, in, cookie(round), 0));
        DAT_OK(dat_ep_post_send(a.ep, 4, out, cookie(round), 0));
        EXPECT_DTO(b.recv, round, DAT_DTO_SUCCESS, total);
        EXPECT_DTO(a.request, round, DAT_DTO_SUCCESS, total);
        at = 0;
        for (int i = 0; i < 4; i++) {
            memcpy(received + at, (void *)(uintptr_t)in[i].virtual_address,
                   in[i].segment_length);
            at += in[i].segment_length;
        }
        assert_memory_equal(sent, received, total);
    }
    ends_close(&a, &b);
}

/* A message without any segment; a segment of no bytes needs no LMR. */
static void empty_messages(void **state)
{
    fixture_t f;
    DAT_LMR_TRIPLET nothing = {0xdead, 0, 0xbeef};
    open_pair(&f, PEER_PROCESS);
    peer_post_recv(&f.peer, 0, 0, 1);
    peer_post_recv(&f.peer, 0, 16, 2);
    DAT_OK(dat_ep_post_send(f.me.ep, 0, NULL, cookie(1), 0));
    DAT_OK(dat_ep_post_send(f.me.ep, 1, &nothing, cookie(2), 0));
    for (uint64_t id = 1; id <= 2; id++) {
        peer_expect_dto(&f.peer, EVD_RECV, id, DAT_DTO_SUCCESS, 0);
        EXPECT_DTO(f.me.request, id, DAT_DTO_SUCCESS, 0);
    }
    DAT_OK(dat_ep_post_recv(f.me.ep, 0, NULL, cookie(3), 0));
    peer_post_send(&f.peer, 0, 0, 3, 0);
    EXPECT_DTO(f.me.recv, 3, DAT_DTO_SUCCESS, 0);
    check_image(&f);
    close_pair(&f);
}

static void sends_before_receives(void **state)
{
    enum { N = 100 };
    static const size_t bytes[] = {8, 500, 9000, 70000};
    for (size_t p = 0; p < 2; p++) {
        fixture_t f;
        open_pair(&f, places[p]);
        for (uint64_t i = 0; i < N; i++)
            send_one(&f, i * 11, bytes[i % 4], i, 0);
        for (uint64_t i = 0; i < N; i++) {
            size_t n = bytes[i % 4], to = (i % 16) * 80000;
            peer_post_recv(&f.peer, to, n, i);
            peer_expect_dto(&f.peer, EVD_RECV, i, DAT_DTO_SUCCESS, n);
            memcpy(f.image + GUARD + to, f.me.mem.data + i * 11, n);
        }
        for (uint64_t i = 0; i < N; i++)
            EXPECT_DTO(f.me.request, i, DAT_DTO_SUCCESS, bytes[i % 4]);
        check_image(&f);
        close_pair(&f);
    }
}

/* The buffer may be used again once the send is complete, and not before:
 * a long message may need the receiver's help. */
static void buffer_is_free_after_completion(void **state)
{
    static const size_t bytes[] = {8, 200, 5000, 300000};
    DAT_EVENT event;
    DAT_COUNT more;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        fixture_t f;
        size_t n = bytes[i];
        open_pair(&f, PEER_PROCESS);
        peer_post_recv(&f.peer, 0, n, 1);
        fill(f.me.mem.data, n, 7);
        memcpy(f.image + GUARD, f.me.mem.data, n);
        send_one(&f, 0, n, 1, 0);
        bool early = !dat_evd_wait(f.me.request, 20000, 1, &event, &more);
        if (early)
            memset(f.me.mem.data, 0xff, n);
        peer_expect_dto(&f.peer, EVD_RECV, 1, DAT_DTO_SUCCESS, n);
        if (!early)
            EXPECT_DTO(f.me.request, 1, DAT_DTO_SUCCESS, n);
        check_image(&f);
        close_pair(&f);
    }
}

static void too_long_for_the_receive(void **state)
{
    static const size_t bytes[] = {17, 300, 20000, 200000};
    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            fixture_t f;
            DAT_EVENT event;
            open_pair(&f, places[p]);
            peer_post_recv(&f.peer, 0, bytes[i] - 1, 1);
            send_one(&f, 0, bytes[i], 2, 0);
            peer_expect_dto(&f.peer, EVD_RECV, 1, DAT_DTO_ERR_LOCAL_LENGTH, 0);
            event = EXPECT_EVENT(f.me.request, DAT_DTO_COMPLETION_EVENT);
            assert_int_not_equal(
                event.event_data.dto_completion_event_data.status,
                DAT_DTO_SUCCESS);
            EXPECT_EVENT(f.me.conn, DAT_CONNECTION_EVENT_BROKEN);
            peer_expect_event(&f.peer, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);
            /* nothing beyond the buffer that was posted */
            peer_read(&f.peer, f.found);
            assert_memory_equal(f.found, f.image, GUARD);
            size_t end = GUARD + bytes[i] - 1;
            assert_memory_equal(f.found + end, f.image + end,
                                BYTES + 2 * GUARD - end);
            close_pair(&f);
        }
    }
}

static void bad_posts(void **state)
{
    end_t a, b;
    DAT_EP_PARAM ep;
    DAT_LMR_TRIPLET iov[64];
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&b, NULL);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &ep));
    assert_in_range(ep.ep_attr.max_request_iov, 1, 63);
    for (int i = 0; i < 64; i++)
        iov[i] = local(&a.mem, 0, 8);
    DAT_FAILS(dat_ep_post_send(a.ep, ep.ep_attr.max_request_iov + 1, iov,
                               cookie(0), 0),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(
        dat_ep_post_recv(a.ep, ep.ep_attr.max_recv_iov + 1, iov, cookie(0), 0),
        DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ep_post_send(a.ep, -1, iov, cookie(0), 0),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ep_post_send(a.ep, 1, NULL, cookie(0), 0),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ep_post_recv(a.ep, 1, NULL, cookie(0), 0),
              DAT_INVALID_PARAMETER);
    expect_silence(a.request, 10); /* a failed post leaves no completion */
    expect_silence(a.recv, 10);
    ends_close(&a, &b);
}

/* The queues have limits; a full one says so and keeps working. */
static void queues_have_limits(void **state)
{
    end_t a, b;
    DAT_EP_PARAM param;
    DAT_RETURN rc = DAT_SUCCESS;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));

    uint64_t receives = 0, sends = 0;
    DAT_LMR_TRIPLET in = local(&b.mem, 0, 64), out = local(&a.mem, 0, 64);
    while (receives < 100000 &&
           !(rc = dat_ep_post_recv(b.ep, 1, &in, cookie(receives), 0)))
        receives++;
    DAT_FAILS(rc, DAT_INSUFFICIENT_RESOURCES);
    assert_true(receives >= (uint64_t)param.ep_attr.max_recv_dtos);
    /* receives run out first, then the sender's own queue */
    while (sends < 100000 &&
           !(rc = dat_ep_post_send(a.ep, 1, &out, cookie(sends),
                                   DAT_COMPLETION_SUPPRESS_FLAG)))
        sends++;
    DAT_FAILS(rc, DAT_INSUFFICIENT_RESOURCES);
    assert_true(sends >= (uint64_t)param.ep_attr.max_request_dtos);
    for (uint64_t i = 0; i < receives && i < END_QLEN / 2; i++)
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, 64);
    ends_close(&a, &b);
}

/* --------------------------------------------------- completion flags --- */

static void suppressed_completions(void **state)
{
    enum { N = 20 };
    fixture_t f;
    open_pair(&f, PEER_PROCESS);
    for (uint64_t i = 0; i <= N; i++)
        peer_post_recv(&f.peer, i * 64, 64, i);
    for (uint64_t i = 0; i < N; i++)
        send_one(&f, i * 64, 64, i, DAT_COMPLETION_SUPPRESS_FLAG);
    send_one(&f, N * 64, 64, N, DAT_COMPLETION_DEFAULT_FLAG);
    /* only the last one is reported, and then all of them are done */
    EXPECT_DTO(f.me.request, N, DAT_DTO_SUCCESS, 64);
    expect_silence(f.me.request, 10);
    for (uint64_t i = 0; i <= N; i++)
        peer_expect_dto(&f.peer, EVD_RECV, i, DAT_DTO_SUCCESS, 64);
    memcpy(f.image + GUARD, f.me.mem.data, (N + 1) * 64);
    check_image(&f);
    close_pair(&f);
}

/* A suppressed request that fails is reported all the same. */
static void suppressed_failures_are_reported(void **state)
{
    NEEDS_SUPPRESSED_FAILURES();
    fixture_t f;
    open_pair(&f, PEER_PROCESS);
    send_one(&f, 0, 64, 5, DAT_COMPLETION_SUPPRESS_FLAG); /* no receive */
    peer_kill(&f.peer);
    EXPECT_EVENT(f.me.conn, DAT_CONNECTION_EVENT_BROKEN);
    DAT_EVENT event = EXPECT_EVENT(f.me.request, DAT_DTO_COMPLETION_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->user_cookie.as_64, 5);
    assert_int_not_equal(dto->status, DAT_DTO_SUCCESS);
    end_close(&f.me);
    free(f.image);
    free(f.found);
}

static void barrier_fence_is_accepted(void **state)
{
    fixture_t f;
    open_pair(&f, PEER_PROCESS);
    peer_post_recv(&f.peer, 0, 64, 1);
    DAT_LMR_TRIPLET to = local(&f.me.mem, 1000, 64);
    DAT_RMR_TRIPLET from = remote(&f.peer.end.mem, 5000, 64);
    DAT_OK(dat_ep_post_rdma_read(f.me.ep, 1, &to, cookie(1), &from, 0));
    send_one(&f, 1000, 64, 2, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    EXPECT_DTO(f.me.request, 1, DAT_DTO_SUCCESS, 64);
    EXPECT_DTO(f.me.request, 2, DAT_DTO_SUCCESS, 64);
    peer_expect_dto(&f.peer, EVD_RECV, 1, DAT_DTO_SUCCESS, 64);
    /* the send carried what the read had brought */
    memcpy(f.image + GUARD, f.image + GUARD + 5000, 64);
    check_image(&f);
    close_pair(&f);
}

typedef struct later {
    end_t *end;
    uint64_t id;
    DAT_COMPLETION_FLAGS flags;
} later_t;

static void *send_later(void *arg)
{
    const later_t *later = arg;
    DAT_LMR_TRIPLET out = local(&later->end->mem, 0, 64);
    usleep(50000);
    dat_ep_post_send(later->end->ep, 1, &out, cookie(later->id), later->flags);
    return NULL;
}

/* With recv_completion_flags = SOLICITED_WAIT, a waiting thread is woken by
 * solicited sends only. */
static void solicited_wait(void **state)
{
    end_t a, b;
    DAT_EP_PARAM param;
    DAT_EVENT event;
    DAT_COUNT more;
    pthread_t thread;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    DAT_OK(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &param));
    param.ep_attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    DAT_OK(dat_ep_modify(b.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS,
                         &param));
    end_connect_both(&a, &b);
    for (uint64_t i = 0; i < 2; i++) {
        DAT_LMR_TRIPLET in = local(&b.mem, i * 64, 64);
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(i), 0));
    }
    later_t plain = {&a, 0, DAT_COMPLETION_DEFAULT_FLAG};
    assert_int_equal(pthread_create(&thread, NULL, send_later, &plain), 0);
    do /* until it is there all the same */
        DAT_FAILS(dat_evd_wait(b.recv, 300000, 1, &event, &more),
                  DAT_TIMEOUT_EXPIRED);
    while (!more);
    assert_int_equal(more, 1);
    pthread_join(thread, NULL);
    EXPECT_DTO(b.recv, 0, DAT_DTO_SUCCESS, 64);

    later_t solicited = {&a, 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG};
    assert_int_equal(pthread_create(&thread, NULL, send_later, &solicited), 0);
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, 64);
    pthread_join(thread, NULL);
    ends_close(&a, &b);
}

/* An unsignalled completion is on the queue but does not end a wait. */
static void unsignalled_completions(void **state)
{
    end_t a, b;
    DAT_EVENT event;
    DAT_EP_PARAM param;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    DAT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
    param.ep_attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    DAT_OK(dat_ep_modify(a.ep, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS,
                         &param));
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET out = local(&a.mem, 0, 64);
    DAT_RMR_TRIPLET to = remote(&b.mem, 0, 64);
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &out, cookie(1), &to,
                                  DAT_COMPLETION_UNSIGNALLED_FLAG));
    DAT_RETURN rc;
    for (int i = 0; i < 1000000; i++) /* polling finds it */
        if (!(rc = dat_evd_dequeue(a.request, &event)))
            break;
    DAT_OK(rc);
    assert_int_equal(
        event.event_data.dto_completion_event_data.user_cookie.as_64, 1);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(scatter_and_gather),
        cmocka_unit_test(empty_messages),
        cmocka_unit_test(sends_before_receives),
        cmocka_unit_test(buffer_is_free_after_completion),
        cmocka_unit_test(too_long_for_the_receive),
        cmocka_unit_test(bad_posts),
        cmocka_unit_test(queues_have_limits),
        cmocka_unit_test(suppressed_completions),
        cmocka_unit_test(suppressed_failures_are_reported),
        cmocka_unit_test(barrier_fence_is_accepted),
        cmocka_unit_test(solicited_wait),
        cmocka_unit_test(unsignalled_completions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

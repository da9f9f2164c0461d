/* SPDX-License-Identifier: BSD-3-Clause */
/* The InfiniBand extensions: RDMA write with immediate data, fetch-and-add,
 * compare-and-swap. */
#include <netinet/in.h>

#include "peer.h"

#include <dat2/dat_ib_extensions.h>

#include <stdatomic.h>
#include <unistd.h>

#define BYTES 65536
#define PRIVILEGES                                                             \
    ((DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG |                              \
                          (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC))

typedef struct fixture {
    peer_t peer;
    end_t me;
} fixture_t;

static void open_pair(fixture_t *f, peer_place_t place, memory_kind_t kind)
{
    peer_start(&f->peer, &(peer_options_t){place, kind, BYTES, PRIVILEGES});
    end_open_memory(&f->me, kind, BYTES, PRIVILEGES);
    peer_connect(&f->peer, &f->me);
}

static void close_pair(fixture_t *f)
{
    peer_close(&f->peer, &f->me);
}

static DAT_IB_EXTENSION_EVENT_DATA extension_of(const DAT_EVENT *event)
{
    DAT_IB_EXTENSION_EVENT_DATA data;
    assert_int_equal(event->event_number, DAT_IB_DTO_EVENT);
    memcpy(&data, event->event_extension_data, sizeof data);
    return data;
}

/* The next completion must be of this extended request. */
static void expect_done(const end_t *end, uint64_t id, DAT_IB_EXT_TYPE type,
                        size_t length)
{
    DAT_EVENT event = EXPECT_EVENT(end->request, DAT_IB_DTO_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(extension_of(&event).type, type);
    assert_int_equal(dto->user_cookie.as_64, id);
    assert_int_equal(dto->status, DAT_DTO_SUCCESS);
    assert_int_equal(dto->transfered_length, length);
    assert_ptr_equal(dto->ep_handle, end->ep);
}

static void write_with_immediate(void **state)
{
    static const size_t bytes[] = {0, 1, 8, 64, 65, 1000, 4096, 60000};
    static unsigned char found[BYTES + 2 * GUARD], image[BYTES + 2 * GUARD];
    for (int place = 0; place < PEER_PLACES; place++) {
        fixture_t f;
        open_pair(&f, (peer_place_t)place, (memory_kind_t)place);
        fill(image, sizeof image, 31);
        peer_fill(&f.peer, 31);
        fill(f.me.mem.data, BYTES, 32);
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            size_t n = bytes[i];
            uint32_t immed = 0xfeed0000u + (uint32_t)i;
            DAT_LMR_TRIPLET iov = local(&f.me.mem, i, n);
            DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, 5 * i, n);
            DAT_EVENT event;
            peer_post_recv(&f.peer, 0, 0, 700 + i); /* it consumes a receive */
            DAT_OK(dat_ib_post_rdma_write_immed(f.me.ep, 1, &iov, cookie(i),
                                                &target, immed, 0));
            memcpy(image + GUARD + 5 * i, f.me.mem.data + i, n);
            DAT_OK(peer_wait(&f.peer, EVD_RECV, WAIT_MS, &event));
            DAT_IB_EXTENSION_EVENT_DATA data = extension_of(&event);
            assert_int_equal(data.type, DAT_IB_RDMA_WRITE_IMMED_DATA);
            assert_int_equal(data.val.immed.data, immed);
            DAT_DTO_COMPLETION_EVENT_DATA *dto =
                &event.event_data.dto_completion_event_data;
            assert_int_equal(dto->user_cookie.as_64, 700 + i);
            assert_int_equal(dto->status, DAT_DTO_SUCCESS);
            assert_int_equal(dto->transfered_length, n);
            peer_read(&f.peer, found); /* the data came before the event */
            assert_memory_equal(found, image, sizeof image);
            expect_done(&f.me, i, DAT_IB_RDMA_WRITE_IMMED, n);
        }
        close_pair(&f);
    }
}

/* Without a receive it waits, like a send, and keeps its place in the order. */
static void immediate_waits_for_a_receive(void **state)
{
    fixture_t f;
    open_pair(&f, PEER_PROCESS, MEMORY_MEMFD);
    for (uint32_t i = 0; i < 20; i++) {
        DAT_LMR_TRIPLET iov = local(&f.me.mem, i, 100);
        DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, i * 100, 100);
        if (i % 2)
            DAT_OK(dat_ep_post_send(f.me.ep, 1, &iov, cookie(i), 0));
        else
            DAT_OK(dat_ib_post_rdma_write_immed(f.me.ep, 1, &iov, cookie(i),
                                                &target, i, 0));
    }
    for (uint32_t i = 0; i < 20; i++) {
        DAT_EVENT event;
        peer_post_recv(&f.peer, 50000, 200, i);
        DAT_OK(peer_wait(&f.peer, EVD_RECV, WAIT_MS, &event));
        if (i % 2)
            assert_int_equal(event.event_number, DAT_DTO_COMPLETION_EVENT);
        else
            assert_int_equal(extension_of(&event).val.immed.data, i);
    }
    close_pair(&f);
}

static uint64_t *word(const region_t *region, size_t index)
{
    return (uint64_t *)(void *)region->data + index;
}

static void atomics(void **state)
{
    NEEDS_ATOMICS();
    static unsigned char found[BYTES + 2 * GUARD];
    uint64_t now;
    for (int place = 0; place < PEER_PLACES; place++) {
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            fixture_t f;
            open_pair(&f, (peer_place_t)place, (memory_kind_t)kind);
            peer_fill(&f.peer, 9);
            peer_read(&f.peer, found);
            uint64_t expected;
            memcpy(&expected, found + GUARD + 4096, 8);
            DAT_LMR_TRIPLET iov = local(&f.me.mem, 0, 8);
            DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, 4096, 8);

            for (uint64_t add = 1; add < 1ull << 60; add *= 977) {
                DAT_OK(dat_ib_post_fetch_and_add(f.me.ep, add, &iov, cookie(1),
                                                 &target, 0));
                expect_done(&f.me, 1, DAT_IB_FETCH_AND_ADD, 8);
                assert_int_equal(*word(&f.me.mem, 0), expected);
                expected += add;
            }
            /* the wrong value is not swapped, the right one is */
            DAT_OK(dat_ib_post_cmp_and_swap(f.me.ep, expected + 1, 0xabcdef,
                                            &iov, cookie(2), &target, 0));
            expect_done(&f.me, 2, DAT_IB_CMP_AND_SWAP, 8);
            assert_int_equal(*word(&f.me.mem, 0), expected);
            DAT_OK(dat_ib_post_cmp_and_swap(f.me.ep, expected, 0xabcdef, &iov,
                                            cookie(3), &target, 0));
            expect_done(&f.me, 3, DAT_IB_CMP_AND_SWAP, 8);
            assert_int_equal(*word(&f.me.mem, 0), expected);
            peer_read(&f.peer, found);
            memcpy(&now, found + GUARD + 4096, 8);
            assert_int_equal(now, 0xabcdef);
            close_pair(&f);
        }
    }
}

static void atomics_need_alignment(void **state)
{
    NEEDS_ATOMICS();
    fixture_t f;
    open_pair(&f, PEER_PROCESS, MEMORY_MEMFD);
    DAT_LMR_TRIPLET iov = local(&f.me.mem, 0, 8);
    DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, 4, 8);
    DAT_FAILS(
        dat_ib_post_fetch_and_add(f.me.ep, 1, &iov, cookie(1), &target, 0),
        DAT_INVALID_PARAMETER);
    iov = local(&f.me.mem, 0, 4);
    target = remote(&f.peer.end.mem, 0, 8);
    DAT_FAILS(
        dat_ib_post_fetch_and_add(f.me.ep, 1, &iov, cookie(1), &target, 0),
        DAT_INVALID_PARAMETER);
    close_pair(&f);
}

static void unknown_operation(void **state)
{
    fixture_t f;
    open_pair(&f, PEER_PROCESS, MEMORY_MALLOC);
    DAT_FAILS(dat_extension_op(f.me.ep, DAT_IB_UD_SEND_OP),
              DAT_NOT_IMPLEMENTED);
    DAT_FAILS(dat_extension_op(f.me.ep, 999), DAT_NOT_IMPLEMENTED);
    close_pair(&f);
}

/* ------------------------------------------- many initiators at a time --- */

enum { CLIENTS = 3, ADDS = 5000, SWAPS = 500 };

/* Where messages carry atomics, each wakes threads of both ends. */
static int some_of(int all)
{
    return strcmp(IA_NAME, IA_DEFAULT) ? all / 20 : all;
}

/* Word 0 is a counter, word 1 a lock, word 2 is counted under the lock. */
typedef struct shared {
    DAT_CONN_QUAL qual;
    DAT_RMR_TRIPLET words;
    atomic_uchar seen[CLIENTS * ADDS]; /* each value of the counter, once */
} shared_t;

static uint64_t atomic_on(end_t *end, shared_t *shared, size_t index, bool swap,
                          uint64_t operand, uint64_t compare)
{
    DAT_LMR_TRIPLET iov = local(&end->mem, 0, 8);
    DAT_RMR_TRIPLET target = shared->words;
    target.virtual_address += 8 * index;
    target.segment_length = 8;
    if (swap)
        DAT_OK(dat_ib_post_cmp_and_swap(end->ep, compare, operand, &iov,
                                        cookie(1), &target, 0));
    else
        DAT_OK(dat_ib_post_fetch_and_add(end->ep, operand, &iov, cookie(1),
                                         &target, 0));
    expect_done(end, 1, swap ? DAT_IB_CMP_AND_SWAP : DAT_IB_FETCH_AND_ADD, 8);
    return *word(&end->mem, 0);
}

static void count_under_lock(end_t *end, shared_t *shared)
{
    DAT_LMR_TRIPLET iov = local(&end->mem, 64, 8);
    DAT_RMR_TRIPLET target = shared->words;
    target.virtual_address += 16;
    target.segment_length = 8;
    while (atomic_on(end, shared, 1, true, 1, 0) != 0)
        ;
    DAT_OK(dat_ep_post_rdma_read(end->ep, 1, &iov, cookie(2), &target, 0));
    EXPECT_DTO(end->request, 2, DAT_DTO_SUCCESS, 8);
    ++*word(&end->mem, 8);
    DAT_OK(dat_ep_post_rdma_write(end->ep, 1, &iov, cookie(3), &target, 0));
    EXPECT_DTO(end->request, 3, DAT_DTO_SUCCESS, 8);
    assert_int_equal(atomic_on(end, shared, 1, true, 0, 1), 1);
}

static void client(void *arg)
{
    shared_t *shared = arg;
    end_t end;
    end_open_memory(&end, MEMORY_MALLOC, 4096, PRIVILEGES);
    DAT_OK(end_connect(&end, shared->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (int i = 0; i < some_of(ADDS); i++) {
        uint64_t old = atomic_on(&end, shared, 0, false, 1, 0);
        assert_in_range(old, 0, CLIENTS * some_of(ADDS) - 1);
        assert_int_equal(atomic_fetch_add(&shared->seen[old], 1), 0);
    }
    for (int i = 0; i < some_of(SWAPS); i++)
        count_under_lock(&end, shared);
    DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&end);
}

static void serve_clients(memory_kind_t kind)
{
    end_t server;
    DAT_EP_HANDLE ep[CLIENTS];
    pid_t pid[CLIENTS];
    shared_t *shared = shared_memory(sizeof *shared);

    /* the clients start before the server has DAT objects, and wait */
    int go[2];
    assert_int_equal(pipe(go), 0);
    for (int i = 0; i < CLIENTS; i++)
        pid[i] = spawn_behind(go, client, shared);
    close(go[0]);
    end_open_memory(&server, kind, 4096, PRIVILEGES);
    memset(server.mem.data, 0, 4096);
    shared->qual = server.qual;
    shared->words = remote(&server.mem, 0, 24);
    close(go[1]);

    for (int i = 0; i < CLIENTS; i++) {
        DAT_CR_HANDLE cr = end_asked(&server);
        DAT_OK(dat_ep_create(server.ia, server.pz, server.recv, server.request,
                             server.conn, NULL, &ep[i]));
        DAT_OK(dat_cr_accept(cr, ep[i], 0, NULL));
    }
    /* a quick client may be gone before the last one is there */
    for (int established = 0, gone = 0; gone < CLIENTS;) {
        DAT_EVENT event;
        DAT_COUNT more;
        DAT_OK(dat_evd_wait(server.conn, WAIT_MS * 1000, 1, &event, &more));
        if (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
            assert_true(++gone <= established);
        else if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
            established++;
        else
            fail_msg("event 0x%x", event.event_number);
    }
    for (int i = 0; i < CLIENTS; i++) {
        join(pid[i]);
        DAT_OK(dat_ep_free(ep[i]));
    }
    assert_int_equal(*word(&server.mem, 0), CLIENTS * some_of(ADDS));
    assert_int_equal(*word(&server.mem, 1), 0);
    assert_int_equal(*word(&server.mem, 2), CLIENTS * some_of(SWAPS));
    end_close(&server);
    shared_free(shared, sizeof *shared);
}

static void atomics_of_many(void **state)
{
    NEEDS_ATOMICS();
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        serve_clients((memory_kind_t)kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_with_immediate),
        cmocka_unit_test(immediate_waits_for_a_receive),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_need_alignment),
        cmocka_unit_test(unknown_operation),
        cmocka_unit_test(atomics_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle connections cost nothing: an EVD of hundreds is polled as fast as one of
 * a few, and a message on any of them is found. */
#include "util.h"

#include <sys/mman.h>
#include <time.h>

#include "providers/shm/message/ring.h"

enum { FEW = 2, MANY = 256, BYTES = 64 };

/* Connections of one IA with itself. */
typedef struct net {
    end_t end;
    DAT_IA_ATTR attr;
    DAT_EVD_HANDLE active, active_conn; /* DTO and connection events */
    DAT_EP_HANDLE from[MANY], to[MANY];
    unsigned n;
} net_t;

static void net_open(net_t *net)
{
    memset(net, 0, sizeof *net);
    end_open_memory(&net->end, MEMORY_MALLOC, MANY * BYTES,
                    DAT_MEM_PRIV_ALL_FLAG);
    DAT_IA_HANDLE ia = net->end.ia;
    DAT_OK(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &net->attr, 0, NULL));
    DAT_OK(dat_evd_create(ia, 1024, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                          &net->active));
    DAT_OK(dat_evd_create(ia, 1024, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG,
                          &net->active_conn));
}

static void net_grow(net_t *net, unsigned n)
{
    end_t *end = &net->end;
    for (; net->n < n; net->n++) {
        DAT_EP_HANDLE *from = &net->from[net->n], *to = &net->to[net->n];
        DAT_OK(dat_ep_create(end->ia, end->pz, net->active, net->active,
                             net->active_conn, NULL, from));
        DAT_OK(dat_ep_create(end->ia, end->pz, end->recv, end->recv, end->conn,
                             NULL, to));
        DAT_OK(dat_ep_connect(*from, net->attr.ia_address_ptr, end->qual,
                              WAIT_MS * 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
        DAT_OK(dat_cr_accept(end_asked(end), *to, 0, NULL));
        EXPECT_EVENT(net->active_conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_EVENT(end->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
}

static void net_close(net_t *net)
{
    for (unsigned i = 0; i < net->n; i++) {
        DAT_OK(dat_ep_free(net->from[i]));
        DAT_OK(dat_ep_free(net->to[i]));
    }
    DAT_OK(dat_evd_free(net->active));
    DAT_OK(dat_evd_free(net->active_conn));
    end_close(&net->end);
}

static void net_post_recv(net_t *net, unsigned i)
{
    DAT_LMR_TRIPLET in = local(&net->end.mem, i * BYTES, BYTES);
    DAT_OK(dat_ep_post_recv(net->to[i], 1, &in, cookie(i), 0));
}

static void net_send(net_t *net, unsigned i)
{
    DAT_LMR_TRIPLET out = local(&net->end.mem, i * BYTES, 8);
    DAT_OK(dat_ep_post_send(net->from[i], 1, &out, cookie(i),
                            DAT_COMPLETION_SUPPRESS_FLAG));
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of a poll that finds nothing: the least, as others use the machine, too. */
static double poll_ns(const net_t *net)
{
    enum { POLLS = 500, TIMES = 20 };
    double least = 1e9;
    DAT_EVENT event;
    for (int t = 0; t < TIMES; t++) {
        double start = now_ns();
        for (int i = 0; i < POLLS; i++)
            DAT_FAILS(dat_evd_dequeue(net->end.recv, &event), DAT_QUEUE_EMPTY);
        double ns = (now_ns() - start) / POLLS;
        least = ns < least ? ns : least;
    }
    return least;
}

static void a_poll_takes_as_long(void **state)
{
    net_t net;
    net_open(&net);
    net_grow(&net, FEW);
    double few = poll_ns(&net);
    net_grow(&net, MANY);
    double many = poll_ns(&net);
    print_message("a poll takes %.0f ns, with %u connections %.0f ns\n", few,
                  MANY, many);
    assert_true(many < 5 * few);
    net_close(&net);
}

/* Of a wait that is over when it would sleep: the least. */
static double sleep_ns(const net_t *net)
{
    enum { TIMES = 300 };
    double least = 1e9;
    DAT_EVENT event;
    DAT_COUNT more;
    for (int t = 0; t < TIMES; t++) {
        double start = now_ns();
        DAT_FAILS(dat_evd_wait(net->end.recv, 1, 1, &event, &more),
                  DAT_TIMEOUT_EXPIRED);
        double ns = now_ns() - start;
        least = ns < least ? ns : least;
    }
    return least;
}

/* A thread that goes to sleep tells all peers. */
static void going_to_sleep_takes_as_long(void **state)
{
    net_t net;
    net_open(&net);
    net_grow(&net, FEW);
    double few = sleep_ns(&net);
    net_grow(&net, MANY);
    double many = sleep_ns(&net);
    print_message("to go to sleep takes %.0f ns, with %u connections %.0f ns\n",
                  few, MANY, many);
    assert_true(many < 4 * few);
    net_close(&net);
}

/* The busy one changes. */
static void each_is_heard(void **state)
{
    net_t net;
    uint64_t seed = 1;
    net_open(&net);
    net_grow(&net, MANY);
    for (unsigned round = 0; round < 100; round++) {
        unsigned i = (unsigned)(random_next(&seed) % MANY);
        for (unsigned n = 0; n < 1 + round; n++) {
            net_post_recv(&net, i);
            net_send(&net, i);
            EXPECT_DTO(net.end.recv, i, DAT_DTO_SUCCESS, 8);
        }
    }
    net_close(&net);
}

/* Nor is one that had come before there was a receive. */
static void no_early_message_is_forgotten(void **state)
{
    net_t net;
    net_open(&net);
    net_grow(&net, MANY);
    for (unsigned i = 0; i < MANY; i++)
        net_send(&net, i);
    expect_silence(net.end.recv, 5);
    for (unsigned i = MANY; i--;) {
        net_post_recv(&net, i);
        EXPECT_DTO(net.end.recv, i, DAT_DTO_SUCCESS, 8);
    }
    net_close(&net);
}

/* All peers may write where each announces what it has. */
static void who_wipes_announcements_hides_nothing(void **state)
{
    net_t net;
    DAT_EVENT event;
    net_open(&net);
    net_grow(&net, MANY);
    struct shm_doorbell *door = shared_mapping("dapl-shm-control", 0);
    assert_non_null(door);
    for (unsigned i = 0; i < MANY; i++)
        net_post_recv(&net, i);
    DAT_FAILS(dat_evd_dequeue(net.end.recv, &event), DAT_QUEUE_EMPTY);
    for (unsigned i = 0; i < MANY; i++)
        net_send(&net, i);
    assert_true(atomic_load(&door->announced_words)); /* or it tests nothing */
    for (unsigned w = 0; w < 64; w++)
        atomic_store(&door->announced[w], 0);
    unsigned found = 0;
    for (double end = now_ns() + WAIT_MS * 1e6; found < MANY;) {
        if (!dat_evd_dequeue(net.end.recv, &event))
            found++;
        assert_true(now_ns() < end);
    }
    net_close(&net);
}

/* A peer asks for announcements where there is no place, or another's. */
static void a_wrong_place_harms_nobody(void **state)
{
    static const uint32_t places[] = {SHM_ANNOUNCED, SHM_ANNOUNCED + 1,
                                      UINT32_MAX, 1, 77};
    net_t net;
    net_open(&net);
    net_grow(&net, FEW);
    struct shm_segment *segment = shared_mapping("dapl-shm-connection", 0);
    assert_non_null(segment);
    for (unsigned p = 0; p < sizeof places / sizeof places[0]; p++) {
        for (unsigned side = 0; side < 2; side++)
            atomic_store(&segment->dir[side].announce, places[p]);
        for (unsigned i = 0; i < FEW; i++) {
            net_post_recv(&net, i);
            net_send(&net, i);
            EXPECT_DTO(net.end.recv, i, DAT_DTO_SUCCESS, 8);
        }
    }
    net_close(&net);
}

/* Pages of the active side's ring that take memory. */
static unsigned ring_pages(void)
{
    enum { PAGES = SHM_RING_BYTES / SHM_PAGE };
    unsigned char resident[PAGES];
    unsigned n = 0;
    void *ring = shared_mapping("dapl-shm-connection", SHM_PAGE);
    assert_non_null(ring);
    assert_int_equal(mincore(ring, SHM_RING_BYTES, resident), 0);
    for (unsigned i = 0; i < PAGES; i++)
        n += resident[i] & 1;
    return n;
}

/* A sender with little under way uses the same memory again. */
static void short_messages_stay_in_a_page(void **state)
{
    net_t net;
    net_open(&net);
    net_grow(&net, 1);
    for (unsigned n = 0; n < 5 * SHM_RING_LINES; n++) {
        net_post_recv(&net, 0);
        net_send(&net, 0);
        EXPECT_DTO(net.end.recv, 0, DAT_DTO_SUCCESS, 8);
    }
    assert_int_equal(ring_pages(), 1);
    net_close(&net);
}

enum { BURST = 120, LONGEST = 8000 };

/* Mostly short ones; or long ones, of which a burst may fill the ring. */
static size_t any_length(uint64_t *seed, bool long_ones)
{
    if (long_ones)
        return LONGEST / 2 + random_next(seed) % (LONGEST / 2);
    return random_next(seed) % (random_next(seed) % 8 ? 250 : 2000);
}

static void burst(end_t *a, end_t *b, uint64_t *seed)
{
    size_t length[BURST];
    unsigned n = 1 + (unsigned)(random_next(seed) % BURST);
    bool long_ones = random_next(seed) % 8 == 0;
    for (unsigned i = 0; i < n; i++) {
        DAT_LMR_TRIPLET in = local(&b->mem, i * LONGEST, LONGEST);
        length[i] = any_length(seed, long_ones);
        fill(a->mem.data + i * LONGEST, length[i], random_next(seed));
        DAT_LMR_TRIPLET out = local(&a->mem, i * LONGEST, length[i]);
        DAT_OK(dat_ep_post_recv(b->ep, 1, &in, cookie(i), 0));
        DAT_OK(dat_ep_post_send(a->ep, 1, &out, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
    }
    for (unsigned i = 0; i < n; i++) {
        EXPECT_DTO(b->recv, i, DAT_DTO_SUCCESS, length[i]);
        assert_memory_equal(a->mem.data + i * LONGEST,
                            b->mem.data + i * LONGEST, length[i]);
    }
}

/* Whatever is where in the ring, it comes in its order. */
static void bursts_come_whole(void **state)
{
    end_t a, b;
    uint64_t seed = 7;
    ends_open(&a, &b, MEMORY_MALLOC, BURST * LONGEST);
    end_connect_both(&a, &b);
    for (unsigned round = 0; round < 3000; round++)
        burst(&a, &b, &seed);
    const struct shm_segment *segment =
        shared_mapping("dapl-shm-connection", 0);
    assert_true(atomic_load(&segment->dir[0].backlogged) > 100);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poll_takes_as_long),
        cmocka_unit_test(going_to_sleep_takes_as_long),
        cmocka_unit_test(each_is_heard),
        cmocka_unit_test(no_early_message_is_forgotten),
        cmocka_unit_test(who_wipes_announcements_hides_nothing),
        cmocka_unit_test(a_wrong_place_harms_nobody),
        cmocka_unit_test(short_messages_stay_in_a_page),
        cmocka_unit_test(bursts_come_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver's report of its receives: their number, and the size of the
 * smallest. When a connection comes up, the thread that posts and the one that
 * connects report at the same time; a sender that counts on a receive must know
 * how small it may be. */
#include <pthread.h>

#include "unit.h"
#include "providers/shm/message/data.h"
#include "providers/shm/shm.h"

#ifdef DRAIL_SANITIZE
#define ROUNDS 20000
#else
#define ROUNDS 150000
#endif
#define LARGE 1000 /* posted before the connection comes up, */
#define SMALL 10   /* meanwhile */

/* As much of a connection as these functions look at. */
typedef struct receiver {
    struct shm_conn conn;
    struct shm_dir tx, rx;
    char ring[SHM_RING_BYTES];
    struct shm_ia sia;
    struct core_ia ia;
    struct core_ep *ep;
    _Alignas(SHM_APART) atomic_uint begun; /* rounds */
    _Alignas(SHM_APART) atomic_uint announced;
} receiver_t;

static void *zeroed(size_t size)
{
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, SHM_APART, size), 0);
    return memset(memory, 0, size);
}

static receiver_t *receiver_new(void)
{
    receiver_t *r = zeroed(sizeof *r);
    r->ep = zeroed(sizeof *r->ep + sizeof(struct shm_ep));
    r->ia.tp = &r->sia;
    r->ep->o.ia = &r->ia;
    atomic_store(&r->ep->tp, &r->conn);
    r->conn.ep = r->ep;
    r->conn.tx = &r->tx;
    r->conn.rx = &r->rx;
    r->conn.rx_ring = r->ring;
    return r;
}

static void post(receiver_t *r, uint64_t bytes)
{
    struct core_wqe w = {.total = bytes};
    shm_recv_post(r->ep, &w);
}

static void wait_for(atomic_uint *rounds, unsigned n)
{
    for (unsigned polls = 1; atomic_load(rounds) < n; polls++)
        if (polls % 1000 == 0)
            sched_yield();
}

/* Sooner or later, by some nanoseconds. */
static void jitter(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        atomic_signal_fence(memory_order_seq_cst);
}

/* The thread that connects. */
static void *announce(void *arg)
{
    receiver_t *r = arg;
    for (unsigned n = 1; n <= ROUNDS; n++) {
        wait_for(&r->begun, n);
        jitter(n % 61);
        shm_recv_publish(&r->conn);
        atomic_store(&r->announced, n);
    }
    return NULL;
}

static void told_by_two_threads(void **state)
{
    receiver_t *r = receiver_new();
    struct shm_ep *area = core_ep_area(r->ep);
    pthread_t thread;
    unsigned wrong = 0;
    assert_int_equal(pthread_create(&thread, NULL, announce, r), 0);
    for (unsigned n = 1; n <= ROUNDS; n++) {
        atomic_store(&area->capacity, 0);
        atomic_store(&r->ep->rq_tail, 0);
        atomic_store(&r->rx.posted, 0);
        atomic_store(&r->rx.min_capacity, UINT64_MAX);
        post(r, LARGE);
        atomic_store(&r->begun, n);
        jitter(n % 509);
        post(r, SMALL);
        shm_recv_posted(r->ep);
        wait_for(&r->announced, n);
        wrong += atomic_load(&r->rx.posted) != 2 ||
                 atomic_load(&r->rx.min_capacity) != SMALL;
    }
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
    free(r->ep);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_by_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

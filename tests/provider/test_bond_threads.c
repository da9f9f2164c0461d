/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads use connections of one bond at the same time: they register and free
 * memory, write, send, disconnect, and free endpoints. Meanwhile members fail
 * and come back. Each message finds what was written before it. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/cable.h"
#include "util.h"

#define THREADS 3
#define BYTES   (128u << 10)
#define LONG    (100u << 10)
#define CHANGES 12 /* of cables */

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-even", "a b policy=even"},
};

typedef struct pair {
    end_t from, to; /* IAs and PZs are those of all pairs */
    unsigned number;
    uint64_t seed;
} pair_t;

static atomic_bool done;

/* Ends of its own, on the IAs of these. */
static void pair_open(pair_t *p, const end_t *a, const end_t *b)
{
    end_open_beside(&p->from, a);
    end_open_beside(&p->to, b);
    region_create(&p->from.mem, MEMORY_MEMFD, BYTES, a->ia, a->pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    region_create(&p->to.mem, MEMORY_MEMFD, BYTES, b->ia, b->pz,
                  DAT_MEM_PRIV_ALL_FLAG);
}

static void endpoint(end_t *end)
{
    DAT_OK(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->conn,
                         NULL, &end->ep));
}

static void free_endpoint(end_t *end)
{
    DAT_OK(dat_ep_free(end->ep));
    end->ep = DAT_HANDLE_NULL;
    evd_drain(end->conn);
    evd_drain(end->recv);
    evd_drain(end->request);
}

static DAT_EVENT_NUMBER next_event(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(evd, WAIT_MS * 1000, 1, &event, &more));
    return event.event_number;
}

/* False: the first member is lost at present. */
static bool try_connect(pair_t *p)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(end_connect(&p->from, p->to.qual));
    for (;;) {
        if (!dat_evd_wait(p->to.cr, 1000, 1, &event, &more)) {
            DAT_OK(
                dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle,
                              p->to.ep, 0, NULL));
            break;
        }
        if (!dat_evd_dequeue(p->from.conn, &event))
            return false;
    }
    return next_event(p->from.conn) == DAT_CONNECTION_EVENT_ESTABLISHED &&
           next_event(p->to.conn) == DAT_CONNECTION_EVENT_ESTABLISHED;
}

static void connect_pair(pair_t *p)
{
    for (;;) {
        endpoint(&p->from);
        endpoint(&p->to);
        if (try_connect(p))
            return;
        free_endpoint(&p->from);
        free_endpoint(&p->to);
        pause_ms(20);
    }
}

/* Writes from a new range, sends, and checks both. */
static void exchange(pair_t *p)
{
    size_t bytes = random_next(&p->seed) % 2 ? LONG : 64;
    region_t new = p->from.mem;
    region_register(&new, p->from.ia, p->from.pz, DAT_MEM_PRIV_ALL_FLAG);
    fill(new.data, bytes, ++p->number);
    DAT_LMR_TRIPLET in = local(&p->to.mem, LONG, 8000),
                    out = local(&new, 0, bytes), text = local(&new, 0, 8);
    DAT_RMR_TRIPLET there = remote(&p->to.mem, 0, bytes);
    text.segment_length = (DAT_SEG_LENGTH)(1 + random_next(&p->seed) % 8000);
    DAT_OK(dat_ep_post_recv(p->to.ep, 1, &in, cookie(1),
                            DAT_COMPLETION_DEFAULT_FLAG));
    DAT_OK(dat_ep_post_rdma_write(p->from.ep, 1, &out, cookie(2), &there,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_post_send(p->from.ep, 1, &text, cookie(3),
                            DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(p->to.recv, 1, DAT_DTO_SUCCESS, text.segment_length);
    assert_memory_equal(p->to.mem.data, new.data, bytes);
    assert_memory_equal(p->to.mem.data + LONG, new.data, text.segment_length);
    EXPECT_DTO(p->from.request, 3, DAT_DTO_SUCCESS, text.segment_length);
    DAT_OK(dat_lmr_free(new.lmr));
}

/* In a different way each time. */
static void disconnect_pair(pair_t *p)
{
    DAT_LMR_TRIPLET out = local(&p->from.mem, 0, LONG);
    DAT_RMR_TRIPLET there = remote(&p->to.mem, 0, LONG);
    unsigned way = (unsigned)random_next(&p->seed) % 3;
    DAT_OK(dat_ep_post_rdma_read(p->from.ep, 1, &out, cookie(4), &there,
                                 DAT_COMPLETION_DEFAULT_FLAG));
    if (way < 2) {
        DAT_OK(dat_ep_disconnect(p->to.ep, way ? DAT_CLOSE_ABRUPT_FLAG
                                               : DAT_CLOSE_GRACEFUL_FLAG));
        next_event(p->from.conn);
    }
    free_endpoint(&p->from);
    free_endpoint(&p->to);
}

static void *use(void *arg)
{
    pair_t *p = arg;
    while (!done) {
        connect_pair(p);
        for (unsigned i = 0; i < 50 && !done; i++)
            exchange(p);
        disconnect_pair(p);
    }
    return NULL;
}

static void together(void **state)
{
    end_t a, b;
    pair_t pair[THREADS] = {0};
    pthread_t thread[THREADS];
    cable_t cable[2];
    const char *folder = cables_folder();
    assert_non_null(folder);
    assert_int_equal(cable_grasp(&cable[0], folder, "a"), 0);
    assert_int_equal(cable_grasp(&cable[1], folder, "b"), 0);
    setenv("TEST_IA", "bond-even", 1);
    end_open(&a, NULL);
    end_open(&b, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        pair[i].seed = i;
        pair_open(&pair[i], &a, &b);
        assert_int_equal(pthread_create(&thread[i], NULL, use, &pair[i]), 0);
    }
    for (unsigned i = 0; i < CHANGES; i++) {
        pause_ms(300);
        assert_int_equal(cable_pull(&cable[i % 2]), 0);
        pause_ms(50);
        assert_int_equal(cable_plug(&cable[i % 2]), 0);
    }
    done = true;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(pair[i].number > CHANGES);
        end_close_beside(&pair[i].from);
        end_close_beside(&pair[i].to);
    }
    ends_close(&a, &b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

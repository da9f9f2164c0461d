/* SPDX-License-Identifier: BSD-3-Clause */
/* With the engine `threaded`, threads post the parts of a long request at the
 * same time, and all is as with one thread. */
#include "peer.h"
#include "tests/stand_in.h"

#include <stdatomic.h>
#include <time.h>

#include "dapl_rail/platform/busywait.h"
#include "tests/cable.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-threaded", "a b engine=threaded"},
};
#define BYTES   (40u << 20) /* more pieces than the bond posts at once */
#define SOME    (1u << 20)
#define LONG    (64u << 10)
#define MEET_NS 200000000u
#define TRIES   20
#define ROUNDS  30

static cable_t cable;
static atomic_bool meets; /* long posts wait for one another */
static atomic_bool met;
static _Atomic unsigned waiting; /* posts */

/* Waits for another thread that posts, too. */
static void meet(void)
{
    uint64_t until = busywait_now_ns() + MEET_NS;
    if (atomic_fetch_add(&waiting, 1))
        atomic_store(&met, true);
    while (!atomic_load(&met) && busywait_now_ns() < until)
        poll_pause();
    atomic_fetch_sub(&waiting, 1);
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *seg,
                                           DAT_DTO_COOKIE cookie_,
                                           const DAT_RMR_TRIPLET *there,
                                           DAT_COMPLETION_FLAGS flags)
{
    bool is_piece =
        n && seg->segment_length >= LONG && strncmp(ia_of(ep), "bond", 4) != 0;
    if (is_piece && atomic_load(&meets))
        meet();
    return real(dat_ep_post_rdma_write)(ep, n, seg, cookie_, there, flags);
}

static void post(end_t *a, const end_t *b, bool reads, size_t bytes)
{
    DAT_LMR_TRIPLET seg = local(&a->mem, 0, bytes);
    DAT_RMR_TRIPLET to = remote(&b->mem, 0, bytes);
    DAT_OK((reads ? dat_ep_post_rdma_read : dat_ep_post_rdma_write)(
        a->ep, 1, &seg, cookie(1), &to, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(a->request, 1, DAT_DTO_SUCCESS, bytes);
}

static void at_the_same_time(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, SOME);
    end_connect_both(&a, &b);
    atomic_store(&meets, true);
    for (unsigned i = 0; i < TRIES && !atomic_load(&met); i++)
        post(&a, &b, false, SOME); /* the second member may join late */
    atomic_store(&meets, false);
    assert_true(met);
    ends_close(&a, &b);
}

static void long_requests(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    for (unsigned round = 0; round < 4; round++) {
        bool reads = round % 2;
        fill((reads ? &b : &a)->mem.data, BYTES, round + 1);
        post(&a, &b, reads, BYTES);
        assert_memory_equal(a.mem.data, b.mem.data, BYTES);
    }
    ends_close(&a, &b);
}

/* Members fail in the midst of a long request, and come back. */
static void failover(void **state)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round % 10 == 2)
            assert_int_equal(cable_pull(&cable), 0);
        if (round % 10 == 5)
            assert_int_equal(cable_plug(&cable), 0);
        fill(a.mem.data, SOME, round + 1);
        post(&a, &b, false, SOME);
        assert_memory_equal(a.mem.data, b.mem.data, SOME);
        nanosleep(&moment, NULL);
    }
    ends_close(&a, &b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_same_time),
        cmocka_unit_test(long_requests),
        cmocka_unit_test(failover),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    setenv("TEST_IA", "bond-threaded", 1);
    const char *folder = cables_folder();
    if (!folder || cable_grasp(&cable, folder, "a"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

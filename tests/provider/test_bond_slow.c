/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow member is not taken for a silent one, and delays no request that other
 * members carry. */
#include "bond.h"

#include "member_posts.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-slow", "a b threshold=1G"},
    {"libdapl_shm.so", "c", "rate=2"},
    {"libdapl_bond.so", "bond-unequal", "c b"},
};
#define BYTES   (32u << 20)
#define BYTE_NS 10 /* so BYTES take 0.34 s */
#define SOON_US 2000000
#define SOME    (16u << 10)
#define ROUNDS  60
#define FEW     20      /* rounds: by chance, about 6 are so fast */
#define FAST_NS 2000000 /* the bond's thread looks every 20 ms */

static void check(end_t *end, uint64_t number)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(end->request, SOON_US, 1, &event, &more));
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->status, DAT_DTO_SUCCESS);
    assert_int_equal(dto->user_cookie.as_64, number);
}

static void long_requests(void **state)
{
    end_t a, b;
    setenv("TEST_IA", "bond-slow", 1);
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    posts_slow(BYTE_NS);
    end_connect_both(&a, &b);
    fill(a.mem.data, BYTES, 1);
    DAT_LMR_TRIPLET seg = local(&a.mem, 0, BYTES);
    DAT_RMR_TRIPLET to = remote(&b.mem, 0, BYTES);
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    check(&a, 1);
    assert_memory_equal(a.mem.data, b.mem.data, BYTES);
    fill(b.mem.data, BYTES, 2);
    DAT_OK(dat_ep_post_rdma_read(a.ep, 1, &seg, cookie(2), &to,
                                 DAT_COMPLETION_DEFAULT_FLAG));
    check(&a, 2);
    assert_memory_equal(a.mem.data, b.mem.data, BYTES);
    ends_close(&a, &b);
}

/* The read goes over the fast member only. It completes after the write before
 * it, which has no event. */
static bool reads_fast(end_t *a, const end_t *b)
{
    DAT_LMR_TRIPLET word = local(&a->mem, SOME, 8);
    DAT_LMR_TRIPLET seg = local(&a->mem, 0, SOME);
    DAT_RMR_TRIPLET to = remote(&b->mem, SOME, 8);
    DAT_RMR_TRIPLET from = remote(&b->mem, 0, SOME);
    DAT_OK(dat_ep_post_rdma_write(a->ep, 1, &word, cookie(1), &to,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    uint64_t begin = busywait_now_ns();
    DAT_OK(dat_ep_post_rdma_read(a->ep, 1, &seg, cookie(2), &from,
                                 DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(a->request, 2, DAT_DTO_SUCCESS, SOME);
    return busywait_now_ns() - begin < FAST_NS;
}

static void read_after_write(void **state)
{
    end_t a, b;
    unsigned fast = 0;
    setenv("TEST_IA", "bond-unequal", 1);
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    for (unsigned i = 0; i < ROUNDS; i++)
        fast += reads_fast(&a, &b);
    assert_true(fast > FEW);
    ends_close(&a, &b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_after_write),
        cmocka_unit_test(long_requests),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

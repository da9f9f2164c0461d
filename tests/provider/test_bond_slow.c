/* SPDX-License-Identifier: BSD-3-Clause */
/* A member that takes long for a long request is not taken for a silent one. */
#include "bond.h"

#include "member_posts.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-slow", "a b threshold=1G"},
};
#define BYTES   (32u << 20)
#define BYTE_NS 10 /* so BYTES take 0.34 s */
#define SOON_US 2000000

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_requests),
    };
    setenv("TEST_IA", "bond-slow", 1);
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

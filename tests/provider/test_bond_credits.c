/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond's own messages arrive, however many messages of the consumer wait for
 * receives. */
#include "bond.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond", "a b"},
};
#define HELD  56 /* messages: as many as the bond takes without receives */
#define BACK  12
#define BYTES 8u

static void post_sends(end_t *end, unsigned count)
{
    DAT_LMR_TRIPLET seg = local(&end->mem, 0, BYTES);
    for (unsigned i = 0; i < count; i++)
        DAT_OK(dat_ep_post_send(end->ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_receives(end_t *end, unsigned count)
{
    DAT_LMR_TRIPLET seg = local(&end->mem, 0, BYTES);
    for (unsigned i = 0; i < count; i++)
        DAT_OK(dat_ep_post_recv(end->ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
}

/* The peer b has no receives. It sends, too, and learns that its messages have
 * arrived. */
static void held_messages(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, 4096);
    end_connect_both(&a, &b);
    post_sends(&a, HELD);
    expect_silence(a.request, 50);
    post_sends(&b, BACK);
    post_receives(&a, BACK);
    for (unsigned i = 0; i < BACK; i++) {
        EXPECT_DTO(a.recv, i, DAT_DTO_SUCCESS, BYTES);
        EXPECT_DTO(b.request, i, DAT_DTO_SUCCESS, BYTES);
    }
    post_receives(&b, HELD);
    for (unsigned i = 0; i < HELD; i++)
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, BYTES);
    ends_close(&a, &b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_messages),
    };
    setenv("TEST_IA", "bond", 1);
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond keeps the order of one rail, whichever member is late. The last byte
 * of a write is written last, and later requests do not overtake the write. */
#include "bond.h"

#include <stdatomic.h>

#include "member_posts.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_shm.so", "c", ""},
    {"libdapl_bond.so", "bond-two", "a b policy=even"},
    {"libdapl_bond.so", "bond-three", "a b c threshold=4K policy=even"},
};
#define ROUNDS 200
#define LONG   (256u << 10)

static long ends_late_ms; /* disconnects begin so much later */

STAND_IN DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
    nanosleep(&(struct timespec){.tv_nsec = ends_late_ms * 1000000}, NULL);
    return real(dat_ep_disconnect)(ep, flags);
}

static void late_lead(void **state)
{
    posts_delay((unsigned[]){2000, 0});
    bond_stream("bond-two", ROUNDS, NULL);
}

static void late_other(void **state)
{
    posts_delay((unsigned[]){0, 2000});
    bond_stream("bond-two", ROUNDS, NULL);
}

static void late_all(void **state)
{
    posts_delay((unsigned[]){500, 1000});
    bond_stream("bond-three", ROUNDS, NULL);
}

/* Reads or writes the peer's memory, from the offset @p there on; here, from
 * the offset @p at on. */
static void post_access(end_t *me, size_t at, const end_t *peer, enum kind kind,
                        int64_t there, uint64_t number)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, at, LONG);
    DAT_RMR_TRIPLET to = remote(&peer->mem, 0, LONG);
    to.virtual_address += (uint64_t)there;
    DAT_OK((kind == READ ? dat_ep_post_rdma_read : dat_ep_post_rdma_write)(
        me->ep, 1, &seg, cookie(number), &to, DAT_COMPLETION_DEFAULT_FLAG));
}

/* A write and two reads use the same local memory. The write sends the bytes
 * that were there first; the bytes of the second read stay there. */
static void same_local_memory(void **state)
{
    static unsigned char image[3 * LONG + 2 * GUARD], sent[LONG];
    peer_t peer;
    end_t me;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 3 * LONG,
                                DAT_MEM_PRIV_ALL_FLAG});
    peer_fill(&peer, 1);
    posts_delay((unsigned[]){1000, 2000});
    for (unsigned round = 0; round < 20; round++) {
        memset(sent, (int)round, LONG);
        memset(me.mem.data, (int)round, LONG);
        post_access(&me, 0, &peer.end, WRITE, 2 * LONG, 0);
        post_access(&me, 0, &peer.end, READ, 0, 1);
        post_access(&me, 0, &peer.end, READ, LONG, 2);
        for (uint64_t i = 0; i < 3; i++)
            EXPECT_DTO(me.request, i, DAT_DTO_SUCCESS, LONG);
        peer_read(&peer, image);
        assert_memory_equal(image + GUARD + 2 * LONG, sent, LONG);
        assert_memory_equal(me.mem.data, image + GUARD + LONG, LONG);
    }
    posts_delay((unsigned[]){0, 0});
    peer_close(&peer, &me);
}

static void post_word(end_t *me, const end_t *peer, size_t at, uint64_t word)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 2 * LONG, sizeof word);
    DAT_RMR_TRIPLET to = remote(&peer->mem, at, sizeof word);
    memcpy(me->mem.data + 2 * LONG, &word, sizeof word);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(2), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
}

/* Polls until the word has come: true if that is before the read's end. */
static bool comes_first(end_t *me, const end_t *peer, size_t at, uint64_t word)
{
    DAT_EVENT event;
    bool read_done = false;
    for (unsigned seen = 0; seen < 100;) {
        read_done =
            read_done || dat_evd_dequeue(me->request, &event) == DAT_SUCCESS;
        seen += atomic_load((_Atomic uint64_t *)(peer->mem.data + at)) == word;
    }
    if (!read_done)
        EXPECT_DTO(me->request, 1, DAT_DTO_SUCCESS, LONG);
    return !read_done;
}

/* A write need not wait for a long read before it, as over one rail. (But see
 * the next test.) So two ends that read at the same time can still talk. */
static void write_after_read(void **state)
{
    end_t me, peer;
    unsigned early = 0;
    ends_open(&me, &peer, MEMORY_MEMFD, 3 * LONG);
    end_connect_both(&me, &peer);
    posts_delay((unsigned[]){20000, 20000});
    for (uint64_t round = 1; early < 4; round++) {
        assert_true(round < 300); /* the second member may join late */
        post_access(&me, 0, &peer, READ, 0, 1);
        post_word(&me, &peer, LONG, round);
        early += comes_first(&me, &peer, LONG, round);
        EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
    }
    posts_delay((unsigned[]){0, 0});
    ends_close(&me, &peer);
}

/* It does wait if it would change what the read fetches. */
static void write_after_read_of_it(void **state)
{
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, 3 * LONG);
    end_connect_both(&me, &peer);
    memset(peer.mem.data, 0, LONG);
    posts_delay((unsigned[]){0, 20000});
    for (uint64_t round = 1; round <= 10; round++) {
        uint64_t end;
        post_access(&me, 0, &peer, READ, 0, 1);
        post_word(&me, &peer, LONG - sizeof end, round);
        EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, LONG);
        EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, sizeof end);
        memcpy(&end, me.mem.data + LONG - sizeof end, sizeof end);
        assert_int_equal(end, round - 1);
    }
    posts_delay((unsigned[]){0, 0});
    ends_close(&me, &peer);
}

/* A long write sends what an earlier read has fetched, whichever links carry
 * the two. */
static void write_of_fetched(void **state)
{
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, 3 * LONG);
    end_connect_both(&me, &peer);
    posts_delay((unsigned[]){0, 20000});
    for (int round = 1; round <= 10; round++) {
        memset(me.mem.data, 0, 2 * LONG);
        memset(peer.mem.data, round, LONG);
        post_access(&me, 0, &peer, READ, 0, 1);
        post_access(&me, LONG / 2, &peer, WRITE, LONG, 2);
        EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, LONG);
        EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, LONG);
        assert_memory_equal(peer.mem.data + LONG, peer.mem.data, LONG / 2);
    }
    posts_delay((unsigned[]){0, 0});
    ends_close(&me, &peer);
}

/* The delays of this test keep the order of an EP's posts when they change. */
static void delays_change(void **state)
{
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, 3 * LONG);
    end_connect_both(&me, &peer);
    for (uint64_t round = 1; round <= 4; round++) {
        posts_delay((unsigned[]){20000, 20000});
        post_word(&me, &peer, 0, round);
        posts_delay((unsigned[]){0, 0});
        post_word(&me, &peer, 0, round);
        EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
        EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
        expect_silence(me.request, 25);
    }
    ends_close(&me, &peer);
}

/* When a read has failed, its memory belongs to the consumer again: no part of
 * the read arrives there later. */
static void failed_read(void **state)
{
    static unsigned char mine[LONG];
    peer_t peer;
    end_t me;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, LONG,
                                DAT_MEM_PRIV_ALL_FLAG});
    posts_delay((unsigned[]){0, 20000});
    ends_late_ms = 50;
    post_access(&me, 0, &peer.end, READ, -64, 1); /* the lead's part fails */
    EXPECT_DTO(me.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    memset(mine, 0xa5, LONG);
    memcpy(me.mem.data, mine, LONG);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    assert_memory_equal(me.mem.data, mine, LONG);
    ends_late_ms = 0;
    posts_delay((unsigned[]){0, 0});
    peer_close(&peer, &me);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_lead),
        cmocka_unit_test(late_other),
        cmocka_unit_test(late_all),
        cmocka_unit_test(same_local_memory),
        cmocka_unit_test(failed_read),
        cmocka_unit_test(write_after_read),
        cmocka_unit_test(write_after_read_of_it),
        cmocka_unit_test(write_of_fetched),
        cmocka_unit_test(delays_change),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    setenv("TEST_IA", "bond-two", 1);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Over TCP, too, an access that key, range and privileges do not allow breaks
 * the connection at both ends and touches no memory. The request may have
 * completed before: its memory was free again. */
#include "tcp.h"

#define BYTES 65536
#define IMAGE (BYTES + 2 * GUARD)
#define LONG  20000 /* bytes that are not copied when posted */

static unsigned char image[IMAGE], found[IMAGE]; /* of the peer's memory */

typedef struct attempt {
    int privileges;    /* that the peer's memory has not */
    bool read, freed;  /* a read; of memory that is registered no longer */
    size_t bytes;      /* beyond the end: of BYTES */
    uint64_t key, way; /* added to key and address */
} attempt_t;

static void try(const attempt_t *a)
{
    peer_t peer;
    end_t me;
    peer_start(&peer,
               &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, BYTES,
                                 (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG &
                                                      ~a->privileges)});
    end_open_memory(&me, MEMORY_MALLOC, IMAGE, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&peer, &me);
    peer_fill(&peer, 77);
    fill(me.mem.data, IMAGE, 5);
    if (a->freed)
        peer_free_lmr(&peer);
    DAT_LMR_TRIPLET here = local(&me.mem, 0, a->bytes);
    DAT_RMR_TRIPLET there = remote(&peer.end.mem, 0, a->bytes);
    there.rmr_context += (DAT_RMR_CONTEXT)a->key;
    there.virtual_address += a->way;
    if (a->read)
        DAT_OK(dat_ep_post_rdma_read(me.ep, 1, &here, cookie(1), &there, 0));
    else
        DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &here, cookie(1), &there, 0));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    peer_expect_event(&peer, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);
    DAT_EVENT event = EXPECT_EVENT(me.request, DAT_DTO_COMPLETION_EVENT);
    if (a->read)
        assert_int_not_equal(event.event_data.dto_completion_event_data.status,
                             DAT_DTO_SUCCESS);
    peer_read(&peer, found);
    assert_memory_equal(found, image, IMAGE);
    fill(found, IMAGE, 5);
    assert_memory_equal(me.mem.data, found, IMAGE);
    peer_close(&peer, &me);
}

static void try_both_ways(attempt_t a)
{
    fill(image, IMAGE, 77);
    for (int read = 0; read < 2; read++) {
        a.read = read;
        try(&a);
    }
}

static void wrong_key(void **state)
{
    try_both_ways((attempt_t){.bytes = 8, .key = 1});
    try_both_ways((attempt_t){.bytes = LONG, .key = 1 << 14});
}

static void freed_key(void **state)
{
    try_both_ways((attempt_t){.bytes = 64, .freed = true});
}

static void outside_of_the_range(void **state)
{
    try_both_ways((attempt_t){.bytes = BYTES + 1});
    try_both_ways((attempt_t){.bytes = 8, .way = BYTES - 7});
    try_both_ways((attempt_t){.bytes = LONG, .way = (uint64_t)-1});
}

static void without_the_privilege(void **state)
{
    fill(image, IMAGE, 77);
    try(&(attempt_t){.privileges = DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                     .bytes = LONG});
    try(&(attempt_t){.privileges = DAT_MEM_PRIV_REMOTE_READ_FLAG,
                     .read = true,
                     .bytes = LONG});
    try(&(attempt_t){.privileges = DAT_MEM_PRIV_REMOTE_READ_FLAG |
                                   DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                     .bytes = 8});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_key),
        cmocka_unit_test(freed_key),
        cmocka_unit_test(outside_of_the_range),
        cmocka_unit_test(without_the_privilege),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

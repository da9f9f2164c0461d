/* SPDX-License-Identifier: BSD-3-Clause */
/* An LMR is freed, and the next one of the same memory takes its place in the
 * table. A peer that has used the old key uses the new one, and the old key
 * moves no byte. */
#include "util.h"

#include "providers/core/core.h"

#define BYTES 65536u

enum request { WRITE, READ };

static void post(end_t *me, const region_t *there, size_t bytes,
                 enum request request)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, bytes);
    DAT_RMR_TRIPLET at = remote(there, 0, bytes);
    if (request == WRITE)
        DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(bytes), &at,
                                      DAT_COMPLETION_DEFAULT_FLAG));
    else
        DAT_OK(dat_ep_post_rdma_read(me->ep, 1, &seg, cookie(bytes), &at,
                                     DAT_COMPLETION_DEFAULT_FLAG));
}

/* The peer writes by the present key. A write over TCP arrives after its
 * completion, its last byte last. */
static void put(end_t *me, const end_t *owner, size_t bytes, int byte)
{
    const volatile unsigned char *there = owner->mem.data;
    memset(me->mem.data, byte, bytes);
    post(me, &owner->mem, bytes, WRITE);
    EXPECT_DTO(me->request, bytes, DAT_DTO_SUCCESS, bytes);
    for (unsigned i = 0; i < WAIT_MS && there[bytes - 1] != byte; i++)
        poll_pause();
    assert_memory_equal(owner->mem.data, me->mem.data, bytes);
}

/* The request by an old key. A write over TCP may be complete before the owner
 * refuses it. */
static void expect_refused(end_t *me, enum request request)
{
    DAT_EVENT event = EXPECT_EVENT(me->request, DAT_DTO_COMPLETION_EVENT);
    if (request == READ || !strstr(IA_NAME, "tcp"))
        assert_int_not_equal(event.event_data.dto_completion_event_data.status,
                             DAT_DTO_SUCCESS);
    EXPECT_EVENT(me->conn, DAT_CONNECTION_EVENT_BROKEN);
}

/* The old key ends the connection. Neither side's bytes change. */
static void try_old_key(size_t bytes, enum request request, bool uses_new)
{
    end_t me, owner;
    unsigned char mine[BYTES], its[BYTES];
    ends_open(&me, &owner, MEMORY_MEMFD, BYTES);
    end_connect_both(&me, &owner);
    put(&me, &owner, bytes, 1);
    region_t old = owner.mem;
    DAT_OK(dat_lmr_free(owner.mem.lmr));
    region_register(&owner.mem, owner.ia, owner.pz, DAT_MEM_PRIV_ALL_FLAG);
    assert_int_equal(old.rmr_context % CORE_MAX_MRS,
                     owner.mem.rmr_context % CORE_MAX_MRS);
    assert_int_not_equal(old.rmr_context, owner.mem.rmr_context);
    if (uses_new)
        put(&me, &owner, bytes, 2);
    memset(me.mem.data, 3, bytes);
    memcpy(mine, me.mem.data, bytes);
    memcpy(its, owner.mem.data, bytes);
    post(&me, &old, bytes, request);
    expect_refused(&me, request);
    assert_memory_equal(mine, me.mem.data, bytes);
    assert_memory_equal(its, owner.mem.data, bytes);
    ends_close(&me, &owner);
}

/* The peer may have used the new key before: it knows one of them. */
static void old_key(size_t bytes, enum request request)
{
    try_old_key(bytes, request, false);
    try_old_key(bytes, request, true);
}

static void short_write(void **state)
{
    old_key(8, WRITE);
}

static void long_write(void **state)
{
    old_key(BYTES, WRITE);
}

static void short_read(void **state)
{
    old_key(8, READ);
}

static void long_read(void **state)
{
    old_key(BYTES, READ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_write),
        cmocka_unit_test(long_write),
        cmocka_unit_test(short_read),
        cmocka_unit_test(long_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

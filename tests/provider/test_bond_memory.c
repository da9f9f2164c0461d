/* SPDX-License-Identifier: BSD-3-Clause */
/* What the members' LMRs of a bond allow, and what happens while they end. */
#include "bond.h"
#include "member_frees.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define MARK_BYTES 8u

static atomic_uint regions;      /* LMRs of members that peers can write */
static _Atomic DAT_VLEN longest; /* of these */
static atomic_uint seconds;      /* LMRs of the second member */
static _Atomic DAT_VLEN unable;  /* it registers no range of so many bytes, and
                                    the first one does not come back; 0: both do
                                  */
static _Atomic(DAT_LMR_HANDLE)
    table;                  /* of keys, the latest of the first member */
static DAT_EP_HANDLE first; /* an EP of the first member */

STAND_IN DAT_RETURN dat_lmr_create(
    DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION where,
    DAT_VLEN bytes, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
    DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered, DAT_VADDR *address)
{
    if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) {
        regions++;
        longest = bytes > longest ? bytes : longest;
    }
    DAT_RETURN ret =
        real(dat_lmr_create)(ia, type, where, bytes, pz, privileges, va, lmr,
                             lmr_context, rmr_context, registered, address);
    bool second = ret == DAT_SUCCESS && !strcmp(ia_of(*lmr), "shm1");
    if (second && bytes == unable) {
        DAT_OK(dat_lmr_free(*lmr));
        *lmr = DAT_HANDLE_NULL;
        return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    }
    seconds += second;
    if (privileges == DAT_MEM_PRIV_REMOTE_READ_FLAG && ret == DAT_SUCCESS &&
        !strcmp(ia_of(*lmr), "shm0"))
        table = *lmr;
    return ret;
}

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    bool of_first = !strcmp(ia_of(ep), "shm0");
    if (of_first && unable)
        return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    if (of_first)
        first = ep;
    return real(dat_ep_connect)(ep, address, qual, timeout, bytes, data, qos,
                                flags);
}

/* The first member refuses to free LMRs, or this one. */
static atomic_bool refuses, has_refused, has_freed;
static DAT_LMR_HANDLE only;

static bool may_free(DAT_LMR_HANDLE lmr)
{
    bool meant = !strcmp(ia_of(lmr), "shm0") && (!only || lmr == only);
    bool refused = meant && atomic_load(&refuses);
    if (meant)
        atomic_store(refused ? &has_refused : &has_freed, true);
    return !refused;
}

/* ---------------------------------------------------------------- tests --- */

/* Peers can write nothing in the memory of a bond but the marks. */
static void marks_only(void **state)
{
    end_t a, b;
    end_open_on(&a, "bond0", NULL);
    end_open_on(&b, "bond0", NULL);
    end_connect_both(&a, &b);
    end_close(&a);
    end_close(&b);
    assert_true(regions > 0);
    assert_int_equal(longest, MARK_BYTES);
}

static void write_from(end_t *me, const region_t *from, const end_t *peer,
                       DAT_DTO_COMPLETION_STATUS status)
{
    DAT_LMR_TRIPLET seg = local(from, 0, 64);
    DAT_RMR_TRIPLET to = remote(&peer->mem, 0, 64);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(me->request, 1, status, 64);
}

static void *end_region(void *region)
{
    DAT_OK(dat_lmr_free(((region_t *)region)->lmr));
    return NULL;
}

/* A member takes long to free its LMR. Meanwhile the bond carries requests. */
static void others_go_on(void **state)
{
    end_t a, b;
    region_t more;
    pthread_t thread;
    ends_open(&a, &b, MEMORY_MEMFD, 4096);
    end_connect_both(&a, &b);
    region_create(&more, MEMORY_MEMFD, 4096, a.ia, a.pz, DAT_MEM_PRIV_ALL_FLAG);
    atomic_store(&refuses, true);
    assert_int_equal(pthread_create(&thread, NULL, end_region, &more), 0);
    while (!atomic_load(&has_refused))
        poll_pause();
    write_from(&a, &a.mem, &b, DAT_DTO_SUCCESS);
    atomic_store(&refuses, false);
    pthread_join(thread, NULL);
    more.lmr = DAT_HANDLE_NULL;
    region_destroy(&more);
    ends_close(&a, &b);
}

/* A member can't free its LMR. A request that uses the range fails. */
static void half_freed(void **state)
{
    end_t a, b;
    region_t more;
    ends_open(&a, &b, MEMORY_MEMFD, 4096);
    end_connect_both(&a, &b);
    region_create(&more, MEMORY_MEMFD, 4096, a.ia, a.pz, DAT_MEM_PRIV_ALL_FLAG);
    atomic_store(&refuses, true);
    DAT_FAILS(dat_lmr_free(more.lmr), DAT_INVALID_STATE);
    write_from(&a, &more, &b, DAT_DTO_ERR_LOCAL_PROTECTION);
    atomic_store(&refuses, false);
    while (dat_lmr_free(more.lmr) != DAT_SUCCESS)
        poll_pause();
    more.lmr = DAT_HANDLE_NULL;
    region_destroy(&more);
    ends_close(&a, &b);
}

/* A peer still reads the zone's table of keys when the zone ends. The call does
 * not wait for the peer; the bond frees the table later. */
static void table_freed_later(void **state)
{
    end_t me;
    region_t more;
    DAT_PZ_HANDLE pz;
    end_open_on(&me, "bond0", NULL);
    DAT_OK(dat_pz_create(me.ia, &pz));
    region_create(&more, MEMORY_MEMFD, 4096, me.ia, pz, DAT_MEM_PRIV_ALL_FLAG);
    only = table;
    atomic_store(&has_refused, false);
    atomic_store(&has_freed, false);
    atomic_store(&refuses, true);
    region_destroy(&more);
    DAT_OK(dat_pz_free(pz));
    assert_true(atomic_load(&has_refused));
    assert_false(atomic_load(&has_freed));
    atomic_store(&refuses, false);
    time_t until = time(NULL) + WAIT_MS / 1000;
    while (!atomic_load(&has_freed)) {
        assert_true(time(NULL) <= until);
        poll_pause();
    }
    only = DAT_HANDLE_NULL;
    end_close(&me);
}

#define LINES 32u /* writes, of 64 bytes each */

static void write_lines(end_t *from, const end_t *to)
{
    fill(from->mem.data, LINES * 64, 3);
    for (unsigned i = 0; i < LINES; i++) {
        DAT_LMR_TRIPLET seg = local(&from->mem, i * 64, 64);
        DAT_RMR_TRIPLET there = remote(&to->mem, i * 64, 64);
        if (i == LINES / 2) /* the link is lost; the others carry on */
            DAT_OK(dat_ep_disconnect(first, DAT_CLOSE_ABRUPT_FLAG));
        DAT_OK(dat_ep_post_rdma_write(from->ep, 1, &seg, cookie(i), &there,
                                      DAT_COMPLETION_DEFAULT_FLAG));
    }
    for (unsigned i = 0; i < LINES; i++)
        EXPECT_DTO(from->request, i, DAT_DTO_SUCCESS, 64);
    assert_memory_equal(to->mem.data, from->mem.data, LINES * 64);
}

/* A range that is never cut is registered on the lead only. When the lead is
 * lost, all ranges are registered on the other members. */
static void on_the_lead(void **state)
{
    end_t a, b;
    region_t more;
    ends_open(&a, &b, MEMORY_MALLOC, 65536);
    end_connect_both(&a, &b);
    unsigned before = seconds;
    region_create(&more, MEMORY_MALLOC, 4096, a.ia, a.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    assert_int_equal(seconds, before);
    write_from(&a, &more, &b, DAT_DTO_SUCCESS);
    write_lines(&a, &b);
    write_from(&a, &more, &b, DAT_DTO_SUCCESS);
    write_from(&b, &b.mem, &a, DAT_DTO_SUCCESS);
    region_destroy(&more);
    ends_close(&a, &b);
}

/* The lead is lost, and the second member can't register some of the ranges. A
 * request that uses one of this end fails by an error of this end, and one that
 * uses one of the peer's is refused. */
static void unable_late(void **state)
{
    for (unsigned here = 0; here < 2; here++) {
        end_t a, b, *of = here ? &a : &b;
        region_t more;
        ends_open(&a, &b, MEMORY_MALLOC, 65536);
        end_connect_both(&a, &b);
        region_create(&more, MEMORY_MALLOC, 4096, of->ia, of->pz,
                      DAT_MEM_PRIV_ALL_FLAG);
        unable = 4096;
        write_lines(&a, &b);
        DAT_LMR_TRIPLET seg = local(here ? &more : &a.mem, 0, 64);
        DAT_RMR_TRIPLET to = remote(here ? &b.mem : &more, 0, 64);
        DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &seg, cookie(1), &to,
                                      DAT_COMPLETION_DEFAULT_FLAG));
        EXPECT_DTO(a.request, 1,
                   here ? DAT_DTO_ERR_LOCAL_EP : DAT_DTO_ERR_REMOTE_ACCESS, 0);
        unable = 0;
        region_destroy(&more);
        ends_close(&a, &b);
    }
}

/* It stays so when a connection ends with all of its links. */
static void after_an_end(void **state)
{
    enum { TIMES = 30 };
    for (unsigned i = 0; i < TIMES; i++) {
        end_t a, b;
        region_t more;
        ends_open(&a, &b, MEMORY_MALLOC, 4096);
        end_connect_both(&a, &b);
        DAT_OK(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG));
        EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        unsigned before = seconds;
        region_create(&more, MEMORY_MALLOC, 4096, a.ia, a.pz,
                      DAT_MEM_PRIV_ALL_FLAG);
        assert_int_equal(seconds, before);
        region_destroy(&more);
        ends_close(&a, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_only),   cmocka_unit_test(others_go_on),
        cmocka_unit_test(half_freed),   cmocka_unit_test(table_freed_later),
        cmocka_unit_test(on_the_lead),  cmocka_unit_test(unable_late),
        cmocka_unit_test(after_an_end),
    };
    setenv("TEST_IA", "bond0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

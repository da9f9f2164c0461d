/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of dat_ib_collective_* when a call fails, a rank frees the group, or
 * an allocation fails. */
#include "collective_ranks.h"

#include <link.h>
#include <unistd.h>

#include "tests/stand_in.h"

/* ------------------------------------------------------------- buffers --- */

#define LONG     65536 /* bytes of a block: it goes straight to its place */
#define PREPARED 5     /* calls of a kind: from then on none is prepared */

static unsigned char sent[LONG], got[2 * LONG];

static DAT_IB_STATUS gather(struct rank *r, uint64_t value)
{
    DAT_OK(dat_ib_collective_allgather(r->group, sent, LONG, got, LONG,
                                       context(value), 0));
    return event_of(r, r->evd, DAT_IB_COLLECTIVE_ALLGATHER_STATUS, value);
}

/* Rank 0 gives up waiting for rank 1, and uses its buffer again. Rank 1 then
 * makes its call, for which rank 0 has told where its block belongs. */
static void comes_late(struct rank *r)
{
    if (!r->rank)
        setenv("DRAIL_TIMEOUT_MS", "1000", 1);
    open_all(r);
    for (unsigned i = 0; i < PREPARED; i++)
        assert_int_equal(gather(r, i), DAT_OP_SUCCESS);
    if (r->rank)
        meet(r);
    assert_int_equal(gather(r, PREPARED), DAT_IB_COLL_COMP_ERR);
    memset(got, 0xa5, sizeof got);
    if (!r->rank)
        meet(r);
    meet(r);
    usleep(20000);
    for (size_t i = 0; i < sizeof got; i++)
        assert_int_equal(got[i], 0xa5);
    assert_int_equal(gather(r, 1), DAT_IB_COLL_COMP_ERR);
    close_all(r);
}

static void test_late(void **state)
{
    run_well(2, comes_late);
}

/* --------------------------------------------------------------- freed --- */

/* Rank 0 frees a group without calls. Then rank 1, of the same node, waits for
 * it. */
static void is_freed(struct rank *r)
{
    open_ia(r);
    create_member(r);
    create_group(r, 2, 2);
    barriers(r);
    if (r->rank) {
        DAT_OK(dat_ib_collective_barrier(r->group, context(1), 0));
        assert_int_equal(
            event_of(r, r->evd, DAT_IB_COLLECTIVE_BARRIER_STATUS, 1),
            DAT_IB_COLL_COMP_ERR);
    }
    DAT_OK(dat_ib_collective_free_group(r->group));
    meet(r);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_freed(void **state)
{
    run_well(2, is_freed);
}

/* -------------------------------------------------------------- memory --- */

#ifndef DRAIL_SANITIZE /* sanitizers have an allocator of their own */
/* The code of libdcoll_dat, and how many more allocations of it succeed before
 * one fails; negative: none fails. */
static uintptr_t begin, end;
static atomic_int left = -1;

static bool fails(const void *caller)
{
    return (uintptr_t)caller - begin < end - begin && atomic_load(&left) >= 0 &&
           atomic_fetch_sub(&left, 1) == 0;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

STAND_IN void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

STAND_IN void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL
                                              : __libc_calloc(count, size);
}

static int find_code(struct dl_phdr_info *info, size_t size, void *found)
{
    for (unsigned i = 0;
         strstr(info->dlpi_name, "libdcoll_dat") && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        begin = info->dlpi_addr + p->p_vaddr;
        end = begin + p->p_memsz;
    }
    return 0;
}

static unsigned victim;

/* Creates a group while the n-th allocation of the victim fails. Either both
 * ranks have it, or none. True: there was no n-th one. */
static bool create_without(struct rank *r, unsigned n)
{
    if (r->rank == victim)
        atomic_store(&left, (int)n);
    DAT_RETURN ret = begin_group(r, n, NULL);
    if (ret != DAT_SUCCESS) { /* nothing has begun */
        assert_int_equal(DAT_GET_TYPE(ret), DAT_INSUFFICIENT_RESOURCES);
        DAT_OK(begin_group(r, n, NULL));
    }
    DAT_IB_STATUS status = group_status(r, n);
    unsigned char *all = shared->info[MOST - 1];
    all[r->rank] = status == DAT_OP_SUCCESS;
    if (r->rank == victim)
        all[2] = atomic_load(&left) >= 0;
    meet(r);
    assert_int_equal(all[0], all[1]);
    bool none_failed = all[2];
    assert_true(all[0] || !none_failed);
    if (all[0])
        DAT_OK(dat_ib_collective_free_group(r->group));
    meet(r);
    atomic_store(&left, -1);
    return none_failed;
}

static void lacks_memory(struct rank *r)
{
    unsigned n = 0;
    open_ia(r);
    create_member(r);
    dl_iterate_phdr(find_code, NULL);
    assert_true(end > begin);
    while (!create_without(r, n))
        n++;
    assert_in_range(n, 4, 100);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_memory(void **state)
{
    for (victim = 0; victim < 2; victim++)
        run_well(2, lacks_memory);
}
#else
static void test_memory(void **state)
{
    skip();
}
#endif

int main(int argc, char **argv)
{
    (void)argc;
    make_rails(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

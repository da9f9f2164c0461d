/* SPDX-License-Identifier: BSD-3-Clause */
/* A place in the table of ranges is used so often that a key comes again: a
 * peer that still has the old range mapped must not take it for the new one.
 * The test does not register a quarter of a million ranges; it sets the key in
 * the table, which it finds among its own mappings. */
#include "peer.h"

#include <inttypes.h>
#include <stdio.h>

#include "providers/shm/shm.h"

#define BYTES 4096

static struct shm_mr *entry_in(struct shm_mr *table, const region_t *r)
{
    for (unsigned i = 0; i < CORE_MAX_MRS; i++)
        if (table[i].base == (uintptr_t)r->data &&
            atomic_load(&table[i].key) == r->rmr_context)
            return &table[i];
    return NULL;
}

/* The published entry of a range of this process. */
static struct shm_mr *entry_of(const region_t *r)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    struct shm_mr *found = NULL;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        uint64_t start, end, at;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw-s %" SCNx64, &start, &end,
                   &at) == 3 &&
            at <= SHM_PAGE && strstr(line, "dapl-shm-control") &&
            end - start >= SHM_CONTROL_SIZE - at)
            found = entry_in(
                (struct shm_mr *)(uintptr_t)(start + (SHM_PAGE - at)), r);
    }
    fclose(maps);
    assert_non_null(found);
    return found;
}

static void put(end_t *me, const region_t *there, unsigned char byte)
{
    DAT_LMR_TRIPLET iov = local(&me->mem, 0, BYTES);
    DAT_RMR_TRIPLET target = remote(there, 0, BYTES);
    memset(me->mem.data, byte, BYTES);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &iov, cookie(byte), &target, 0));
    EXPECT_DTO(me->request, byte, DAT_DTO_SUCCESS, BYTES);
}

static void the_new_range_is_written(void **state)
{
    end_t me, owner;
    region_t r;
    end_open_memory(&me, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&owner, NULL);
    end_connect_both(&me, &owner);
    region_create(&r, MEMORY_MEMFD, BYTES, owner.ia, owner.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    put(&me, &r, 1);
    assert_int_equal(r.data[BYTES - 1], 1);
    DAT_RMR_CONTEXT key = r.rmr_context;
    region_destroy(&r);
    region_create(&r, MEMORY_MEMFD, BYTES, owner.ia, owner.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    struct shm_mr *entry = entry_of(&r);
    assert_int_equal(r.rmr_context % CORE_MAX_MRS, key % CORE_MAX_MRS);
    DAT_RMR_CONTEXT its_own = r.rmr_context;
    atomic_store(&entry->key, key);
    r.rmr_context = key;
    put(&me, &r, 7);
    assert_int_equal(r.data[BYTES - 1], 7);
    atomic_store(&entry->key, its_own);
    region_destroy(&r);
    ends_close(&me, &owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_new_range_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

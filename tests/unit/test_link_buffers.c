/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that the provider does not deregister are not given to another link:
 * a peer may still read them. */
#include <errno.h>
#include <sys/mman.h>

#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/buffers.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

#define BYTES 4096

static struct drail t;
static struct rail rail;
static int registered;
static bool in_use;

int memory_map(const drail_t *of, size_t bytes, void **address, int *fd)
{
    *fd = -1;
    *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *address == MAP_FAILED ? ENOMEM : 0;
}

DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
                          DAT_REGION_DESCRIPTION where, DAT_VLEN bytes,
                          DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv,
                          DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr,
                          DAT_LMR_CONTEXT *context, DAT_RMR_CONTEXT *rmr,
                          DAT_VLEN *size, DAT_VADDR *start)
{
    assert_int_equal(bytes, BYTES);
    *lmr = where.for_va;
    *context = (DAT_LMR_CONTEXT)++registered;
    return DAT_SUCCESS;
}

DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr)
{
    registered -= !in_use;
    return in_use ? (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE
                  : DAT_SUCCESS;
}

int dat_fail(struct rail *of, const char *call, DAT_RETURN status)
{
    return DRAIL_EDAT;
}

int rail_fail(struct rail *of, int code, const char *format, ...)
{
    return code;
}

static int begin(void **state)
{
    rail = (struct rail){.owner = &t};
    registered = 0;
    in_use = false;
    return 0;
}

static int end(void **state)
{
    buffers_free(&rail);
    return 0;
}

static void given_back_is_taken_again(void **state)
{
    struct piece *first, *second;
    assert_int_equal(buffers_take(&rail, BYTES, &first), 0);
    buffers_give(&rail, first);
    assert_int_equal(registered, 0);
    assert_int_equal(buffers_take(&rail, BYTES, &second), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(registered, 1);
}

static void in_use_is_not(void **state)
{
    struct piece *first, *second, *third;
    assert_int_equal(buffers_take(&rail, BYTES, &first), 0);
    in_use = true;
    buffers_give(&rail, first);
    in_use = false;
    assert_int_equal(buffers_take(&rail, BYTES, &second), 0);
    assert_int_equal(buffers_take(&rail, BYTES, &third), 0);
    assert_ptr_not_equal(second->start, first->start);
    assert_ptr_not_equal(third->start, first->start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(given_back_is_taken_again, begin, end),
        cmocka_unit_test_setup_teardown(in_use_is_not, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

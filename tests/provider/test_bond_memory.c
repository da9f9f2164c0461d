/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers can write nothing in the memory of a bond but the marks. */
#include "bond.h"

#include <dlfcn.h>

#define MARK_BYTES 8u

static unsigned regions; /* LMRs of members that peers can write */
static DAT_VLEN longest; /* of these */

INSTEAD_OF_LIBC DAT_RETURN dat_lmr_create(
    DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION where,
    DAT_VLEN bytes, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
    DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered, DAT_VADDR *address)
{
    __typeof__(&dat_lmr_create) real =
        (__typeof__(real))dlsym(RTLD_NEXT, "dat_lmr_create");
    if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) {
        regions++;
        longest = bytes > longest ? bytes : longest;
    }
    return real(ia, type, where, bytes, pz, privileges, va, lmr, lmr_context,
                rmr_context, registered, address);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

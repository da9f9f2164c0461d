/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider's library serves the IAs of one transport: what is kept of freed
 * objects is as long as that one wants it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/core/core.h"

static int added; /* lines of dat.conf that are served */

DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER *provider,
                                             const DAT_PROVIDER_INFO *info)
{
    assert_string_equal(provider->device_name, info->ia_name);
    added++;
    return DAT_SUCCESS;
}

static void init(const char *name, const struct core_transport *transport)
{
    DAT_PROVIDER_INFO info = {.dapl_version_major = 2};
    strcpy(info.ia_name, name);
    core_provider_init(&info, "", transport);
}

static void a_second_is_refused(void **state)
{
    static const struct core_transport first, second = {.ep_size = 1000};
    (void)state;
    init("a", &first);
    init("b", &first);
    init("a", &first);
    assert_int_equal(added, 3);
    init("c", &second);
    init("a", &second);
    assert_int_equal(added, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

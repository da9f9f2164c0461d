/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails whose name can't be looked up. Stands in for a registry that fails. */
#include "ranks.h"
#include "tests/stand_in.h"

static bool broken;

STAND_IN DAT_RETURN dat_registry_list_providers(DAT_COUNT max, DAT_COUNT *count,
                                                DAT_PROVIDER_INFO *(list[]))
{
    if (broken && max)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INTERNAL_ERROR;
    return real(dat_registry_list_providers)(max, count, list);
}

static void expect_query(const char *name, int code, const char *text)
{
    drail_rail_info_t info;
    drail_error_t err = {0};
    int rc = drail_rail_query(name, &info, &err);
    if (rc != code || err.code != code || !strstr(err.text, text))
        printf("# %d, %d: %s\n", rc, err.code, err.text);
    check(rc == code && err.code == code && strstr(err.text, text));
}

int main(void)
{
    char name[3 * DRAIL_NAME_MAX];
    memset(name, 'x', sizeof name);
    name[DRAIL_NAME_MAX - 1] = 0;
    expect_query(name, DRAIL_ENORAIL, "not listed");
    name[DRAIL_NAME_MAX - 1] = 'x';
    name[sizeof name - 1] = 0;
    expect_query(name, DRAIL_EINVAL, "at most 63 characters");
    broken = true;
    expect_query("shm0", DRAIL_EDAT, "the registry");
    printf("ok 1 - names\n");
    return 0;
}

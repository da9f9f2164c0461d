/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of open files has room for all connections when there are threads:
 * the kernel may take seconds to enlarge it then. */
#include "ranks.h"

static unsigned table_size(void)
{
    char line[128];
    unsigned size = 0;
    FILE *status = fopen("/proc/self/status", "re");
    check(status);
    while (!size && fgets(line, sizeof line, status))
        if (sscanf(line, "FDSize: %u", &size) != 1)
            size = 0;
    fclose(status);
    check(size > 0);
    return size;
}

static void connect_all(struct rank *r)
{
    unsigned before = table_size();
    for (unsigned p = 0; p < r->size; p++)
        if (p != r->rank)
            expect(r, 0, drail_connect(r->t, p));
    check(table_size() == before);
}

/* Many ranks on few cores. */
static void patient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 60000;
}

static const struct test tests[] = {
    {"40 ranks", 40, connect_all, patient, APART},
};

RUN_TESTS(tests)

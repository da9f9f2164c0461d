/* SPDX-License-Identifier: BSD-3-Clause */
/* Where there is no memory for the ranks' all-gathers, no rank is started: none
 * can be told later while the others wait for it. */
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/dapl_rail.h"

#define RANKS   128u /* each may contribute 64 KiB */
#define ROOM    (4u << 20)
#define PATIENT 30 /* seconds */

static int barrier(drail_job_t *job, void *arg)
{
    return drail_job_barrier(job, PATIENT * 1000) ? 1 : 0;
}

/* Bytes of address space that the process has. */
static size_t mapped(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu", &pages), 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void no_memory(void **state)
{
#ifdef DRAIL_SANITIZE
    skip(); /* a sanitizer's own memory is past any limit */
#endif
    drail_error_t err = {0};
    struct rlimit before, limit;
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.nranks = RANKS;
    cfg.error = &err;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = (struct rlimit){mapped() + ROOM, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    void *volatile too_much = malloc(2 * ROOM);
    if (too_much) {
        free(too_much);
        skip(); /* an emulator has other limits than it says */
    }
    int rc = drail_job_run(&cfg, barrier, NULL);
    setrlimit(RLIMIT_AS, &before);
    if (rc != DRAIL_ENOMEM)
        print_message("%s\n", err.text);
    assert_int_equal(rc, DRAIL_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory),
    };
    alarm(2 * PATIENT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

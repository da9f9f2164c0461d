/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of DAT and every one for memory fails in turn, while shared memory
 * is opened, used by calls, and closed. */
#include "dsm/ddsm.h"
#include "faults_try.h"

#define BYTES (64u << 10)

/* All of it, written and read by turns. */
static void use(struct rank *r, ddsm_t *d)
{
    unsigned char *bytes = ddsm_alloc(d, BYTES, NULL);
    if (!STEP(bytes ? 0 : DRAIL_ENOMEM) || !all_well(r))
        return;
    bool writes = r->rank == 0;
    if (writes && STEP(ddsm_prefetch(d, bytes, BYTES, true)))
        memset(bytes, 7, BYTES);
    if (STEP(ddsm_barrier(d)) && !writes &&
        STEP(ddsm_prefetch(d, bytes, BYTES, false)))
        STEP(bytes[0] == 7 && bytes[BYTES - 1] == 7 ? 0 : DRAIL_EINVAL);
    if (STEP(ddsm_lock(d, 1)))
        STEP(ddsm_unlock(d, 1));
    STEP(ddsm_barrier(d));
}

static void space(struct rank *r, const drail_config_t *rails)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.rails = rails;
    faults_pause(false);
    STEP(ddsm_open(r->job, &cfg, &d, &err));
    check(!playing->rc == (d != NULL));
    if (all_well(r))
        use(r, d);
    ddsm_close(d);
}

FAULTS_TESTS(space)

RUN_TESTS_AFTER(faults_open(), 1, tests)

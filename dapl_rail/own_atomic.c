/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * They must be atomic with those of peers. So the processor carries them out if
 * it does so for peers; else the adapter does, over a connection to itself,
 * because its atomics are not atomic with the processor's.
 */
#include "dapl_rail/own_atomic.h"

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/loopback.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/remote_atomic.h"
#include "dapl_rail/rails/rail.h"

#define CONNECT_NAP_NS 100000u
#define WAIT_SLICE_US  1000u /* without progress of anything else */

static int connect_self(drail_t *t, struct rail *rail)
{
    struct patience p = {.t = t, .timeout_ms = t->cfg.connect_timeout_ms};
    int rc = loopback_open(rail);
    while (!rc && (rc = loopback_connect(rail)) == DRAIL_EAGAIN) {
        platform_sleep(t->job->platform, CONNECT_NAP_NS);
        progress_step(t);
        rc = patience_check(&p);
    }
    return rc;
}

static int carry_out(drail_t *t, struct rail *rail,
                     const struct wire_atomic *ask, uint64_t *old)
{
    struct patience p = {.t = t, .timeout_ms = t->cfg.timeout_ms};
    int rc = loopback_post(rail, ask);
    while (!rc &&
           (rc = loopback_wait(rail, WAIT_SLICE_US, old)) == DRAIL_EAGAIN) {
        progress_step(t);
        rc = patience_check(&p);
    }
    return rc;
}

static int by_adapter(drail_t *t, struct rail *rail,
                      const struct wire_atomic *ask, uint64_t *old)
{
    int rc = connect_self(t, rail);
    if (!rc)
        rc = carry_out(t, rail, ask, old);
    if (!rc)
        return 0;
    loopback_close(rail);
    return rc == DRAIL_ETIMEOUT || rc == DRAIL_EINTR
               ? fail(t, rc, "drail_atomic on this rank's memory over %s: %s",
                      rail->info.name, drail_strerror(rc))
               : rc;
}

int atomic_on_own(drail_t *t, const drail_key_t *key, struct wire_atomic *ask,
                  uint64_t *old)
{
    unsigned at = t->common ? (unsigned)__builtin_ctz(t->common) : 0;
    struct rail *rail = &t->rails[at];
    ask->rmr_context = key->rmr_context[at];
    if (!key_grants(t, at, ask->rmr_context, ask->address, 8,
                    DRAIL_ACCESS_REMOTE_ATOMIC))
        return fail(t, DRAIL_EACCESS, "drail_atomic: not for atomics");
    if (t->common && rail->atomics && !rail->atomics_of_processor)
        return by_adapter(t, rail, ask, old);
    *old = atomic_by_processor(ask);
    return 0;
}

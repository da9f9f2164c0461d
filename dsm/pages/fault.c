/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/fault.h"

#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#include "dsm/base/enter.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/history.h"
#include "dsm/pages/pages.h"
#include "dsm/pages/signals.h"

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_UNKNOWN };

static enum access access_of(const void *context)
{
#if defined __x86_64__
    const ucontext_t *u = context;
    enum { WRITE = 2 }; /* bit of the page fault's error code */
    return u->uc_mcontext.gregs[REG_ERR] & WRITE ? ACCESS_WRITE : ACCESS_READ;
#else
    (void)context;
    return ACCESS_UNKNOWN;
#endif
}

static void give_up(const ddsm_t *d, const drail_error_t *error)
{
    char text[sizeof error->text + 64];
    int n;
    if (d->cfg.failed)
        d->cfg.failed(d->cfg.context, error->code, error->text);
    n = snprintf(text, sizeof text, "rank %u: shared memory: %s\n", d->rank,
                 error->text);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(1);
    _exit(1);
}

static int make_writable(ddsm_t *d, size_t page)
{
    size_t first, count;
    int rc = pages_make_dirty_ahead(d, page, &first, &count);
    history_record(d, USE_WRITE, first, count);
    return rc;
}

/* Another thread may have served the page already. Where a read cannot be told
 * from a write, a fault on a readable page counts as a write. */
static int try_page(ddsm_t *d, size_t page, enum access access)
{
    int rc = d->broken;
    const bool there = d->page[page].state != PAGE_INVALID;
    if (!rc && !there)
        rc = fetch_ahead(d, page);
    if (!rc && d->page[page].state == PAGE_CLEAN &&
        (access == ACCESS_WRITE || (access == ACCESS_UNKNOWN && there)))
        rc = make_writable(d, page);
    return rc;
}

static int serve_page(ddsm_t *d, size_t page, enum access access)
{
    const drail_error_t before = d->error;
    int rc = try_page(d, page, access);
    if (rc == DRAIL_ENOMEM && !d->broken) {
        rc = coalesce_mappings(d);
        if (!rc)
            rc = try_page(d, page, access);
        if (!rc)
            d->error = before;
    }
    return rc && !d->broken ? space_break(d, rc) : rc;
}

static void count(ddsm_t *d, size_t page, bool writes)
{
    *(writes ? &d->stats.write_faults : &d->stats.read_faults) += 1;
    *(writes ? &d->cost[page].write_faults : &d->cost[page].read_faults) += 1;
}

bool fault_serve(ddsm_t *d, uintptr_t address, void *context)
{
    const enum access access = access_of(context);
    const uint64_t start = space_now_ns();
    const size_t page = page_at(d, (const void *)address);
    drail_error_t error = {
        DRAIL_EINVAL, "a page has been touched by a call that was given it, by "
                      "a handler of signals during a fault, or between "
                      "ddsm_rails_take and ddsm_rails_give"};
    /* other simulated ranks run in this thread meanwhile */
    if (drail_job_is_simulated(d->job))
        signals_as_before(context);
    const bool inside = space_enter(d) != 0;
    /* this library never protects open pages at their home: the program did */
    const bool ours = page != PAGE_NONE && d->page[page].state != PAGE_UNUSED &&
                      !page_is_open(d, page);
    int rc = inside && ours ? space_break(d, error.code) : 0;
    if (!inside) {
        if (ours) {
            d->faults = !drail_job_is_simulated(d->job);
            rc = serve_page(d, page, access);
            d->faults = false;
            count(d, page, access == ACCESS_WRITE);
            d->stats.fault_ns += space_now_ns() - start;
        }
        if (rc)
            error = d->error;
        space_leave(d);
    }
    if (rc || !ours)
        signals_as_before(context);
    if (rc)
        give_up(d, &error);
    return ours;
}

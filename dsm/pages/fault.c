/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler of SIGSEGV. It runs on the stack of the thread that faulted. It
 * may call functions that are not async-signal-safe: the interrupted
 * instruction is an access to the view, and no library holds a lock then, as
 * none touches the view. Other signals wait until the fault is served
 * (signals.h).
 */
#include "dsm/pages/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "dsm/base/enter.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/pages.h"
#include "dsm/pages/signals.h"

/* A process has one handler of SIGSEGV, so this state is global. */
enum { MOST = 1024 };
static struct {
    pthread_mutex_t mutex;
    unsigned count;
    struct sigaction before; /* the handler that ours replaced, */
    struct sigaction first;  /* ... and the first one that it ever replaced */
    bool is_below; /* a handler was installed over ours and calls it */
    void *after;   /* that handler; it stays installed when ours goes */
    /* free: start is 0; start is written last */
    struct place {
        _Atomic uintptr_t start, end;
        _Atomic(ddsm_t *) space;
    } place[MOST];
} process = {.mutex = PTHREAD_MUTEX_INITIALIZER};

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

/* The space whose view has @address. It cannot go: it is being used. No other
 * space is looked into, as that may go. */
static ddsm_t *space_at(uintptr_t address)
{
    for (unsigned i = 0; i < MOST; i++) {
        struct place *p = &process.place[i];
        const uintptr_t start = atomic_load(&p->start);
        if (!start || address < start || address >= atomic_load(&p->end))
            continue;
        ddsm_t *d = atomic_load(&p->space);
        if (atomic_load(&p->start) == start) /* else it has a new owner */
            return d;
        i--;
    }
    return NULL;
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

/* Another thread may have served the page already. Where a read cannot be told
 * from a write, a fault on a readable page counts as a write. */
static int make_there(ddsm_t *d, size_t page, enum access access)
{
    int rc = d->broken;
    const bool there = d->page[page].state != PAGE_INVALID;
    if (!rc && !there)
        rc = fetch_ahead(d, page);
    if (!rc && d->page[page].state == PAGE_CLEAN &&
        (access == ACCESS_WRITE || (access == ACCESS_UNKNOWN && there)))
        rc = pages_make_dirty_ahead(d, page);
    return rc;
}

static int make_room_there(ddsm_t *d, size_t page, enum access access)
{
    int rc = make_there(d, page, access);
    if (rc == DRAIL_ENOMEM && !d->broken) {
        rc = coalesce_mappings(d);
        if (!rc)
            rc = make_there(d, page, access);
    }
    return rc && !d->broken ? space_break(d, rc) : rc;
}

/* False: the page is not allocated, so the fault is the program's. In that
 * case, and before ddsm_config_t.failed, the signal mask is restored. */
static bool serve(ddsm_t *d, uintptr_t address, void *context)
{
    const enum access access = access_of(context);
    const uint64_t start = space_now_ns();
    const size_t page = (address - (uintptr_t)d->view) >> d->page_shift;
    drail_error_t error = {
        DRAIL_EINVAL, "a page has been touched by a call that was given it, by "
                      "a handler of signals during a fault, or between "
                      "ddsm_rails_take and ddsm_rails_give"};
    /* other simulated ranks run in this thread meanwhile */
    if (drail_job_is_simulated(d->job))
        signals_as_before(context);
    const bool inside = space_enter(d) != 0;
    const bool ours = d->page[page].state != PAGE_UNUSED;
    int rc = inside && ours ? space_break(d, error.code) : 0;
    if (!inside) {
        if (ours) {
            d->faults = !drail_job_is_simulated(d->job);
            rc = make_room_there(d, page, access);
            d->faults = false;
            *(access == ACCESS_WRITE ? &d->stats.write_faults
                                     : &d->stats.read_faults) += 1;
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

/* The fault that this thread last passed on, and from which stack frame. */
static _Thread_local struct {
    const void *context;
    uintptr_t frame;
} passed __attribute__((tls_model("initial-exec")));

/* Has the handler that we passed this fault to passed it back? That happens if
 * it was installed over ours, and ours over it again. */
static bool has_come_back(const void *context)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const bool back = context == passed.context && frame < passed.frame;
    passed.context = context;
    passed.frame = frame;
    return back;
}

/* Does what would happen without this handler. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before =
        has_come_back(context) ? &process.first : &process.before;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
        return;
    }
    /* SIG_IGN holds for a signal that was sent, never for a fault */
    if (before->sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
        return;
    }
    signal(number, SIG_DFL); /* the access faults again on return */
    if (info->si_code <= 0)
        raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const uintptr_t address = (uintptr_t)info->si_addr;
    ddsm_t *d = info->si_code == SEGV_ACCERR ? space_at(address) : NULL;
    if (!d)
        signals_as_before(context);
    if (!d || !serve(d, address, context))
        pass_on(number, info, context);
    errno = saved;
}

static void *handler_of(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ? (void *)action->sa_sigaction
                                         : (void *)action->sa_handler;
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction now;
    signals_to_block(&action.sa_mask);
    sigaction(SIGSEGV, NULL, &now);
    /* a handler installed over ours calls ours: leave it there */
    if (handler_of(&now) == on_fault ||
        (process.after && handler_of(&now) == process.after))
        return;
    process.before = now;
    process.after = NULL;
    if (!process.is_below)
        process.first = now;
    sigaction(SIGSEGV, &action, NULL);
}

static void remove_ours(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    if (handler_of(&now) == on_fault)
        sigaction(SIGSEGV, &process.before, NULL);
    else {
        process.after = handler_of(&now);
        process.is_below = true;
    }
}

int fault_register(ddsm_t *d)
{
    unsigned i = 0;
    pthread_mutex_lock(&process.mutex);
    while (i < MOST && atomic_load(&process.place[i].start))
        i++;
    if (i < MOST) {
        struct place *p = &process.place[i];
        atomic_store(&p->space, d);
        atomic_store(&p->end, (uintptr_t)d->view + d->bytes);
        atomic_store(&p->start, (uintptr_t)d->view);
        if (process.count++ == 0)
            install();
    }
    pthread_mutex_unlock(&process.mutex);
    return i < MOST ? 0
                    : space_fail(d, DRAIL_ENOMEM,
                                 "%d shared memories are open in this process",
                                 MOST);
}

void fault_unregister(ddsm_t *d)
{
    bool entered = false;
    pthread_mutex_lock(&process.mutex);
    for (unsigned i = 0; i < MOST; i++)
        if (atomic_load(&process.place[i].start) &&
            atomic_load(&process.place[i].space) == d) {
            atomic_store(&process.place[i].start, 0);
            process.count--;
            entered = true;
        }
    if (entered && process.count == 0)
        remove_ours();
    pthread_mutex_unlock(&process.mutex);
}

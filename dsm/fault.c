/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler of SIGSEGV. It runs on the stack of the thread that touched a
 * page, whose registers the kernel keeps, and may do there what the thread
 * might have done itself by a call: what was interrupted is an access to the
 * view, which nothing of ours makes with a lock held. A simulated rank waits
 * here while others of its process run, which is why the signal is not blocked.
 */
#include "dsm/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "dsm/fetch.h"
#include "dsm/pages.h"

/* A process has one handler: the only state that is not a handle's. */
enum { MOST = 1024 };
static struct {
    pthread_mutex_t mutex;
    unsigned count;
    struct sigaction before;
    _Atomic(ddsm_t *) space[MOST];
} process = {.mutex = PTHREAD_MUTEX_INITIALIZER};

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_UNKNOWN };

static enum access access_of(const void *context)
{
#if defined __x86_64__
    const ucontext_t *u = context;
    enum { WRITE = 2 }; /* of the page fault's error code */
    return u->uc_mcontext.gregs[REG_ERR] & WRITE ? ACCESS_WRITE : ACCESS_READ;
#else
    (void)context;
    return ACCESS_UNKNOWN;
#endif
}

static ddsm_t *space_at(const char *address)
{
    for (unsigned i = 0; i < MOST; i++) {
        ddsm_t *d =
            atomic_load_explicit(&process.space[i], memory_order_acquire);
        if (d && address >= d->view && address < d->view + d->bytes)
            return d;
    }
    return NULL;
}

static void give_up(ddsm_t *d, int code)
{
    char text[sizeof d->error.text + 64];
    int n;
    if (d->cfg.failed)
        d->cfg.failed(d->cfg.context, code, d->error.text);
    n = snprintf(text, sizeof text, "rank %u: shared memory: %s\n", d->rank,
                 d->error.text);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(1);
    _exit(1);
}

/* The page may be as it should be by now, for another thread. A read that
 * can't be told from a write finds it so, or makes it dirty for nothing. */
static int make_there(ddsm_t *d, size_t page, enum access access)
{
    int rc = d->broken;
    const bool there = d->page[page].state != PAGE_INVALID;
    if (!rc && !there)
        rc = fetch_ahead(d, page);
    if (!rc && d->page[page].state == PAGE_CLEAN &&
        (access == ACCESS_WRITE || (access == ACCESS_UNKNOWN && there)))
        rc = pages_dirty_ahead(d, page);
    return rc;
}

/* False: it is the program's own. */
static bool serve(ddsm_t *d, const char *address, enum access access)
{
    const uint64_t start = space_now_ns();
    const size_t page = (size_t)(address - d->view) >> d->page_shift;
    /* by who holds it already: a call of ours was given a page of the view */
    if (pthread_mutex_lock(&d->mutex))
        return false;
    const bool ours = d->page[page].state != PAGE_UNUSED;
    int rc = 0;
    if (ours) {
        rc = make_there(d, page, access);
        *(access == ACCESS_WRITE ? &d->stats.write_faults
                                 : &d->stats.read_faults) += 1;
        d->stats.fault_ns += space_now_ns() - start;
    }
    pthread_mutex_unlock(&d->mutex);
    if (rc)
        give_up(d, rc);
    return ours;
}

/* As if we were not here. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = &process.before;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
        return;
    }
    /* what somebody has sent is ignored if it was to be; a fault never is */
    if (before->sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
        return;
    }
    signal(number, SIG_DFL); /* happens again on return */
    if (info->si_code <= 0)
        raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    ddsm_t *d = info->si_code == SEGV_ACCERR ? space_at(info->si_addr) : NULL;
    if (!d || !serve(d, info->si_addr, access_of(context)))
        pass_on(number, info, context);
    errno = saved;
}

static bool is_ours(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == on_fault;
}

int fault_enter(ddsm_t *d)
{
    const struct sigaction action = {.sa_sigaction = on_fault,
                                     .sa_flags = SA_SIGINFO | SA_NODEFER};
    unsigned i = 0;
    pthread_mutex_lock(&process.mutex);
    while (i < MOST && atomic_load(&process.space[i]))
        i++;
    if (i < MOST) {
        atomic_store(&process.space[i], d);
        if (process.count++ == 0 && !is_ours())
            sigaction(SIGSEGV, &action, &process.before);
    }
    pthread_mutex_unlock(&process.mutex);
    return i < MOST ? 0
                    : space_fail(d, DRAIL_ENOMEM,
                                 "%d shared memories are open in this process",
                                 MOST);
}

void fault_leave(ddsm_t *d)
{
    pthread_mutex_lock(&process.mutex);
    for (unsigned i = 0; i < MOST; i++)
        if (atomic_load(&process.space[i]) == d) {
            atomic_store(&process.space[i], NULL);
            process.count--;
        }
    /* who has come after us may have kept our handler: then it stays */
    if (process.count == 0 && is_ours())
        sigaction(SIGSEGV, &process.before, NULL);
    pthread_mutex_unlock(&process.mutex);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/handler.h"

#include <errno.h>
#include <signal.h>

#include "dsm/pages/fault.h"
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
    if (!d || !fault_serve(d, address, context))
        pass_on(number, info, context);
    errno = saved;
}

static void *handler_of(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ? (void *)action->sa_sigaction
                                         : (void *)action->sa_handler;
}

static void install(bool on_alternate_stack)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction now;
    if (on_alternate_stack)
        action.sa_flags |= SA_ONSTACK;
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

int handler_add(ddsm_t *d, const char *start, size_t bytes)
{
    unsigned i = 0;
    pthread_mutex_lock(&process.mutex);
    while (i < MOST && atomic_load(&process.place[i].start))
        i++;
    if (i < MOST) {
        struct place *p = &process.place[i];
        atomic_store(&p->space, d);
        atomic_store(&p->end, (uintptr_t)start + bytes);
        atomic_store(&p->start, (uintptr_t)start);
        if (process.count++ == 0)
            install(d->cfg.alternate_stacks);
    }
    pthread_mutex_unlock(&process.mutex);
    return i < MOST ? 0
                    : space_fail(
                          d, DRAIL_ENOMEM,
                          "%d ranges of shared memory are open in this process",
                          MOST);
}

void handler_remove(ddsm_t *d)
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/signals.h"

#include <stddef.h>
#include <ucontext.h>

void signals_to_block(sigset_t *set)
{
    /* raised by the thread itself: they cannot wait */
    static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                              SIGTRAP, SIGABRT, SIGSYS};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

void signals_as_before(const void *context)
{
    const ucontext_t *u = context;
    pthread_sigmask(SIG_SETMASK, &u->uc_sigmask, NULL);
}

void signals_let_end(void)
{
    sigset_t pending, ending;
    sigemptyset(&ending);
    sigpending(&pending);
    for (int n = 1; n <= SIGRTMAX; n++) {
        struct sigaction now;
        if (sigismember(&pending, n) == 1 && !sigaction(n, NULL, &now) &&
            !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaddset(&ending, n);
    }
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}

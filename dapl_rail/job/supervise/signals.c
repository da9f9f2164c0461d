/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/signalfd.h>
#include <unistd.h>

#include "dapl_rail/job/supervise/signals.h"

void signals_fill(sigset_t *set, bool children)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (children)
        sigaddset(set, SIGCHLD);
}

int signals_open(const sigset_t *set)
{
    return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool signals_read(int fd)
{
    struct signalfd_siginfo info;
    bool interrupted = false;
    while (read(fd, &info, sizeof info) == sizeof info)
        interrupted = interrupted || info.ssi_signo != SIGCHLD;
    return interrupted;
}

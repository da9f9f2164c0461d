/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "startup.h"

/* A closed descriptor 0, 1 or 2 stays one that can't be read or written:
 * /dev/null would hide that a result went nowhere. */
static void occupy_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) < 0)
            return;
}

static void ordinary_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* ignored, the kernel would reap children itself and not tell */
    signal(SIGCHLD, SIG_DFL);
}

void startup(void)
{
    occupy_standard();
    ordinary_signals();
}

int finish(const char *program, int status)
{
    errno = 0;
    if (status || (!fflush(stdout) && !ferror(stdout)))
        return status; /* the failed call has printed why */
    fprintf(stderr, "%s: standard output can't be written: %s\n", program,
            strerror(errno ? errno : EIO));
    return 1;
}

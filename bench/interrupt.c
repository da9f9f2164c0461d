/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stddef.h>

#include "interrupt.h"

static volatile sig_atomic_t came;

static void note(int sig)
{
    (void)sig;
    came = 1;
}

void interrupt_catch(void)
{
    const struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_came(void)
{
    return came;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/rails/signal_handlers.h"

#include <string.h>

void signal_handlers_save(struct signal_handlers *h)
{
    memset(h, 0, sizeof *h);
    for (int s = 1; s < NSIG; s++) /* the C library keeps some to itself */
        sigaction(s, NULL, &h->of[s]);
}

void signal_handlers_restore(const struct signal_handlers *h)
{
    for (int s = 1; s < NSIG; s++) {
        struct sigaction now;
        if (!sigaction(s, NULL, &now) &&
            now.sa_sigaction != h->of[s].sa_sigaction)
            sigaction(s, &h->of[s], NULL);
    }
}

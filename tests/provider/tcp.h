/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of what is TCP's own: IA_NAME is tcp-lo. */
#ifndef TESTS_PROVIDER_TCP_H
#define TESTS_PROVIDER_TCP_H

#include "peer.h"

#include <stdio.h>

/** Ends the program as skipped if there is no such provider. */
static inline void tcp_or_skip(void)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    setenv("TEST_IA", "tcp-lo", 1);
    if (dat_ia_open((DAT_NAME_PTR)IA_NAME, 8, &async, &ia) == DAT_SUCCESS) {
        DAT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
        return;
    }
    printf("there is no rail %s here\n", IA_NAME);
    exit(77);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider has no memory while libdat2 loads it, or opens its IA first: a
 * later open succeeds. Sanitizers replace calloc(); there nothing is refused.
 */
#include "peer.h"

#include <unistd.h>

#define REFUSALS 6u

static unsigned refuse_at; /* this allocation of the provider's; 0: none */

#ifndef DRAIL_SANITIZE
void *__libc_calloc(size_t count, size_t size);

STAND_IN void *calloc(size_t count, size_t size)
{
    Dl_info of;
    if (refuse_at && dladdr(__builtin_return_address(0), &of) &&
        strstr(of.dli_fname, "libdapl_shm") && !--refuse_at)
        return NULL;
    return __libc_calloc(count, size);
}
#endif

static DAT_RETURN open_and_close(void)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_RETURN ret = dat_ia_open((DAT_NAME_PTR)IA_NAME, 8, &async, &ia);
    return ret == DAT_SUCCESS ? dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) : ret;
}

/* The library is loaded once, so each refusal has a process. */
static void opened_later(void **state)
{
    for (unsigned nth = 1; nth <= REFUSALS; nth++) {
        pid_t pid = fork();
        if (!pid) {
            refuse_at = nth;
            open_and_close();
            refuse_at = 0;
            _exit(open_and_close() != DAT_SUCCESS);
        }
        join(pid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opened_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Alternate stacks, for threads whose own stack may fault. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "dsm/base/enter.h"

/* A fetch over several rails takes the most. */
enum { STACK_BYTES = 256 << 10, GUARD_BYTES = 64 << 10 };

static _Thread_local char *stack;

static int begin(ddsm_t *d)
{
    char *p = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (p == MAP_FAILED)
        return space_fail(d, DRAIL_ENOMEM, "no stack for faults: %s",
                          strerror(errno));
    const stack_t on = {.ss_sp = p + GUARD_BYTES, .ss_size = STACK_BYTES};
    if (mprotect(p, GUARD_BYTES, PROT_NONE) || sigaltstack(&on, NULL)) {
        const int error = errno;
        munmap(p, GUARD_BYTES + STACK_BYTES);
        return space_fail(d, DRAIL_ENOMEM, "stack for faults: %s",
                          strerror(error));
    }
    stack = p;
    return 0;
}

int ddsm_thread_begin(ddsm_t *d)
{
    if (!d)
        return DRAIL_EINVAL;
    if (stack)
        return 0;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = begin(d);
    space_leave(d);
    return rc;
}

void ddsm_thread_end(ddsm_t *d)
{
    const stack_t off = {.ss_flags = SS_DISABLE};
    (void)d;
    if (!stack)
        return;
    sigaltstack(&off, NULL);
    munmap(stack, GUARD_BYTES + STACK_BYTES);
    stack = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory where a rank has no memory to open it: all hear. */
#include <errno.h>

#include "dsm_scene.h"

void *__libc_calloc(size_t n, size_t bytes);
static _Thread_local unsigned fails_in; /* so many calls; 0: none does */

__attribute__((visibility("default"))) void *calloc(size_t n, size_t bytes)
{
    if (fails_in && --fails_in == 0) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, bytes);
}

/* Whichever of the rank's allocations fails first. */
static void no_room(struct rank *r)
{
    enum { OWN = 9 }; /* allocations of ddsm_open before it opens rails */
    for (unsigned call = 1; call <= OWN; call++) {
        ddsm_t *d = NULL;
        drail_error_t err = {0};
        fails_in = r->rank == 1 ? call : 0;
        int rc = ddsm_open(r->job, NULL, &d, &err);
        fails_in = 0;
        check(rc == DRAIL_ENOMEM && err.code == rc);
        check(strstr(err.text, "out of memory"));
        check(r->rank == 1 || strstr(err.text, "rank 1: "));
    }
    ddsm_close(space(r, 1 << 20, 0));
}

static const struct test tests[] = {
    {"no room", 2, no_room, NULL, APART},
};

RUN_TESTS(tests)

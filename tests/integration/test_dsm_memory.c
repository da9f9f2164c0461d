/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory where a rank has no memory to open it: all hear; or
 * where the kernel has no room for pages to be protected as they should be. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "dsm_scene.h"

void *__libc_calloc(size_t n, size_t bytes);
static _Thread_local unsigned fails_in; /* so many calls; 0: none does */

STAND_IN void *calloc(size_t n, size_t bytes)
{
    if (fails_in && --fails_in == 0) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(n, bytes);
}

/* Rank 1 has no room, of which all hear. */
static void no_room_at(struct rank *r, const char *why)
{
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    int rc = ddsm_open(r->job, NULL, &d, &err);
    check(rc == DRAIL_ENOMEM && err.code == rc);
    check(strstr(err.text, why));
    check(r->rank == 1 || strstr(err.text, "rank 1: "));
}

/* Whichever of the rank's allocations fails first. */
static void no_room(struct rank *r)
{
    enum { OWN = 9 }; /* allocations of ddsm_open before it opens rails */
    for (unsigned call = 1; call <= OWN; call++) {
        fails_in = r->rank == 1 ? call : 0;
        no_room_at(r, "out of memory");
        fails_in = 0;
    }
    ddsm_close(space(r, 1 << 20, 0));
}

static bool no_pages;
static unsigned threads; /* so many were asked for, and the one to fail */
static unsigned no_thread;

STAND_IN int memfd_create(const char *name, unsigned flags)
{
    if (no_pages && !strcmp(name, "ddsm")) {
        errno = ENFILE;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, flags);
}

STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                            void *(*body)(void *), void *arg)
{
    return ++threads == no_thread
               ? EAGAIN
               : real(pthread_create)(thread, attr, body, arg);
}

/* Steps that come after the rails are open, which are closed again. */
static void no_room_late(struct rank *r)
{
    no_pages = r->rank == 1;
    no_room_at(r, "no memory for");
    no_pages = false;
    threads = 0;
    ddsm_t *d = space(r, 1 << 20, 0);
    no_thread = r->rank == 1 ? threads : 0;
    ddsm_close(d);
    threads = 0;
    no_room_at(r, "no thread");
    locks(r);
}

static void by_message(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
}

/* The kernel has no room for writable pages. */
static volatile unsigned unwritable; /* so many more times */

STAND_IN int mprotect(void *start, size_t bytes, int protection)
{
    if (protection & PROT_WRITE && unwritable) {
        unwritable--;
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, start, bytes, protection);
}

/* Then faults make them writable, and each is compared once. */
static void no_room_to_write(struct rank *r)
{
    enum { PAGES = 16 };
    ddsm_stats_t stats;
    ddsm_t *d = space(r, PAGES * 4096, 0);
    const ddsm_place_t one = {.homes = DDSM_ONE, .rank = 1};
    volatile unsigned char *p = ddsm_alloc(d, PAGES * 4096, &one);
    if (r->rank == 0) {
        unwritable = 4;
        ok(d, ddsm_prefetch(d, (void *)(uintptr_t)p, PAGES * 4096, true));
        ok(d, ddsm_prefetch(d, (void *)(uintptr_t)p, PAGES * 4096, true));
        check(unwritable == 0);
        check(!*ddsm_last_error(d)); /* none of these calls has failed */
        unwritable = 1;
        for (unsigned i = 0; i < PAGES; i++)
            p[4096 * i] = (unsigned char)(i + 1);
        check(unwritable == 0 && !*ddsm_last_error(d));
    }
    ok(d, ddsm_barrier(d));
    ddsm_stats(d, &stats);
    check(r->rank || stats.diffs == PAGES);
    for (unsigned i = 0; i < PAGES; i++)
        check(p[4096 * i] == i + 1);
    ddsm_close(d);
}

static const struct test tests[] = {
    {"no room", 2, no_room, NULL, APART},
    {"no room, late", 2, no_room_late, by_message, APART},
    {"no room to write", 2, no_room_to_write, NULL, APART},
};

RUN_TESTS(tests)

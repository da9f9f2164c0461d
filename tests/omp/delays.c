/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the other libraries (LD_PRELOAD), this puts random pauses
 * around what libddsm and librailomp call. A step that does not wait for what
 * it must wait for then fails soon. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dsm/ddsm.h"

/* One call in ODDS pauses, before it or after it. */
enum { ODDS = 20, LONGEST_US = 100 };

static _Atomic uint64_t calls;

/* splitmix64 */
static uint64_t scrambled(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void pause_now_and_then(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t random = scrambled((uint64_t)now.tv_nsec ^
                                      (uint64_t)getpid() << 32 ^ calls++ << 48);
    const struct timespec pause = {
        .tv_nsec = 1000 * (long)((random >> 32) % LONGEST_US)};
    if (random % ODDS == 0)
        nanosleep(&pause, NULL);
}

/* @parameters and @arguments in parentheses. A fault may call it, so the
 * function is looked up before. */
#define PAUSES(name, parameters, arguments)                                    \
    static int(*next_##name) parameters;                                       \
    __attribute__((constructor)) static void look_up_##name(void)              \
    {                                                                          \
        *(void **)&next_##name = dlsym(RTLD_NEXT, #name);                      \
    }                                                                          \
    int name parameters                                                        \
    {                                                                          \
        if (!next_##name)                                                      \
            look_up_##name();                                                  \
        pause_now_and_then();                                                  \
        const int rc = next_##name arguments;                                  \
        pause_now_and_then();                                                  \
        return rc;                                                             \
    }
PAUSES(mprotect, (void *start, size_t bytes, int protection),
       (start, bytes, protection))
PAUSES(drail_get,
       (drail_t * t, unsigned rank, const drail_xfer_t *xfer, unsigned flags,
        drail_req_t *req),
       (t, rank, xfer, flags, req))
PAUSES(drail_put,
       (drail_t * t, unsigned rank, const drail_xfer_t *xfer, unsigned flags,
        uint32_t id, drail_req_t *req),
       (t, rank, xfer, flags, id, req))
PAUSES(drail_wait, (drail_t * t, drail_req_t *req, int ms), (t, req, ms))
PAUSES(drail_fence, (drail_t * t, unsigned rank), (t, rank))
PAUSES(drail_atomic,
       (drail_t * t, unsigned rank, drail_atomic_t op, const drail_key_t *key,
        uint64_t offset, uint64_t operand, uint64_t compare, uint64_t *old),
       (t, rank, op, key, offset, operand, compare, old))
PAUSES(ddsm_release, (ddsm_t * d), (d))
PAUSES(ddsm_acquire, (ddsm_t * d), (d))
PAUSES(ddsm_barrier_note, (ddsm_t * d, const void *mine, void *all),
       (d, mine, all))
PAUSES(ddsm_lock_at, (ddsm_t * d, uint32_t *word), (d, word))
PAUSES(ddsm_unlock_at, (ddsm_t * d, uint32_t *word), (d, word))
PAUSES(ddsm_atomic,
       (ddsm_t * d, ddsm_atomic_t op, void *word, size_t bytes,
        uint64_t operand, uint64_t expected, uint64_t *old),
       (d, op, word, bytes, operand, expected, old))

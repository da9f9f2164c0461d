/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider may refuse to free an LMR while a peer is inside it. Then the
 * memory must not go away. Stands in for the provider at its own call.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "ranks.h"
#include "tests/stand_in.h"

#define BYTES 8192u

static unsigned refusals, freed;

STAND_IN DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr)
{
    if (refusals) {
        refusals--;
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INVALID_STATE;
    }
    freed++;
    return real(dat_lmr_free)(lmr);
}

/* Number of descriptors of the library's memory. */
static unsigned memory_files(bool sealed)
{
    unsigned found = 0;
    for (int fd = 3; fd < 256; fd++) {
        char path[32], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) < 0 ||
            !strstr(name, "memfd:drail"))
            continue;
        found++;
        if (!sealed)
            continue;
        check(ftruncate(fd, 0) == -1 && errno == EPERM);
        check(ftruncate(fd, 1 << 20) == -1 && errno == EPERM);
    }
    return found;
}

static bool is_mapped(void *memory)
{
    unsigned char in_core[2];
    return mincore(memory, BYTES, in_core) == 0 || errno != ENOMEM;
}

/* Some of its LMRs are gone: nothing may use it, here or there. */
static void good_for_nothing(struct rank *r, drail_mem_t *mem, void *memory)
{
    drail_mem_t *view;
    drail_key_t key, any = {.bytes = BYTES, .nrails = drail_nrails(r->t)};
    drail_xfer_t x = {memory, mem, &any, 0, 8};
    expect(r, DRAIL_EINVAL, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    expect(r, DRAIL_EINVAL, drail_mem_view(mem, memory, 8, &view));
    drail_mem_key(mem, &key);
    check(key.nrails == 0);
}

/* A rail's LMR is refused: the handle stays, and can be released later. */
static void refused(struct rank *r)
{
    drail_mem_t *mem;
    unsigned char *memory;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    for (freed = 0, refusals = 1; refusals;)
        expect(r, DRAIL_EDAT, drail_mem_release(mem));
    check(strstr(drail_last_error(r->t), "dat_lmr_free") != NULL);
    check(is_mapped(memory));
    memory[BYTES - 1] = 1;
    good_for_nothing(r, mem, memory);
    expect(r, 0, drail_mem_release(mem));
    check(freed == drail_nrails(r->t));
    check(!is_mapped(memory));
}

/* A handle that has lost some of its LMRs serves nobody else. */
static void not_found(struct rank *r)
{
    drail_mem_t *mem, *other;
    drail_cache_stats_t before, after;
    void *memory;
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_LOCAL, &memory, &mem));
    refusals = 1;
    expect(r, DRAIL_EDAT, drail_mem_release(mem));
    drail_cache_stats(r->t, &before);
    expect(r, 0,
           drail_mem_register(r->t, memory, 64, DRAIL_ACCESS_LOCAL, &other));
    drail_cache_stats(r->t, &after);
    check(after.misses == before.misses + 1);
    expect(r, 0, drail_mem_release(other));
    expect(r, 0, drail_mem_release(mem));
}

/* An eviction is nobody's call: it is tried again by the next. */
static void evicted(struct rank *r)
{
    enum { KEPT = 64 };
    static unsigned char memory[KEPT + 2][64];
    drail_cache_stats_t stats;
    drail_mem_t *mem;
    for (unsigned i = 0; i < KEPT + 2; i++) {
        expect(r, 0,
               drail_mem_register(r->t, memory[i], sizeof memory[i],
                                  DRAIL_ACCESS_KEEP, &mem));
        freed = 0;
        refusals = i == KEPT ? drail_nrails(r->t) : 0;
        expect(r, 0, drail_mem_release(mem));
        check(!refusals);
        check(freed == (i <= KEPT ? 0 : 2 * drail_nrails(r->t)));
    }
    drail_cache_stats(r->t, &stats);
    check(stats.kept == KEPT && stats.evictions == 2);
}

/* The end of the transport frees what is kept … */
static void closed(struct rank *r)
{
    drail_mem_t *mem;
    static unsigned char memory[64];
    unsigned nrails = drail_nrails(r->t);
    expect(r, 0,
           drail_mem_register(r->t, memory, sizeof memory, DRAIL_ACCESS_KEEP,
                              &mem));
    expect(r, 0, drail_mem_release(mem));
    check(freed == 0);
    drail_close(r->t);
    r->t = NULL;
    check(freed == nrails);
}

/* … and leaves alone what a peer is inside of even then. */
static void never_freed(struct rank *r)
{
    drail_mem_t *mem; /* goes with the transport */
    unsigned char *memory;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    refusals = UINT32_MAX;
    expect(r, DRAIL_EDAT, drail_mem_release(mem));
    drail_close(r->t);
    r->t = NULL;
    check(memory_files(false) == 0);
    check(is_mapped(memory));
    memory[0] = 1;
}

/* Handles that nobody has released go with the transport, too. */
static void not_released(struct rank *r)
{
    unsigned char *memory;
    drail_mem_t *mem, *view;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    expect(r, 0, drail_mem_view(mem, memory, 8, &view));
    drail_close(r->t);
    r->t = NULL;
    check(!is_mapped(memory));
}

/* Pages that a peer has mapped stay. */
static void sealed(struct rank *r)
{
    drail_mem_t *mem;
    void *memory;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, &memory, &mem));
    check(memory_files(true) > 0);
    expect(r, 0, drail_mem_release(mem));
}

static const struct test tests[] = {
    {"refused", 2, refused, NULL, 0},
    {"not found", 1, not_found, NULL, 0},
    {"evicted", 1, evicted, NULL, 0},
    {"closed", 1, closed, NULL, 0},
    {"never freed", 1, never_freed, NULL, 0},
    {"not released", 1, not_released, NULL, 0},
    {"sealed", 2, sealed, NULL, 0},
};

RUN_TESTS(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/* DDSM_PAGES_SHARED: ranks of one host map the same memory; ranks of several
 * nodes copy pages. The other tests of this kind do the same with copies. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "dsm_scene.h"

enum { PAGE = 4096 };

static char global[64 * PAGE] __attribute__((aligned(PAGE))) = "of the file";

static bool is_refused;

static bool is_of_space(const char *path)
{
    char target[64] = "";
    return readlink(path, target, sizeof target - 1) > 0 &&
           strstr(target, "memfd:ddsm");
}

/* As for a rank of another user namespace, which has other rails, too. */
STAND_IN int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (is_refused && is_of_space(path)) {
        errno = EACCES;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

static void share(drail_config_t *cfg)
{
    (void)cfg;
    space_pages = DDSM_PAGES_SHARED;
}

static void no_messages(ddsm_t *d)
{
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    check(s.read_faults + s.write_faults + s.fetches + s.twins + s.diffs +
              s.pieces + s.invalidated ==
          0);
}

/* All kinds of pages: what one rank writes is there at once. */
static void kinds(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 8);
    check(ddsm_pages_are_shared(d) && ddsm_is_symmetric(d));
    for (ddsm_kind_t kind = DDSM_FIXED; kind <= DDSM_OPEN; kind++) {
        const ddsm_place_t at = {.homes = DDSM_CYCLIC, .kind = kind};
        _Atomic unsigned *p = ddsm_alloc(d, (size_t)8 * PAGE, &at);
        check(*p == 0);
        ok(d, ddsm_barrier(d));
        while (*p != r->rank) /* without any call */
            usleep(10);
        p[PAGE * r->rank / sizeof *p + 1] = r->rank + 1;
        ++*p;
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < r->size; i++)
            check(p[PAGE * i / sizeof *p + 1] == i + 1);
        ok(d, ddsm_prefetch(d, (void *)p, (size_t)8 * PAGE, true));
    }
    ok(d, ddsm_barrier(d));
    no_messages(d);
    ddsm_close(d);
}

/* The contents come from the rank that the place names, and stay with all. */
static void adopted(struct rank *r)
{
    const ddsm_place_t one = {.homes = DDSM_ONE, .rank = 1};
    const ddsm_place_t block = {.homes = DDSM_BLOCK};
    const size_t half = sizeof global / 2;
    ddsm_t *d = space(r, 1 << 20, 8);
    global[0] = (char)('a' + r->rank);
    for (size_t i = half; i < sizeof global; i++)
        global[i] = (char)(1 + r->rank);
    ok(d, ddsm_adopt(d, global, half, &one));
    ok(d, ddsm_adopt(d, global + half, half, &block));
    check(!strcmp(global, "bf the file"));
    check(global[half] == 1);
    check(global[sizeof global - 1] == (char)r->size);
    ok(d, ddsm_barrier(d));
    global[PAGE + r->rank] = (char)(r->rank + 1);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < r->size; i++)
        check(global[PAGE + i] == (char)(i + 1));
    no_messages(d);
    ddsm_close(d);
    global[0] = (char)r->rank; /* private again */
    usleep(1000);
    check(global[0] == (char)r->rank && !strcmp(global + 1, "f the file"));
    check(global[PAGE] == 1 && global[PAGE + r->size - 1] == (char)r->size);
}

static int file_of_space(void)
{
    char path[32];
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (is_of_space(path))
            return dup(fd);
    }
    return -1;
}

/* Pages that no rank has used take no memory, also when they are private
 * again. */
static void unused(struct rank *r)
{
    enum { BYTES = 16 << 20, AT = BYTES / 2 };
    static char sparse[BYTES] __attribute__((aligned(PAGE)));
    const ddsm_place_t one = {.homes = DDSM_ONE};
    ddsm_t *d = space(r, BYTES, 8);
    struct stat file;
    ok(d, ddsm_adopt(d, sparse, BYTES, &one));
    if (r->rank == 1)
        sparse[AT] = 1;
    const int fd = file_of_space();
    ddsm_close(d);
    check(sparse[AT] == 1 && sparse[0] == 0 && sparse[BYTES - 1] == 0);
    check(fstat(fd, &file) == 0 && file.st_blocks * 512 < BYTES / 2);
    close(fd);
}

/* Neighbours in the same 8 bytes, by plain writes and atomics of all sizes. */
static void atomics(struct rank *r)
{
    enum { TIMES = 20000 };
    struct words {
        uint64_t eight;
        uint32_t four, plain[3];
        uint16_t two;
        uint8_t one, by;
    } * w;
    ddsm_t *d = space(r, 1 << 16, 0);
    w = ddsm_alloc(d, sizeof *w, NULL);
    volatile uint32_t *mine = &w->plain[r->rank];
    for (unsigned i = 0; i < TIMES; i++) {
        ok(d, ddsm_atomic(d, DDSM_ADD, &w->eight, 8, 3, 0, NULL));
        ok(d, ddsm_atomic(d, DDSM_ADD, &w->four, 4, 1, 0, NULL));
        ok(d, ddsm_atomic(d, DDSM_ADD, &w->two, 2, 1, 0, NULL));
        ok(d, ddsm_atomic(d, DDSM_XOR, &w->one, 1, 1, 0, NULL));
        ++*mine;
    }
    ok(d, ddsm_barrier(d));
    const unsigned all = TIMES * r->size;
    check(w->eight == 3ul * all && w->four == all && w->two == (uint16_t)all);
    check(w->one == 0 && *mine == TIMES);
    ddsm_close(d);
}

/* A block that another rank has freed is used again. */
static void heap_goes_round(struct rank *r)
{
    enum { BYTES = 1 << 20, ROUNDS = 40 };
    ddsm_t *d = space(r, 4 * BYTES, 0);
    char *start = ddsm_alloc(d, 2 * BYTES, NULL);
    char **block = ddsm_alloc(d, PAGE, NULL);
    ok(d, ddsm_heap_open(d, start, 2 * BYTES));
    for (unsigned i = 0; i < ROUNDS; i++) {
        char *p = ddsm_malloc(d, BYTES / 8);
        check(p);
        memset(p, (char)i, BYTES / 8);
        block[r->rank] = p;
        ok(d, ddsm_barrier(d));
        p = block[(r->rank + 1) % r->size];
        check(*p == (char)i && p[BYTES / 8 - 1] == (char)i);
        ddsm_free(d, p);
        ok(d, ddsm_barrier(d));
    }
    no_messages(d);
    ddsm_close(d);
}

/* Of all lengths, and none; some ranks come late. */
static void notes(struct rank *r)
{
    enum { ROUNDS = 3000, WORDS = DDSM_NOTE_BYTES / sizeof(uint64_t) };
    ddsm_t *d = space(r, 1 << 16, 0);
    uint64_t mine[WORDS], all[8][WORDS];
    for (unsigned i = 0; i < ROUNDS; i++) {
        const bool has_note = (i + r->rank) % 4 != 0;
        for (unsigned w = 0; w < WORDS; w++)
            mine[w] = w < (i * 7 + r->rank) % (WORDS + 1) ? i + r->rank + w : 0;
        memset(all, 0xff, sizeof all);
        if ((i / 16 + r->rank) % 7 == 0 && i % 16 == 0)
            usleep(1000);
        ok(d, ddsm_barrier_note(d, has_note ? mine : NULL, i % 3 ? all : NULL));
        for (unsigned k = 0; k < r->size && i % 3; k++)
            for (unsigned w = 0; w < WORDS && (i + k) % 4; w++)
                check(all[k][w] ==
                      (w < (i * 7 + k) % (WORDS + 1) ? i + k + w : 0));
    }
    ddsm_close(d);
}

/* The others hear of it in the barrier. */
static void leaves_early(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 0);
    ok(d, ddsm_barrier(d));
    if (r->rank == 1)
        _exit(5);
    const int rc = ddsm_barrier(d);
    check(rc == DRAIL_EPEER || rc == DRAIL_EINTR || rc == DRAIL_ETIMEOUT);
    check(*ddsm_last_error(d) && ddsm_barrier(d) == rc);
    ddsm_close(d);
}

static void differ_in_alloc(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    ok(d, ddsm_barrier(d));
    check(ddsm_alloc(d, PAGE * (r->rank ? 2 : 1), NULL));
    check(ddsm_barrier(d) == DRAIL_EINVAL);
    check(strstr(ddsm_last_error(d), "other arguments to ddsm_alloc"));
    ddsm_close(d);
}

/* A lock's word is used for another lock, also by ranks that remember it: they
 * are told in releases and in barriers. */
static void words_of_locks(struct rank *r)
{
    enum { ROUNDS = 30, TIMES = 30 }; /* the space has few locks */
    ddsm_t *d = space(r, 1 << 16, 0);
    struct {
        uint32_t lock;
        volatile uint32_t count;
        _Atomic unsigned turn;
    } *w = ddsm_alloc(d, sizeof *w, NULL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const unsigned owner = i % r->size;
        if (r->rank == owner) {
            ok(d, ddsm_lock_begin(d, &w->lock));
            if (i % 2)
                ok(d, ddsm_release(d));
            w->turn = i + 1;
        }
        if (i % 2)
            while (w->turn != i + 1)
                usleep(1);
        else
            ok(d, ddsm_barrier(d));
        for (unsigned n = 0; n < TIMES; n++) {
            ok(d, ddsm_lock_at(d, &w->lock));
            const uint32_t seen = w->count;
            sched_yield();
            w->count = seen + 1;
            ok(d, ddsm_unlock_at(d, &w->lock));
        }
        ok(d, ddsm_barrier(d));
        check(w->count == TIMES * r->size * (i + 1));
        /* the next owner begins the next lock: an end by this one would come in
         * no order with that */
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

static void pages_are_copied(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 8);
    volatile unsigned *p = ddsm_alloc(d, PAGE, NULL);
    ddsm_stats_t s;
    check(!ddsm_pages_are_shared(d));
    p[r->rank] = r->rank + 1;
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < r->size; i++)
        check(p[i] == i + 1);
    ddsm_stats(d, &s);
    check(s.read_faults + s.write_faults > 0);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* One rank can't open the memory of rank 0: no rank shares it. */
static void refused(struct rank *r)
{
    is_refused = r->rank == 1;
    pages_are_copied(r);
}

/* All ranks must ask for the same. */
static void ranks_differ(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    ddsm_config_init(&cfg);
    check(cfg.pages == DDSM_PAGES_COPIED);
    cfg.pages = r->rank ? DDSM_PAGES_SHARED : DDSM_PAGES_COPIED;
    check(ddsm_open(r->job, &cfg, &d, &err) == DRAIL_EINVAL);
    check(strstr(err.text, "pages 1") || strstr(err.text, "pages 0"));
    cfg.pages = DDSM_PAGES_SHARED + 1;
    check(ddsm_open(r->job, &cfg, &d, &err) == DRAIL_EINVAL);
}

static const struct test tests[] = {
    {"all kinds of pages", 3, kinds, share, APART},
    {"ranges of the program", 3, adopted, share, APART},
    {"unused pages", 2, unused, share, APART},
    {"atomics", 3, atomics, share, APART},
    {"parts", 3, parts, share, APART},
    {"bytes of one page", 4, bytes_of_one_page, share, APART},
    {"locks", 3, locks, share, APART},
    {"children end", 2, children_end, share, APART},
    {"the heap", 3, heap_goes_round, share, APART},
    {"notes in barriers", 3, notes, share, APART},
    {"leaves early", 3, leaves_early, share, APART | FAILS},
    {"allocations that differ", 2, differ_in_alloc, share, APART},
    {"words of locks", 3, words_of_locks, share, APART},
    {"ranks of several nodes copy", 4, pages_are_copied, share, APART | PPN(2)},
    {"a rank is refused", 3, refused, share, APART},
    {"ranks that differ", 2, ranks_differ, NULL, APART},
};

RUN_TESTS(tests)

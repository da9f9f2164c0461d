/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory below a compiler's runtime: memory of the program
 * that is shared in place, homes that move, open and exclusive pages. */
#include <fcntl.h>
#include <ucontext.h>

#include "dsm_scene.h"

enum { PAGE = 4096 };

/* ------------------------------------------------------ adopted ranges --- */

static char global[64 * PAGE] __attribute__((aligned(PAGE))) = "of the file";

static void adopted(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 1, .kind = DDSM_MOVING};
    char *low = (char *)0x1f0000000000;
    ddsm_t *d = space(r, 1 << 20, 8);
    char *other = ddsm_alloc(d, PAGE, NULL);
    check(mmap(low, 4 * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == low);
    memset(low, 'a' + (int)r->rank, 2 * PAGE);
    memset(global + PAGE, 'k' + (int)r->rank, PAGE);
    expect(r, DRAIL_EINVAL, ddsm_adopt(d, low + 1, PAGE, &at));
    expect(r, DRAIL_EINVAL, ddsm_adopt(d, other, PAGE, &at));
    ok(d, ddsm_adopt(d, global, sizeof global, &at));
    ok(d, ddsm_adopt(d, low, 4 * PAGE, &at));
    expect(r, DRAIL_EINVAL, ddsm_adopt(d, low, PAGE, &at));
    check(!strcmp(global, "of the file"));
    check(global[PAGE] == 'l' && global[2 * PAGE - 1] == 'l');
    check(low[0] == 'b' && low[2 * PAGE] == 0);
    check(ddsm_has(d, low) && ddsm_has(d, global + sizeof global - 1));
    check(!ddsm_has(d, low + 4 * PAGE) && ddsm_has(d, other));
    ok(d, ddsm_barrier(d));
    global[3 * PAGE + r->rank] = (char)(r->rank + 1);
    low[3 * PAGE + r->rank] = (char)(r->rank + 2);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < r->size; i++)
        check(global[3 * PAGE + i] == (char)(i + 1) &&
              low[3 * PAGE + i] == (char)(i + 2));
    ok(d, ddsm_prefetch(d, global, sizeof global, true));
    expect(r, DRAIL_EINVAL, ddsm_prefetch(d, global, sizeof global + 1, true));
    ok(d, ddsm_barrier(d));
    if (r->rank == 0)
        memset(global + 8 * PAGE, 9, PAGE);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
    /* private again, whole at the rank that has given them */
    global[0] = low[0] = 1;
    check(r->rank != 1 ||
          (global[8 * PAGE] == 9 && low[1] == 'b' && global[3 * PAGE] == 1));
}

/* -------------------------------------------------------- moving homes --- */

static ddsm_stats_t after_reset(ddsm_t *d)
{
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    ddsm_stats_reset(d);
    return s;
}

/* A rank that alone uses pages has no faults and no diffs after some rounds. */
static void first_touch(struct rank *r)
{
    enum { PAGES = 64, ROUNDS = 6 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 255);
    volatile char *p = ddsm_alloc(d, (size_t)PAGES * PAGE, &at);
    size_t first, last;
    ddsm_part(d, 0, PAGES, &first, &last);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (size_t i = first; i < last; i++) {
            check(p[PAGE * i] == (char)(round - 1));
            p[PAGE * i] = (char)round;
        }
        ok(d, ddsm_barrier(d));
        const ddsm_stats_t s = after_reset(d);
        if (round > 3)
            check(s.read_faults + s.write_faults + s.diffs + s.fetches == 0);
    }
    for (unsigned i = 0; i < PAGES; i++)
        check(p[PAGE * i] == ROUNDS);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* Homes move while all ranks read all pages, and several write some. */
static void homes_wander(struct rank *r)
{
    enum { PAGES = 40, ROUNDS = 60 };
    const ddsm_place_t at = {.homes = DDSM_BLOCK, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 16);
    volatile uint32_t *p = ddsm_alloc(d, (size_t)PAGES * PAGE, &at);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < PAGES; i++) {
            volatile uint32_t *page = p + (size_t)i * (PAGE / 4);
            const unsigned owner = (i + round / 6) % r->size;
            if (owner == r->rank)
                page[1] += i;
            if (i % 5 == 0) /* of all ranks */
                page[8 + r->rank] = round;
            if (i % 7 == 0) {
                ok(d, ddsm_lock(d, i));
                page[0]++;
                ok(d, ddsm_unlock(d, i));
            }
        }
        dawdle(r);
        ok(d, ddsm_barrier(d));
        for (unsigned i = round % 2; i < PAGES; i += 1 + round % 3) {
            const volatile uint32_t *page = p + (size_t)i * (PAGE / 4);
            check(page[1] == i * round);
            check(page[0] == (i % 7 ? 0 : round * r->size));
            for (unsigned k = 0; k < r->size && i % 5 == 0; k++)
                check(page[8 + k] == round);
        }
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* A page that its home alone has used is seen by a rank that takes a lock, and
 * so is each write after that rank has read it. Of the two pages one ends a
 * block (exclusive.h), and one begins the next. */
static void exclusive_ends(struct rank *r)
{
    enum { ROUNDS = 400, BEFORE = 2 * 4096 - 1 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, (BEFORE + 3) * PAGE, 0);
    check(ddsm_alloc(d, BEFORE * PAGE, &at) != NULL);
    volatile uint32_t *p = ddsm_alloc(d, 2 * PAGE, &at);
    volatile uint32_t *count = ddsm_alloc(d, PAGE, NULL);
    for (uint32_t seen = 0, now; seen < ROUNDS;) {
        ok(d, ddsm_lock(d, 1));
        if (r->rank == 0 && *count < ROUNDS) {
            p[0] = p[PAGE / 4] = *count + 1;
            (*count)++;
        }
        now = *count;
        check(p[0] == now && (now % 3 || p[PAGE / 4] == now));
        check(now >= seen);
        seen = now;
        ok(d, ddsm_unlock(d, 1));
        dawdle(r);
    }
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* ---------------------------------------------------------- open pages --- */

/* The home writes without faults, also by system calls; other ranks see it at
 * each synchronisation, and their writes get home. */
static void open_pages(struct rank *r)
{
    enum { ROUNDS = 30 };
    const ddsm_place_t at = {.homes = DDSM_BLOCK, .kind = DDSM_OPEN};
    ddsm_t *d = space(r, 1 << 20, 4);
    volatile uint32_t *p = ddsm_alloc(d, (size_t)r->size * 2 * PAGE, &at);
    volatile uint32_t *mine = p + (size_t)r->rank * (2 * PAGE / 4);
    const int zero = open("/dev/zero", O_RDONLY);
    ddsm_stats_reset(d);
    check(read(zero, (void *)mine, PAGE) == PAGE);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        mine[0] = mine[PAGE / 4] = round;
        ok(d, ddsm_barrier(d));
        check(after_reset(d).write_faults == 0);
        for (unsigned k = 0; k < r->size; k++) {
            volatile uint32_t *its = p + (size_t)k * (2 * PAGE / 4);
            check(its[0] == round && its[PAGE / 4] == round);
            its[8 + r->rank] = round * 3;
        }
        ok(d, ddsm_barrier(d));
        for (unsigned k = 0; k < r->size; k++)
            check(mine[8 + k] == round * 3);
        ddsm_stats_reset(d);
        if (round % 2) {
            ok(d, ddsm_lock(d, 3));
            mine[1] = mine[1] + 1;
            ok(d, ddsm_unlock(d, 3));
        }
        ok(d, ddsm_release(d));
        ok(d, ddsm_acquire(d));
    }
    close(zero);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* ----------------------------------------------- a stack that may fault --- */

static ucontext_t outside, inside;

static void on_shared_stack(void)
{
    volatile char local[3 * PAGE];
    for (unsigned round = 1;; round++) {
        for (size_t i = 0; i < sizeof local; i += PAGE / 2)
            local[i] = (char)round;
        swapcontext(&inside, &outside);
        for (size_t i = 0; i < sizeof local; i += PAGE / 2)
            check(local[i] == (char)round);
    }
}

static void stacks(struct rank *r)
{
    enum { STACK = 16 * PAGE };
    ddsm_config_t cfg;
    ddsm_t *d;
    ddsm_config_init(&cfg);
    cfg.alternate_stacks = true;
    expect(r, 0, ddsm_open(r->job, &cfg, &d, NULL));
    char *stack = ddsm_alloc(d, (size_t)STACK * r->size, NULL);
    ok(d, ddsm_thread_begin(d));
    ok(d, ddsm_thread_begin(d));
    getcontext(&inside);
    inside.uc_stack =
        (stack_t){.ss_sp = stack + (size_t)STACK * r->rank, .ss_size = STACK};
    makecontext(&inside, on_shared_stack, 0);
    for (unsigned round = 0; round < 20; round++) {
        swapcontext(&outside, &inside);
        ok(d, ddsm_barrier(d)); /* the stack's pages are protected now */
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    check(s.write_faults >= 20);
    ddsm_thread_end(d);
    ddsm_close(d);
}

/* ------------------------------------------------------------- history --- */

/* Intervals of two names, in which other pages are read; with the third name
 * half of them only from the tenth round on. The second one gets its name only
 * after the barrier. */
static void history(struct rank *r)
{
    enum { PAGES = 120, ROUNDS = 45 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, (size_t)PAGES * PAGE, &at);
    uint64_t faults = 0;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned name = 1; name <= 3; name++) {
            for (unsigned i = 0; i < PAGES && r->rank == 0; i++)
                p[PAGE * i] = (unsigned char)(round + name);
            ddsm_interval(d, name == 2 ? 0 : name);
            ok(d, ddsm_barrier(d));
            if (name == 2)
                ok(d, ddsm_interval_now(d, name));
            ddsm_stats_t before, after;
            ddsm_stats(d, &before);
            const unsigned step = name == 3 && round > 10 ? 4 : 2;
            for (unsigned i = name % 2; i < PAGES; i += step)
                check(p[PAGE * i] == (unsigned char)(round + name));
            ddsm_stats(d, &after);
            if (round > 2)
                faults += after.read_faults - before.read_faults;
            ddsm_interval(d, 0);
            ok(d, ddsm_barrier(d));
        }
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    if (r->rank) { /* it learns in rounds 3, 4, 20 and 35 */
        check(faults == 4 * (60 + 60) + 2 * 60 + 2 * 30);
        check(s.predicted == 4 * 3 * 60);
        check(s.predicted_used == faults && s.unpredicted == 0);
        check(ddsm_efficiency(&s) == 100.0 * (double)faults / (4 * 3 * 60));
        check(ddsm_coverage(&s) == 100);
    }
    ddsm_close(d);
}

/* Each interval of a name reads other pages, while rank 0 writes all of them,
 * but not the bytes that are read. */
static void history_of_no_use(struct rank *r)
{
    enum { SETS = 5, PAGES = 20, ROUNDS = 40 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, (size_t)SETS * PAGES * PAGE, &at);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < SETS * PAGES && r->rank == 0; i++)
            p[PAGE * i] = (unsigned char)round;
        ddsm_interval(d, 1);
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < SETS * PAGES && r->rank == 0; i++)
            p[PAGE * i + 1] = (unsigned char)round;
        for (unsigned i = 0; i < PAGES; i++)
            check(p[PAGE * (round % SETS * PAGES + i)] == round);
        ddsm_interval(d, 0);
        ok(d, ddsm_barrier(d));
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    /* it tries in rounds 3, 14 and 33, after pauses of 8 and 16 */
    check(r->rank == 0 || (s.predicted == 3 * PAGES && s.predicted_used == 0));
    ddsm_close(d);
}

/* Each rank writes pages of the next one; from the tenth round on only half of
 * them. */
static void history_of_writes(struct rank *r)
{
    enum { PAGES = 32, ROUNDS = 40 };
    const ddsm_place_t at = {.homes = DDSM_BLOCK};
    const size_t part = (size_t)PAGES * PAGE;
    ddsm_t *d = space(r, 1 << 20, 0);
    unsigned char *all = ddsm_alloc(d, r->size * part, &at);
    volatile unsigned char *own = all + r->rank * part;
    volatile unsigned char *next = all + (r->rank + 1) % r->size * part;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        const unsigned step = round < 10 ? 1 : 2;
        ddsm_stats_t before, after;
        ddsm_stats(d, &before);
        ddsm_interval(d, 1);
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < PAGES; i += step)
            next[PAGE * i] = (unsigned char)(round + i);
        ddsm_interval(d, 0);
        ok(d, ddsm_barrier(d));
        ddsm_stats(d, &after);
        /* it learns in rounds 3, 4, 20 and 35, of the pages of every second
         * round */
        const bool faults = round == 1 || round == 3 || round == 4 ||
                            round == 20 || round == 35;
        const bool knows_all = round < (round % 2 ? 35 : 20);
        check(after.write_faults - before.write_faults ==
              (faults ? PAGES / step : 0));
        check(after.twins - before.twins == (knows_all ? PAGES : PAGES / step));
        for (unsigned i = 0; i < PAGES; i += step)
            check(own[PAGE * i] == (unsigned char)(round + i));
    }
    ddsm_close(d);
}

/* ----------------------------------------------------- costs of a page --- */

struct costs {
    const char *page;
    ddsm_page_cost_t cost;
    unsigned others;
};

static void note_cost(const ddsm_page_cost_t *cost, void *context)
{
    struct costs *c = context;
    if (cost->start == c->page)
        c->cost = *cost;
    else
        c->others++;
}

static void costs_of_pages(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile char *p = ddsm_alloc(d, 3 * PAGE, &at);
    for (unsigned round = 1; round <= 3; round++) {
        p[PAGE + (int)r->rank] = (char)round;
        ok(d, ddsm_barrier(d));
    }
    struct costs c = {.page = (char *)p + PAGE};
    ddsm_page_costs(d, note_cost, &c);
    check(c.cost.write_faults == 3 && c.cost.shared_writes);
    check(c.cost.home == 0 && c.others == 0);
    check(r->rank == 0 || (c.cost.diffs == 3 && c.cost.fetches == 2 &&
                           c.cost.invalidated == 3));
    ddsm_stats_reset(d);
    c = (struct costs){.page = (char *)p + PAGE};
    ddsm_page_costs(d, note_cost, &c);
    check(c.cost.start == NULL);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* ---------------------------------------------- notes, release, acquire --- */

/* With a note, claims and ranges of the log in one message: more and more pages
 * that do not adjoin, half of which move. */
static void notes(struct rank *r)
{
    enum { MOST = 49 };
    const ddsm_place_t at = {.homes = DDSM_BLOCK, .kind = DDSM_MOVING};
    const size_t bytes = (size_t)MOST * r->size * PAGE;
    ddsm_t *d = space(r, 1 << 21, 0);
    char mine[DDSM_NOTE_BYTES], all[8][DDSM_NOTE_BYTES];
    volatile char *pages[] = {ddsm_alloc(d, bytes, NULL),
                              ddsm_alloc(d, bytes, &at)};
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < round; i++)
            pages[i % 2][PAGE * ((unsigned)i * r->size + r->rank)] =
                (char)round;
        memset(mine, (int)r->rank + round, sizeof mine);
        ok(d, ddsm_barrier_note(d, mine, all));
        for (int i = 0; i < round * (int)r->size; i++)
            check(pages[i / (int)r->size % 2][PAGE * i] == (char)round);
        for (unsigned k = 0; k < r->size; k++)
            check(all[k][0] == (char)(k + (unsigned)round) &&
                  all[k][DDSM_NOTE_BYTES - 1] == all[k][0]);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* A flag in plain memory, polled with acquires, as `omp flush` has it. */
static void flags(struct rank *r)
{
    enum { ROUNDS = 40 };
    const ddsm_place_t at = {.homes = DDSM_CYCLIC, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile uint32_t *data = ddsm_alloc(d, PAGE, NULL);
    volatile uint32_t *flag = ddsm_alloc(d, PAGE, &at);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        while (*flag % r->size != r->rank)
            ok(d, ddsm_acquire(d));
        ok(d, ddsm_acquire(d)); /* the flag may have come by a fault */
        check(data[0] == *flag * 7);
        data[0] += 7;
        ok(d, ddsm_release(d));
        (*flag)++;
        ok(d, ddsm_flush(d));
    }
    ok(d, ddsm_barrier(d));
    check(*flag == ROUNDS * r->size);
    ddsm_close(d);
}

static const struct test tests[] = {
    {"ranges of the program are shared in place", 3, adopted, NULL, APART},
    {"homes move to the rank that writes", 3, first_touch, NULL, APART},
    {"homes move, and nothing is lost", 3, homes_wander, NULL, APART},
    {"a page stops being exclusive", 2, exclusive_ends, NULL, APART},
    {"open pages", 3, open_pages, NULL, APART},
    {"a stack whose pages fault", 2, stacks, NULL, APART},
    {"fetching along what was used", 2, history, NULL, APART},
    {"a pause where intervals differ", 2, history_of_no_use, NULL, APART},
    {"making writable what was written", 2, history_of_writes, NULL, APART},
    {"costs of a page", 2, costs_of_pages, NULL, APART},
    {"notes of a barrier", 4, notes, NULL, APART},
    {"release and acquire", 3, flags, NULL, APART},
};

RUN_TESTS(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of one rank in regions, barriers, loops and locks of the Cluster
 * OpenMP runtime. ThreadSanitizer sees what is not ordered. */
#include "unit.h"

#include <stdalign.h>
#include <time.h>

#include "omp/runtime/icv.h"
#include "omp/runtime/loop.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"
#include "tests/stand_in.h"

enum { THREADS = 4, TIMES = 2000 };

/* what compilers call */
void GOMP_parallel(void (*)(void *), void *, unsigned threads, unsigned flags);
void GOMP_barrier(void);
bool GOMP_single_start(void);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *variables);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
bool GOMP_loop_dynamic_start(long first, long end, long step, long chunk,
                             long *from, long *to);
bool GOMP_loop_dynamic_next(long *from, long *to);
bool GOMP_loop_ordered_static_start(long first, long end, long step, long chunk,
                                    long *from, long *to);
bool GOMP_loop_ordered_static_next(long *from, long *to);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void omp_init_lock(uint32_t *lock);
void omp_set_lock(uint32_t *lock);
void omp_unset_lock(uint32_t *lock);
struct nest_lock {
    alignas(8) char bytes[16];
};
void omp_init_nest_lock(struct nest_lock *lock);
void omp_set_nest_lock(struct nest_lock *lock);
void omp_unset_nest_lock(struct nest_lock *lock);

static void run(void (*function)(void *), void *argument)
{
    GOMP_parallel(function, argument, THREADS, 0);
}

static void mark(void *argument)
{
    ((unsigned *)argument)[self()->id]++;
}

/* Writes where the team of the last region was. */
__attribute__((noinline)) static void reuse_stack(void)
{
    volatile char room[4096];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0;
}

/* The thread that began a region goes on while others have yet to leave its
 * last barrier. */
static void regions_end(void **state)
{
    for (unsigned i = 1; i <= TIMES; i++) {
        unsigned times[THREADS] = {0};
        run(mark, times);
        for (unsigned t = 0; t < THREADS; t++)
            assert_int_equal(times[t], 1);
        reuse_stack();
    }
}

static unsigned written[THREADS];

static void pass_on(void *argument)
{
    bool *failed = argument;
    const unsigned id = self()->id;
    for (unsigned i = 1; i <= TIMES; i++) {
        written[id] = i;
        GOMP_barrier();
        if (written[(id + 1) % THREADS] != i)
            *failed = true;
        GOMP_barrier();
    }
}

static void barriers_order(void **state)
{
    bool failed = false;
    run(pass_on, &failed);
    assert_false(failed);
}

static void give(void *argument)
{
    unsigned *given = argument;
    for (unsigned i = 1; i <= TIMES; i++) {
        unsigned mine = 0;
        if (GOMP_single_start())
            *given = i;
        GOMP_barrier();
        unsigned *from = GOMP_single_copy_start();
        if (!from) {
            mine = *given;
            GOMP_single_copy_end(&mine);
        } else {
            mine = *from;
        }
        GOMP_barrier();
        written[self()->id] = mine;
    }
}

static void singles_are_copied(void **state)
{
    unsigned given = 0;
    run(give, &given);
    for (unsigned t = 0; t < THREADS; t++)
        assert_int_equal(written[t], TIMES);
}

struct count {
    long done, ordered;
    uint32_t lock;
    struct nest_lock nest;
};

static void add_by_loop(void *argument)
{
    struct count *c = argument;
    for (int i = 0; i < TIMES / 10; i++) {
        long from, to;
        if (GOMP_loop_dynamic_start(0, 100, 1, 3, &from, &to))
            do {
                GOMP_critical_start();
                c->done += to - from;
                GOMP_critical_end();
            } while (GOMP_loop_dynamic_next(&from, &to));
        GOMP_loop_end_nowait();
        if (GOMP_loop_ordered_static_start(0, 8, 1, 1, &from, &to))
            do {
                GOMP_ordered_start();
                if (c->ordered++ % 8 != from)
                    c->done = -1;
                GOMP_ordered_end();
            } while (GOMP_loop_ordered_static_next(&from, &to));
        GOMP_loop_end_nowait();
    }
}

static void loops_are_shared(void **state)
{
    struct count c = {0};
    run(add_by_loop, &c);
    assert_int_equal(c.done, TIMES / 10 * 100);
    assert_int_equal(c.ordered, TIMES / 10 * 8);
}

bool GOMP_loop_guided_start(long first, long end, long step, long chunk,
                            long *from, long *to);
bool GOMP_loop_guided_next(long *from, long *to);

enum { GUIDED = 1000, LEAST = 3 };

static void note_chunks(void *argument)
{
    long *end_of = argument, from, to;
    if (GOMP_loop_guided_start(0, GUIDED, 1, LEAST, &from, &to))
        do
            end_of[from] = to;
        while (GOMP_loop_guided_next(&from, &to));
    GOMP_loop_end();
}

/* A chunk is the same part of the iterations that are left, or the least. */
static void guided_chunks_shrink(void **state)
{
    long end_of[GUIDED] = {0};
    run(note_chunks, end_of);
    for (long from = 0, to; from < GUIDED; from = to) {
        const long left = GUIDED - from, part = (left + 7) / (2 * THREADS);
        const long least = left < LEAST ? left : LEAST;
        to = end_of[from];
        assert_int_equal(to - from, part > least ? part : least);
    }
}

/* When all threads are here: by a loop whose iterations they share. */
static void count_a_hundred(long *done)
{
    long from, to;
    GOMP_barrier();
    if (GOMP_loop_dynamic_start(0, 100, 1, 1, &from, &to))
        do {
            GOMP_critical_start();
            *done += to - from;
            GOMP_critical_end();
        } while (GOMP_loop_dynamic_next(&from, &to));
    GOMP_loop_end();
}

/* Loops of no iteration leave nothing in the words of loops. */
static void meet_empty_loops(void *argument)
{
    enum { MANY = 600000 }; /* more than half of what a loop's number counts */
    long from, to, *done = argument;
    for (int i = 0; i < MANY; i++)
        if (GOMP_loop_dynamic_start(0, 0, 1, 1, &from, &to))
            *done = -1;
    count_a_hundred(done);
}

static void loops_after_empty_ones_run(void **state)
{
    long done = 0;
    run(meet_empty_loops, &done);
    assert_int_equal(done, 100);
}

/* The same of ordered static loops, whose turns have another word. */
static void meet_ordered_loops(void *argument)
{
    enum { MANY = 600000 };
    long from, to, *done = argument;
    for (int i = 0; i < MANY; i++)
        if (GOMP_loop_ordered_static_start(0, 1, 1, 1, &from, &to))
            do {
                GOMP_ordered_start();
                GOMP_ordered_end();
            } while (GOMP_loop_ordered_static_next(&from, &to));
    count_a_hundred(done);
}

static void loops_after_ordered_ones_run(void **state)
{
    long done = 0;
    GOMP_parallel(meet_ordered_loops, &done, 2, 0);
    assert_int_equal(done, 100);
}

static void add_by_lock(void *argument)
{
    struct count *c = argument;
    for (int i = 0; i < TIMES; i++) {
        omp_set_lock(&c->lock);
        c->done++;
        omp_unset_lock(&c->lock);
        omp_set_nest_lock(&c->nest);
        omp_set_nest_lock(&c->nest);
        c->ordered++;
        omp_unset_nest_lock(&c->nest);
        omp_unset_nest_lock(&c->nest);
    }
}

static void locks_exclude(void **state)
{
    struct count c = {0};
    omp_init_lock(&c.lock);
    omp_init_nest_lock(&c.nest);
    run(add_by_lock, &c);
    assert_int_equal(c.done, THREADS * TIMES);
    assert_int_equal(c.ordered, THREADS * TIMES);
}

void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long bytes,
               long alignment, bool deferred, unsigned flags, void **depend,
               int priority, void *detach);
void GOMP_taskwait(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);

struct tree {
    unsigned depth;
    long *sum;
};

static void make_task(void (*function)(void *), struct tree *tree, bool later)
{
    GOMP_task(function, &tree, NULL, sizeof tree, alignof(struct tree *), later,
              0, NULL, 0, NULL);
}

/* Two children for each task; plain memory hands the sums on. */
static void count_tree(void *argument)
{
    struct tree *tree = *(struct tree **)argument;
    long sums[2] = {0, 0};
    struct tree child[2] = {{tree->depth - 1, &sums[0]},
                            {tree->depth - 1, &sums[1]}};
    if (tree->depth) {
        make_task(count_tree, &child[0], true);
        make_task(count_tree, &child[1], tree->depth % 3 > 0);
        GOMP_taskwait();
    }
    *tree->sum = sums[0] + sums[1] + 1;
}

enum { DEPTH = 9 };

static void make_trees(void *argument)
{
    long *sums = argument, *mine = &sums[self()->id];
    struct tree tree = {DEPTH, mine};
    GOMP_taskgroup_start();
    make_task(count_tree, &tree, true);
    GOMP_taskgroup_end();
    const bool is_right = *mine == (2 << DEPTH) - 1;
    GOMP_barrier();
    *mine = 0;
    make_task(count_tree, &tree, true);
    GOMP_barrier();
    if (!is_right)
        *mine = -1;
}

static void tasks_are_waited_for(void **state)
{
    long sums[THREADS] = {0};
    run(make_trees, sums);
    for (unsigned t = 0; t < THREADS; t++)
        assert_int_equal(sums[t], (2 << DEPTH) - 1);
}

static void add_one(void *argument)
{
    ++**(long **)argument;
}

/* Tasks that all write the same word. */
static void make_chain(void *argument)
{
    void *depend[] = {(void *)1, (void *)1, argument};
    if (GOMP_single_start())
        for (int i = 0; i < TIMES; i++)
            GOMP_task(add_one, &argument, NULL, sizeof argument,
                      alignof(void *), true, 1 << 3, depend, 0, NULL);
    GOMP_barrier();
}

static void dependent_tasks_are_ordered(void **state)
{
    long sum = 0;
    run(make_chain, &sum);
    assert_int_equal(sum, TIMES);
}

/* ------------------------------------------ threads that end slowly --- */

struct start {
    void *(*begin)(void *);
    void *argument;
};
static _Atomic unsigned begun, ended;

static void *end_slowly(void *arg)
{
    const struct start start = *(struct start *)arg;
    free(arg);
    void *result = start.begin(start.argument);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    ended++;
    return result;
}

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument);
STAND_IN int __wrap_pthread_create(pthread_t *id,
                                   const pthread_attr_t *attributes,
                                   void *(*begin)(void *), void *argument);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*begin)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    assert_non_null(start);
    *start = (struct start){begin, argument};
    begun++;
    return __real_pthread_create(id, attributes, end_slowly, start);
}

/* The last test: their stacks go then. */
static void threads_have_ended(void **state)
{
    assert_true(team_dismiss());
    assert_true(begun == THREADS - 1 && ended == begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_end),
        cmocka_unit_test(barriers_order),
        cmocka_unit_test(singles_are_copied),
        cmocka_unit_test(loops_are_shared),
        cmocka_unit_test(guided_chunks_shrink),
        cmocka_unit_test(loops_after_empty_ones_run),
        cmocka_unit_test(loops_after_ordered_ones_run),
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(tasks_are_waited_for),
        cmocka_unit_test(dependent_tasks_are_ordered),
        cmocka_unit_test(threads_have_ended),
    };
    settings_read(1, 1);
    memory_alone();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

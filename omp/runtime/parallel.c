/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions, also those that begin with a loop or sections, and teams.
 */
#include "omp/runtime/memory.h"
#include "omp/runtime/tasks/reduction.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

typedef void (*region_t)(void *);

void GOMP_parallel(region_t function, void *argument, unsigned threads,
                   unsigned flags)
{
    (void)flags; /* proc_bind: threads are not bound */
    team_run(function, argument, TEAM_PLAIN, threads);
}

/* With reductions over tasks; returns how many threads there were. */
unsigned GOMP_parallel_reductions(region_t function, void *argument,
                                  unsigned threads, unsigned flags)
{
    (void)flags;
    threads = team_threads(threads);
    reduction_begin_region(*(uintptr_t **)argument, threads);
    return team_run(function, argument, TEAM_REDUCES, threads);
}

static void parallel_loop(region_t function, void *argument, unsigned threads,
                          struct loop_bounds bounds, uint32_t schedule)
{
    struct combined c = {argument, bounds, schedule};
    team_run(function, &c, TEAM_COMBINED, threads);
}

#define PARALLEL_LOOP(name, schedule)                                          \
    void GOMP_parallel_loop_##name(region_t function, void *argument,          \
                                   unsigned threads, long start, long end,     \
                                   long step, long chunk, unsigned flags)      \
    {                                                                          \
        (void)flags;                                                           \
        parallel_loop(function, argument, threads,                             \
                      loop_bounds(start, end, step, chunk), schedule);         \
    }
PARALLEL_LOOP(static, SCHEDULE_STATIC)
PARALLEL_LOOP(dynamic, SCHEDULE_DYNAMIC)
PARALLEL_LOOP(guided, SCHEDULE_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, SCHEDULE_DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, SCHEDULE_GUIDED)

#define PARALLEL_LOOP_RUNTIME(name)                                            \
    void GOMP_parallel_loop_##name(region_t function, void *argument,          \
                                   unsigned threads, long start, long end,     \
                                   long step, unsigned flags)                  \
    {                                                                          \
        const struct icv *icv = &self()->icv;                                  \
        (void)flags;                                                           \
        parallel_loop(function, argument, threads,                             \
                      loop_bounds(start, end, step, icv->chunk),               \
                      icv->schedule);                                          \
    }
PARALLEL_LOOP_RUNTIME(runtime)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

void GOMP_parallel_sections(region_t function, void *argument, unsigned threads,
                            unsigned count, unsigned flags)
{
    (void)flags;
    parallel_loop(function, argument, threads,
                  loop_bounds(1, (long)count + 1, 1, 1), SCHEDULE_SECTIONS);
}

/* ------------------------------------------------------------------ teams */

/* The threads of the program are all teams', which run one after another. */
void GOMP_teams_reg(region_t function, void *argument, unsigned teams,
                    unsigned thread_limit, unsigned flags)
{
    struct league *league = &shared_words->league;
    (void)flags;
    *league = (struct league){.teams = teams, .limit = thread_limit};
    for (league->team = 0; league->team < teams || !league->team;
         league->team++)
        function(argument);
    *league = (struct league){0};
}

/* ... in a target region, which has the loop itself: is there a team (left)? Of
 * regions that several threads run at the same time, each has one. */
bool GOMP_teams4(unsigned least, unsigned most, unsigned thread_limit,
                 bool is_first)
{
    struct league *league = &shared_words->league;
    (void)most;
    if (self()->team->active)
        return is_first;
    if (is_first) {
        *league = (struct league){.teams = least, .limit = thread_limit};
        return true;
    }
    if (++league->team < league->teams)
        return true;
    *league = (struct league){0};
    return false;
}

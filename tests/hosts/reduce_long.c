/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduces of BYTES, one after the other, for SECONDS, over the rails of
 * DRAIL_RAILS. Each result is checked. Rank 0 prints for each one when it began
 * (CLOCK_MONOTONIC, seconds) and how long it took.
 *
 * reduce_long BYTES SECONDS [ALGORITHM]
 */
#include "coll/dcoll.h"
#include "tests/integration/ranks.h"

static struct {
    size_t bytes;
    double seconds;
    const char *algorithm; /* NULL: auto */
} wanted;

static void give(int64_t *mine, size_t n, unsigned rank, int64_t round)
{
    for (size_t i = 0; i < n; i++)
        mine[i] = rank + round + (int64_t)i;
}

static bool is_sum(const int64_t *all, size_t n, unsigned ranks, int64_t round)
{
    const int64_t sum = (int64_t)ranks * (ranks - 1) / 2;
    for (size_t i = 0; i < n; i++)
        if (all[i] != sum + ranks * (round + (int64_t)i))
            return false;
    return true;
}

/* Does each rank want to go on? */
static bool all_go(dcoll_team_t *team, bool mine)
{
    int32_t go = mine, all = 0;
    check(!dcoll_allreduce(team, &go, &all, 1,
                           dcoll_reduction(DCOLL_INT32, DCOLL_MIN)));
    return all;
}

static void reduce(struct rank *r)
{
    const size_t n = wanted.bytes / sizeof(int64_t);
    int64_t *mine = malloc(wanted.bytes), *all = malloc(wanted.bytes);
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    check(mine && all);
    const dcoll_call_t call = {.collective = DCOLL_ALLREDUCE,
                               .send = mine,
                               .recv = all,
                               .bytes = n * sizeof *mine,
                               .algorithm = wanted.algorithm,
                               .reduction =
                                   dcoll_reduction(DCOLL_INT64, DCOLL_SUM)};
    const double begin = seconds();
    int64_t round = 0;
    do {
        give(mine, n, r->rank, round);
        check(!dcoll_barrier(team));
        const double came = seconds();
        check(!dcoll_run(team, &call));
        const double took = seconds() - came;
        check(is_sum(all, n, r->size, round));
        if (r->rank == 0)
            printf("call %.3f %.4f\n", came, took);
        round++;
    } while (all_go(team, seconds() - begin < wanted.seconds));
    dcoll_team_free(team);
    free(mine);
    free(all);
}

/* Other tests take only the first two. */
static void all_rails(drail_config_t *cfg)
{
    drail_config_init(cfg);
}

int main(int argc, char **argv)
{
    struct test test = {.name = "reduce_long",
                        .nranks = 4,
                        .run = reduce,
                        .configure = all_rails};
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: reduce_long BYTES SECONDS [ALGORITHM]\n");
        return 2;
    }
    wanted.bytes = strtoull(argv[1], NULL, 0);
    wanted.seconds = atof(argv[2]);
    wanted.algorithm = argv[3];
    return run_tests(&test, 1, 1, 1, argv);
}

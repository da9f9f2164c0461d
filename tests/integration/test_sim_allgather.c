/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gathers of 16 simulated ranks: right, and as long in every run. */
#include "coll/dcoll.h"
#include "dapl_rail/platform/platform.h"
#include "simulated.h"

#define RANKS  16u
#define MOST   (16u << 10)
#define ROUNDS 2u
#define CALLS  128u

struct spent { /* nanoseconds, of rank 0 */
    uint64_t ns[CALLS];
    unsigned calls;
};

/* Each rank's blocks, of each round, are others. */
static void fill(unsigned char *block, size_t bytes, unsigned rank,
                 unsigned round)
{
    memset(block, (int)(rank * ROUNDS + round + 1), bytes);
}

static void verify(const unsigned char *all, size_t bytes, unsigned round)
{
    unsigned char block[MOST];
    for (unsigned r = 0; r < RANKS; r++) {
        fill(block, bytes, r, round);
        check(!memcmp(all + r * bytes, block, bytes));
    }
}

/* False: the algorithm does not run with these ranks. */
static bool allgather(dcoll_team_t *team, const char *algorithm, unsigned rank,
                      size_t bytes, unsigned char *send, unsigned char *recv)
{
    dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                         .send = send,
                         .recv = recv,
                         .bytes = bytes,
                         .algorithm = algorithm};
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(send, bytes, rank, round);
        memset(recv, 0, RANKS * bytes);
        int rc = dcoll_run(team, &call);
        if (rc && !round)
            return false;
        check(rc == 0);
        verify(recv, bytes, round);
    }
    return true;
}

static uint64_t now(const drail_job_t *job)
{
    return platform_now(drail_job_platform(job));
}

static void all_algorithms(dcoll_team_t *team, drail_job_t *job,
                           struct spent *spent, unsigned char *send,
                           unsigned char *recv)
{
    /* two sizes, as each costs seconds when sanitized: a message for links of
     * one rail, and one that is striped */
    static const size_t sizes[] = {8, MOST};
    unsigned rank = drail_job_rank(job), done = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned s = 0; s < 2; s++) {
            if ((*a)->collective != DCOLL_ALLGATHER)
                continue;
            uint64_t begin = now(job);
            bool ran = allgather(team, (*a)->name, rank, sizes[s], send, recv);
            check(drail_job_barrier(job, -1) == 0);
            if (ran && !rank && spent->calls < CALLS)
                spent->ns[spent->calls++] = now(job) - begin;
            done += ran;
        }
    check(done > 0);
}

static int gather_main(drail_job_t *job, void *arg)
{
    drail_config_t cfg;
    drail_error_t err;
    dcoll_team_t *team = NULL;
    drail_t *t = NULL;
    unsigned char *send = malloc(MOST), *recv = malloc(RANKS * (size_t)MOST);
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    check(send && recv && drail_open(job, &cfg, &t, &err) == 0);
    check(dcoll_team_create(job, t, NULL, &team, &err) == 0);
    all_algorithms(team, job, arg, send, recv);
    dcoll_team_free(team);
    drail_close(t);
    free(send);
    free(recv);
    return 0;
}

static bool run(const char *platform, unsigned ppn)
{
    struct spent *spent = shared_memory(2 * sizeof *spent);
    bool ok = true;
    for (unsigned i = 0; ok && i < 2; i++)
        ok = simulate(platform, RANKS, ppn, gather_main, &spent[i]) == 0;
    printf("# %u all-gathers\n", spent[0].calls);
    ok &= spent[0].calls > 0 && !memcmp(&spent[0], &spent[1], sizeof *spent);
    munmap(spent, 2 * sizeof *spent);
    return ok;
}

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(run("two-rails", 1), "16 nodes with two rails");
    report(run("two-rails", 4), "4 nodes of 4 ranks");
    return reported();
}

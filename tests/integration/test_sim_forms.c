/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in virtual time take what the closed forms say, to a hundredth:
 * Y. Qian and A. Afsahi (Qian and Afsahi 2008), equations (1) to (5), with a
 * rank a node and algorithms that do one step after the other.
 *
 * (2) counts the start-ups of a direct gather one after the other, but its
 * senders begin all at once: it holds where blocks are long, else (6) does. (4)
 * is that of none of ours: their correction steps are fewer and carry more
 * (exchange_allgather.c).
 */
#include "coll/dcoll.h"
#include "dapl_rail/platform/platform.h"
#include "simulated.h"
#include "tests/unit/powers.h"

#define STARTUP_NS 2000.0
#define BYTE_NS    1.0
#define MOST_RANKS 16u
#define MOST       262144u
#define WARM_UP    3u
#define QUIET_NS   1000000u

struct row {
    dcoll_collective_t collective;
    const char *algorithm;
    unsigned form, nranks, ports;
    size_t bytes;
};

struct trial {
    const struct row *row;
    uint64_t ns[MOST_RANKS]; /* of the ranks, from a common start */
};

/* ------------------------------------------------------------- the forms */

static double form(const struct row *r)
{
    unsigned n = r->nranks, k = r->ports;
    double block = (double)r->bytes * BYTE_NS;
    unsigned logs = log_up(n, k + 1), each = divided_up(n - 1, k);
    double all = (double)(n - 1) / k * block;
    switch (r->form) {
    case 2:
        return each * (STARTUP_NS + block);
    case 6:
        return STARTUP_NS + all;
    case 5:
        return STARTUP_NS * logs + (double)n / (k + 1) * logs * block;
    default: /* 1 and 3 */
        return STARTUP_NS * logs + all;
    }
}

/* ----------------------------------------------------------------- ranks */

static uint64_t now(const drail_job_t *job)
{
    return platform_now(drail_job_platform(job));
}

static int form_main(drail_job_t *job, void *arg)
{
    struct trial *trial = arg;
    const struct row *row = trial->row;
    drail_config_t cfg;
    dcoll_config_t how;
    drail_error_t err;
    dcoll_team_t *team = NULL;
    drail_t *t = NULL;
    unsigned char *send = calloc(row->nranks, row->bytes);
    unsigned char *recv = calloc(row->nranks, row->bytes);
    drail_config_init(&cfg);
    cfg.rails[0] = row->ports == 1 ? "sim0" : "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    cfg.notify_by = DRAIL_NOTIFY_BY_IMMED;
    dcoll_config_init(&how);
    how.ports = row->ports;
    how.paced = true;
    check(send && recv && drail_open(job, &cfg, &t, &err) == 0);
    check(dcoll_team_create(job, t, &how, &team, &err) == 0);
    dcoll_call_t call = {.collective = row->collective,
                         .send = send,
                         .recv = recv,
                         .bytes = row->bytes,
                         .algorithm = row->algorithm};
    uint64_t begin = 0;
    for (unsigned i = 0; i <= WARM_UP; i++) {
        check(drail_job_barrier(job, -1) == 0);
        platform_sleep(drail_job_platform(job), QUIET_NS);
        begin = now(job);
        check(dcoll_run(team, &call) == 0);
    }
    trial->ns[drail_job_rank(job)] = now(job) - begin;
    dcoll_team_free(team);
    drail_close(t);
    free(send);
    free(recv);
    return 0;
}

static void examine(const struct row *row)
{
    char what[128];
    struct trial *trial = shared_memory(sizeof *trial);
    double last = 0, should = form(row);
    trial->row = row;
    bool ok = simulate("hockney", row->nranks, 1, form_main, trial) == 0;
    for (unsigned r = 0; r < row->nranks; r++)
        if ((double)trial->ns[r] > last)
            last = (double)trial->ns[r];
    if (last < should * 0.99 || last > should * 1.01) {
        printf("# %.0f ns, not %.0f\n", last, should);
        ok = false;
    }
    snprintf(what, sizeof what, "(%u): %s %s of %zu bytes, %u ranks, %u ports",
             row->form, dcoll_collective_name(row->collective), row->algorithm,
             row->bytes, row->nranks, row->ports);
    report(ok, what);
    munmap(trial, sizeof *trial);
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {
        {DCOLL_GATHER, "tree", 1, 16, 1, 1500},
        {DCOLL_GATHER, "binomial", 1, 9, 2, 1500},
        {DCOLL_ALLGATHER, "bruck", 1, 16, 1, 1500},
        {DCOLL_ALLGATHER, "bruck", 1, 9, 2, 1500},
        {DCOLL_ALLGATHER, "bruck", 1, 11, 1, 1500},
        {DCOLL_GATHER, "direct", 2, 16, 1, MOST},
        {DCOLL_GATHER, "direct", 6, 16, 1, 1500},
        {DCOLL_GATHER, "direct", 6, 9, 2, 1500},
        {DCOLL_ALLGATHER, "direct", 2, 16, 1, 1500},
        {DCOLL_ALLGATHER, "direct", 2, 9, 2, 1500},
        {DCOLL_ALLTOALL, "direct", 2, 16, 1, 1500},
        {DCOLL_ALLTOALL, "direct", 2, 9, 2, 1500},
        {DCOLL_ALLGATHER, "exchange", 3, 16, 1, 1500},
        {DCOLL_ALLGATHER, "exchange", 3, 9, 2, 1500},
        {DCOLL_ALLTOALL, "exchange", 5, 16, 1, 1500},
        {DCOLL_ALLTOALL, "exchange", 5, 9, 2, 1500},
        {DCOLL_ALLTOALL, "bruck", 5, 16, 1, 1500},
        {DCOLL_ALLTOALL, "bruck", 5, 9, 2, 1500},
    };
    simulated_or_skip(argv);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        examine(&rows[i]);
    return reported();
}

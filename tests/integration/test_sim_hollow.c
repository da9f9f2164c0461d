/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program's own job without payload: collectives run on its ordinary memory,
 * puts and messages move their bytes, irregular collectives are refused.
 */
#include "coll/dcoll.h"
#include "simulated.h"
#include "tests/unit/collectives.h"

#define RANKS 16u
#define BYTES 20000u

struct scene {
    drail_job_t *job;
    drail_t *t;
    dcoll_team_t *team;
    unsigned rank;
    unsigned char *send, *recv;
};

static void collectives(struct scene *s)
{
    unsigned done = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        dcoll_call_t call = {.collective = (*a)->collective,
                             .send = s->send,
                             .recv = s->recv,
                             .bytes = BYTES,
                             .algorithm = (*a)->name,
                             .reduction =
                                 reduction_for(*a, dcoll_team_shape(s->team))};
        if ((*a)->collective == DCOLL_ALLTOALLV)
            continue;
        if ((*a)->collective == DCOLL_BARRIER)
            call.bytes = 0;
        done += !dcoll_run(s->team, &call);
    }
    check(done > 20);
    check(!dcoll_barrier(s->team));
}

static void irregular(struct scene *s)
{
    dcoll_alltoallv_t call = {0};
    check(dcoll_alltoallv(s->team, &call) == DRAIL_ENOTSUP);
    check(strstr(dcoll_last_error(s->team), "without payload") != NULL);
}

static bool all_are(const unsigned char *block, unsigned char value)
{
    for (unsigned i = 0; i < BYTES; i++)
        if (block[i] != value)
            return false;
    return true;
}

static void put_and_message(struct scene *s)
{
    drail_mem_t *mem;
    drail_key_t mine, keys[RANKS];
    void *memory;
    unsigned next = (s->rank + 1) % RANKS, last = (s->rank + RANKS - 1) % RANKS;
    check(!drail_mem_alloc(s->t, 2 * BYTES, DRAIL_ACCESS_REMOTE_WRITE, &memory,
                           &mem));
    memset(memory, (int)s->rank + 1, BYTES);
    drail_mem_key(mem, &mine);
    check(!drail_job_allgather(s->job, &mine, sizeof mine, keys, -1));
    drail_xfer_t x = {.local = memory,
                      .local_mem = mem,
                      .remote = &keys[next],
                      .remote_offset = BYTES,
                      .bytes = BYTES};
    check(!drail_put(s->t, next, &x, 0, 0, NULL));
    check(!drail_fence(s->t, next));
    memset(s->send, (int)s->rank + 1, BYTES);
    for (unsigned turn = 0; turn < 2; turn++)
        if (s->rank % 2 == turn)
            check(!drail_send(s->t, next, s->send, BYTES, NULL));
        else
            check(!drail_recv(s->t, last, s->recv, BYTES, NULL, -1));
    check(all_are(s->recv, (unsigned char)(last + 1)));
    check(!drail_job_barrier(s->job, -1));
    check(all_are((unsigned char *)memory + BYTES, (unsigned char)(last + 1)));
    check(!drail_mem_release(mem));
}

static int hollow_main(drail_job_t *job, void *arg)
{
    struct scene s = {.job = job,
                      .rank = drail_job_rank(job),
                      .send = calloc(RANKS, BYTES),
                      .recv = calloc(RANKS, BYTES)};
    drail_config_t cfg;
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    check(s.send && s.recv && !drail_open(job, &cfg, &s.t, NULL));
    check(!dcoll_team_create(job, s.t, NULL, &s.team, NULL));
    collectives(&s);
    irregular(&s);
    dcoll_team_free(s.team);
    put_and_message(&s);
    drail_close(s.t);
    free(s.send);
    free(s.recv);
    return 0;
}

int main(int argc, char **argv)
{
    drail_job_config_t cfg;
    simulated_or_skip(argv);
    drail_job_config_init(&cfg);
    cfg.nranks = RANKS;
    cfg.ppn = 4;
    cfg.simulate = "two-rails";
    cfg.hollow = true;
    report(simulate_job(&cfg, hollow_main, NULL) == 0,
           "a job without payload on ordinary memory");
    cfg.simulate = NULL;
    drail_error_t err = {0};
    cfg.error = &err;
    report(drail_job_run(&cfg, hollow_main, NULL) == DRAIL_EINVAL &&
               strstr(err.text, "simulated"),
           "only simulated ranks can have one");
    return reported();
}

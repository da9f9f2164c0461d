/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An all-gather that is prepared once and started many times: four ranks on two
 * (emulated) nodes each give their number and get those of all.
 *
 * cc allgather.c $(pkg-config --cflags --libs dcoll)
 */
#include <stdio.h>

#include <coll/dcoll.h>

#define RANKS  4
#define STARTS 1000

static int rank_main(drail_job_t *job, void *arg)
{
    drail_config_t config;
    dcoll_config_t collectives;
    drail_error_t error = {0};
    drail_t *rails = NULL;
    dcoll_team_t *team = NULL;
    dcoll_request_t *request = NULL;
    unsigned mine, all[RANKS];
    int status = 1;

    (void)arg;
    drail_config_init(&config);
    dcoll_config_init(&collectives);
    if (drail_open(job, &config, &rails, &error) ||
        dcoll_team_create(job, rails, &collectives, &team, &error)) {
        fprintf(stderr, "%s\n", error.text);
        goto out;
    }
    dcoll_call_t call = {
        .collective = DCOLL_ALLGATHER,
        .send = &mine,
        .recv = all,
        .bytes = sizeof mine,
    };
    if (dcoll_init(team, &call, &request))
        goto failed;
    for (unsigned start = 0; start < STARTS; start++) {
        mine = start * RANKS + drail_job_rank(job);
        if (dcoll_start(request) || dcoll_wait(request, -1))
            goto failed;
        for (unsigned r = 0; r < RANKS; r++)
            if (all[r] != start * RANKS + r) {
                fprintf(stderr, "rank %u sent %u\n", r, all[r]);
                goto out;
            }
    }
    if (drail_job_rank(job) == 0)
        printf("%d all-gathers by %s: the last is %u %u %u %u\n", STARTS,
               dcoll_request_algorithm(request)->name, all[0], all[1], all[2],
               all[3]);
    status = dcoll_barrier(team) != 0;
    goto out;
failed:
    fprintf(stderr, "%s\n", dcoll_last_error(team));
out:
    dcoll_free(request);
    dcoll_team_free(team);
    drail_close(rails);
    return status;
}

int main(void)
{
    drail_job_config_t config;
    drail_job_config_init(&config);
    config.nranks = RANKS;
    config.ppn = 2;
    return drail_job_run(&config, rank_main, NULL) != 0;
}

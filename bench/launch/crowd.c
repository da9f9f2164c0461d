/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "bench/limits/cores.h"
#include "crowd.h"

unsigned crowd_cores(void)
{
    cores_t cores;
    cores_allowed(&cores);
    return cores.count ? cores.count : 1;
}

unsigned crowd_threads(const options_t *opts)
{
    for (unsigned i = 0; i < opts->nengines; i++)
        if (opts->engines[i] >= DRAIL_ENGINE_THREADED) /* or auto */
            return opts->nrails;
    return 1;
}

static crowd_t crowd(unsigned ranks, unsigned cores, unsigned threads)
{
    return (crowd_t){ranks, cores, ranks * threads > cores};
}

crowd_t crowd_of_forked(const options_t *opts, unsigned cores)
{
    unsigned ranks = (unsigned)opts->ranks;
    if (opts->simulated) /* a node has as many cores as ranks, at least */
        return (crowd_t){ranks, ranks, false};
    return crowd(ranks, cores, crowd_threads(opts));
}

static crowd_t on_host(const place_t *all, unsigned ranks, unsigned threads,
                       unsigned host)
{
    cpu_set_t any;
    unsigned count = 0;
    CPU_ZERO(&any);
    for (unsigned r = 0; r < ranks; r++)
        if (all[r].host == host) {
            CPU_OR(&any, &any, &all[r].cores);
            count++;
        }
    unsigned cores = (unsigned)CPU_COUNT(&any);
    return crowd(count, cores ? cores : 1, threads);
}

crowd_t crowd_of_places(const place_t *all, unsigned ranks, unsigned threads)
{
    for (unsigned r = 0; r < ranks; r++) {
        crowd_t found = on_host(all, ranks, threads, all[r].host);
        if (found.shared)
            return found;
    }
    return on_host(all, ranks, threads, all[0].host);
}

int crowd_find(drail_job_t *job, const options_t *opts, crowd_t *found)
{
    unsigned ranks = drail_job_size(job), rank = drail_job_rank(job);
    if (!opts->locals) {
        *found = crowd_of_forked(opts, crowd_cores());
        return 0;
    }
    place_t mine = {.host = drail_launch_host(opts->launch, rank),
                    .cores = opts->allowed};
    place_t *all = calloc(ranks, sizeof *all);
    int rc = all ? drail_job_allgather(job, &mine, sizeof mine, all, -1)
                 : DRAIL_ENOMEM;
    if (!rc)
        *found = crowd_of_places(all, ranks, crowd_threads(opts));
    free(all);
    return rc;
}

void crowd_note(const crowd_t *c, notes_t *notes)
{
    if (c->shared)
        notes_add(notes, "%u ranks share %u core%s", c->ranks, c->cores,
                  c->cores == 1 ? "" : "s");
}

void crowd_warn(const crowd_t *c, notes_t *notes, const char *command)
{
    crowd_note(c, notes);
    if (c->shared)
        fprintf(stderr, "%s: warning: %s\n", command,
                notes->text[notes->count - 1]);
}

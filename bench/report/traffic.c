/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

static void add(drail_rail_stats_t *sum, const drail_rail_stats_t *more)
{
    sum->put_bytes += more->put_bytes;
    sum->get_bytes += more->get_bytes;
    sum->send_bytes += more->send_bytes;
    sum->puts += more->puts;
    sum->gets += more->gets;
    sum->sends += more->sends;
    sum->recvs += more->recvs;
}

void traffic_add(traffic_t *t, const drail_t *rail)
{
    t->nrails = drail_nrails(rail);
    t->ranks = 1;
    for (unsigned r = 0; r < t->nrails; r++) {
        drail_rail_stats_t stats;
        drail_rail_stats(rail, r, &stats);
        memcpy(t->name[r], drail_rail_at(rail, r)->name, DRAIL_NAME_MAX);
        add(&t->rail[r], &stats);
        t->down[r] |= !stats.up;
    }
}

int traffic_gather(traffic_t *t, drail_job_t *job)
{
    unsigned ranks = drail_job_size(job), me = drail_job_rank(job);
    traffic_t *all = calloc(ranks, sizeof *all);
    if (!all)
        return DRAIL_ENOMEM;
    int rc = drail_job_allgather(job, t, sizeof *t, all, -1);
    for (unsigned i = 0; !rc && i < ranks; i++) {
        if (i == me)
            continue;
        for (unsigned r = 0; r < t->nrails; r++) {
            add(&t->rail[r], &all[i].rail[r]);
            t->down[r] += all[i].down[r];
        }
        t->ranks += all[i].ranks;
    }
    free(all);
    return rc;
}

static bool troubled(const traffic_t *t)
{
    bool any = false;
    for (unsigned r = 0; r < t->nrails; r++)
        any |= t->down[r] > 0;
    return any;
}

static const char *state(const traffic_t *t, unsigned r)
{
    return !t->down[r] ? "up" : t->down[r] < t->ranks ? "partly up" : "down";
}

void traffic_table(FILE *file, const traffic_t *t, bool always)
{
    if (!t->ranks || (!always && !troubled(t)))
        return;
    for (unsigned r = 0; r < t->nrails; r++) {
        const drail_rail_stats_t *s = &t->rail[r];
        fprintf(file,
                "# rail %s: %s; put %llu bytes in %llu, got %llu in %llu, sent "
                "%llu in %llu\n",
                t->name[r], state(t, r), (unsigned long long)s->put_bytes,
                (unsigned long long)s->puts, (unsigned long long)s->get_bytes,
                (unsigned long long)s->gets, (unsigned long long)s->send_bytes,
                (unsigned long long)s->sends);
    }
}

void traffic_json(json_t *j, const traffic_t *t)
{
    json_array(j, "rail_stats");
    for (unsigned r = 0; r < t->nrails; r++) {
        const drail_rail_stats_t *s = &t->rail[r];
        json_row_object(j, NULL);
        json_string(j, "rail", t->name[r]);
        json_string(j, "state", state(t, r));
        json_uint(j, "ranks", t->ranks);
        json_uint(j, "put_bytes", s->put_bytes);
        json_uint(j, "puts", s->puts);
        json_uint(j, "get_bytes", s->get_bytes);
        json_uint(j, "gets", s->gets);
        json_uint(j, "send_bytes", s->send_bytes);
        json_uint(j, "sends", s->sends);
        json_uint(j, "recvs", s->recvs);
        json_end_object(j);
    }
    json_end_array(j);
}

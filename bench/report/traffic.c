/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

static uint64_t longest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The ranks at both ends of a lost link count it. */
static uint64_t failures(const traffic_t *t, unsigned rail)
{
    uint64_t n = t->rail[rail].failures;
    return t->ranks > 1 ? (n + 1) / 2 : n;
}

static void add(drail_rail_stats_t *sum, const drail_rail_stats_t *more)
{
    sum->put_bytes += more->put_bytes;
    sum->get_bytes += more->get_bytes;
    sum->send_bytes += more->send_bytes;
    sum->puts += more->puts;
    sum->gets += more->gets;
    sum->sends += more->sends;
    sum->recvs += more->recvs;
    sum->failures += more->failures;
    sum->retries += more->retries;
    sum->carried += more->carried;
    sum->carried_bytes += more->carried_bytes;
    sum->lost_ns = longest(sum->lost_ns, more->lost_ns);
    sum->down_ns = longest(sum->down_ns, more->down_ns);
    if (sum->state < more->state) /* the worst */
        sum->state = more->state;
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
    }
}

int traffic_gather(traffic_t *t, drail_job_t *job)
{
    unsigned ranks = drail_job_size(job), me = drail_job_rank(job);
    const traffic_t mine = *t;
    drail_gathered_t *all;
    int rc = drail_gathered_new(job, sizeof mine, &all);
    if (rc)
        return rc;
    rc = drail_gathered_exchange(all, &mine, -1);
    for (unsigned i = 0; !rc && i < ranks; i++) {
        const traffic_t *theirs = drail_gathered_of(all, i);
        if (i == me)
            continue;
        for (unsigned r = 0; r < t->nrails; r++)
            add(&t->rail[r], &theirs->rail[r]);
        t->ranks += theirs->ranks;
    }
    drail_gathered_free(all);
    return rc;
}

static bool troubled(const traffic_t *t)
{
    bool any = false;
    for (unsigned r = 0; r < t->nrails; r++)
        any |= (t->rail[r].state != DRAIL_RAIL_UP &&
                t->rail[r].state != DRAIL_RAIL_ENDED) ||
               t->rail[r].failures;
    return any;
}

void traffic_table(FILE *file, const traffic_t *t, bool always)
{
    if (!t->ranks || (!always && !troubled(t)))
        return;
    for (unsigned r = 0; r < t->nrails; r++) {
        const drail_rail_stats_t *s = &t->rail[r];
        fprintf(file,
                "# rail %s: %s; put %llu bytes in %llu, got %llu in %llu, sent "
                "%llu in %llu; %llu failures, %llu retries, %llu bytes carried "
                "by others, %.1f ms lost, %.1f ms not up%s\n",
                t->name[r], drail_rail_state_name(s->state),
                (unsigned long long)s->put_bytes, (unsigned long long)s->puts,
                (unsigned long long)s->get_bytes, (unsigned long long)s->gets,
                (unsigned long long)s->send_bytes, (unsigned long long)s->sends,
                (unsigned long long)failures(t, r),
                (unsigned long long)s->retries,
                (unsigned long long)s->carried_bytes, (double)s->lost_ns / 1e6,
                (double)s->down_ns / 1e6,
                t->ranks > 1 && s->failures ? " (of the rank where it was most)"
                                            : "");
    }
}

void traffic_json_failures(json_t *j, const drail_rail_stats_t *s,
                           uint64_t failures)
{
    json_uint(j, "failures", failures);
    json_uint(j, "retries", s->retries);
    json_uint(j, "carried", s->carried);
    json_uint(j, "carried_bytes", s->carried_bytes);
    json_double(j, "lost_ms", (double)s->lost_ns / 1e6);
    json_double(j, "down_ms", (double)s->down_ns / 1e6);
}

void traffic_json(json_t *j, const traffic_t *t)
{
    json_array(j, "rail_stats");
    for (unsigned r = 0; r < t->nrails; r++) {
        const drail_rail_stats_t *s = &t->rail[r];
        json_row_object(j, NULL);
        json_string(j, "rail", t->name[r]);
        json_string(j, "state", drail_rail_state_name(s->state));
        json_uint(j, "ranks", t->ranks);
        json_uint(j, "put_bytes", s->put_bytes);
        json_uint(j, "puts", s->puts);
        json_uint(j, "get_bytes", s->get_bytes);
        json_uint(j, "gets", s->gets);
        json_uint(j, "send_bytes", s->send_bytes);
        json_uint(j, "sends", s->sends);
        json_uint(j, "recvs", s->recvs);
        traffic_json_failures(j, s, failures(t, r));
        json_end_object(j);
    }
    json_end_array(j);
}

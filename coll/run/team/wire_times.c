/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/team/wire_times.h"
#include "coll/select/median.h"

#define SAMPLES 9
#define BURST   8 /* messages in a row */

_Static_assert(SAMPLES <= MEDIAN_MOST, "more times than median() takes");

struct times {
    double one_way, gap; /* microseconds */
};

struct ends {
    dcoll_team_t *team;
    unsigned rank; /* the other end */
    uint32_t id;   /* of all messages: no request has it */
};

static int send_all(const struct ends *e, unsigned messages)
{
    int rc = 0;
    while (!rc && messages--)
        rc = drail_notify(e->team->rail, team_peer(e->team, e->rank), 0, e->id);
    return rc ? team_rail_fail(e->team, rc) : 0;
}

/* A rank of a shrunk team that measures nothing, as another rank has died, is
 * at the next all-gather already, or has left the team. */
static int check_present(const struct ends *e, uint32_t id)
{
    struct shrunk *s = e->team->shrunk;
    if (!s || id % NOTIFICATION_KINDS <= NOTE_ENTERED)
        return 0;
    shrunk_note(s, e->rank, id);
    return s->left[e->rank] || s->arrived[e->rank] > s->pieces
               ? team_fail(e->team, DRAIL_EPEER,
                           "rank %u does not measure the wires", e->rank)
               : 0;
}

/* Late messages for an earlier team have other ids. */
static int await_all(const struct ends *e, unsigned messages)
{
    uint32_t id;
    while (messages) {
        int rc = drail_notify_wait(e->team->rail, team_peer(e->team, e->rank),
                                   &id, e->team->timeout_ms);
        if (rc)
            return team_rail_fail(e->team, rc);
        messages -= id == e->id;
        rc = check_present(e, id);
        if (rc)
            return rc;
    }
    return 0;
}

/* Rank 0 sends so many messages, and the other end answers once. */
static int exchange(const struct ends *e, unsigned messages)
{
    const bool first = e->team->rank == 0;
    int rc = first ? send_all(e, messages) : await_all(e, messages);
    if (!rc)
        rc = first ? await_all(e, 1) : send_all(e, 1);
    return rc;
}

/* The median of several exchanges; the first warms up. */
static int time_exchange(const struct ends *e, unsigned messages, double *us)
{
    const struct drail_platform *platform = e->team->platform;
    double samples[SAMPLES] = {0};
    int rc = exchange(e, messages);
    for (unsigned i = 0; !rc && i < SAMPLES; i++) {
        const uint64_t begin = platform_now(platform);
        rc = exchange(e, messages);
        samples[i] = (double)(platform_now(platform) - begin) / 1e3;
    }
    if (!rc)
        *us = median(samples, SAMPLES);
    return rc;
}

static int measure(const struct ends *e, struct times *t)
{
    double one = 0, burst = 0;
    int rc = team_connect(e->team, e->rank);
    if (!rc)
        rc = time_exchange(e, 1, &one);
    if (!rc)
        rc = time_exchange(e, BURST, &burst);
    *t = (struct times){one / 2, (burst - one) / (BURST - 1)};
    return rc;
}

/* The model serves few ranks that have a core each. */
static bool is_needed(const dcoll_team_t *team)
{
    return team->learns && team->shape.nnodes > 1 &&
           !team->prediction.crowded && !team->contended &&
           team->shape.nranks <= PREDICTED_RANKS;
}

int wire_times_measure(dcoll_team_t *team, int failed)
{
    struct times mine = {0}, all[PREDICTED_RANKS];
    const unsigned other = team->node_begin[1];
    if (!is_needed(team))
        return failed;
    const struct ends ends = {.team = team,
                              .rank = team->rank ? 0 : other,
                              .id = team->next_id * NOTIFICATION_KINDS};
    team->next_id = (team->next_id + 1) % REQUEST_IDS;
    if (!failed && (team->rank == 0 || team->rank == other))
        failed = measure(&ends, &mine);
    /* also after a failure: the others wait for this rank */
    int rc = drail_job_allgather(team->job, &mine, sizeof mine, all,
                                 team->timeout_ms);
    if (failed || rc)
        return failed ? failed : rc;
    if (all[0].one_way > 0 && all[0].gap > 0)
        predict_measured(&team->prediction, all[0].one_way, all[0].gap);
    return 0;
}

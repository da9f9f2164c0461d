/* SPDX-License-Identifier: BSD-3-Clause */
/* dcoll_team_shrink: the survivors agree on who has died, make a team of
 * themselves, and agree again. If a rank has died meanwhile, they begin anew:
 * some ranks may have made their part of that team, others not. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coll/run/shrink/gather.h"
#include "coll/run/shrink/survivors.h"
#include "coll/run/team/create.h"

/* All that the new team may need, before any other rank waits for it. The key
 * of the area is published in the old team's ledger. */
static int shrunk_new(dcoll_team_t *team, struct shrunk **out)
{
    const unsigned n = team->shape.nranks;
    drail_job_t *whole = team_whole_job(team);
    void *area;
    struct shrunk *s = calloc(1, sizeof *s);
    if (!s)
        return DRAIL_ENOMEM;
    s->whole = whole;
    s->rail = team->rail;
    s->cfg = team->cfg;
    s->peers = calloc(n, sizeof *s->peers);
    s->rank_of = calloc(drail_job_size(whole), sizeof *s->rank_of);
    s->keys = calloc(n, sizeof *s->keys);
    s->arrived = calloc(n, sizeof *s->arrived);
    s->posted = calloc(n, sizeof *s->posted);
    s->left = calloc(n, sizeof *s->left);
    *out = s;
    if (!s->peers || !s->rank_of || !s->keys || !s->arrived || !s->posted ||
        !s->left)
        return DRAIL_ENOMEM;
    int rc = drail_mem_alloc(team->rail, gather_area_bytes(n),
                             DRAIL_ACCESS_REMOTE_WRITE, &area, &s->mem);
    if (rc)
        return rc;
    s->area = area;
    drail_mem_key(s->mem, &team->ledger->gather);
    return 0;
}

/* Reads the key of a rank's area in its ledger. */
static int fetch_key(dcoll_team_t *team, unsigned rank, drail_key_t *key)
{
    const size_t at = offsetof(struct ledger, gather);
    struct remote_ledger *remote = &team->remote_ledger;
    const drail_key_t ledger = ledger_key(team, rank);
    const drail_xfer_t xfer = {
        .local = &remote->copy->gather,
        .local_mem = remote->mem,
        .remote = &ledger,
        .remote_offset = at,
        .bytes = sizeof *key,
    };
    if (rank - team->first < team->locals) {
        *key = ((const struct ledger *)team->ledgers.base)[rank - team->first]
                   .gather;
        return 0;
    }
    int rc =
        drail_get(team->rail, team_peer(team, rank), &xfer, 0, &remote->req);
    if (!rc)
        rc = drail_wait(team->rail, &remote->req, -1);
    if (rc)
        drail_forget(team->rail, &remote->req);
    *key = remote->copy->gather;
    return rc;
}

/* The ranks of the new team, in the old order. */
static int take_ranks(struct shrunk *s, dcoll_team_t *team,
                      const struct survivors *survivors, unsigned *nodes)
{
    int rc = 0;
    for (unsigned p = 0; p < drail_job_size(s->whole); p++)
        s->rank_of[p] = UINT_MAX;
    s->ranks = 0;
    for (unsigned r = 0; !rc && r < team->shape.nranks; r++) {
        if (survivors->dead[r])
            continue;
        const unsigned rank = s->ranks++, peer = team_peer(team, r);
        s->peers[rank] = peer;
        s->rank_of[peer] = rank;
        s->arrived[rank] = s->posted[rank] = 0;
        s->left[rank] = false;
        nodes[rank] = drail_job_node(s->whole, peer);
        if (r == team->rank)
            s->rank = rank;
        else
            rc = fetch_key(team, r, &s->keys[rank]);
    }
    s->pieces = 0;
    s->next = survivors->words;
    return rc;
}

static int make(dcoll_team_t *team, const struct survivors *survivors,
                struct shrunk *s, dcoll_team_t **out, drail_error_t *err)
{
    unsigned *nodes = calloc(team->shape.nranks, sizeof *nodes);
    int rc = nodes ? take_ranks(s, team, survivors, nodes) : DRAIL_ENOMEM;
    const drail_job_join_t how = {
        .rank = s->rank,
        .size = s->ranks,
        .nodes = nodes,
        .allgather = gather_run,
        .context = s,
        .platform = team->platform,
    };
    if (!rc)
        rc = drail_job_join(&how, &s->job, err);
    free(nodes);
    return rc ? rc : team_create(s->job, team->rail, &team->cfg, s, out, err);
}

static void discard(dcoll_team_t **made, struct shrunk *s)
{
    if (*made)
        (*made)->shrunk = NULL; /* it is used again */
    dcoll_team_free(*made);
    *made = s->team = NULL;
    drail_job_leave(s->job);
    s->job = NULL;
}

/* Until nobody has died between two agreements. */
static int shrink(dcoll_team_t *team, struct survivors *survivors,
                  struct shrunk *s, dcoll_team_t **made)
{
    drail_error_t err = {0};
    unsigned before;
    int result, rc = survivors_agree(survivors);
    while (!rc) {
        before = survivors->count;
        result = make(team, survivors, s, made, &err);
        rc = survivors_agree(survivors);
        if (!rc && survivors->count == before)
            break;
        discard(made, s);
    }
    if (!rc && result)
        rc = team_fail(team, result, "%s", err.text);
    return rc;
}

int dcoll_team_shrink(dcoll_team_t *team, dcoll_team_t **out)
{
    struct survivors survivors = {0};
    struct shrunk *s = NULL;
    dcoll_team_t *made = NULL;
    if (!team || !out)
        return DRAIL_EINVAL;
    if (platform_is_simulated(team->platform))
        return team_fail(team, DRAIL_ENOTSUP, "simulated ranks do not die");
    if (!team->broken)
        ledger_break(team, team_fail(team, DRAIL_EPEER,
                                     "rank %u shrinks the team", team->rank));
    ledger_close(team);
    team->error = (drail_error_t){0};
    int broken = team->broken;
    team->broken = 0; /* this call has an error of its own */
    int rc = survivors_open(&survivors, team);
    if (!rc)
        rc = shrunk_new(team, &s);
    if (!rc)
        rc = shrink(team, &survivors, s, &made);
    survivors_close(&survivors);
    team->broken = broken;
    if (rc) {
        if (s)
            discard(&made, s);
        shrunk_free(s);
        return rc;
    }
    s->next = survivors_words(made);
    memset(s->left, 0, s->ranks * sizeof *s->left); /* of the agreement */
    *out = made;
    return 0;
}

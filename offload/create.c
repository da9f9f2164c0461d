/* SPDX-License-Identifier: BSD-3-Clause */
/* How a group gets its team: sockets, a job over them, rails, and the team; and
 * how it loses all that. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "offload/offload.h"

#define LEAVE_MS 2000

/* The node of each rank, by name; NULL: *rc. */
static unsigned *gather_nodes(struct group *g, int *rc)
{
    unsigned *nodes = malloc(g->star.size * sizeof *nodes);
    *rc = nodes ? star_allgather(&g->star, &g->node, sizeof g->node, nodes,
                                 INT_MAX)
                : DRAIL_ENOMEM;
    if (!*rc)
        return nodes;
    free(nodes);
    return NULL;
}

static int join(struct group *g, drail_error_t *err)
{
    int rc;
    drail_job_t *job = NULL;
    unsigned *nodes = gather_nodes(g, &rc);
    const drail_job_join_t how = {.rank = g->star.self,
                                  .size = g->star.size,
                                  .nodes = nodes,
                                  .allgather = star_allgather,
                                  .context = &g->star};
    if (nodes)
        rc = drail_job_join(&how, &job, err);
    free(nodes);
    pthread_mutex_lock(&g->lock);
    g->job = rc ? NULL : job;
    if (!rc && g->freed)
        rc = DRAIL_EINTR;
    pthread_mutex_unlock(&g->lock);
    return rc;
}

/* The IA of the consumer is the rail, or a bond's members are; unless
 * DRAIL_RAILS names others. As with MPI, a rank may be late without limit
 * unless DRAIL_TIMEOUT_MS is set. */
static int open_rails(struct group *g, drail_error_t *err)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    if (!getenv("DRAIL_RAILS")) {
        for (unsigned i = 0; i < g->member->nrails; i++)
            cfg.rails[i] = g->member->rails[i];
        cfg.nrails = g->member->nrails;
        cfg.engine =
            cfg.nrails > 1 ? DRAIL_ENGINE_NONTHREADED : DRAIL_ENGINE_SINGLE;
    }
    if (!getenv("DRAIL_TIMEOUT_MS"))
        cfg.timeout_ms = INT_MAX;
    int rc = drail_open(g->job, &cfg, &g->rail, err);
    g->star.rail = g->rail;
    return rc;
}

/* Within a host, to register the consumer's buffers in each call takes longer
 * than to copy shorter blocks twice. */
#define REGISTER_BYTES (1u << 20)

static bool is_within_host(const drail_t *rail)
{
    for (unsigned i = 0; i < drail_nrails(rail); i++)
        if (!drail_rail_at(rail, i)->host_only)
            return false;
    return true;
}

static int create_team(struct group *g, drail_error_t *err)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    if (is_within_host(g->rail))
        cfg.zero_copy_bytes = REGISTER_BYTES;
    return dcoll_team_create(g->job, g->rail, &cfg, &g->team, err);
}

/* All ranks have a team, or none goes on. */
static int agree(struct group *g)
{
    char mine = 0, *all = malloc(g->star.size);
    int rc =
        all ? star_allgather(&g->star, &mine, 1, all, INT_MAX) : DRAIL_ENOMEM;
    free(all);
    return rc;
}

int group_open_team(struct group *g)
{
    drail_error_t err = {.text = ""};
    int rc = star_open(&g->star, g->member, &g->root, g->id, &err);
    if (!rc)
        rc = join(g, &err);
    if (!rc)
        rc = open_rails(g, &err);
    if (!rc)
        rc = create_team(g, &err);
    if (!rc)
        rc = agree(g);
    if (!rc)
        return 0;
    if (rc != DRAIL_EINTR)
        fprintf(stderr, "libdcoll_dat: rank %u of group %u: not created: %s\n",
                g->star.self, g->id,
                err.text[0] ? err.text : drail_strerror(rc));
    star_close(&g->star); /* tells the others */
    return rc;
}

/* A rank whose calls are complete may have to send data again, until the calls
 * of the others are complete, too. */
void group_close_team(struct group *g)
{
    if (g->rail && g->broken) {
        drail_job_interrupt(g->job); /* the consumer waits for the error */
    } else if (g->rail && !star_leave(&g->star, LEAVE_MS)) {
        drail_interrupt(g->rail);
        /* ranks of this node do not see the rail end */
        dcoll_team_give_up(g->team, DRAIL_EPEER, "a rank has freed the group");
    }
    dcoll_team_free(g->team);
    drail_close(g->rail);
    g->team = NULL;
    g->rail = g->star.rail = NULL;
    g->request = NULL;
    pthread_mutex_lock(&g->lock);
    drail_job_leave(g->job);
    g->job = NULL;
    pthread_mutex_unlock(&g->lock);
    star_close(&g->star);
}

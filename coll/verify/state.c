/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

/* Takes the next cells; before they are allocated, only counts them. */
static struct cell *claim(struct verifier *v, size_t cells)
{
    size_t begin = v->ncells;
    v->ncells += cells;
    return v->cells ? v->cells + begin : NULL;
}

static void lay_out(struct verifier *v)
{
    unsigned depth = depth_of(v);
    size_t uses = 0;
    v->ncells = 0;
    for (unsigned n = 0; n < v->shape->nnodes; n++) {
        unsigned first = v->shape->node_begin[n];
        size_t bytes = schedule_of(v, first)->node_bytes;
        struct cell *node = claim(v, depth * cells_of(v, bytes));
        for (unsigned r = first; r < v->shape->node_begin[n + 1]; r++) {
            const dcoll_schedule_t *s = schedule_of(v, r);
            struct player *p = &v->players[r];
            p->node = node;
            p->user[DCOLL_SEND] = claim(v, cells_of(v, p->send));
            p->user[DCOLL_RECV] = claim(v, cells_of(v, p->recv));
            p->temp = claim(v, depth * cells_of(v, s->temp_bytes));
            p->lines = claim(v, depth * s->flags * v->line_cells);
            p->keys = v->keys ? claim(v, v->nranks) : NULL;
            p->uses = v->uses ? v->uses + uses : NULL;
            uses += s->nops + USER_OPS;
        }
    }
    v->nuses = uses;
}

static int set_up_player(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    p->snapshot = p->puts = NONE;
    p->send = send_bytes(v, rank);
    p->recv = recv_bytes(v, rank);
    p->clock = calloc(2 * (size_t)v->nranks + v->starts, sizeof *p->clock);
    p->flags = calloc((size_t)schedule_of(v, rank)->flags * v->starts + 1,
                      sizeof *p->flags);
    p->counter = calloc(v->nranks, sizeof *p->counter);
    p->pulled = calloc(v->nranks, sizeof *p->pulled);
    p->came = calloc(p->recv / v->grain + 1, sizeof *p->came);
    if (!p->clock || !p->flags || !p->counter || !p->pulled || !p->came)
        return DRAIL_ENOMEM;
    p->clock[rank] = 1;
    p->ready = p->clock + v->nranks;
    p->begin = p->ready + v->nranks;
    return 0;
}

int verify_set_up(struct verifier *v)
{
    v->messages_free = v->snapshots.free = NONE;
    for (unsigned r = 0; r < v->nranks; r++)
        if (set_up_player(v, r))
            return DRAIL_ENOMEM;
    lay_out(v);
    v->cells = calloc(v->ncells + 1, sizeof *v->cells);
    v->uses = calloc(v->nuses, sizeof *v->uses);
    if (!v->cells || !v->uses)
        return DRAIL_ENOMEM;
    for (size_t i = 0; i < v->ncells; i++)
        v->cells[i].readers = NONE;
    lay_out(v);
    verify_user_alias(v);
    return 0;
}

void verify_tear_down(struct verifier *v)
{
    for (unsigned r = 0; v->players && r < v->nranks; r++) {
        free(v->players[r].clock);
        free(v->players[r].flags);
        free(v->players[r].counter);
        free(v->players[r].pulled);
        free(v->players[r].came);
    }
    free(v->players);
    free(v->cells);
    free(v->uses);
    free(v->streams);
    free(v->snapshots.clock);
    free(v->snapshots.users);
    free(v->messages);
    free(v->puts);
    free(v->readers);
    free(v->runs);
    verify_terms_free(v);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets from posting until a rank knows that they are complete. */
#include "verify.h"

struct actor verify_actor(const struct verifier *v, unsigned rank)
{
    const struct player *p = &v->players[rank];
    return (struct actor){
        rank,
        {rank, p->clock[rank], what_of(v, rank, p->start, p->op)},
        &p->uses[p->op]};
}

uint32_t verify_start_put(struct verifier *v, unsigned rank, unsigned target,
                          struct actor *actor)
{
    uint32_t put = v->nputs;
    *actor = verify_actor(v, rank);
    if (!verify_room(v, (void **)&v->puts, put, &v->puts_capacity,
                     sizeof *v->puts))
        return NONE;
    v->puts[v->nputs++] = (struct put){.poster = rank,
                                       .completed = NONE,
                                       .target = target,
                                       .seen = NONE,
                                       .what = actor->access.what,
                                       .next = NONE};
    actor->access.who = IS_PUT | put;
    return put;
}

void verify_to_complete(struct verifier *v, unsigned rank, uint32_t put)
{
    struct player *p = &v->players[rank];
    v->puts[put].next = p->puts;
    v->puts[put].number = ++p->posted;
    p->puts = put;
}

bool verify_start_get(struct verifier *v, unsigned rank, struct actor *actor)
{
    uint32_t get = verify_start_put(v, rank, rank, actor);
    if (get != NONE)
        verify_to_complete(v, rank, get);
    return get != NONE;
}

static void complete(struct put *put, unsigned rank, uint32_t clock)
{
    put->completed = clock;
    if (put->target == rank)
        put->seen = clock;
}

/* the latest are first in the list: those that stay precede the others */
void verify_complete(struct verifier *v, unsigned rank, const dcoll_op_t *op)
{
    struct player *p = &v->players[rank];
    uint32_t *at = &p->puts;
    while (op->puts && *at != NONE && v->puts[*at].number > op->puts)
        at = &v->puts[*at].next;
    for (uint32_t i = *at; i != NONE; i = v->puts[i].next) {
        complete(&v->puts[i], rank, p->clock[rank]);
        if (v->puts[i].target == rank)
            verify_hear(p, op_of(v, rank, v->puts[i].what)->step + 1u);
    }
    *at = NONE;
}

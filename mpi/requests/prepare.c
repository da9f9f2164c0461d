/* SPDX-License-Identifier: BSD-3-Clause */
/* What non-blocking calls need is prepared when all ranks are in a call that
 * may wait: of those that have missed it. */
#include "mpi/requests/queue.h"

#define MISSES   2  /* of a shape, before it is prepared */
#define HOPELESS -1 /* it can't be */

static size_t element(const dcoll_call_t *call)
{
    return call->reduction ? call->reduction->element : 0;
}

static bool is_shape(const struct shape *shape, const dcoll_call_t *call,
                     bool irregular)
{
    const dcoll_call_t *known = &shape->call;
    bool rooted =
        call->collective == DCOLL_GATHER || call->collective == DCOLL_REDUCE;
    /* that of a root is its own */
    bool place = !rooted && (known->send == DCOLL_IN_PLACE) !=
                                (call->send == DCOLL_IN_PLACE);
    if (!shape->misses || shape->irregular != irregular)
        return false;
    return irregular ||
           (known->collective == call->collective &&
            known->bytes == call->bytes && known->root == call->root &&
            element(known) == element(call) && !place);
}

static void miss(struct requests *s, const dcoll_call_t *call, bool irregular)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        struct shape *shape = &s->shapes[i];
        if (!is_shape(shape, call, irregular))
            continue;
        if (shape->misses != HOPELESS && ++shape->misses == MISSES)
            s->wanted++;
        return;
    }
    s->latest = (s->latest + 1) % SHAPES;
    if (s->shapes[s->latest].misses >= MISSES)
        s->wanted--;
    s->shapes[s->latest] = (struct shape){irregular, *call, 1};
}

static int would_wait(struct layer_comm *c, const dcoll_call_t *call,
                      bool irregular)
{
    if (!irregular)
        return dcoll_would_wait(c->team, call);
    return dcoll_alltoallv_would_wait(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = team_algorithm(c)});
}

int requests_may_begin(struct layer_comm *c, const struct layer_call *a,
                       int64_t bytes)
{
    struct requests *s = requests_of(c);
    bool irregular = layer_is_irregular(a->collective);
    dcoll_call_t call = {0};
    if (!s)
        return DRAIL_ENOMEM;
    if (!irregular)
        call = ours_shape(c, a, (size_t)bytes);
    team_take_now(s);
    int rc = would_wait(c, &call, irregular);
    team_give(s);
    if (rc == DRAIL_ENOTSUP)
        miss(s, &call, irregular);
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

static int prepare(struct layer_comm *c, const struct shape *shape)
{
    if (!shape->irregular)
        return dcoll_prepare(c->team, &shape->call);
    return dcoll_alltoallv_prepare(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = team_algorithm(c)});
}

void requests_prepare(struct layer_comm *c)
{
    struct requests *s = c->requests;
    for (unsigned i = 0; s && s->wanted && i < SHAPES; i++) {
        struct shape *shape = &s->shapes[i];
        if (shape->misses < MISSES)
            continue;
        double came = layer_now();
        team_take(s);
        shape->misses = prepare(c, shape) ? HOPELESS : 0;
        s->wanted--;
        team_give(s);
        layer.spent += layer_now() - came;
    }
}

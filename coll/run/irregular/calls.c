/* SPDX-License-Identifier: BSD-3-Clause */
/* The irregular calls of dcoll.h: choose an algorithm, then run a request
 * (run/collectives.h). */
#include <stdlib.h>

#include "coll/run/prepare/buffers.h"
#include "coll/run/prepare/choose.h"
#include "coll/run/collectives.h"
#include "coll/run/prepare/create.h"
#include "coll/run/cache/rotation.h"
#include "coll/run/irregular/agree.h"
#include "coll/run/irregular/bounds.h"
#include "coll/run/irregular/neighborhood.h"
#include "coll/select/irregular.h"

/* The arguments of either kind of call. */
struct irregular_call {
    struct elements elements;
    dcoll_traffic_t traffic; /* the bounds */
    const char *algorithm;
    /* that the elements' arrays belong to; NULL: they are the user's */
    struct neighborhood *neighborhood;
    uint64_t *counts; /* of all ranks, for an algorithm that depends on them:
                         traffic.counts points here. NULL: none */
    int call_error;   /* wrong arguments: all ranks are told */
    bool agreed;      /* the ranks have agreed on the bounds */
};

static struct irregular_call irregular_call_counted(const dcoll_alltoallv_t *c)
{
    return (struct irregular_call){
        .elements = {.send = c->send,
                     .recv = c->recv,
                     .element = c->element,
                     .send_counts = c->send_counts,
                     .send_displs = c->send_displs,
                     .recv_counts = c->recv_counts,
                     .recv_displs = c->recv_displs,
                     .room = c->room,
                     .found = c->found},
        .traffic = {.element = c->element,
                    .max_pair = c->max_pair,
                    .max_rank = c->max_rank,
                    .labelled = true},
        .algorithm = c->algorithm,
    };
}

static struct irregular_call
irregular_call_unlabelled(const dcoll_elements_t *c)
{
    return (struct irregular_call){
        .elements = {.send = c->send,
                     .recv = c->recv,
                     .element = c->element,
                     .count = c->count,
                     .destination = c->destination,
                     .room = c->room,
                     .received = c->received},
        .traffic = {.element = c->element,
                    .max_pair = c->max_pair,
                    .max_rank = c->max_rank,
                    .labelled = false},
        .algorithm = c->algorithm,
    };
}

static struct irregular_call irregular_call_listed(struct neighborhood *n,
                                                   const char *algorithm)
{
    return (struct irregular_call){
        .elements = neighborhood_elements(n),
        .traffic = {.element = 1, .labelled = true},
        .algorithm = algorithm,
        .neighborhood = n,
    };
}

/* ---------------------------------------------------------------- choice */

static int choose(dcoll_team_t *team, const struct irregular_call *w,
                  dcoll_args_t *args, const dcoll_algorithm_t **out)
{
    const char *name = w->algorithm;
    *args = (dcoll_args_t){.collective = DCOLL_ALLTOALLV,
                           .depth = team->cfg.depth,
                           .traffic = &w->traffic};
    if (choice_is_auto(name)) {
        *out = irregular_select(&team->shape, args, team->several_hosts,
                                w->agreed);
        return 0;
    }
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, name);
    *out = a;
    if (!a)
        return team_fail(team, DRAIL_EINVAL, "alltoallv: no algorithm '%s'",
                         name);
    const char *why = dcoll_refusal(a, &team->shape, args);
    return why ? team_fail(team, DRAIL_ENOTSUP, "%s: %s", name, why) : 0;
}

/* Does the algorithm serve any counts? `auto` then chooses such a one. */
static bool needs_no_bounds(const dcoll_team_t *team,
                            const struct irregular_call *w)
{
    const dcoll_args_t args = {.collective = DCOLL_ALLTOALLV,
                               .traffic = &w->traffic};
    const char *name = w->algorithm;
    const dcoll_algorithm_t *a =
        choice_is_auto(name)
            ? irregular_select(&team->shape, &args, team->several_hosts, false)
            : dcoll_algorithm_find(DCOLL_ALLTOALLV, name);
    return !w->traffic.max_rank && a && !dcoll_refusal(a, &team->shape, &args);
}

/* Agrees on bounds and, if the algorithm depends on them, on all counts. */
static int agree(dcoll_team_t *team, struct irregular_call *w)
{
    const dcoll_algorithm_t *a =
        w->algorithm ? dcoll_algorithm_find(DCOLL_ALLTOALLV, w->algorithm)
                     : NULL;
    int rc = irregular_agree(team, &w->elements, &w->traffic);
    if (!rc && a && a->by_counts && w->traffic.labelled)
        rc = irregular_gather_counts(team, &w->elements, &w->counts);
    w->traffic.counts = w->counts;
    return rc;
}

static int check_given(dcoll_team_t *team, const dcoll_traffic_t *t,
                       bool may_agree)
{
    if (!t->max_pair == !t->max_rank && (may_agree || t->max_pair))
        return 0;
    return team_fail(
        team, DRAIL_EINVAL, "alltoallv: max_pair is %llu, max_rank %llu: %s",
        (unsigned long long)t->max_pair, (unsigned long long)t->max_rank,
        may_agree ? "allowed are both or none"
                  : "a persistent request needs both");
}

/* A call with bounds. The counts of a persistent request are checked when it
 * starts. */
static int check_bounded(dcoll_team_t *team, const struct irregular_call *w,
                         bool with_counts)
{
    const dcoll_traffic_t *t = &w->traffic;
    int rc = elements_check_form(team, &w->elements, t->labelled);
    if (!rc)
        rc = bounds_possible(team, t);
    return rc || !with_counts ? rc : bounds_check(team, &w->elements, t);
}

/* Checks a call, agrees on bounds, and chooses the algorithm. args points into
 * w.
 */
static int prepare(dcoll_team_t *team, struct irregular_call *w, bool may_agree,
                   dcoll_args_t *args, const dcoll_algorithm_t **algorithm)
{
    const dcoll_traffic_t *t = &w->traffic;
    struct demand d;
    int rc = team->broken ? team->broken : check_given(team, t, may_agree);
    if (rc)
        return rc;
    w->traffic.pulled = DCOLL_PULLED_BYTES;
    if (may_agree && needs_no_bounds(team, w)) {
        w->call_error =
            elements_check(team, &w->elements, t->labelled, &d, NULL);
        w->traffic.element = 1; /* one request for any size */
        return choose(team, w, args, algorithm);
    }
    w->agreed = !t->max_pair;
    rc = w->agreed ? agree(team, w) : check_bounded(team, w, may_agree);
    return rc ? rc : choose(team, w, args, algorithm);
}

/* From now on the request owns the neighbours. */
static void give_neighborhood(dcoll_request_t *q, struct irregular_call *w)
{
    q->neighborhood = w->neighborhood;
    w->neighborhood = NULL;
}

static int bind(dcoll_request_t *q, struct irregular_call *w)
{
    q->elements = w->elements;
    give_neighborhood(q, w);
    q->dealing.call_error = w->call_error;
    return ledger_break_if(q->team,
                           request_bind(q, w->elements.send, w->elements.recv));
}

static void close_call(struct irregular_call *w)
{
    neighborhood_close(w->neighborhood);
    free(w->counts);
}

/* ----------------------------------------------------------------- calls */

static int run(dcoll_team_t *team, struct irregular_call w)
{
    const dcoll_algorithm_t *algorithm = NULL;
    dcoll_args_t args;
    dcoll_request_t *q;
    int rc = prepare(team, &w, true, &args, &algorithm);
    if (!rc)
        rc = request_get_blocking(team, &args, algorithm, &q);
    if (!rc) {
        rc = bind(q, &w);
        if (!rc)
            rc = request_run(q);
        int left = request_unbind(q);
        rc = rc ? rc : ledger_break_if(team, left);
    }
    close_call(&w);
    return rc;
}

static int begin(dcoll_team_t *team, struct irregular_call w,
                 dcoll_request_t **out)
{
    const dcoll_algorithm_t *algorithm = NULL;
    dcoll_args_t args;
    dcoll_request_t *q;
    int rc = prepare(team, &w, true, &args, &algorithm);
    if (!rc)
        rc = request_get_nonblocking(team, &args, algorithm, &q);
    if (!rc)
        rc = bind(q, &w);
    close_call(&w);
    return rc ? rc : request_launch(q, out);
}

static int init(dcoll_team_t *team, struct irregular_call w,
                dcoll_request_t **out)
{
    const dcoll_algorithm_t *algorithm = NULL;
    dcoll_args_t args;
    dcoll_request_t *q;
    int rc = prepare(team, &w, false, &args, &algorithm);
    if (!rc)
        rc = request_create(team, &args, algorithm, OWNER_CALLER, &q);
    if (!rc) {
        q->elements = w.elements; /* each start reads and binds them */
        give_neighborhood(q, &w);
        *out = q;
    }
    close_call(&w);
    return rc;
}

static int check_call(dcoll_team_t *team, const void *call)
{
    if (!team)
        return DRAIL_EINVAL;
    if (platform_is_hollow(team->platform))
        return team_fail(team, DRAIL_ENOTSUP,
                         "alltoallv: its messages have headers, which a job "
                         "without payload does not move");
    return call ? 0 : team_fail(team, DRAIL_EINVAL, "the call is NULL");
}

int dcoll_alltoallv(dcoll_team_t *team, const dcoll_alltoallv_t *call)
{
    int rc = check_call(team, call);
    return rc ? rc : run(team, irregular_call_counted(call));
}

int dcoll_alltoall_elements(dcoll_team_t *team, const dcoll_elements_t *call)
{
    int rc = check_call(team, call);
    return rc ? rc : run(team, irregular_call_unlabelled(call));
}

int dcoll_alltoallv_begin(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                          dcoll_request_t **out)
{
    int rc = out ? check_call(team, call) : DRAIL_EINVAL;
    return rc ? rc : begin(team, irregular_call_counted(call), out);
}

/* Chooses the algorithm of a call that can be prepared without counts. */
static int choose_unbounded(dcoll_team_t *team, struct irregular_call *w,
                            dcoll_args_t *args,
                            const dcoll_algorithm_t **algorithm)
{
    if (team->broken)
        return team->broken;
    w->traffic.pulled = DCOLL_PULLED_BYTES;
    if (!needs_no_bounds(team, w))
        return team_fail(team, DRAIL_ENOTSUP,
                         "alltoallv: it needs bounds, or has some");
    w->traffic.element = 1;
    return choose(team, w, args, algorithm);
}

static int with_unbounded(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                          int (*act)(dcoll_team_t *team,
                                     const dcoll_args_t *args,
                                     const dcoll_algorithm_t *algorithm))
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    int rc = check_call(team, call);
    if (rc)
        return rc;
    struct irregular_call w = irregular_call_counted(call);
    rc = choose_unbounded(team, &w, &args, &algorithm);
    return rc ? rc : act(team, &args, algorithm);
}

int dcoll_alltoallv_prepare(dcoll_team_t *team, const dcoll_alltoallv_t *call)
{
    return with_unbounded(team, call, rotation_prepare);
}

int dcoll_alltoallv_would_wait(dcoll_team_t *team,
                               const dcoll_alltoallv_t *call)
{
    return with_unbounded(team, call, rotation_would_wait);
}

int dcoll_elements_begin(dcoll_team_t *team, const dcoll_elements_t *call,
                         dcoll_request_t **out)
{
    int rc = out ? check_call(team, call) : DRAIL_EINVAL;
    return rc ? rc : begin(team, irregular_call_unlabelled(call), out);
}

int dcoll_alltoallv_init(dcoll_team_t *team, const dcoll_alltoallv_t *call,
                         dcoll_request_t **out)
{
    int rc = out ? check_call(team, call) : DRAIL_EINVAL;
    return rc ? rc : init(team, irregular_call_counted(call), out);
}

int dcoll_elements_init(dcoll_team_t *team, const dcoll_elements_t *call,
                        const size_t *count, dcoll_request_t **out)
{
    int rc = out ? check_call(team, call) : DRAIL_EINVAL;
    if (rc)
        return rc;
    struct irregular_call w = irregular_call_unlabelled(call);
    w.elements.now = count;
    return init(team, w, out);
}

/* The others have memory, and wait. */
static int open_neighborhood(dcoll_team_t *team,
                             const dcoll_neighbor_alltoallv_t *call,
                             struct irregular_call *w)
{
    struct neighborhood *n;
    int rc = check_call(team, call);
    if (rc || team->broken)
        return rc ? rc : team->broken;
    rc = ledger_break_if(team, neighborhood_open(team, call, &n));
    if (!rc)
        *w = irregular_call_listed(n, call->algorithm);
    return rc;
}

int dcoll_neighbor_alltoallv(dcoll_team_t *team,
                             const dcoll_neighbor_alltoallv_t *call)
{
    struct irregular_call w;
    int rc = open_neighborhood(team, call, &w);
    return rc ? rc : run(team, w);
}

int dcoll_neighbor_alltoallv_begin(dcoll_team_t *team,
                                   const dcoll_neighbor_alltoallv_t *call,
                                   dcoll_request_t **out)
{
    struct irregular_call w;
    int rc = out ? open_neighborhood(team, call, &w) : DRAIL_EINVAL;
    return rc ? rc : begin(team, w, out);
}

/* Its blocks are known, so the ranks agree on their bounds now. */
int dcoll_neighbor_alltoallv_init(dcoll_team_t *team,
                                  const dcoll_neighbor_alltoallv_t *call,
                                  dcoll_request_t **out)
{
    struct irregular_call w;
    int rc = out ? open_neighborhood(team, call, &w) : DRAIL_EINVAL;
    if (rc)
        return rc;
    rc = irregular_agree(team, &w.elements, &w.traffic);
    if (!rc)
        return init(team, w, out);
    neighborhood_close(w.neighborhood);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/types.h>

#include "coll/run/prepare/choose.h"
#include "coll/run/node/flag_line.h"
#include "coll/run/team/team.h"

/* Blocks per rank that a schedule may need: keeps sizes from overflowing. */
#define BLOCKS_MOST 64

/* ---------------------------------------------------------------- checks */

static bool rooted(const dcoll_call_t *call)
{
    return call->collective == DCOLL_GATHER ||
           call->collective == DCOLL_BCAST ||
           call->collective == DCOLL_SCATTER ||
           call->collective == DCOLL_REDUCE;
}

/* Which of send and recv this rank's part of the call uses. A broadcast has
 * only recv. */
static void used_buffers(const dcoll_team_t *team, const dcoll_call_t *call,
                         bool *send, bool *recv)
{
    const dcoll_args_t args = {.collective = call->collective,
                               .root = call->root};
    const unsigned n = team->shape.nranks;
    bool bcast = call->collective == DCOLL_BCAST;
    *send = !bcast && dcoll_send_blocks(&args, n, team->rank);
    *recv = bcast || dcoll_recv_blocks(&args, n, team->rank);
}

/* Is this collective in place on all ranks or on none? */
static bool everywhere(const dcoll_call_t *call)
{
    return dcoll_all_in_place(
        &(dcoll_args_t){.collective = call->collective, .in_place = true});
}

static bool in_place_is_right(const dcoll_team_t *team,
                              const dcoll_call_t *call, bool send, bool recv)
{
    const bool root = call->root == team->rank;
    const bool of_send = send && call->send == DCOLL_IN_PLACE;
    if ((recv || of_send) && call->recv == DCOLL_IN_PLACE)
        return call->collective == DCOLL_SCATTER && root && !of_send;
    return !of_send || everywhere(call) ||
           dcoll_in_place_anywhere(call->collective) ||
           (call->collective == DCOLL_GATHER && root) ||
           (call->collective == DCOLL_REDUCE && root);
}

static int check_reduction(dcoll_team_t *team, const dcoll_call_t *call)
{
    const char *name = dcoll_collective_name(call->collective);
    const dcoll_reduction_t *r = call->reduction;
    if (!r || !r->combine || !r->element)
        return team_fail(team, DRAIL_EINVAL, "%s: %s", name,
                         !r            ? "the reduction is NULL"
                         : !r->combine ? "the reduction's combine is NULL"
                                       : "elements of 0 bytes: allowed are 1…");
    if (call->bytes % r->element)
        return team_fail(team, DRAIL_EINVAL,
                         "%s: %zu bytes: elements have %zu, allowed are "
                         "multiples",
                         name, call->bytes, r->element);
    return 0;
}

static bool takes_counts(const dcoll_call_t *call)
{
    return call->collective == DCOLL_GATHER ||
           call->collective == DCOLL_ALLGATHER ||
           call->collective == DCOLL_SCATTER ||
           call->collective == DCOLL_REDUCE_SCATTER_BLOCK;
}

/* Sets team->begin, and *longest: the bytes of the longest block. */
static int add_up(dcoll_team_t *team, const dcoll_call_t *call, size_t *longest)
{
    const char *name = dcoll_collective_name(call->collective);
    const size_t n = team->shape.nranks, most = PTRDIFF_MAX / BLOCKS_MOST / n;
    const size_t element = dcoll_collective_reduces(call->collective)
                               ? call->reduction->element
                               : 1;
    if (!takes_counts(call))
        return team_fail(team, DRAIL_EINVAL,
                         "%s: counts: allowed in gather, all-gather, "
                         "scatter, reduce-scatter",
                         name);
    *longest = 0;
    for (unsigned r = 0; r < n; r++) {
        size_t count = call->counts[r];
        if (count > most / element)
            return team_fail(team, DRAIL_EINVAL,
                             "%s: counts[%u] is %zd: allowed are 0…%zu", name,
                             r, (ssize_t)count, most / element);
        team->begin[r + 1] = team->begin[r] + count * element;
        *longest = count * element > *longest ? count * element : *longest;
    }
    return 0;
}

static int check_null(dcoll_team_t *team, const dcoll_call_t *call,
                      const dcoll_args_t *args, bool send, bool recv)
{
    const unsigned n = team->shape.nranks;
    if (!dcoll_block_begin(args, n))
        return 0;
    recv = recv && (!args->begin || dcoll_recv_bytes(args, n, team->rank));
    recv |= send && call->send == DCOLL_IN_PLACE;
    send = send && (!args->begin || dcoll_send_bytes(args, n, team->rank));
    if ((!send || call->send) && (!recv || call->recv))
        return 0;
    return team_fail(team, DRAIL_EINVAL, "%s: %s is NULL",
                     dcoll_collective_name(call->collective),
                     send && !call->send ? "send" : "recv");
}

/* Sets the collective, the root and the blocks of args, too. */
static int check_call(dcoll_team_t *team, const dcoll_call_t *call,
                      dcoll_args_t *args)
{
    bool send, recv;
    size_t n = team->shape.nranks;
    if (team->broken)
        return team->broken;
    if (!call)
        return team_fail(team, DRAIL_EINVAL, "the call is NULL");
    if ((unsigned)call->collective >= DCOLL_COLLECTIVES)
        return team_fail(team, DRAIL_EINVAL, "collective %u: allowed are 0…%u",
                         call->collective, DCOLL_COLLECTIVES - 1);
    const char *name = dcoll_collective_name(call->collective);
    if (rooted(call) && call->root >= n)
        return team_fail(team, DRAIL_EINVAL, "%s: root %u: allowed are 0…%zu",
                         name, call->root, n - 1);
    if (call->bytes > PTRDIFF_MAX / BLOCKS_MOST / n)
        return team_fail(team, DRAIL_EINVAL, "%s: %zd bytes: allowed are 0…%td",
                         name, (ssize_t)call->bytes,
                         PTRDIFF_MAX / BLOCKS_MOST / (ptrdiff_t)n);
    used_buffers(team, call, &send, &recv);
    if (!in_place_is_right(team, call, send, recv))
        return team_fail(
            team, DRAIL_EINVAL,
            "%s: DCOLL_IN_PLACE is wrong here: allowed as send of "
            "all-gather, all-to-all, all-reduce, reduce-scatter, scan, and "
            "the root of a gather or reduce, as recv of a scatter's root",
            name);
    if (dcoll_collective_reduces(call->collective) &&
        check_reduction(team, call))
        return DRAIL_EINVAL;
    *args = (dcoll_args_t){.collective = call->collective,
                           .bytes = call->bytes,
                           .root = rooted(call) ? call->root : 0};
    if (call->counts && add_up(team, call, &args->bytes))
        return DRAIL_EINVAL;
    args->begin = call->counts ? team->begin : NULL;
    return check_null(team, call, args, send, recv);
}

/* ---------------------------------------------------------------- choice */

/* Remembers the latest choice: mostly a call is like the one before. */
static const dcoll_algorithm_t *choose_auto(dcoll_team_t *team,
                                            dcoll_args_t *args)
{
    struct choice *latest = &team->latest[args->collective];
    const struct prediction *p = &team->prediction;
    args->ports = team->table.count ? 0 : predict_ports(p);
    drail_engine_t engine = drail_config_of(team->rail)->engine;
    if (latest->algorithm && !args->begin && latest->bytes == args->bytes &&
        latest->in_place == args->in_place &&
        latest->commutes == args->commutes &&
        latest->one_shot == args->one_shot && latest->engine == engine) {
        args->zero_copy = latest->zero_copy;
        return latest->algorithm;
    }
    const dcoll_algorithm_t *a =
        dcoll_table_select(&team->table, engine, &team->shape, args);
    if (!team->table.count)
        a = predict_faster(&team->prediction, &team->shape, args, a);
    dcoll_table_copy_short(&team->table, &team->shape, args, a,
                           team->cfg.zero_copy_bytes);
    if (args->begin)
        return a;
    *latest = (struct choice){.algorithm = a,
                              .bytes = args->bytes,
                              .engine = engine,
                              .in_place = args->in_place,
                              .commutes = args->commutes,
                              .zero_copy = args->zero_copy,
                              .one_shot = args->one_shot};
    return a;
}

int call_choose(dcoll_team_t *team, const dcoll_call_t *call, bool one_shot,
                dcoll_args_t *args, const dcoll_algorithm_t **algorithm)
{
    int rc = check_call(team, call, args);
    if (rc)
        return rc;
    const char *name = call->algorithm;
    if (dcoll_collective_reduces(call->collective)) {
        args->element = call->reduction->element;
        args->commutes = call->reduction->commutes;
    }
    args->in_place = call->send == DCOLL_IN_PLACE && everywhere(call);
    args->zero_copy = args->bytes >= team->cfg.zero_copy_bytes;
    args->groups = team->cfg.groups;
    args->port_begin =
        team->ports_left.differ ? team->ports_left.begin : team->port_begin;
    args->paced = team->cfg.paced;
    args->depth = team->cfg.depth;
    args->one_shot = one_shot;
    if (choice_is_auto(name)) {
        *algorithm = choose_auto(team, args);
        return 0;
    }
    const dcoll_algorithm_t *a = dcoll_algorithm_find(call->collective, name);
    *algorithm = a;
    if (!a)
        return team_fail(team, DRAIL_EINVAL, "%s: no algorithm '%s'",
                         dcoll_collective_name(call->collective), name);
    const char *why = dcoll_refusal(a, &team->shape, args);
    if (why)
        return team_fail(team, DRAIL_ENOTSUP, "%s: %s", name, why);
    return 0;
}

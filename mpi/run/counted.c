/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different sizes by libdcoll's own all-gather, gather and scatter.
 * All ranks must know all counts, and libdcoll prepares a request for them:
 *
 *   MPI_Allgatherv   all ranks give all counts. The request pays if they come
 *                    again, so the first call with new ones is an all-to-all
 *                    (irregular.c), which serves any. But not in place, where
 *                    a rank's own block would be sent and received.
 *   persistent ones  the ranks tell each other their counts, once.
 *   MPI_Gatherv,     only the root knows them, so the ranks tell each other in
 *   MPI_Scatterv     each call; new counts are an all-to-all, as above.
 *   MPI_Igatherv, …  always all-to-alls: telling each other would wait.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

static bool is_in_place(const struct layer_call *a)
{
    return a->send == MPI_IN_PLACE || a->recv == MPI_IN_PLACE;
}

bool counted_can(int collective)
{
    return collective == LAYER_ALLGATHERV || collective == LAYER_GATHERV ||
           collective == LAYER_SCATTERV;
}

bool counted_is_repeated(struct layer_comm *c, const struct layer_call *a)
{
    size_t *known = c->gathered;
    bool same = true;
    if (a->collective != LAYER_ALLGATHERV)
        return false;
    const int64_t element = datatype_bytes(1, a->recv_type);
    for (int r = 0; r < c->size; r++) {
        const int64_t count = layer_count_at(a, a->recv_counts, r);
        if (element && count > INT_MAX / element)
            return false;
        same &= known[r] == (size_t)(count * element);
        known[r] = (size_t)(count * element);
    }
    return same || a->send == MPI_IN_PLACE;
}

dcoll_call_t counted_shape(const struct layer_comm *c,
                           const struct layer_call *a)
{
    return (dcoll_call_t){.collective = DCOLL_ALLGATHER,
                          .send = is_in_place(a) ? DCOLL_IN_PLACE : c,
                          .recv = (void *)c,
                          .counts = c->gathered};
}

/* -------------------------------------------------------------- counts --- */

/* Bytes of this rank's own block. The blocks themselves lack it in place. */
static size_t own_bytes(const struct layer_comm *c, const struct layer_call *a,
                        const struct blocks *send, const struct blocks *recv)
{
    switch (a->collective) {
    case LAYER_ALLGATHERV: /* root 0: all ranks get the same block */
    case LAYER_GATHERV:
        return a->send == MPI_IN_PLACE
                   ? (size_t)datatype_bytes(
                         layer_count_at(a, a->recv_counts, c->rank),
                         a->recv_type)
                   : send->bytes[a->root];
    default:
        return a->recv == MPI_IN_PLACE
                   ? (size_t)datatype_bytes(
                         layer_count_at(a, a->send_counts, c->rank),
                         a->send_type)
                   : recv->bytes[a->root];
    }
}

/* The blocks of all ranks. NULL: this rank has its own only. */
static struct blocks *all_blocks(const struct layer_comm *c,
                                 const struct layer_call *a,
                                 struct blocks *send, struct blocks *recv)
{
    if (a->collective == LAYER_ALLGATHERV)
        return recv;
    if (a->root != c->rank)
        return NULL;
    return a->collective == LAYER_GATHERV ? recv : send;
}

/* The rank whose count is not what the root, or this rank, says; -1: none. */
static int find_different(const struct layer_comm *c,
                          const struct layer_call *a, const struct blocks *all,
                          const size_t *counts)
{
    for (int r = 0; all && r < c->size; r++)
        if (all->bytes[r] != counts[r] && !(is_in_place(a) && r == c->rank))
            return r;
    return -1;
}

int counted_agree(struct layer_comm *c, const struct layer_call *a,
                  struct blocks *send, struct blocks *recv, size_t *counts)
{
    const size_t mine = own_bytes(c, a, send, recv);
    const struct blocks *all = all_blocks(c, a, send, recv);
    char why[160];
    if (!team_allgather(c, &mine, sizeof mine, counts))
        return dcoll_team_error(c->team);
    const int r = find_different(c, a, all, counts);
    if (r < 0)
        return 0;
    snprintf(why, sizeof why,
             "%s_init: the count of rank %d for its block is %zu bytes, but "
             "rank %d's argument %s[%d] says %zu bytes",
             layer_name(a->collective), r, counts[r], c->rank,
             all == recv ? "recvcounts" : "sendcounts", r, all->bytes[r]);
    team_give_up(c, why);
    return DRAIL_EJOB;
}

/* --------------------------------------------- known to the root only --- */

/* What each rank tells the others before a blocking call. */
struct told {
    uint64_t bytes; /* of its own block */
    uint64_t sum;   /* the root's: of the counts that it expects */
    bool can;       /* it has memory, and no block of 2 GiB or more */
};

size_t counted_told_bytes(void)
{
    return sizeof(struct told);
}

/* Of counts, one by one. Different counts almost always differ in it. */
static uint64_t sum_with(uint64_t sum, size_t bytes)
{
    return (sum ^ bytes) * 0x9e3779b97f4a7c15u + 1;
}

static struct told told_by(const struct layer_comm *c,
                           const struct layer_call *a, struct blocks *send,
                           struct blocks *recv)
{
    const bool can = !send->has_long && !recv->has_long;
    const struct blocks *all = can ? all_blocks(c, a, send, recv) : NULL;
    struct told mine = {.bytes = own_bytes(c, a, send, recv), .can = can};
    for (int r = 0; all && r < c->size; r++) {
        const bool own = is_in_place(a) && r == c->rank;
        mine.sum = sum_with(mine.sum, own ? mine.bytes : all->bytes[r]);
    }
    return mine;
}

/* Are these the counts of the latest such call? The same on all ranks, as it
 * depends only on what they have told each other. */
static bool are_repeated(struct layer_comm *c, const struct layer_call *a,
                         struct counted *known)
{
    const struct told *told = c->told;
    bool same = known->root == a->root, can = true;
    uint64_t sum = 0, all = 0;
    for (int r = 0; r < c->size; r++) {
        can &= told[r].can;
        same &= known->counts[r] == told[r].bytes;
        known->counts[r] = told[r].bytes;
        sum = sum_with(sum, told[r].bytes);
        all += told[r].bytes;
    }
    known->root = a->root;
    return same && can && all && sum == told[a->root].sum;
}

const size_t *counted_counts(struct layer_comm *c, const struct layer_call *a,
                             bool can, struct blocks *send, struct blocks *recv)
{
    const struct told none = {0};
    const bool gathers = a->collective == LAYER_GATHERV;
    if (a->collective == LAYER_ALLGATHERV)
        return counted_is_repeated(c, a) ? c->gathered : NULL;
    if (!gathers && a->collective != LAYER_SCATTERV)
        return NULL;
    const struct told mine = can ? told_by(c, a, send, recv) : none;
    struct counted *known = &c->counted[gathers];
    if (!team_allgather(c, &mine, sizeof mine, c->told) ||
        !are_repeated(c, a, known))
        return NULL;
    return known->counts;
}

/* ---------------------------------------------------------------- call --- */

/* An all-gather in place sends this rank's block from among the others. */
static int pack_own(const struct layer_comm *c, const struct layer_call *a,
                    const struct blocks *recv, const size_t *counts)
{
    const bool from_others =
        a->collective == LAYER_ALLGATHERV && a->send == MPI_IN_PLACE;
    if (!from_others || recv->contiguous || !counts[c->rank])
        return MPI_SUCCESS;
    return blocks_pack_own(recv, c, counts[c->rank],
                           recv->data + recv->places[c->rank]);
}

int counted_place(const struct layer_comm *c, const struct layer_call *a,
                  struct blocks *send, struct blocks *recv,
                  const size_t *counts, struct buffer *buffer)
{
    struct blocks *all = all_blocks(c, a, send, recv);
    return all ? blocks_place(all, c, counts, buffer) : MPI_SUCCESS;
}

int counted_pack(const struct layer_comm *c, const struct layer_call *a,
                 const struct blocks *send, const struct blocks *recv,
                 const size_t *counts)
{
    int rc = send->contiguous ? MPI_SUCCESS : blocks_pack(send, c, send->data);
    return rc ? rc : pack_own(c, a, recv, counts);
}

static void *own_block(const struct blocks *s, int with)
{
    return s->bytes[with] ? s->data + s->places[with] : NULL;
}

dcoll_call_t counted_call(const struct layer_comm *c,
                          const struct layer_call *a, const struct blocks *send,
                          const struct blocks *recv, const size_t *counts)
{
    const bool root = a->root == c->rank;
    dcoll_call_t call = {.root = (unsigned)a->root, .counts = counts};
    switch (a->collective) {
    case LAYER_ALLGATHERV:
        call.collective = DCOLL_ALLGATHER;
        call.send = own_block(send, c->rank);
        call.recv = recv->data;
        break;
    case LAYER_GATHERV:
        call.collective = DCOLL_GATHER;
        call.send = own_block(send, a->root);
        call.recv = root ? recv->data : NULL;
        break;
    default:
        call.collective = DCOLL_SCATTER;
        call.send = root ? send->data : NULL;
        call.recv = own_block(recv, a->root);
    }
    if (a->send == MPI_IN_PLACE)
        call.send = DCOLL_IN_PLACE;
    if (a->recv == MPI_IN_PLACE)
        call.recv = DCOLL_IN_PLACE;
    return call;
}

int counted_run(struct layer_comm *c, const struct layer_call *a,
                const struct blocks *send, const struct blocks *recv,
                const size_t *counts)
{
    /* libdcoll would read beyond the program's block */
    if (a->collective == LAYER_ALLGATHERV && a->send != MPI_IN_PLACE &&
        send->bytes[c->rank] != counts[c->rank])
        return team_call_missed(c, MPI_ERR_TRUNCATE);
    int rc = pack_own(c, a, recv, counts);
    if (rc)
        return team_call_missed(c, rc);
    const dcoll_call_t call = counted_call(c, a, send, recv, counts);
    rc = team_call(c, &call);
    if (rc)
        return team_error_code(c, rc);
    return recv->contiguous ? MPI_SUCCESS : blocks_unpack(recv, c, recv->data);
}

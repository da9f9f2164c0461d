/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different sizes by libdcoll's own all-gather, gather and scatter.
 * All ranks must know all counts, and libdcoll prepares a request for them:
 *
 *   MPI_Allgatherv   all ranks give all counts. The request pays if they come
 *                    again, so the first call with new ones is an all-to-all
 *                    (irregular.c), which serves any. But not in place, where
 *                    a rank's own block would be sent and received.
 *   persistent ones  the ranks tell each other their counts.
 *   others           only the root knows them: always all-to-alls.
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
                const struct blocks *send, const struct blocks *recv)
{
    /* libdcoll would read beyond the program's block */
    if (a->send != MPI_IN_PLACE && send->bytes[c->rank] != c->gathered[c->rank])
        return team_call_missed(c, MPI_ERR_TRUNCATE);
    int rc = pack_own(c, a, recv, c->gathered);
    if (rc)
        return team_call_missed(c, rc);
    const dcoll_call_t call = counted_call(c, a, send, recv, c->gathered);
    rc = team_call(c, &call);
    if (rc)
        return team_error_code(c, rc);
    return recv->contiguous ? MPI_SUCCESS : blocks_unpack(recv, c, recv->data);
}

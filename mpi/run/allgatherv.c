/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgatherv by libdcoll's all-gather of blocks of different sizes. That
 * prepares a request for the counts, which pays if they come again. So the
 * first call with new counts is an all-to-all (irregular.c), which serves any;
 * but not in place, where a rank's own block would be sent and received.
 */
#include <string.h>

#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

/* In place, @recv lacks this rank's block. */
static size_t own_bytes(const struct layer_comm *c, const struct layer_call *a,
                        const struct blocks *recv)
{
    return a->send != MPI_IN_PLACE
               ? recv->bytes[c->rank]
               : (size_t)layer_count_at(a, a->recv_counts, c->rank) *
                     recv->each[c->rank].size;
}

bool allgatherv_is_repeated(struct layer_comm *c, const struct layer_call *a,
                            const struct blocks *recv)
{
    size_t *known = c->gathered;
    bool same = true;
    if (a->collective != LAYER_ALLGATHERV || recv->has_long)
        return false;
    const size_t own = own_bytes(c, a, recv);
    for (int r = 0; r < c->size; r++) {
        const size_t bytes = r == c->rank ? own : recv->bytes[r];
        same = same && known[r] == bytes;
        known[r] = bytes;
    }
    return same || a->send == MPI_IN_PLACE;
}

/* Is the program's buffer as libdcoll writes it: without gaps, in the order of
 * ranks? *first: where. */
static bool is_dense(const struct layer_comm *c, const struct layer_call *a,
                     const struct blocks *recv, MPI_Aint *first)
{
    bool found = false;
    MPI_Aint next = 0;
    *first = 0;
    if (!datatype_is_contiguous(a->recv_type))
        return false;
    for (int r = 0; r < c->size; r++) {
        const MPI_Aint at = recv->each[r].at;
        if (!c->gathered[r])
            continue;
        if (!found)
            *first = at;
        else if (at != next)
            return false;
        found = true;
        next = at + (MPI_Aint)c->gathered[r];
    }
    return true;
}

static int unpack(const struct layer_comm *c, const struct blocks *recv,
                  const char *packed)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; !rc && r < c->size; packed += c->gathered[r++])
        rc = blocks_unpack_one(recv, c, r, packed);
    return rc;
}

int allgatherv_run(struct layer_comm *c, const struct layer_call *a,
                   const struct blocks *send, const struct blocks *recv)
{
    const bool in_place = a->send == MPI_IN_PLACE;
    size_t all = 0, before = 0;
    MPI_Aint first;
    /* libdcoll would read beyond the program's block */
    if (!in_place && send->bytes[c->rank] != c->gathered[c->rank])
        return team_call_missed(c, MPI_ERR_TRUNCATE);
    for (int r = 0; r < c->size; r++) {
        all += c->gathered[r];
        before += r < c->rank ? c->gathered[r] : 0;
    }
    const bool dense = is_dense(c, a, recv, &first);
    char *to = dense ? recv->user + first : buffer_reserve(&c->recv, all + 1);
    int rc = to || !all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!rc && !dense && in_place && c->gathered[c->rank])
        rc = blocks_pack_own(recv, c, c->gathered[c->rank], to + before);
    if (rc)
        return team_call_missed(c, rc);
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = in_place ? DCOLL_IN_PLACE : send->data,
                               .recv = to,
                               .counts = c->gathered};
    rc = team_call(c, &call);
    if (rc)
        return team_error_code(c, rc);
    return dense ? MPI_SUCCESS : unpack(c, recv, to);
}

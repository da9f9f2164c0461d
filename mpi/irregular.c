/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoallv by libdcoll, in bytes: datatypes of two ranks may differ, those
 * need not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

/* One side of a call. */
struct side {
    char *user;
    const int *counts, *displs;
    MPI_Datatype type;
    MPI_Aint extent;
    size_t size; /* of an element */
    bool plain;
    char *data;             /* the user's, or packed, block after block */
    size_t *bytes, *places; /* for each rank, in data */
    size_t all;             /* packed */
};

bool irregular_is_right(const struct layer_comm *c, const struct layer_call *a)
{
    if (a->send == MPI_IN_PLACE)
        return true;
    if (!a->send_counts || !a->send_displs || !a->recv_counts ||
        !a->recv_displs)
        return false;
    for (int r = 0; r < c->size; r++)
        if (data_bytes(a->send_counts[r], a->send_type) < 0 ||
            data_bytes(a->recv_counts[r], a->recv_type) < 0)
            return false;
    return true;
}

static char *block_at(const struct side *s, int r)
{
    return s->user + s->displs[r] * s->extent;
}

/* Displacements below the buffer's begin are right in MPI, not in dcoll: such
 * blocks are packed. */
static bool is_ahead(const struct side *s, int ranks)
{
    for (int r = 0; r < ranks; r++)
        if (s->counts[r] && s->displs[r] < 0)
            return true;
    return false;
}

/* @numbers: 2 for each rank. An MPI error. */
static int side_begin(struct side *s, const struct layer_comm *c,
                      size_t *numbers, struct layer_room *room)
{
    MPI_Aint low;
    int size, rc = PMPI_Type_get_extent(s->type, &low, &s->extent);
    if (!rc)
        rc = PMPI_Type_size(s->type, &size);
    if (rc)
        return rc;
    s->size = (size_t)size;
    s->plain = data_is_plain(s->type) && !is_ahead(s, c->size);
    s->bytes = numbers;
    s->places = numbers + c->size;
    for (int r = 0; r < c->size; r++) {
        s->bytes[r] = (size_t)s->counts[r] * s->size;
        s->places[r] = s->plain ? (size_t)s->displs[r] * s->size : s->all;
        if (!s->bytes[r])
            s->places[r] = 0;
        s->all += s->bytes[r];
    }
    s->data = s->plain ? s->user : layer_room(room, s->all + 1);
    return s->data || !s->all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Blocks of the user into or out of packed ones, one after another. */
static int pack(const struct side *s, const struct layer_comm *c, char *packed)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; !rc && r < c->size; r++) {
        int at = 0;
        if (s->bytes[r])
            rc = PMPI_Pack(block_at(s, r), s->counts[r], s->type, packed,
                           (int)s->bytes[r], &at, c->inner);
        packed += s->bytes[r];
    }
    return rc;
}

static int unpack(const struct side *s, const struct layer_comm *c,
                  const char *packed)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; !rc && r < c->size; r++) {
        int at = 0;
        if (s->bytes[r])
            rc = PMPI_Unpack(packed, (int)s->bytes[r], &at, block_at(s, r),
                             s->counts[r], s->type, c->inner);
        packed += s->bytes[r];
    }
    return rc;
}

static int run(struct layer_comm *c, struct side *send, struct side *recv)
{
    const dcoll_alltoallv_t call = {.send = send->data,
                                    .send_counts = send->bytes,
                                    .send_displs = send->places,
                                    .recv = recv->data,
                                    .recv_counts = recv->bytes,
                                    .recv_displs = recv->places,
                                    .element = 1};
    int rc = send->plain ? MPI_SUCCESS : pack(send, c, send->data);
    if (rc)
        return rc;
    int failed = dcoll_alltoallv(c->team, &call);
    if (failed)
        return ours_error(c, failed);
    return recv->plain ? MPI_SUCCESS : unpack(recv, c, recv->data);
}

/* First by the MPI below, whose bytes are kept for comparison, and replaced by
 * others. */
static int expect(struct layer_comm *c, const struct layer_call *a,
                  const struct side *recv)
{
    char *expected = layer_room(&c->expected, 2 * recv->all + 1);
    if (!expected)
        return MPI_ERR_NO_MEM;
    int rc = layer_below(a);
    if (!rc)
        rc = pack(recv, c, expected);
    if (rc)
        return rc;
    char *others = expected + recv->all;
    for (size_t i = 0; i < recv->all; i++)
        others[i] = (char)~expected[i];
    return unpack(recv, c, others);
}

static int compare(struct layer_comm *c, const struct side *recv)
{
    char *expected = c->expected.data, *found = expected + recv->all;
    int rc = pack(recv, c, found);
    if (rc || !memcmp(expected, found, recv->all))
        return rc;
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: alltoallv: the %zu bytes "
            "received differ\n",
            c->rank, c->size, recv->all);
    return MPI_SUCCESS;
}

int irregular_run(struct layer_comm *c, const struct layer_call *a)
{
    struct side send = {.user = (char *)a->send,
                        .counts = a->send_counts,
                        .displs = a->send_displs,
                        .type = a->send_type};
    struct side recv = {.user = a->recv,
                        .counts = a->recv_counts,
                        .displs = a->recv_displs,
                        .type = a->recv_type};
    size_t ranks = (size_t)c->size;
    size_t *numbers = layer_room(&c->counts, 4 * ranks * sizeof *numbers);
    if (!numbers)
        return MPI_ERR_NO_MEM;
    int rc = side_begin(&send, c, numbers, &c->send);
    if (!rc)
        rc = side_begin(&recv, c, numbers + 2 * ranks, &c->recv);
    if (!rc && layer.verify)
        rc = expect(c, a, &recv);
    if (!rc)
        rc = run(c, &send, &recv);
    return !rc && layer.verify ? compare(c, &recv) : rc;
}

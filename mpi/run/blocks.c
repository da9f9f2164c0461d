/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of an irregular call: found by its arguments, packed and
 * unpacked. */
#include <limits.h>
#include <string.h>

#include "mpi/run/blocks.h"

/* Has this rank an array of counts? */
static bool has_send_counts(const struct layer_comm *c,
                            const struct layer_call *a)
{
    return a->collective == LAYER_ALLTOALLV ||
           (a->collective == LAYER_SCATTERV && a->root == c->rank);
}

static bool has_recv_counts(const struct layer_comm *c,
                            const struct layer_call *a)
{
    return a->collective == LAYER_ALLTOALLV ||
           a->collective == LAYER_ALLGATHERV ||
           (a->collective == LAYER_GATHERV && a->root == c->rank);
}

/* An element of the program's arrays. */
static MPI_Count count_at(const struct layer_call *a, const void *counts, int r)
{
    return a->large ? ((const MPI_Count *)counts)[r] : ((const int *)counts)[r];
}

static MPI_Count displ_at(const struct layer_call *a, const void *displs, int r)
{
    return a->large ? ((const MPI_Aint *)displs)[r] : ((const int *)displs)[r];
}

static bool are_right(const struct layer_comm *c, const struct layer_call *a,
                      const void *counts, const void *displs, MPI_Datatype type)
{
    if (!counts || !displs)
        return false;
    for (int r = 0; r < c->size; r++)
        if (datatype_bytes(count_at(a, counts, r), type) < 0)
            return false;
    return true;
}

static bool send_is_right(const struct layer_comm *c,
                          const struct layer_call *a)
{
    if (has_send_counts(c, a))
        return a->send == MPI_IN_PLACE ||
               are_right(c, a, a->send_counts, a->send_displs, a->send_type);
    return a->collective == LAYER_SCATTERV || a->send == MPI_IN_PLACE ||
           datatype_bytes(a->send_count, a->send_type) >= 0;
}

static bool recv_is_right(const struct layer_comm *c,
                          const struct layer_call *a)
{
    if (has_recv_counts(c, a))
        return are_right(c, a, a->recv_counts, a->recv_displs, a->recv_type);
    return a->collective == LAYER_GATHERV || a->recv == MPI_IN_PLACE ||
           datatype_bytes(a->recv_count, a->recv_type) >= 0;
}

bool blocks_are_right(const struct layer_comm *c, const struct layer_call *a)
{
    return send_is_right(c, a) && recv_is_right(c, a);
}

static char *block_at(const struct blocks *s, int r)
{
    return s->user + s->displs[r] * s->extent;
}

/* MPI allows negative displacements, dcoll does not: such blocks are packed. */
static bool has_negative(const struct blocks *s, int ranks)
{
    for (int r = 0; r < ranks; r++)
        if (s->counts[r] && s->displs[r] < 0)
            return true;
    return false;
}

/* Too long for MPI_Pack. Both ranks of a block decide by its bytes, as only one
 * of them may pack. */
static bool is_long(const struct blocks *s, int r)
{
    return (size_t)s->counts[r] > INT_MAX / (s->size ? s->size : 1);
}

/* Sets bytes and place of a rank's block. */
static void place_block(struct blocks *s, int r)
{
    size_t bytes = is_long(s, r) ? 0 : (size_t)s->counts[r] * s->size;
    size_t place = s->contiguous ? (size_t)s->displs[r] * s->size : s->all;
    s->has_long |= is_long(s, r);
    s->bytes[r] = bytes;
    s->places[r] = !bytes || s->same ? 0 : place;
    s->all = s->same ? bytes : s->all + bytes;
}

/* Where the blocks are. @numbers: two for each rank. An MPI error. */
static int locate(struct blocks *s, const struct layer_comm *c, size_t *numbers,
                  struct buffer *buffer)
{
    MPI_Aint low;
    MPI_Count size;
    int rc = pmpi.Type_get_extent(s->type, &low, &s->extent);
    if (!rc)
        rc = pmpi.Type_size_x(s->type, &size);
    if (rc)
        return rc;
    s->size = (size_t)size;
    s->contiguous =
        datatype_is_contiguous(s->type) && !has_negative(s, c->size);
    s->bytes = numbers;
    s->places = numbers + c->size;
    for (int r = 0; r < c->size; r++)
        place_block(s, r);
    s->data = s->contiguous ? s->user : buffer_reserve(buffer, s->all + 1);
    return s->data || !s->all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int blocks_pack(const struct blocks *s, const struct layer_comm *c,
                char *packed)
{
    int rc = MPI_SUCCESS, blocks = s->same ? 1 : c->size;
    for (int r = 0; !rc && r < blocks; r++) {
        int at = 0;
        if (s->bytes[r])
            rc = pmpi.Pack(block_at(s, r), (int)s->counts[r], s->type, packed,
                           (int)s->bytes[r], &at, c->inner);
        packed += s->bytes[r];
    }
    return rc;
}

int blocks_unpack(const struct blocks *s, const struct layer_comm *c,
                  const char *packed)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; !rc && r < c->size; r++) {
        int at = 0;
        if (s->bytes[r])
            rc = pmpi.Unpack(packed, (int)s->bytes[r], &at, block_at(s, r),
                             (int)s->counts[r], s->type, c->inner);
        packed += s->bytes[r];
    }
    return rc;
}

int blocks_exchange_long(struct long_blocks *m, const struct layer_comm *c,
                         const struct blocks *send, const struct blocks *recv)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; recv->has_long && !rc && r < c->size; r++)
        if (is_long(recv, r))
            rc = long_blocks_receive(m, c->inner, block_at(recv, r),
                                     recv->counts[r], recv->type, r);
    for (int r = 0; send->has_long && !rc && r < c->size; r++)
        if (is_long(send, r))
            rc = long_blocks_send(m, c->inner, block_at(send, r),
                                  send->counts[r], send->type, r);
    return rc;
}

static struct blocks no_blocks(MPI_Count *arrays, int ranks)
{
    memset(arrays, 0, 2 * (size_t)ranks * sizeof *arrays);
    return (struct blocks){
        .counts = arrays, .displs = arrays + ranks, .type = MPI_BYTE};
}

static void set_user(struct blocks *s, const void *user, MPI_Datatype type)
{
    s->user = (char *)user;
    s->type = type;
}

/* @in_place: but for this rank's own block. */
static void set_arrays(struct blocks *s, const struct layer_comm *c,
                       const struct layer_call *a, const void *counts,
                       const void *displs, bool in_place)
{
    for (int r = 0; r < c->size; r++) {
        s->counts[r] = count_at(a, counts, r);
        s->displs[r] = displ_at(a, displs, r);
    }
    if (in_place)
        s->counts[c->rank] = 0;
}

static struct blocks send_blocks(const struct layer_comm *c,
                                 const struct layer_call *a, MPI_Count *arrays)
{
    struct blocks s = no_blocks(arrays, c->size);
    if (has_send_counts(c, a)) {
        set_user(&s, a->send, a->send_type);
        set_arrays(&s, c, a, a->send_counts, a->send_displs,
                   a->recv == MPI_IN_PLACE);
    } else if (a->collective == LAYER_ALLGATHERV) {
        set_user(&s, a->send, a->send_type);
        s.same = true;
        for (int r = 0; r < c->size; r++)
            s.counts[r] = a->send_count;
    } else if (a->collective == LAYER_GATHERV && a->send != MPI_IN_PLACE) {
        set_user(&s, a->send, a->send_type);
        s.counts[a->root] = a->send_count;
    }
    return s;
}

static struct blocks recv_blocks(const struct layer_comm *c,
                                 const struct layer_call *a, MPI_Count *arrays)
{
    struct blocks s = no_blocks(arrays, c->size);
    if (has_recv_counts(c, a)) {
        set_user(&s, a->recv, a->recv_type);
        set_arrays(&s, c, a, a->recv_counts, a->recv_displs,
                   a->send == MPI_IN_PLACE);
    } else if (a->collective == LAYER_SCATTERV && a->recv != MPI_IN_PLACE) {
        set_user(&s, a->recv, a->recv_type);
        s.counts[a->root] = a->recv_count;
    }
    return s;
}

/* Of counts, displacements, bytes and places, on both sides. */
static size_t numbers_bytes(const struct layer_comm *c)
{
    return 4 * (size_t)c->size * (sizeof(size_t) + sizeof(MPI_Count));
}

int blocks_open(const struct layer_comm *c, const struct layer_call *a,
                struct buffer *counts, struct buffer *sent,
                struct buffer *received, struct blocks *send,
                struct blocks *recv)
{
    size_t ranks = (size_t)c->size;
    size_t *numbers = buffer_reserve(counts, numbers_bytes(c));
    if (!numbers)
        return MPI_ERR_NO_MEM;
    MPI_Count *arrays = (MPI_Count *)(numbers + 4 * ranks);
    *send = send_blocks(c, a, arrays);
    *recv = recv_blocks(c, a, arrays + 2 * ranks);
    int rc = locate(send, c, numbers, sent);
    if (!rc)
        rc = locate(recv, c, numbers + 2 * ranks, received);
    /* long_blocks.c counts by an int, too: the call is left */
    if (!rc && a->large && (send->has_long || recv->has_long))
        rc = MPI_ERR_COUNT;
    return rc;
}

void *blocks_reserve(struct layer_comm *c)
{
    return buffer_reserve(&c->counts, numbers_bytes(c));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of an irregular call: found by its arguments, packed and
 * unpacked. */
#include <limits.h>
#include <string.h>

#include "mpi/run/blocks.h"

/* What the program says of the blocks that a rank sends, or receives. */
struct given {
    const void *user;
    int n;
    const int *ranks; /* of each block; NULL: block i is of rank i */
    bool arrays;      /* each block has its own count and displacement, … */
    const void *counts, *displs;
    bool typed; /* … and its own type */
    const MPI_Datatype *types;
    MPI_Count count; /* without arrays; blocks follow each other, but */
    bool same;       /* all are one block */
    MPI_Datatype type;
};

static struct given arrays_of(const void *user, int n, const int *ranks,
                              const void *counts, const void *displs,
                              MPI_Datatype type)
{
    return (struct given){.user = user,
                          .n = n,
                          .ranks = ranks,
                          .arrays = true,
                          .counts = counts,
                          .displs = displs,
                          .type = type};
}

static struct given typed_of(const void *user, int n, const int *ranks,
                             const void *counts, const void *displs,
                             const MPI_Datatype *types)
{
    struct given g =
        arrays_of(user, n, ranks, counts, displs, MPI_DATATYPE_NULL);
    g.typed = true;
    g.types = types;
    return g;
}

static struct given equal_of(const void *user, int n, const int *ranks,
                             MPI_Count count, MPI_Datatype type, bool same)
{
    return (struct given){.user = user,
                          .n = n,
                          .ranks = ranks,
                          .count = count,
                          .type = type,
                          .same = same};
}

static struct given given_recv(const struct layer_comm *c,
                               const struct layer_call *a)
{
    const struct neighbors *from = &c->sources;
    if (a->recv == MPI_IN_PLACE)
        return (struct given){0};
    switch (a->collective) {
    case LAYER_GATHERV:
        if (a->root != c->rank)
            return (struct given){0};
        /* fall through */
    case LAYER_ALLTOALLV:
    case LAYER_ALLGATHERV:
        return arrays_of(a->recv, c->size, NULL, a->recv_counts, a->recv_displs,
                         a->recv_type);
    case LAYER_ALLTOALLW:
        return typed_of(a->recv, c->size, NULL, a->recv_counts, a->recv_displs,
                        a->recv_types);
    case LAYER_SCATTERV:
        return equal_of(a->recv, 1, &a->root, a->recv_count, a->recv_type,
                        false);
    case LAYER_NEIGHBOR_ALLGATHER:
    case LAYER_NEIGHBOR_ALLTOALL:
        return equal_of(a->recv, from->n, from->ranks, a->recv_count,
                        a->recv_type, false);
    case LAYER_NEIGHBOR_ALLGATHERV:
    case LAYER_NEIGHBOR_ALLTOALLV:
        return arrays_of(a->recv, from->n, from->ranks, a->recv_counts,
                         a->recv_displs, a->recv_type);
    default:
        return typed_of(a->recv, from->n, from->ranks, a->recv_counts,
                        a->recv_displs, a->recv_types);
    }
}

static struct given given_send(const struct layer_comm *c,
                               const struct layer_call *a)
{
    const struct neighbors *to = &c->destinations;
    if (layer_exchanges_in_place(a))
        return given_recv(c, a);
    if (a->send == MPI_IN_PLACE)
        return (struct given){0};
    switch (a->collective) {
    case LAYER_SCATTERV:
        if (a->root != c->rank)
            return (struct given){0};
        /* fall through */
    case LAYER_ALLTOALLV:
        return arrays_of(a->send, c->size, NULL, a->send_counts, a->send_displs,
                         a->send_type);
    case LAYER_ALLTOALLW:
        return typed_of(a->send, c->size, NULL, a->send_counts, a->send_displs,
                        a->send_types);
    case LAYER_ALLGATHERV:
        return equal_of(a->send, c->size, NULL, a->send_count, a->send_type,
                        true);
    case LAYER_GATHERV:
        return equal_of(a->send, 1, &a->root, a->send_count, a->send_type,
                        false);
    case LAYER_NEIGHBOR_ALLGATHER:
    case LAYER_NEIGHBOR_ALLGATHERV:
        return equal_of(a->send, to->n, to->ranks, a->send_count, a->send_type,
                        true);
    case LAYER_NEIGHBOR_ALLTOALL:
        return equal_of(a->send, to->n, to->ranks, a->send_count, a->send_type,
                        false);
    case LAYER_NEIGHBOR_ALLTOALLV:
        return arrays_of(a->send, to->n, to->ranks, a->send_counts,
                         a->send_displs, a->send_type);
    default:
        return typed_of(a->send, to->n, to->ranks, a->send_counts,
                        a->send_displs, a->send_types);
    }
}

static MPI_Count count_at(const struct layer_call *a, const struct given *g,
                          int i)
{
    return g->arrays ? layer_count_at(a, g->counts, i) : g->count;
}

/* In elements, or, if blocks have types of their own, in bytes. */
static MPI_Aint displ_at(const struct layer_call *a, const struct given *g,
                         int i)
{
    if (!g->arrays)
        return g->same ? 0 : i * g->count;
    return a->large || a->collective == LAYER_NEIGHBOR_ALLTOALLW
               ? ((const MPI_Aint *)g->displs)[i]
               : ((const int *)g->displs)[i];
}

/* Programs give MPI_DATATYPE_NULL for an empty block that has its own type. */
static MPI_Datatype type_at(const struct layer_call *a, const struct given *g,
                            int i)
{
    if (g->typed && !count_at(a, g, i))
        return MPI_BYTE;
    return g->typed ? g->types[i] : g->type;
}

static bool is_right(const struct layer_call *a, const struct given *g)
{
    if (g->n && g->arrays && (!g->counts || !g->displs))
        return false;
    if (g->n && g->typed && !g->types)
        return false;
    for (int i = 0; i < g->n; i++)
        if (datatype_bytes(count_at(a, g, i), type_at(a, g, i)) < 0)
            return false;
    return true;
}

bool blocks_are_right(const struct layer_comm *c, const struct layer_call *a)
{
    const struct given send = given_send(c, a), recv = given_recv(c, a);
    if (layer_is_of_neighbors(a->collective) && !c->has_topology)
        return false;
    return is_right(a, &send) && is_right(a, &recv);
}

static bool has_negative(const struct layer_call *a, const struct given *g)
{
    for (int i = 0; (!g->arrays || g->counts) && i < g->n; i++)
        if (count_at(a, g, i) < 0)
            return true;
    return false;
}

bool blocks_have_negative(const struct layer_comm *c,
                          const struct layer_call *a)
{
    const struct given send = given_send(c, a), recv = given_recv(c, a);
    return has_negative(a, &send) || has_negative(a, &recv);
}

/* -------------------------------------------------------------- layout --- */

/* Too long for MPI_Pack; or, with the earlier blocks of its rank, for dcoll.
 * Both ranks of a block decide by bytes, as only one of them may pack. */
static bool is_long(const struct block *b, size_t earlier)
{
    return (size_t)b->count > INT_MAX / (b->size ? b->size : 1) ||
           (size_t)b->count * b->size > UINT32_MAX - earlier;
}

/* Sets size and place of a block of this type. The latest type is known. */
static int measure(struct block *b, const struct block *latest, bool in_bytes,
                   MPI_Aint *extent, bool *contiguous)
{
    MPI_Aint low;
    MPI_Count size;
    int rc = MPI_SUCCESS;
    if (latest && latest->type == b->type) {
        b->size = latest->size;
    } else {
        rc = pmpi.Type_get_extent(b->type, &low, extent);
        if (!rc)
            rc = pmpi.Type_size_x(b->type, &size);
        if (rc)
            return rc;
        b->size = (size_t)size;
        *contiguous = datatype_is_contiguous(b->type);
    }
    b->at *= in_bytes ? 1 : *extent;
    return rc;
}

/* May dcoll use a contiguous block where it is? MPI allows negative places,
 * dcoll does not. Places in bytes behind MPI_BOTTOM, which is NULL, are
 * addresses, and there may be no memory between them. */
static bool is_within(const struct blocks *s, const struct block *b,
                      bool in_bytes)
{
    const bool is_address = !s->user && in_bytes && b->at >= FIRST_PAGE;
    return b->at >= 0 && !is_address;
}

static void add_block(struct blocks *s, struct block *b, bool in_bytes,
                      bool contiguous)
{
    const bool is_there = b->rank != MPI_PROC_NULL && b->count;
    b->is_long = is_there && is_long(b, s->bytes[b->rank]);
    b->bytes = is_there && !b->is_long ? (size_t)b->count * b->size : 0;
    s->has_long |= b->is_long;
    if (!b->bytes)
        return;
    s->bytes[b->rank] += b->bytes;
    s->contiguous &= contiguous && is_within(s, b, in_bytes);
}

/* Packed, blocks follow each other. */
static void place(struct blocks *s, int ranks)
{
    memset(s->places, 0, (size_t)ranks * sizeof *s->places);
    for (int i = 0; i < s->n; i++) {
        struct block *b = &s->each[i];
        b->packed = s->same ? 0 : s->all;
        b->place = s->contiguous ? (size_t)b->at : b->packed;
        s->listed[i] = (dcoll_block_t){0, b->place, b->bytes};
        if (!b->bytes)
            continue;
        s->all = b->packed + b->bytes;
        s->listed[i].rank = (unsigned)b->rank;
        s->places[b->rank] = b->place;
    }
}

static bool lacks_memory(const struct blocks *s)
{
    for (int i = 0; !s->user && i < s->n; i++) {
        const struct block *b = &s->each[i];
        if (b->bytes && datatype_lacks_memory(s->user, b->at, b->type))
            return true;
    }
    return false;
}

/* Where the blocks are. An MPI error. */
static int locate(struct blocks *s, const struct layer_comm *c, bool in_bytes,
                  struct buffer *buffer)
{
    MPI_Aint extent = 0;
    bool contiguous = false;
    memset(s->bytes, 0, (size_t)c->size * sizeof *s->bytes);
    s->contiguous = !s->replaced;
    for (int i = 0; i < s->n; i++) {
        int rc = measure(&s->each[i], i ? &s->each[i - 1] : NULL, in_bytes,
                         &extent, &contiguous);
        if (rc)
            return rc;
        add_block(s, &s->each[i], in_bytes, contiguous);
    }
    place(s, c->size);
    if (!s->contiguous && lacks_memory(s))
        return MPI_ERR_BUFFER;
    s->data = s->contiguous ? s->user : buffer_reserve(buffer, s->all + 1);
    if (s->data || !s->all)
        return MPI_SUCCESS;
    return s->contiguous ? MPI_ERR_BUFFER : MPI_ERR_NO_MEM;
}

/* Does the user's memory have them one after another? *first: where. */
static bool is_dense(const struct blocks *s, const size_t *counts,
                     MPI_Aint *first)
{
    bool found = false;
    MPI_Aint next = 0;
    *first = 0;
    if (s->n && !datatype_is_contiguous(s->each[0].type))
        return false;
    for (int r = 0; r < s->n; r++) {
        const MPI_Aint at = s->each[r].at;
        if (!counts[r])
            continue;
        if (!found)
            *first = at;
        else if (at != next)
            return false;
        found = true;
        next = at + (MPI_Aint)counts[r];
    }
    return true;
}

int blocks_place(struct blocks *s, const struct layer_comm *c,
                 const size_t *counts, struct buffer *buffer)
{
    MPI_Aint first;
    s->contiguous = is_dense(s, counts, &first);
    s->all = 0;
    for (int r = 0; r < c->size; r++) {
        s->places[r] = s->each[r].packed = s->each[r].place = s->all;
        s->all += counts[r];
    }
    s->data =
        s->contiguous ? s->user + first : buffer_reserve(buffer, s->all + 1);
    return s->data || !s->all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Memory for the numbers of both sides. */
static size_t numbers_bytes(const struct layer_comm *c, int blocks)
{
    return 4 * (size_t)c->size * sizeof(size_t) +
           (size_t)blocks * (sizeof(struct block) + sizeof(dcoll_block_t));
}

static void open_side(struct blocks *s, const struct layer_comm *c,
                      const struct layer_call *a, const struct given *g,
                      bool in_place)
{
    s->user = (char *)g->user;
    s->n = g->n;
    s->same = g->same;
    for (int i = 0; i < g->n; i++) {
        const int rank = g->ranks ? g->ranks[i] : i;
        s->each[i] = (struct block){
            .rank = rank,
            .count = in_place && rank == c->rank ? 0 : count_at(a, g, i),
            .at = displ_at(a, g, i),
            .type = type_at(a, g, i)};
    }
}

int blocks_open(const struct layer_comm *c, const struct layer_call *a,
                struct buffer *counts, struct buffer *sent,
                struct buffer *received, struct blocks *send,
                struct blocks *recv)
{
    const struct given out = given_send(c, a), in = given_recv(c, a);
    const size_t ranks = (size_t)c->size;
    size_t *numbers = buffer_reserve(counts, numbers_bytes(c, out.n + in.n));
    if (!numbers)
        return MPI_ERR_NO_MEM;
    struct block *blocks = (struct block *)(numbers + 4 * ranks);
    dcoll_block_t *listed = (dcoll_block_t *)(blocks + out.n + in.n);
    *send = (struct blocks){.each = blocks,
                            .bytes = numbers,
                            .places = numbers + ranks,
                            .listed = listed};
    *recv = (struct blocks){.each = blocks + out.n,
                            .bytes = numbers + 2 * ranks,
                            .places = numbers + 3 * ranks,
                            .listed = listed + out.n};
    send->replaced = layer_exchanges_in_place(a);
    open_side(send, c, a, &out, a->recv == MPI_IN_PLACE || send->replaced);
    open_side(recv, c, a, &in, a->send == MPI_IN_PLACE);
    int rc = locate(send, c, out.typed, sent);
    if (!rc)
        rc = locate(recv, c, in.typed, received);
    /* long_blocks.c counts by an int, too, and packs nothing: the call is left
     */
    if (!rc && (a->large || send->replaced) &&
        (send->has_long || recv->has_long))
        rc = MPI_ERR_COUNT;
    return rc;
}

void *blocks_reserve(struct layer_comm *c)
{
    return buffer_reserve(&c->counts, numbers_bytes(c, 2 * c->size));
}

/* Blocks that follow each other often have one type. */
int blocks_keep_types(struct blocks *s)
{
    MPI_Datatype given = MPI_BYTE, kept = MPI_BYTE;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < s->n; i++) {
        if (!rc && (!i || s->each[i].type != given)) {
            given = s->each[i].type;
            rc = datatype_keep(given, &kept);
        }
        s->each[i].type = rc ? MPI_BYTE : kept;
    }
    return rc;
}

void blocks_release_types(struct blocks *s)
{
    for (int i = 0; i < s->n; i++) {
        MPI_Datatype type = s->each[i].type;
        if (i + 1 == s->n || s->each[i + 1].type != type)
            datatype_release(&type);
    }
}

/* --------------------------------------------------------- pack, unpack --- */

static int pack(const struct blocks *s, const struct layer_comm *c,
                const struct block *b, int count, size_t bytes, char *to)
{
    int at = 0;
    return bytes ? pmpi.Pack(s->user + b->at, count, b->type, to, (int)bytes,
                             &at, c->inner)
                 : MPI_SUCCESS;
}

int blocks_pack(const struct blocks *s, const struct layer_comm *c,
                char *packed)
{
    int rc = MPI_SUCCESS;
    bool done = false;
    for (int i = 0; !rc && !done && i < s->n; i++) {
        const struct block *b = &s->each[i];
        rc = pack(s, c, b, (int)b->count, b->bytes, packed + b->packed);
        done = s->same && b->bytes;
    }
    return rc;
}

int blocks_pack_own(const struct blocks *s, const struct layer_comm *c,
                    size_t bytes, char *packed)
{
    const struct block *b = &s->each[c->rank];
    return pack(s, c, b, (int)(bytes / (b->size ? b->size : 1)), bytes, packed);
}

int blocks_unpack_one(const struct blocks *s, const struct layer_comm *c, int i,
                      const char *packed)
{
    const struct block *b = &s->each[i];
    int at = 0;
    return b->bytes ? pmpi.Unpack(packed, (int)b->bytes, &at, s->user + b->at,
                                  (int)b->count, b->type, c->inner)
                    : MPI_SUCCESS;
}

int blocks_unpack(const struct blocks *s, const struct layer_comm *c,
                  const char *packed)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; !rc && i < s->n; i++)
        rc = blocks_unpack_one(s, c, i, packed + s->each[i].packed);
    return rc;
}

int blocks_exchange_long(struct long_blocks *m, const struct layer_comm *c,
                         const struct blocks *send, const struct blocks *recv)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; recv->has_long && !rc && i < recv->n; i++) {
        const struct block *b = &recv->each[i];
        if (b->is_long)
            rc = long_blocks_receive(m, c->inner, recv->user + b->at, b->count,
                                     b->type, b->rank);
    }
    for (int i = 0; send->has_long && !rc && i < send->n; i++) {
        const struct block *b = &send->each[i];
        if (b->is_long)
            rc = long_blocks_send(m, c->inner, send->user + b->at, b->count,
                                  b->type, b->rank);
    }
    return rc;
}

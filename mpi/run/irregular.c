/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different sizes, by dcoll_alltoallv. It counts bytes, as the
 * datatypes of two ranks may differ. A gather is an all-to-all in which only
 * the root receives, and so on. Blocks of 2 GiB and more go by long_blocks.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/requests/requests.h"
#include "mpi/run/run.h"

/* The blocks that a rank sends, or receives. */
struct blocks {
    char *user;
    MPI_Count *counts, *displs; /* for each rank */
    MPI_Datatype type;
    MPI_Aint extent;
    size_t size; /* of an element */
    bool contiguous;
    bool same;              /* all ranks get the same block */
    bool has_long;          /* some are too long for dcoll */
    char *data;             /* the user's, or packed */
    size_t *bytes, *places; /* of each rank's block in data; bytes 0: none, or
                               too long */
    size_t all;             /* bytes, packed */
};

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

bool irregular_is_right(const struct layer_comm *c, const struct layer_call *a)
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

/* @numbers: two for each rank. An MPI error. */
static int blocks_open(struct blocks *s, const struct layer_comm *c,
                       size_t *numbers, struct buffer *buffer)
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

/* Between the user's blocks and packed ones, one after another. */
static int pack(const struct blocks *s, const struct layer_comm *c,
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

static int unpack(const struct blocks *s, const struct layer_comm *c,
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

/* Sender and receiver of a long block both know that it is long. */
static int exchange_long(struct long_blocks *m, const struct layer_comm *c,
                         const struct blocks *send, const struct blocks *recv)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; recv->has_long && !rc && r < c->size; r++)
        if (is_long(recv, r))
            rc = long_blocks_receive(m, c, block_at(recv, r), recv->counts[r],
                                     recv->type, r);
    for (int r = 0; send->has_long && !rc && r < c->size; r++)
        if (is_long(send, r))
            rc = long_blocks_send(m, c, block_at(send, r), send->counts[r],
                                  send->type, r);
    return rc;
}

static dcoll_alltoallv_t bytes_of(const struct blocks *send,
                                  const struct blocks *recv)
{
    return (dcoll_alltoallv_t){.send = send->data,
                               .send_counts = send->bytes,
                               .send_displs = send->places,
                               .recv = recv->data,
                               .recv_counts = recv->bytes,
                               .recv_displs = recv->places,
                               .element = 1};
}

static int run(struct layer_comm *c, struct blocks *send, struct blocks *recv)
{
    const dcoll_alltoallv_t call = bytes_of(send, recv);
    struct long_blocks long_blocks = {0};
    int rc = send->contiguous ? MPI_SUCCESS : pack(send, c, send->data);
    if (!rc)
        rc = exchange_long(&long_blocks, c, send, recv);
    int failed = rc ? 0 : team_alltoallv(c, &call);
    if (rc || failed) {
        long_blocks_drop(&long_blocks);
        return rc ? team_call_missed(c, rc) : team_error_code(c, failed);
    }
    rc = long_blocks_wait(&long_blocks);
    return rc || recv->contiguous ? rc : unpack(recv, c, recv->data);
}

/* verify: the MPI below makes the call first. Its result is kept, and the
 * program's buffer filled with other bytes. */
static int expect(struct layer_comm *c, const struct layer_call *a,
                  const struct blocks *recv)
{
    char *expected = c->expected.data;
    int rc = below_run(a);
    if (!rc)
        rc = pack(recv, c, expected);
    if (rc)
        return rc;
    char *others = expected + recv->all;
    for (size_t i = 0; i < recv->all; i++)
        others[i] = (char)~expected[i];
    return unpack(recv, c, others);
}

static void tell_difference(const struct layer_comm *c,
                            const struct layer_call *a,
                            const struct blocks *recv)
{
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: %s: the %zu bytes received "
            "differ\n",
            c->rank, c->size, layer_name(a->collective), recv->all);
}

static int compare(struct layer_comm *c, const struct layer_call *a,
                   const struct blocks *recv)
{
    char *expected = c->expected.data, *found = expected + recv->all;
    int rc = pack(recv, c, found);
    if (!rc && memcmp(expected, found, recv->all))
        tell_difference(c, a, recv);
    return rc;
}

/* ------------------------------------------------------- arguments --- */

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

/* @counts, @sent, @received: for the numbers and for packed blocks. */
static int open_blocks(const struct layer_comm *c, const struct layer_call *a,
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
    int rc = blocks_open(send, c, numbers, sent);
    if (!rc)
        rc = blocks_open(recv, c, numbers + 2 * ranks, received);
    /* long_blocks.c counts by an int, too: the call is left */
    if (!rc && a->large && (send->has_long || recv->has_long))
        rc = MPI_ERR_COUNT;
    return rc;
}

void *irregular_reserve(struct layer_comm *c)
{
    return buffer_reserve(&c->counts, numbers_bytes(c));
}

int irregular_run(struct layer_comm *c, const struct layer_call *a)
{
    struct blocks send, recv;
    int rc = open_blocks(c, a, &c->counts, &c->send, &c->recv, &send, &recv);
    bool can = !rc && (!layer.verify ||
                       buffer_reserve(&c->expected, 2 * recv.all + 1));
    /* with large counts, only the rank itself knows that a block is long */
    if ((layer.verify || a->large) && !team_all_can(c, can))
        return LEFT_TO_MPI;
    if (!rc && layer.verify)
        rc = expect(c, a, &recv);
    if (rc)
        return team_call_missed(c, rc);
    rc = run(c, &send, &recv);
    if (!rc && layer.verify)
        rc = compare(c, a, &recv);
    layer_comm_trim(c);
    return rc;
}

/* ------------------------------------------- calls that do not block --- */

struct irregular {
    struct layer_call a;
    struct buffer counts, sent, received, expected, below;
    struct blocks send, recv;
    struct long_blocks long_blocks;
    dcoll_alltoallv_t call;
};

int irregular_open(const struct layer_comm *c, const struct layer_call *a,
                   struct irregular **out)
{
    struct irregular *o = calloc(1, sizeof *o);
    if (!o)
        return MPI_ERR_NO_MEM;
    o->a = *a;
    int rc = open_blocks(c, a, &o->counts, &o->sent, &o->received, &o->send,
                         &o->recv);
    MPI_Datatype send = o->send.type, recv = o->recv.type;
    o->send.type = o->recv.type = MPI_BYTE;
    if (!rc)
        rc = datatype_keep(send, &o->send.type);
    if (!rc)
        rc = datatype_keep(recv, &o->recv.type);
    if (!rc)
        rc = irregular_pack(c, o);
    if (rc)
        irregular_close(o);
    else
        *out = o;
    return rc;
}

int irregular_pack(const struct layer_comm *c, struct irregular *o)
{
    o->call = bytes_of(&o->send, &o->recv);
    return o->send.contiguous ? MPI_SUCCESS : pack(&o->send, c, o->send.data);
}

bool irregular_has_long(const struct irregular *o)
{
    return o->send.has_long || o->recv.has_long;
}

int irregular_begin_long(const struct layer_comm *c, struct irregular *o)
{
    return exchange_long(&o->long_blocks, c, &o->send, &o->recv);
}

int irregular_test_long(struct irregular *o, int *done)
{
    *done = 1;
    return o->long_blocks.n ? long_blocks_test(&o->long_blocks, done)
                            : MPI_SUCCESS;
}

const dcoll_alltoallv_t *irregular_call(const struct irregular *o)
{
    return &o->call;
}

void irregular_bounds(const struct layer_comm *c, const struct irregular *o,
                      unsigned long long *pair, unsigned long long *rank)
{
    unsigned long long sent = 0, received = 0;
    *pair = 0;
    for (int r = 0; r < c->size; r++) {
        size_t out = o->send.bytes[r], in = o->recv.bytes[r];
        sent += out;
        received += in;
        *pair = out > *pair ? out : *pair;
        *pair = in > *pair ? in : *pair;
    }
    *rank = sent > received ? sent : received;
}

int irregular_unpack(const struct layer_comm *c, const struct irregular *o)
{
    return o->recv.contiguous ? MPI_SUCCESS : unpack(&o->recv, c, o->recv.data);
}

/* As MPI_Alltoallv of MPI_BYTE, whose numbers are ints. */
int irregular_expect(const struct layer_comm *c, struct irregular *o,
                     struct layer_call *below)
{
    size_t ranks = (size_t)c->size, at = 0;
    int *n = buffer_reserve(&o->below, 4 * ranks * sizeof *n);
    char *to = buffer_reserve(&o->expected, o->recv.all + 1);
    if (!n || !to)
        return MPI_ERR_NO_MEM;
    for (size_t r = 0; r < ranks; r++) {
        if (o->send.places[r] > INT_MAX || at > INT_MAX)
            return MPI_ERR_COUNT;
        n[r] = (int)o->send.bytes[r];
        n[ranks + r] = (int)o->send.places[r];
        n[2 * ranks + r] = (int)o->recv.bytes[r];
        n[3 * ranks + r] = (int)at;
        at += o->recv.bytes[r];
    }
    *below = (struct layer_call){.collective = LAYER_ALLTOALLV,
                                 .send = o->send.data,
                                 .send_counts = n,
                                 .send_displs = n + ranks,
                                 .send_type = MPI_BYTE,
                                 .recv = to,
                                 .recv_counts = n + 2 * ranks,
                                 .recv_displs = n + 3 * ranks,
                                 .recv_type = MPI_BYTE,
                                 .comm = c->inner};
    return MPI_SUCCESS;
}

void irregular_compare(const struct layer_comm *c, const struct irregular *o)
{
    const char *expected = o->expected.data;
    bool same = true;
    for (int r = 0; r < c->size; r++) {
        size_t bytes = o->recv.bytes[r];
        same = same && (!bytes || !memcmp(o->recv.data + o->recv.places[r],
                                          expected, bytes));
        expected += bytes;
    }
    if (!same)
        tell_difference(c, &o->a, &o->recv);
}

void irregular_close(struct irregular *o)
{
    long_blocks_drop(&o->long_blocks);
    datatype_release(&o->send.type);
    datatype_release(&o->recv.type);
    free(o->counts.data);
    free(o->sent.data);
    free(o->received.data);
    free(o->expected.data);
    free(o->below.data);
    free(o);
}

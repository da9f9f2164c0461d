/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with equal blocks. Blocks that are not contiguous are packed before the
 * call, and unpacked after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/requests/requests.h"
#include "mpi/run/run.h"

/* ----------------------------------------------------------------- data --- */

/* What a rank sends, or receives. */
struct side {
    void *user;
    int count; /* of elements, in all blocks */
    MPI_Datatype type;
    void *data; /* contiguous: the user's, or packed */
};

static struct side side_of(const void *user, int count, MPI_Datatype type,
                           int blocks)
{
    return (struct side){.user = (void *)user,
                         .count = count * blocks,
                         .type = type,
                         .data = (void *)user};
}

static bool is_packed(const struct side *s)
{
    return s->data != s->user;
}

/* Makes it contiguous. @fill: its elements are wanted, too. An MPI error. */
static int side_pack(struct side *s, struct buffer *buffer, size_t bytes,
                     bool fill, MPI_Comm comm)
{
    int at = 0;
    if (datatype_is_contiguous(s->type))
        return MPI_SUCCESS;
    if (datatype_lacks_memory(s->user, 0, s->type))
        return MPI_ERR_BUFFER;
    s->data = buffer_reserve(buffer, bytes);
    if (!s->data)
        return MPI_ERR_NO_MEM;
    return fill ? pmpi.Pack(s->user, s->count, s->type, s->data, (int)bytes,
                            &at, comm)
                : MPI_SUCCESS;
}

static int side_unpack(const struct side *s, size_t bytes, MPI_Comm comm)
{
    int at = 0;
    return is_packed(s) ? pmpi.Unpack(s->data, (int)bytes, &at, s->user,
                                      s->count, s->type, comm)
                        : MPI_SUCCESS;
}

/* ---------------------------------------------------------------- parts --- */

/* How many blocks a rank sends and receives. */
struct parts {
    int send, recv;
    bool in_place;
};

static struct parts parts_of(const struct layer_comm *c,
                             const struct layer_call *a)
{
    bool root = a->root == c->rank;
    switch (a->collective) {
    case LAYER_ALLGATHER:
    case LAYER_ALLTOALL:
        if (a->send == MPI_IN_PLACE)
            return (struct parts){0, c->size, true};
        return (struct parts){a->collective == LAYER_ALLTOALL ? c->size : 1,
                              c->size, false};
    case LAYER_REDUCE_SCATTER_BLOCK:
    case LAYER_REDUCE_SCATTER:
        if (a->send == MPI_IN_PLACE)
            return (struct parts){0, c->size, true};
        return (struct parts){c->size, 1, false};
    case LAYER_ALLREDUCE:
    case LAYER_SCAN:
    case LAYER_EXSCAN:
        if (a->send == MPI_IN_PLACE)
            return (struct parts){0, 1, true};
        return (struct parts){1, reduce_has_result(c, a), false};
    case LAYER_REDUCE:
        if (root && a->send == MPI_IN_PLACE)
            return (struct parts){0, 1, true};
        return (struct parts){1, root, false};
    case LAYER_GATHER:
        if (root && a->send == MPI_IN_PLACE)
            return (struct parts){0, c->size, true};
        return (struct parts){1, root ? c->size : 0, false};
    case LAYER_SCATTER:
        if (root && a->recv == MPI_IN_PLACE)
            return (struct parts){c->size, 0, true};
        return (struct parts){root ? c->size : 0, 1, false};
    case LAYER_BCAST:
        return (struct parts){0, 1, false};
    default:
        return (struct parts){0, 0, false};
    }
}

/* Do the arguments of a rank that sends and receives describe blocks of
 * different sizes? The MPI below may serve such a call, so only a call that
 * libdcoll makes fails. */
static bool own_block_differs(const struct layer_call *a, struct parts parts)
{
    if (!parts.send || !parts.recv)
        return false;
    const int64_t sent = datatype_bytes(a->send_count, a->send_type);
    const int64_t received = datatype_bytes(a->recv_count, a->recv_type);
    return sent >= 0 && received >= 0 && sent != received;
}

bool regular_stays_contiguous(const struct layer_comm *c,
                              const struct layer_call *a)
{
    const struct parts parts = parts_of(c, a);
    return (!parts.send || datatype_stays_contiguous(a->send_type)) &&
           (!parts.recv || datatype_stays_contiguous(a->recv_type));
}

/* -------------------------------------------------------------- verify --- */

/* The same call for the MPI below, of MPI_BYTE, into @recv. */
static struct layer_call bytes_below(const struct layer_comm *c,
                                     const dcoll_call_t *call, void *recv)
{
    bool in_place = call->send == DCOLL_IN_PLACE;
    return (struct layer_call){
        .collective = call->collective,
        .send = in_place ? MPI_IN_PLACE : call->send,
        .send_count = (int)call->bytes,
        .send_type = MPI_BYTE,
        .recv = call->recv == DCOLL_IN_PLACE ? MPI_IN_PLACE : recv,
        .recv_count = (int)call->bytes,
        .recv_type = MPI_BYTE,
        .root = (int)call->root,
        .comm = c->inner};
}

static int below_bytes(struct layer_comm *c, const dcoll_call_t *call,
                       void *recv)
{
    struct layer_call a = bytes_below(c, call, recv);
    return below_run(&a);
}

static void compare(const struct layer_comm *c, const dcoll_call_t *call,
                    const unsigned char *expected, size_t bytes)
{
    const unsigned char *found = call->recv;
    size_t at = 0;
    while (at < bytes && found[at] == expected[at])
        at++;
    if (at == bytes)
        return;
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: %s of %zu bytes: byte %zu of "
            "%zu is %#x instead of %#x\n",
            c->rank, c->size, dcoll_collective_name(call->collective),
            call->bytes, at, bytes, found[at], expected[at]);
}

/* A receive buffer for the MPI below, filled if the call sends from it. NULL:
 * no memory. */
static unsigned char *expect(struct buffer *buffer, const dcoll_call_t *call,
                             size_t received)
{
    unsigned char *expected = buffer_reserve(buffer, received + 1);
    bool filled =
        call->send == DCOLL_IN_PLACE || call->collective == DCOLL_BCAST;
    if (expected && filled)
        memcpy(expected, call->recv, received);
    return expected;
}

/* ------------------------------------------------------------------ run --- */

static int run(struct layer_comm *c, const dcoll_call_t *call, size_t received)
{
    unsigned char *expected = NULL;
    if (layer.verify) {
        expected = expect(&c->expected, call, received);
        if (!expected)
            return MPI_ERR_NO_MEM;
    }
    int rc = team_call(c, call);
    if (rc)
        return team_error_code(c, rc);
    if (!expected)
        return MPI_SUCCESS;
    rc = below_bytes(c, call, expected);
    if (!rc)
        compare(c, call, expected, received);
    return rc;
}

/* The data of a call, packed if they are not contiguous. */
struct packed {
    struct side send, recv;
    size_t sent, received;
    dcoll_call_t call;
};

/* @send, @recv: contiguous. @counts: as dcoll_call_t's. */
static dcoll_call_t shape_of(const struct layer_call *a, struct parts parts,
                             size_t bytes, const void *send, void *recv,
                             const size_t *counts)
{
    dcoll_call_t call = {.collective = reduce_collective(a),
                         .send = bytes && parts.send ? send : NULL,
                         .recv = bytes && parts.recv ? recv : NULL,
                         .bytes = counts ? 0 : bytes,
                         .root = (unsigned)a->root,
                         .reduction = reduce_basic(a),
                         .counts = counts};
    if (parts.in_place && call.recv)
        call.send = DCOLL_IN_PLACE;
    else if (parts.in_place)
        call.recv = DCOLL_IN_PLACE;
    return call;
}

static int pack(const struct layer_comm *c, const struct layer_call *a,
                size_t bytes, const size_t *counts, struct buffer *send,
                struct buffer *recv, struct packed *p)
{
    struct parts parts = parts_of(c, a);
    bool filled =
        parts.in_place || (a->collective == DCOLL_BCAST && a->root == c->rank);
    int rc = own_block_differs(a, parts) ? MPI_ERR_COUNT : MPI_SUCCESS;
    p->send = side_of(a->send, (int)a->send_count, a->send_type, parts.send);
    p->recv = side_of(a->recv, (int)a->recv_count, a->recv_type, parts.recv);
    p->sent = bytes * (size_t)parts.send;
    p->received = !counts          ? bytes * (size_t)parts.recv
                  : parts.in_place ? reduce_given_bytes(c, a, bytes)
                                   : reduce_result_bytes(c, a, bytes);
    if (!rc && p->sent)
        rc = side_pack(&p->send, send, p->sent, true, c->inner);
    if (!rc && p->received)
        rc = side_pack(&p->recv, recv, p->received, filled, c->inner);
    p->call = shape_of(a, parts, bytes, p->send.data, p->recv.data, counts);
    return rc;
}

static int unpack(const struct layer_comm *c, const struct packed *p)
{
    bool has_it =
        p->call.collective == DCOLL_BCAST && (int)p->call.root == c->rank;
    return p->received && !has_it ? side_unpack(&p->recv, p->received, c->inner)
                                  : MPI_SUCCESS;
}

int regular_run(struct layer_comm *c, const struct layer_call *a, size_t bytes)
{
    struct packed p;
    size_t blocks = a->collective == DCOLL_BCAST ? 1 : (size_t)c->size;
    if (!team_has_buffers(c, bytes * blocks))
        return LEFT_TO_MPI;
    int rc = pack(c, a, bytes, NULL, &c->send, &c->recv, &p);
    if (layer.verify &&
        !team_all_can(c, !rc && buffer_reserve(&c->expected, p.received + 1)))
        return LEFT_TO_MPI;
    if (rc)
        return team_call_missed(c, rc);
    rc = run(c, &p.call, p.received);
    if (!rc)
        rc = unpack(c, &p);
    layer_comm_trim(c);
    return rc;
}

/* ------------------------------------------- calls that do not block --- */

struct regular {
    struct layer_call a;
    size_t bytes;
    struct buffer send, recv, expected;
    void *given;    /* the program's counts; some programs free theirs */
    size_t *counts; /* of MPI_Reduce_scatter; else NULL */
    struct packed packed;
};

dcoll_call_t regular_plain(const struct layer_comm *c,
                           const struct layer_call *a, size_t bytes)
{
    return shape_of(a, parts_of(c, a), bytes, a->send, a->recv, NULL);
}

dcoll_call_t regular_shape(const struct layer_comm *c,
                           const struct layer_call *a, size_t bytes)
{
    return shape_of(a, parts_of(c, a), bytes, c, (void *)c,
                    reduce_counts(c, a, c->counts.data));
}

/* Only those that this rank uses. */
static int keep_types(struct layer_call *a, struct parts parts)
{
    MPI_Datatype send = a->send_type, recv = a->recv_type;
    int rc = MPI_SUCCESS;
    a->send_type = a->recv_type = MPI_BYTE;
    if (parts.send)
        rc = datatype_keep(send, &a->send_type);
    if (!rc && parts.recv)
        rc = datatype_keep(recv, &a->recv_type);
    return rc;
}

static int keep_counts(const struct layer_comm *c, struct regular *o)
{
    const size_t bytes =
        (size_t)c->size * (o->a.large ? sizeof(MPI_Count) : sizeof(int));
    if (o->a.collective != LAYER_REDUCE_SCATTER)
        return MPI_SUCCESS;
    o->given = malloc(bytes);
    o->counts = malloc((size_t)c->size * sizeof *o->counts);
    if (!o->given || !o->counts)
        return MPI_ERR_NO_MEM;
    o->a.recv_counts = memcpy(o->given, o->a.recv_counts, bytes);
    reduce_counts(c, &o->a, o->counts);
    return MPI_SUCCESS;
}

int regular_open(const struct layer_comm *c, const struct layer_call *a,
                 size_t bytes, struct regular **out)
{
    struct parts parts = parts_of(c, a);
    struct regular *o = calloc(1, sizeof *o);
    int rc = o ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (rc)
        return rc;
    o->a = *a;
    o->bytes = bytes;
    if (layer_reduces(a->collective)) { /* of MPI's own types */
        o->a.send_count = a->recv_count;
        o->a.send_type = a->recv_type;
        rc = keep_counts(c, o);
    } else {
        rc = keep_types(&o->a, parts);
    }
    if (!rc)
        rc = regular_pack(c, o);
    if (rc)
        regular_close(o);
    else
        *out = o;
    return rc;
}

int regular_pack(const struct layer_comm *c, struct regular *o)
{
    return pack(c, &o->a, o->bytes, o->counts, &o->send, &o->recv, &o->packed);
}

const dcoll_call_t *regular_call(const struct regular *o)
{
    return &o->packed.call;
}

int regular_unpack(const struct layer_comm *c, const struct regular *o)
{
    return unpack(c, &o->packed);
}

int regular_expect(const struct layer_comm *c, struct regular *o,
                   struct layer_call *below)
{
    void *to = expect(&o->expected, &o->packed.call, o->packed.received);
    *below = layer_reduces(o->a.collective)
                 ? reduce_below(c, &o->a, to)
                 : bytes_below(c, &o->packed.call, to);
    return to ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void regular_compare(const struct layer_comm *c, const struct regular *o)
{
    const dcoll_call_t *call = &o->packed.call;
    const bool reduces = layer_reduces(o->a.collective);
    const size_t received = o->packed.received;
    if (!reduces)
        compare(c, call, o->expected.data, received);
    else if (reduce_is_exact(&o->a) && reduce_has_result(c, &o->a))
        compare(c, call, o->expected.data,
                received ? reduce_result_bytes(c, &o->a, o->bytes) : 0);
}

void regular_close(struct regular *o)
{
    datatype_release(&o->a.send_type);
    datatype_release(&o->a.recv_type);
    free(o->given);
    free(o->counts);
    free(o->send.data);
    free(o->recv.data);
    free(o->expected.data);
    free(o);
}

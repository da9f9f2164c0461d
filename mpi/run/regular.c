/* SPDX-License-Identifier: BSD-3-Clause */
/* A call by libdcoll: blocks in one piece each, others packed before and
 * unpacked behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/layer.h"
#include "mpi/requests/queue.h"

/* ----------------------------------------------------------------- data --- */

/* What a rank's side of a call holds. */
struct side {
    void *user;
    int count; /* of all its blocks */
    MPI_Datatype type;
    void *data; /* in one piece: the user's, or packed */
};

/* @blocks of the other side, of @count elements each. */
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

/* A piece for it, if it has none. An MPI error. */
static int gather_up(struct side *s, struct layer_room *room, size_t bytes,
                     bool fill, MPI_Comm comm)
{
    int at = 0;
    if (data_is_plain(s->type))
        return MPI_SUCCESS;
    s->data = layer_room(room, bytes);
    if (!s->data)
        return MPI_ERR_NO_MEM;
    return fill ? pmpi.Pack(s->user, s->count, s->type, s->data, (int)bytes,
                            &at, comm)
                : MPI_SUCCESS;
}

static int spread_out(const struct side *s, size_t bytes, MPI_Comm comm)
{
    int at = 0;
    return is_packed(s) ? pmpi.Unpack(s->data, (int)bytes, &at, s->user,
                                      s->count, s->type, comm)
                        : MPI_SUCCESS;
}

/* ---------------------------------------------------------------- parts --- */

/* Which sides a rank has in a call, in blocks. */
struct parts {
    int send, recv;
    bool in_place;
};

static struct parts parts_of(const struct layer_comm *c,
                             const struct layer_call *a)
{
    bool root = a->root == c->rank;
    switch (a->collective) {
    case DCOLL_ALLGATHER:
    case DCOLL_ALLTOALL:
        if (a->send == MPI_IN_PLACE)
            return (struct parts){0, c->size, true};
        return (struct parts){a->collective == DCOLL_ALLTOALL ? c->size : 1,
                              c->size, false};
    case DCOLL_ALLREDUCE:
        if (a->send == MPI_IN_PLACE)
            return (struct parts){0, 1, true};
        return (struct parts){1, 1, false};
    case DCOLL_REDUCE:
        if (root && a->send == MPI_IN_PLACE)
            return (struct parts){0, 1, true};
        return (struct parts){1, root, false};
    case DCOLL_GATHER:
        if (root && a->send == MPI_IN_PLACE)
            return (struct parts){0, c->size, true};
        return (struct parts){1, root ? c->size : 0, false};
    case DCOLL_SCATTER:
        if (root && a->recv == MPI_IN_PLACE)
            return (struct parts){c->size, 0, true};
        return (struct parts){root ? c->size : 0, 1, false};
    case DCOLL_BCAST:
        return (struct parts){0, 1, false};
    default:
        return (struct parts){0, 0, false};
    }
}

/* -------------------------------------------------------------- verify --- */

/* The same by the MPI below, of bytes, into @recv. */
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
    return layer_below(&a);
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

/* ------------------------------------------------------------------ run --- */

/* One code for all, as MPI has few: its text is that of the latest error. */
int ours_error(const struct layer_comm *c, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    static int class, code;
    if (rc == DRAIL_ENOMEM && !dcoll_team_error(c->team))
        return OURS_LEFT; /* an error of all ranks, before they did anything */
    if (!code &&
        (pmpi.Add_error_class(&class) || pmpi.Add_error_code(class, &code)))
        return MPI_ERR_OTHER;
    if (c->requests) /* their thread may be about to write it */
        team_take_now(c->requests);
    snprintf(text, sizeof text, "dcoll_mpi: %s (%s)", dcoll_last_error(c->team),
             drail_strerror(rc));
    if (c->requests)
        team_give(c->requests);
    pmpi.Add_error_string(code, text);
    return code;
}

int ours_missing(const struct layer_comm *c, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    pmpi.Error_string(rc, text, &length);
    team_give_up(c, text);
    return rc;
}

bool ours_is_lost(const struct layer_comm *c)
{
    int error = dcoll_team_error(c->team);
    return error == DRAIL_EPEER || error == DRAIL_EINVAL;
}

int ours_dcoll(struct layer_comm *c, const dcoll_call_t *call)
{
    int rc = team_run(c, call);
    if (rc && rc != DRAIL_ENOMEM && !dcoll_team_error(c->team))
        team_skip(c);
    return rc;
}

bool ours_share(struct layer_comm *c, const void *mine, size_t bytes, void *all)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes};
    return !ours_dcoll(c, &call);
}

int ours_combine(struct layer_comm *c, const void *mine, void *all,
                 size_t bytes, dcoll_type_t type, dcoll_operator_t op)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLREDUCE,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes,
                               .reduction = dcoll_reduction(type, op)};
    return ours_dcoll(c, &call);
}

bool ours_all_can(struct layer_comm *c, bool can)
{
    int32_t mine = can, all = 0;
    return !ours_combine(c, &mine, &all, sizeof all, DCOLL_INT32, DCOLL_MIN) &&
           all;
}

/* Whether it packs is known to a rank alone: all have room for it, or none
 * does. What is not used takes addresses only. */
bool ours_has_room(struct layer_comm *c, size_t bytes)
{
    size_t room = c->room ? c->room : ROOM_LEAST;
    if (bytes <= room)
        return true;
    while (room < bytes)
        room *= 2;
    if (c->no_room && room >= c->no_room)
        return false;
    bool can = layer_room(&c->send, room) && layer_room(&c->recv, room);
    can = ours_all_can(c, can);
    *(can ? &c->room : &c->no_room) = room;
    return can;
}

/* Where the MPI below is to receive, with what is sent from there. NULL: no
 * memory. */
static unsigned char *expect(struct layer_room *room, const dcoll_call_t *call,
                             size_t received)
{
    unsigned char *expected = layer_room(room, received + 1);
    bool filled =
        call->send == DCOLL_IN_PLACE || call->collective == DCOLL_BCAST;
    if (expected && filled)
        memcpy(expected, call->recv, received);
    return expected;
}

static int run(struct layer_comm *c, const dcoll_call_t *call, size_t received)
{
    unsigned char *expected = NULL;
    if (layer.verify) {
        expected = expect(&c->expected, call, received);
        if (!expected)
            return MPI_ERR_NO_MEM;
    }
    int rc = ours_dcoll(c, call);
    if (rc)
        return ours_error(c, rc);
    if (!expected)
        return MPI_SUCCESS;
    rc = below_bytes(c, call, expected);
    if (!rc)
        compare(c, call, expected, received);
    return rc;
}

/* A call's data, packed where they must be. */
struct packed {
    struct side send, recv;
    size_t sent, received;
    dcoll_call_t call;
};

/* Of a call of libdcoll, whose sides hold any data. */
static dcoll_call_t shape_of(const struct layer_call *a, struct parts parts,
                             size_t bytes, const void *send, void *recv)
{
    dcoll_call_t call = {.collective = (dcoll_collective_t)a->collective,
                         .send = bytes && parts.send ? send : NULL,
                         .recv = bytes && parts.recv ? recv : NULL,
                         .bytes = bytes,
                         .root = (unsigned)a->root,
                         .reduction = reduce_basic(a)};
    if (parts.in_place && call.recv)
        call.send = DCOLL_IN_PLACE;
    else if (parts.in_place)
        call.recv = DCOLL_IN_PLACE;
    return call;
}

static int pack(const struct layer_comm *c, const struct layer_call *a,
                size_t bytes, struct layer_room *send, struct layer_room *recv,
                struct packed *p)
{
    struct parts parts = parts_of(c, a);
    bool filled =
        parts.in_place || (a->collective == DCOLL_BCAST && a->root == c->rank);
    int rc = MPI_SUCCESS;
    p->send = side_of(a->send, (int)a->send_count, a->send_type, parts.send);
    p->recv = side_of(a->recv, (int)a->recv_count, a->recv_type, parts.recv);
    p->sent = bytes * (size_t)parts.send;
    p->received = bytes * (size_t)parts.recv;
    if (p->sent)
        rc = gather_up(&p->send, send, p->sent, true, c->inner);
    if (!rc && p->received)
        rc = gather_up(&p->recv, recv, p->received, filled, c->inner);
    p->call = shape_of(a, parts, bytes, p->send.data, p->recv.data);
    return rc;
}

static int unpack(const struct layer_comm *c, const struct packed *p)
{
    bool has_it =
        p->call.collective == DCOLL_BCAST && (int)p->call.root == c->rank;
    return p->received && !has_it ? spread_out(&p->recv, p->received, c->inner)
                                  : MPI_SUCCESS;
}

static int run_packed(struct layer_comm *c, const struct layer_call *a,
                      size_t bytes)
{
    struct packed p;
    size_t blocks = a->collective == DCOLL_BCAST ? 1 : (size_t)c->size;
    if (!ours_has_room(c, bytes * blocks))
        return OURS_LEFT;
    int rc = pack(c, a, bytes, &c->send, &c->recv, &p);
    if (layer.verify &&
        !ours_all_can(c, !rc && layer_room(&c->expected, p.received + 1)))
        return OURS_LEFT;
    if (rc)
        return ours_missing(c, rc);
    rc = run(c, &p.call, p.received);
    if (!rc)
        rc = unpack(c, &p);
    layer_comm_trim(c);
    return rc;
}

/* ---------------------------------------------------------- once again --- */

/* Of the same communicator and collective. */
static bool is_same(const struct layer_call *x, const struct layer_call *y)
{
    return x->recv == y->recv && x->recv_count == y->recv_count &&
           x->recv_type == y->recv_type && x->send == y->send &&
           x->send_count == y->send_count && x->send_type == y->send_type &&
           x->root == y->root && x->op == y->op;
}

const struct layer_known *ours_known(const struct layer_comm *c,
                                     const struct layer_call *a)
{
    const struct layer_known *known = &c->known[a->collective];
    return known->is && is_same(&known->call, a) ? known : NULL;
}

/* Types and operations that the program can free may be others next time. */
static bool is_lasting(const struct layer_call *a, struct parts parts)
{
    if (dcoll_collective_reduces(a->collective))
        return reduce_basic(a);
    return !layer_is_irregular(a->collective) &&
           (!parts.send || data_stays_plain(a->send_type)) &&
           (!parts.recv || data_stays_plain(a->recv_type));
}

static void remember(struct layer_comm *c, const struct layer_call *a,
                     size_t bytes)
{
    const struct parts parts = parts_of(c, a);
    if (layer.verify || !is_lasting(a, parts))
        return;
    c->known[a->collective] = (struct layer_known){
        *a, (int64_t)bytes, shape_of(a, parts, bytes, a->send, a->recv), true};
}

static int run_known(struct layer_comm *c, const struct layer_known *known)
{
    int rc = ours_dcoll(c, &known->ours);
    return rc ? ours_error(c, rc) : MPI_SUCCESS;
}

static int run_new(struct layer_comm *c, const struct layer_call *a,
                   size_t bytes)
{
    int rc = dcoll_collective_reduces(a->collective) ? reduce_run(c, a, bytes)
             : layer_is_irregular(a->collective)     ? irregular_run(c, a)
                                                     : run_packed(c, a, bytes);
    if (!rc)
        remember(c, a, bytes);
    return rc;
}

int ours_run(struct layer_comm *c, const struct layer_call *call, size_t bytes)
{
    const struct layer_known *known = &c->known[call->collective];
    int rc =
        call == &known->call ? run_known(c, known) : run_new(c, call, bytes);
    if (rc == OURS_LEFT && ours_is_lost(c)) /* while they agreed on that */
        rc = ours_error(c, dcoll_team_error(c->team));
    if (rc && rc != OURS_LEFT)
        pmpi.Comm_call_errhandler(call->comm, rc);
    return rc;
}

/* --------------------------------------------- calls that take a while --- */

struct ours {
    struct layer_call a;
    size_t bytes;
    struct layer_room send, recv, expected;
    struct packed packed;
};

dcoll_call_t ours_shape(const struct layer_comm *c, const struct layer_call *a,
                        size_t bytes)
{
    return shape_of(a, parts_of(c, a), bytes, c, (void *)c);
}

/* Of the sides that it has. */
static int keep_types(struct layer_call *a, struct parts parts)
{
    MPI_Datatype send = a->send_type, recv = a->recv_type;
    int rc = MPI_SUCCESS;
    a->send_type = a->recv_type = MPI_BYTE;
    if (parts.send)
        rc = data_keep(send, &a->send_type);
    if (!rc && parts.recv)
        rc = data_keep(recv, &a->recv_type);
    return rc;
}

int ours_open(const struct layer_comm *c, const struct layer_call *a,
              size_t bytes, struct ours **out)
{
    struct parts parts = parts_of(c, a);
    struct ours *o = calloc(1, sizeof *o);
    int rc = o ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (rc)
        return rc;
    o->a = *a;
    o->bytes = bytes;
    if (!dcoll_collective_reduces(a->collective)) /* whose types are MPI's */
        rc = keep_types(&o->a, parts);
    if (!rc)
        rc = ours_fill(c, o);
    if (rc)
        ours_close(o);
    else
        *out = o;
    return rc;
}

int ours_fill(const struct layer_comm *c, struct ours *o)
{
    return pack(c, &o->a, o->bytes, &o->send, &o->recv, &o->packed);
}

const dcoll_call_t *ours_call(const struct ours *o)
{
    return &o->packed.call;
}

int ours_spread(const struct layer_comm *c, const struct ours *o)
{
    return unpack(c, &o->packed);
}

int ours_expect(const struct layer_comm *c, struct ours *o,
                struct layer_call *below)
{
    void *to = expect(&o->expected, &o->packed.call, o->packed.received);
    *below = dcoll_collective_reduces(o->a.collective)
                 ? reduce_below(c, &o->a, to)
                 : bytes_below(c, &o->packed.call, to);
    return to ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void ours_compare(const struct layer_comm *c, const struct ours *o)
{
    if (!dcoll_collective_reduces(o->a.collective) || reduce_is_exact(&o->a))
        compare(c, &o->packed.call, o->expected.data, o->packed.received);
}

void ours_close(struct ours *o)
{
    data_release(&o->a.send_type);
    data_release(&o->a.recv_type);
    free(o->send.data);
    free(o->recv.data);
    free(o->expected.data);
    free(o);
}

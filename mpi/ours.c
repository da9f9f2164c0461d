/* SPDX-License-Identifier: BSD-3-Clause */
/* A call by libdcoll: blocks in one piece each, others packed before and
 * unpacked behind it. */
#include <stdio.h>
#include <string.h>

#include "layer.h"

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
    return fill ? PMPI_Pack(s->user, s->count, s->type, s->data, (int)bytes,
                            &at, comm)
                : MPI_SUCCESS;
}

static int spread_out(const struct side *s, size_t bytes, MPI_Comm comm)
{
    int at = 0;
    return is_packed(s) ? PMPI_Unpack(s->data, (int)bytes, &at, s->user,
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
static int below_bytes(struct layer_comm *c, const dcoll_call_t *call,
                       void *recv)
{
    bool in_place = call->send == DCOLL_IN_PLACE;
    struct layer_call a = {.collective = call->collective,
                           .send = in_place ? MPI_IN_PLACE : call->send,
                           .send_count = (int)call->bytes,
                           .send_type = MPI_BYTE,
                           .recv = call->recv == DCOLL_IN_PLACE ? MPI_IN_PLACE
                                                                : recv,
                           .recv_count = (int)call->bytes,
                           .recv_type = MPI_BYTE,
                           .root = (int)call->root,
                           .comm = c->inner};
    return layer_below(&a);
}

static void compare(struct layer_comm *c, const dcoll_call_t *call,
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
        (PMPI_Add_error_class(&class) || PMPI_Add_error_code(class, &code)))
        return MPI_ERR_OTHER;
    snprintf(text, sizeof text, "dcoll_mpi: %s (%s)", dcoll_last_error(c->team),
             drail_strerror(rc));
    PMPI_Add_error_string(code, text);
    return code;
}

int ours_missing(const struct layer_comm *c, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(rc, text, &length);
    dcoll_team_give_up(c->team, DRAIL_EJOB, text);
    return rc;
}

bool ours_is_lost(const struct layer_comm *c)
{
    int error = dcoll_team_error(c->team);
    return error == DRAIL_EPEER || error == DRAIL_EINVAL;
}

bool ours_all_can(const struct layer_comm *c, bool can)
{
    int mine = can, all;
    return !PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c->inner) && all;
}

int ours_dcoll(struct layer_comm *c, const dcoll_call_t *call)
{
    int rc = dcoll_run(c->team, call);
    if (rc && rc != DRAIL_ENOMEM && !dcoll_team_error(c->team))
        dcoll_team_skip(c->team);
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

/* Whether it packs is known to a rank alone: all have room for it, or none
 * does. What is not used takes addresses only. */
static bool has_room(struct layer_comm *c, size_t bytes)
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

static int run(struct layer_comm *c, const dcoll_call_t *call, size_t received)
{
    unsigned char *expected = NULL;
    bool filled =
        call->send == DCOLL_IN_PLACE || call->collective == DCOLL_BCAST;
    if (layer.verify) {
        expected = c->expected.data;
        if (filled)
            memcpy(expected, call->recv, received);
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

static int run_packed(struct layer_comm *c, const struct layer_call *a,
                      size_t bytes)
{
    struct parts parts = parts_of(c, a);
    struct side send =
        side_of(a->send, a->send_count, a->send_type, parts.send);
    struct side recv =
        side_of(a->recv, a->recv_count, a->recv_type, parts.recv);
    size_t sent = bytes * (size_t)parts.send;
    size_t received = bytes * (size_t)parts.recv;
    bool filled =
        parts.in_place || (a->collective == DCOLL_BCAST && a->root == c->rank);
    int rc = MPI_SUCCESS;
    if (!has_room(c,
                  bytes * (size_t)(a->collective == DCOLL_BCAST ? 1 : c->size)))
        return OURS_LEFT;
    if (sent)
        rc = gather_up(&send, &c->send, sent, true, c->inner);
    if (!rc && received)
        rc = gather_up(&recv, &c->recv, received, filled, c->inner);
    if (layer.verify &&
        !ours_all_can(c, !rc && layer_room(&c->expected, received + 1)))
        return OURS_LEFT;
    if (rc)
        return ours_missing(c, rc);
    dcoll_call_t call = {.collective = (dcoll_collective_t)a->collective,
                         .send = sent ? send.data : NULL,
                         .recv = received ? recv.data : NULL,
                         .bytes = bytes,
                         .root = (unsigned)a->root};
    if (parts.in_place && received)
        call.send = DCOLL_IN_PLACE;
    else if (parts.in_place)
        call.recv = DCOLL_IN_PLACE;
    rc = run(c, &call, received);
    return rc || !received ? rc : spread_out(&recv, received, c->inner);
}

int ours_run(struct layer_comm *c, const struct layer_call *call, size_t bytes)
{
    int rc = call->collective >= LAYER_ALLREDUCE ? reduce_run(c, call, bytes)
             : layer_is_irregular(call->collective)
                 ? irregular_run(c, call)
                 : run_packed(c, call, bytes);
    if (rc && rc != OURS_LEFT)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

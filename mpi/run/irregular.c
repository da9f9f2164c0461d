/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with blocks of different sizes, by dcoll_alltoallv, or, between
 * neighbours, dcoll_neighbor_alltoallv. They count bytes, as the datatypes of
 * two ranks may differ. A gather is an all-to-all in which only the root
 * receives, and so on. Blocks of 2 GiB and more go by long_blocks.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

static struct exchange exchange_of(const struct layer_call *a,
                                   const struct blocks *send,
                                   const struct blocks *recv)
{
    return (struct exchange){
        .of_neighbors = layer_is_of_neighbors(a->collective),
        .among_all = {.send = send->data,
                      .send_counts = send->bytes,
                      .send_displs = send->places,
                      .recv = recv->data,
                      .recv_counts = recv->bytes,
                      .recv_displs = recv->places,
                      .element = 1},
        .among_neighbors = {.send = send->data,
                            .ndestinations = (unsigned)send->n,
                            .destinations = send->listed,
                            .recv = recv->data,
                            .nsources = (unsigned)recv->n,
                            .sources = recv->listed},
    };
}

static int run_exchange(struct layer_comm *c, const struct layer_call *a,
                        const struct blocks *send, const struct blocks *recv)
{
    const struct exchange exchange = exchange_of(a, send, recv);
    struct long_blocks long_blocks = {0};
    int rc = blocks_exchange_long(&long_blocks, c, send, recv);
    int failed = rc ? 0 : team_exchange(c, &exchange);
    if (rc || failed) {
        long_blocks_drop(&long_blocks);
        return rc ? team_call_missed(c, rc) : team_error_code(c, failed);
    }
    rc = long_blocks_wait(&long_blocks);
    return rc || recv->contiguous ? rc : blocks_unpack(recv, c, recv->data);
}

/* verify: the MPI below makes the call first. Its result is kept, and the
 * program's buffer filled with other bytes. */
static int expect(struct layer_comm *c, const struct layer_call *a,
                  const struct blocks *recv)
{
    char *expected = c->expected.data;
    memset(expected, 0, recv->all); /* in place, a block is left out */
    int rc = below_run(a);
    if (!rc)
        rc = blocks_pack(recv, c, expected);
    if (rc)
        return rc;
    char *others = expected + recv->all;
    for (size_t i = 0; i < recv->all; i++)
        others[i] = (char)~expected[i];
    return blocks_unpack(recv, c, others);
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
    memset(found, 0, recv->all);
    int rc = blocks_pack(recv, c, found);
    if (!rc && memcmp(expected, found, recv->all))
        tell_difference(c, a, recv);
    return rc;
}

/* Does the root send blocks for all ranks? */
static bool sends_many(const struct layer_call *a)
{
    return a->collective == LAYER_SCATTERV;
}

int irregular_run(struct layer_comm *c, const struct layer_call *a)
{
    struct blocks send, recv;
    int rc = blocks_open(c, a, &c->counts, &c->send, &c->recv, &send, &recv);
    const size_t *counts = counted_counts(c, a, !rc, &send, &recv);
    if (!rc && counts)
        rc = counted_place(c, a, &send, &recv, counts,
                           sends_many(a) ? &c->send : &c->recv);
    bool can = !rc && (!layer.verify ||
                       buffer_reserve(&c->expected, 2 * recv.all + 1));
    /* only the rank itself knows that a block is long */
    const bool may_be_left = a->large || layer_exchanges_in_place(a);
    if ((layer.verify || may_be_left) && !team_all_can(c, can))
        return LEFT_TO_MPI;
    if (!rc && !send.contiguous)
        rc = blocks_pack(&send, c, send.data);
    if (!rc && layer.verify)
        rc = expect(c, a, &recv);
    if (rc)
        return team_call_missed(c, rc);
    rc = counts ? counted_run(c, a, &send, &recv, counts)
                : run_exchange(c, a, &send, &recv);
    if (!rc && layer.verify)
        rc = compare(c, a, &recv);
    layer_comm_trim(c);
    return rc;
}

/* ------------------------------------------- calls that do not block --- */

struct irregular {
    struct layer_call a;
    struct buffer counts, sent, received, expected;
    struct blocks send, recv;
    struct long_blocks long_blocks;
    struct exchange exchange;
    size_t *known;        /* bytes of each rank's block, for … */
    dcoll_call_t counted; /* … this one instead; NULL: not known */
};

/* From now on it is a call of counted.c, with these counts. */
static int count(const struct layer_comm *c, struct irregular *o)
{
    return counted_place(c, &o->a, &o->send, &o->recv, o->known,
                         sends_many(&o->a) ? &o->sent : &o->received);
}

static int count_as_known(const struct layer_comm *c, struct irregular *o)
{
    const size_t bytes = (size_t)c->size * sizeof *o->known;
    if (o->a.send != MPI_IN_PLACE &&
        o->send.bytes[c->rank] != c->gathered[c->rank])
        return MPI_ERR_TRUNCATE;
    o->known = malloc(bytes);
    if (!o->known)
        return MPI_ERR_NO_MEM;
    memcpy(o->known, c->gathered, bytes);
    return count(c, o);
}

int irregular_open(const struct layer_comm *c, const struct layer_call *a,
                   bool counted, struct irregular **out)
{
    struct irregular *o = calloc(1, sizeof *o);
    if (!o)
        return MPI_ERR_NO_MEM;
    o->a = *a;
    int rc = blocks_open(c, a, &o->counts, &o->sent, &o->received, &o->send,
                         &o->recv);
    if (rc)
        o->send.n = o->recv.n = 0; /* their types are the program's */
    if (!rc)
        rc = blocks_keep_types(&o->send);
    if (!rc)
        rc = blocks_keep_types(&o->recv);
    else
        o->recv.n = 0;
    if (!rc && counted)
        rc = count_as_known(c, o);
    if (!rc)
        rc = irregular_pack(c, o);
    if (rc)
        irregular_close(o);
    else
        *out = o;
    return rc;
}

static int all_have(struct layer_comm *c, bool mine)
{
    if (team_all_can(c, mine))
        return 0;
    const int error = dcoll_team_error(c->team);
    return error ? error : DRAIL_ENOMEM;
}

int irregular_agree(struct layer_comm *c, struct irregular *o)
{
    size_t all = 0;
    if (!counted_can(o->a.collective))
        return 0;
    size_t *counts = o->known = malloc((size_t)c->size * sizeof *counts);
    int rc = all_have(c, counts);
    if (!rc)
        rc = counted_agree(c, &o->a, &o->send, &o->recv, counts);
    if (rc)
        return rc;
    for (int r = 0; r < c->size; r++)
        all += counts[r];
    rc = all_have(c, !count(c, o)); /* if counts differ, all ranks fail here */
    o->counted = counted_call(c, &o->a, &o->send, &o->recv, counts);
    return rc || all ? rc : DRAIL_ENOTSUP;
}

const dcoll_call_t *irregular_counted(const struct irregular *o)
{
    return o->known ? &o->counted : NULL;
}

int irregular_pack(const struct layer_comm *c, struct irregular *o)
{
    if (o->known) {
        o->counted = counted_call(c, &o->a, &o->send, &o->recv, o->known);
        return counted_pack(c, &o->a, &o->send, &o->recv, o->known);
    }
    o->exchange = exchange_of(&o->a, &o->send, &o->recv);
    return o->send.contiguous ? MPI_SUCCESS
                              : blocks_pack(&o->send, c, o->send.data);
}

bool irregular_has_long(const struct irregular *o)
{
    return o->send.has_long || o->recv.has_long;
}

int irregular_begin_long(const struct layer_comm *c, struct irregular *o)
{
    return blocks_exchange_long(&o->long_blocks, c, &o->send, &o->recv);
}

int irregular_test_long(struct irregular *o, int *done)
{
    *done = 1;
    return o->long_blocks.n ? long_blocks_test(&o->long_blocks, done)
                            : MPI_SUCCESS;
}

const struct exchange *irregular_exchange(const struct irregular *o)
{
    return &o->exchange;
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
    return o->recv.contiguous ? MPI_SUCCESS
                              : blocks_unpack(&o->recv, c, o->recv.data);
}

static int send_check(struct irregular *o, MPI_Comm comm, const char *data,
                      size_t bytes, int to)
{
    return bytes ? long_blocks_send(&o->long_blocks, comm, data,
                                    (MPI_Count)bytes, MPI_BYTE, to)
                 : MPI_SUCCESS;
}

/* An all-gather in place: the own block is among those received. */
static int send_own_checks(const struct layer_comm *c, struct irregular *o,
                           MPI_Comm comm)
{
    const char *own = o->recv.data + o->recv.places[c->rank];
    int rc = MPI_SUCCESS;
    for (int r = 0; !rc && r < c->size; r++)
        if (r != c->rank)
            rc = send_check(o, comm, own, o->known[c->rank], r);
    return rc;
}

/* Messages, as all blocks together may be longer than an int counts. */
int irregular_begin_check(const struct layer_comm *c, struct irregular *o,
                          MPI_Comm comm)
{
    const struct blocks *recv = &o->recv;
    char *to = buffer_reserve(&o->expected, recv->all + 1);
    int rc = to ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int i = 0; !rc && i < recv->n; to += recv->each[i++].bytes)
        if (recv->each[i].bytes)
            rc = long_blocks_receive(&o->long_blocks, comm, to,
                                     (MPI_Count)recv->each[i].bytes, MPI_BYTE,
                                     recv->each[i].rank);
    if (!rc && o->a.collective == LAYER_ALLGATHERV && o->a.send == MPI_IN_PLACE)
        return send_own_checks(c, o, comm);
    for (int i = 0; !rc && i < o->send.n; i++) {
        const struct block *b = &o->send.each[i];
        rc = send_check(o, comm, o->send.data + b->place, b->bytes, b->rank);
    }
    return rc;
}

void irregular_compare(const struct layer_comm *c, const struct irregular *o)
{
    const char *expected = o->expected.data;
    bool same = true;
    for (int i = 0; i < o->recv.n; i++) {
        const struct block *b = &o->recv.each[i];
        same = same && (!b->bytes ||
                        !memcmp(o->recv.data + b->place, expected, b->bytes));
        expected += b->bytes;
    }
    if (!same)
        tell_difference(c, &o->a, &o->recv);
}

void irregular_close(struct irregular *o)
{
    long_blocks_drop(&o->long_blocks);
    blocks_release_types(&o->send);
    blocks_release_types(&o->recv);
    free(o->known);
    free(o->counts.data);
    free(o->sent.data);
    free(o->received.data);
    free(o->expected.data);
    free(o);
}

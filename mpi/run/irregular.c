/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with blocks of different sizes, by dcoll_alltoallv. It counts bytes, as
 * the datatypes of two ranks may differ. A gather is an all-to-all in which
 * only the root receives, and so on. Blocks of 2 GiB and more go by
 * long_blocks.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

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

static int run_alltoallv(struct layer_comm *c, const struct blocks *send,
                         const struct blocks *recv)
{
    const dcoll_alltoallv_t call = bytes_of(send, recv);
    struct long_blocks long_blocks = {0};
    int rc = blocks_exchange_long(&long_blocks, c, send, recv);
    int failed = rc ? 0 : team_alltoallv(c, &call);
    if (rc || failed) {
        long_blocks_drop(&long_blocks);
        return rc ? team_call_missed(c, rc) : team_error_code(c, failed);
    }
    rc = long_blocks_wait(&long_blocks);
    return rc || recv->contiguous ? rc : blocks_unpack(recv, c, recv->data);
}

static int run(struct layer_comm *c, const struct layer_call *a,
               const struct blocks *send, const struct blocks *recv)
{
    int rc = send->contiguous ? MPI_SUCCESS : blocks_pack(send, c, send->data);
    if (rc)
        return team_call_missed(c, rc);
    return allgatherv_is_repeated(c, a, recv) ? allgatherv_run(c, a, send, recv)
                                              : run_alltoallv(c, send, recv);
}

/* verify: the MPI below makes the call first. Its result is kept, and the
 * program's buffer filled with other bytes. */
static int expect(struct layer_comm *c, const struct layer_call *a,
                  const struct blocks *recv)
{
    char *expected = c->expected.data;
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
    int rc = blocks_pack(recv, c, found);
    if (!rc && memcmp(expected, found, recv->all))
        tell_difference(c, a, recv);
    return rc;
}

int irregular_run(struct layer_comm *c, const struct layer_call *a)
{
    struct blocks send, recv;
    int rc = blocks_open(c, a, &c->counts, &c->send, &c->recv, &send, &recv);
    bool can = !rc && (!layer.verify ||
                       buffer_reserve(&c->expected, 2 * recv.all + 1));
    /* with large counts, only the rank itself knows that a block is long */
    if ((layer.verify || a->large) && !team_all_can(c, can))
        return LEFT_TO_MPI;
    if (!rc && layer.verify)
        rc = expect(c, a, &recv);
    if (rc)
        return team_call_missed(c, rc);
    rc = run(c, a, &send, &recv);
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
    dcoll_alltoallv_t call;
};

int irregular_open(const struct layer_comm *c, const struct layer_call *a,
                   struct irregular **out)
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
    return o->recv.contiguous ? MPI_SUCCESS
                              : blocks_unpack(&o->recv, c, o->recv.data);
}

/* Messages, as all blocks together may be longer than an int counts. */
int irregular_begin_check(const struct layer_comm *c, struct irregular *o,
                          MPI_Comm comm)
{
    const struct blocks *send = &o->send, *recv = &o->recv;
    char *to = buffer_reserve(&o->expected, recv->all + 1);
    int rc = to ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int r = 0; !rc && r < c->size; to += recv->bytes[r++])
        if (recv->bytes[r])
            rc = long_blocks_receive(&o->long_blocks, comm, to,
                                     (MPI_Count)recv->bytes[r], MPI_BYTE, r);
    for (int r = 0; !rc && r < c->size; r++)
        if (send->bytes[r])
            rc = long_blocks_send(&o->long_blocks, comm,
                                  send->data + send->places[r],
                                  (MPI_Count)send->bytes[r], MPI_BYTE, r);
    return rc;
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
    blocks_release_types(&o->send);
    blocks_release_types(&o->recv);
    free(o->counts.data);
    free(o->sent.data);
    free(o->received.data);
    free(o->expected.data);
    free(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults that still move the right bytes to the right places in every order of
 * events: the executor cannot perform them, the papers' model does not allow
 * them, or they are in vain. Each schedule is accepted without its fault, and
 * refused with it by a sentence that names it.
 */
#include "unit.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

#define BYTES 8

static bool planted;

static dcoll_place_t send_at(size_t block)
{
    return dcoll_at(DCOLL_SEND, block * BYTES);
}

static dcoll_place_t recv_at(size_t block)
{
    return dcoll_at(DCOLL_RECV, block * BYTES);
}

static dcoll_place_t temp_at(size_t block)
{
    return dcoll_at(DCOLL_TEMP, block * BYTES);
}

/* ------------------------------------------------------------- buffers --- */

/* All-gather by gets. Fault: from RECV, where the block is, too; but the key
 * that others have is that of SEND. */
static void get_from_recv(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t nowhere = recv_at(0);
    s->flags = 2;
    s->shared = true;
    dcoll_add_copy(s, send_at(0), recv_at(rank), BYTES);
    dcoll_add_signal(s, 0, nowhere, 0);
    for (unsigned d = 1; d < shape->nranks; d++) {
        const unsigned peer = (rank + d) % shape->nranks;
        s->step = (uint16_t)(d - 1);
        dcoll_add_await(s, peer, 0, 0, nowhere, 0);
        dcoll_add_get(s, peer, 0, planted ? recv_at(peer) : send_at(0),
                      recv_at(peer), BYTES);
    }
    dcoll_add_complete(s);
    dcoll_add_signal(s, 1, nowhere, 0);
    for (unsigned d = 1; d < shape->nranks; d++)
        dcoll_add_await(s, (rank + d) % shape->nranks, 1, 0, nowhere, 0);
}

/* Gather in place of two ranks to the second. Fault: at the root, SEND is a
 * block of RECV, and what is copied to RECV overlaps with where it comes from;
 * then it is put right. */
static void overlap(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *s)
{
    s->temp_bytes = 2 * BYTES;
    if (rank == 0) {
        dcoll_add_wait(s, 1, DCOLL_CREDIT, args->depth);
        dcoll_add_put(s, 1, 0, send_at(0), temp_at(0), BYTES);
        dcoll_add_complete(s);
        return;
    }
    if (planted) {
        dcoll_add_copy(s, send_at(0), temp_at(1), BYTES);
        dcoll_add_copy(s, send_at(0), dcoll_at(DCOLL_RECV, BYTES / 2), BYTES);
        dcoll_add_copy(s, temp_at(1), recv_at(1), BYTES);
    } else {
        dcoll_add_copy(s, send_at(0), recv_at(1), BYTES);
    }
    dcoll_add_wait(s, 0, DCOLL_DATA, 0);
    dcoll_add_copy(s, temp_at(0), recv_at(0), BYTES);
    dcoll_add_notify(s, 0, 0, DCOLL_CREDIT);
}

/* Barrier of two ranks. Fault: through a port that there is not. */
static void note_astray(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    dcoll_add_notify(s, !rank, planted && rank ? shape->ports : 0, DCOLL_DATA);
    dcoll_add_wait(s, !rank, DCOLL_DATA, 0);
}

/* ---------------------------------------------------------------- keys --- */

/* All-gather of two ranks, by puts into RECV. Fault: rank 1 sends its key once
 * more, at the end, and does not know when it has been read: that is, whether
 * it may be changed when the next call gives another buffer. */
static void late_ready(const dcoll_shape_t *shape, const dcoll_args_t *args,
                       unsigned rank, dcoll_schedule_t *s)
{
    const unsigned peer = !rank;
    dcoll_add_notify(s, peer, 0, DCOLL_READY);
    dcoll_add_copy(s, send_at(0), recv_at(rank), BYTES);
    dcoll_add_wait(s, peer, DCOLL_READY, 0);
    dcoll_add_put(s, peer, 0, send_at(0), recv_at(rank), BYTES);
    dcoll_add_wait(s, peer, DCOLL_DATA, 0);
    dcoll_add_complete(s);
    if (planted && rank)
        dcoll_add_notify(s, peer, 0, DCOLL_READY);
    else if (planted)
        dcoll_add_wait(s, peer, DCOLL_READY, 0);
}

/* Broadcast of two ranks. Fault: the key is sent twice, and comes for the
 * second time while it is used. */
static void key_in_use(const dcoll_shape_t *shape, const dcoll_args_t *args,
                       unsigned rank, dcoll_schedule_t *s)
{
    if (rank) {
        dcoll_add_notify(s, 0, 0, DCOLL_READY);
        if (planted)
            dcoll_add_notify(s, 0, 0, DCOLL_READY);
        dcoll_add_wait(s, 0, DCOLL_DATA, 0);
        return;
    }
    dcoll_add_wait(s, 1, DCOLL_READY, 0);
    dcoll_add_put(s, 1, 0, send_at(0), recv_at(0), BYTES);
    if (planted)
        dcoll_add_wait(s, 1, DCOLL_READY, 0);
    dcoll_add_complete(s);
}

/* --------------------------------------------------------------- ports --- */

/* All-gather by puts. Fault: to two ranks at a time through the only port. */
static void two_sends(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    for (unsigned d = 1; d < n; d++)
        dcoll_add_notify(s, (rank + d) % n, 0, DCOLL_READY);
    dcoll_add_copy(s, send_at(0), recv_at(rank), BYTES);
    for (unsigned d = 1; d < n; d++) {
        s->step = planted ? 0 : (uint16_t)(d - 1);
        dcoll_add_wait(s, (rank + d) % n, DCOLL_READY, 0);
        dcoll_add_put(s, (rank + d) % n, 0, send_at(0), recv_at(rank), BYTES);
    }
    for (unsigned d = 1; d < n; d++)
        dcoll_add_wait(s, (rank + n - d) % n, DCOLL_DATA, 0);
    dcoll_add_complete(s);
}

/* Gather by puts. Fault: from two ranks at a time through the only port. */
static void two_receives(const dcoll_shape_t *shape, const dcoll_args_t *args,
                         unsigned rank, dcoll_schedule_t *s)
{
    if (rank) {
        s->step = planted ? 0 : (uint16_t)(rank - 1);
        dcoll_add_wait(s, 0, DCOLL_READY, 0);
        dcoll_add_put(s, 0, 0, send_at(0), recv_at(rank), args->bytes);
        dcoll_add_complete(s);
        return;
    }
    for (unsigned r = 1; r < shape->nranks; r++)
        dcoll_add_notify(s, r, 0, DCOLL_READY);
    dcoll_add_copy(s, send_at(0), recv_at(0), BYTES);
    for (unsigned r = 1; r < shape->nranks; r++)
        dcoll_add_wait(s, r, DCOLL_DATA, 0);
}

/* Barrier by notifications. Fault: they use the same port. */
static void two_notes(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    for (unsigned d = 1; d < n; d++) {
        s->step = planted ? 0 : (uint16_t)(d - 1);
        dcoll_add_notify(s, (rank + d) % n, 0, DCOLL_DATA);
    }
    for (unsigned d = 1; d < n; d++)
        dcoll_add_wait(s, (rank + d) % n, DCOLL_DATA, 0);
}

/* Broadcast along a chain. Fault: all in one step. */
static void chain(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s)
{
    s->step = planted ? 0 : (uint16_t)rank;
    if (rank) {
        dcoll_add_notify(s, rank - 1, 0, DCOLL_READY);
        dcoll_add_wait(s, rank - 1, DCOLL_DATA, 0);
    }
    if (rank + 1 < shape->nranks) {
        dcoll_add_wait(s, rank + 1, DCOLL_READY, 0);
        dcoll_add_put(s, rank + 1, 0, rank ? recv_at(0) : send_at(0),
                      recv_at(0), args->bytes);
        dcoll_add_complete(s);
    }
}

/* Broadcast from rank 0 to node memory, from where another rank of that node
 * puts it to rank 3. Fault: in the same step. */
static void through_node(const dcoll_shape_t *shape, const dcoll_args_t *args,
                         unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t node = dcoll_at(DCOLL_NODE, 0);
    const dcoll_place_t nowhere = recv_at(0);
    s->node_bytes = rank == 1 || rank == 2 ? BYTES : 0;
    s->flags = rank == 1 || rank == 2;
    s->step = rank == 2 && !planted;
    if (rank == 0) {
        dcoll_add_wait(s, 1, DCOLL_CREDIT, args->depth);
        dcoll_add_wait(s, 2, DCOLL_CREDIT, args->depth);
        dcoll_add_put(s, 1, 0, send_at(0), node, BYTES);
        dcoll_add_complete(s);
    } else if (rank == 1) {
        dcoll_add_wait(s, 0, DCOLL_DATA, 0);
        dcoll_add_signal(s, 0, nowhere, 0);
        dcoll_add_copy(s, node, recv_at(0), BYTES);
        dcoll_add_notify(s, 0, 0, DCOLL_CREDIT);
    } else if (rank == 2) {
        dcoll_add_await(s, 1, 0, 0, nowhere, 0);
        dcoll_add_wait(s, 3, DCOLL_READY, 0);
        dcoll_add_put(s, 3, 0, node, recv_at(0), BYTES);
        dcoll_add_copy(s, node, recv_at(0), BYTES);
        dcoll_add_complete(s);
        dcoll_add_notify(s, 0, 0, DCOLL_CREDIT);
    } else {
        dcoll_add_notify(s, 2, 0, DCOLL_READY);
        dcoll_add_wait(s, 2, DCOLL_DATA, 0);
    }
}

/* ------------------------------------------------------------- in vain --- */

/* All-gather in place of two ranks, through TEMP: rank r's block comes to place
 * r, and is put from there. */
static void in_vain(unsigned rank, const dcoll_args_t *args,
                    dcoll_schedule_t *s,
                    void (*fault)(unsigned, dcoll_schedule_t *))
{
    const unsigned peer = !rank;
    s->temp_bytes = 4 * BYTES;
    dcoll_add_wait(s, peer, DCOLL_CREDIT, args->depth);
    dcoll_add_copy(s, recv_at(rank), temp_at(rank), BYTES);
    dcoll_add_put(s, peer, 0, temp_at(rank), temp_at(rank), BYTES);
    if (planted)
        fault(rank, s);
    dcoll_add_wait(s, peer, DCOLL_DATA, 0);
    dcoll_add_copy(s, temp_at(peer), recv_at(peer), BYTES);
    dcoll_add_complete(s);
    dcoll_add_notify(s, peer, 0, DCOLL_CREDIT);
}

/* To where nobody looks. */
static void copy_aside(unsigned rank, dcoll_schedule_t *s)
{
    dcoll_add_copy(s, recv_at(rank), temp_at(2), BYTES);
}

/* Two halves: one is needed by the other. */
static void copy_more(unsigned rank, dcoll_schedule_t *s)
{
    dcoll_add_copy(s, recv_at(rank), temp_at(2), BYTES);
    dcoll_add_copy(s, temp_at(2), temp_at(3), BYTES / 2);
}

/* To where it came from. */
static void copy_back(unsigned rank, dcoll_schedule_t *s)
{
    dcoll_add_copy(s, temp_at(rank), recv_at(rank), BYTES);
}

static void put_aside(unsigned rank, dcoll_schedule_t *s)
{
    dcoll_add_put(s, !rank, 0, temp_at(rank), temp_at(2), BYTES);
    dcoll_add_wait(s, !rank, DCOLL_DATA, 0);
}

static void signal_aside(unsigned rank, dcoll_schedule_t *s)
{
    s->flags = 1;
    dcoll_add_signal(s, 0, temp_at(rank), BYTES);
}

#define IN_VAIN(fault)                                                         \
    static void in_vain_##fault(const dcoll_shape_t *shape,                    \
                                const dcoll_args_t *args, unsigned rank,       \
                                dcoll_schedule_t *s)                           \
    {                                                                          \
        (void)shape;                                                           \
        in_vain(rank, args, s, fault);                                         \
    }
IN_VAIN(copy_aside)
IN_VAIN(copy_more)
IN_VAIN(copy_back)
IN_VAIN(put_aside)
IN_VAIN(signal_aside)

/* --------------------------------------------------------------- table --- */

static const unsigned two[] = {0, 2}, three[] = {0, 3}, apart[] = {0, 1, 3, 4};
static const dcoll_shape_t pair = {2, 1, two, 1};
static const dcoll_shape_t trio = {3, 1, three, 1};
static const dcoll_shape_t nodes = {4, 3, apart, 1};

static const struct plant {
    void (*generate)(const dcoll_shape_t *, const dcoll_args_t *, unsigned,
                     dcoll_schedule_t *);
    dcoll_collective_t collective;
    const dcoll_shape_t *shape;
    unsigned root;
    bool in_place;
    const char *why; /* part of the sentence */
} plants[] = {
    {get_from_recv, DCOLL_ALLGATHER, &trio, 0, false, "is the other buffer"},
    {overlap, DCOLL_GATHER, &pair, 1, true, "source and target overlap"},
    {late_ready, DCOLL_ALLGATHER, &pair, 0, false,
     "the user of rank 1 before it writes the key of rank 1's RECV on rank 1, "
     "unordered with start 0, operation 6 of rank 1 (NOTIFY READY to rank 0)"},
    {key_in_use, DCOLL_BCAST, &pair, 0, false,
     "the key of rank 1's RECV on rank 0, unordered with start 0, operation "},
    {two_sends, DCOLL_ALLGATHER, &trio, 0, false,
     "in step 0, rank 0 sends to rank 1 through port 0, too"},
    {two_receives, DCOLL_GATHER, &trio, 0, false,
     "in step 0, rank 0 receives from rank 1 through port 0, too"},
    {two_notes, DCOLL_BARRIER, &trio, 0, false,
     "in step 0, rank 0 sends to rank 1 through port 0, too"},
    {note_astray, DCOLL_BARRIER, &pair, 0, false,
     "of rank 1 (NOTIFY DATA to rank 0): port 1 of 1"},
    {chain, DCOLL_BCAST, &trio, 0, false,
     "rank 1 (PUT of 8 bytes, RECV+0 to RECV+0 of rank 2): it is of step 0, "
     "but comes after messages of step 0"},
    {through_node, DCOLL_BCAST, &nodes, 0, false,
     "rank 2 (PUT of 8 bytes, NODE+0 to RECV+0 of rank 3): it is of step 0"},
    {in_vain_copy_aside, DCOLL_ALLGATHER, &pair, 0, true,
     "(COPY of 8 bytes, RECV+0 to TEMP+16): superfluous: no rank reads 8"},
    {in_vain_copy_more, DCOLL_ALLGATHER, &pair, 0, true,
     "(COPY of 8 bytes, RECV+0 to TEMP+16): superfluous: no rank reads 4"},
    {in_vain_copy_back, DCOLL_ALLGATHER, &pair, 0, true,
     "(COPY of 8 bytes, TEMP+0 to RECV+0): superfluous: 8 bytes are there"},
    {in_vain_put_aside, DCOLL_ALLGATHER, &pair, 0, true,
     "to TEMP+16 of rank 1): superfluous: no rank reads 8"},
    {in_vain_signal_aside, DCOLL_ALLGATHER, &pair, 0, true,
     "(SIGNAL flag 0 with 8 bytes): superfluous: no rank reads 8"},
};

static void judge(const struct plant *plant, unsigned depth, bool with)
{
    const dcoll_algorithm_t algorithm = {.collective = plant->collective,
                                         .generate = plant->generate};
    const dcoll_args_t args = {
        .collective = plant->collective,
        .bytes = plant->collective != DCOLL_BARRIER ? BYTES : 0,
        .root = plant->root,
        .in_place = plant->in_place,
        .depth = depth};
    dcoll_program_t p;
    char why[1024];
    planted = with;
    assert_int_equal(dcoll_program_make(&algorithm, plant->shape, &args, &p),
                     0);
    int rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
    dcoll_program_free(&p);
    if (!with && rc)
        fail_msg("case %td, without its fault: %s", plant - plants, why);
    if (with && (rc != DRAIL_EINVAL || !strstr(why, plant->why)))
        fail_msg("case %td: \"%s\", expected \"%s\"", plant - plants, why,
                 plant->why);
}

static void test_planted(void **state)
{
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        for (unsigned depth = 1; depth <= 4; depth *= 2) {
            judge(&plants[i], depth, false);
            judge(&plants[i], depth, true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

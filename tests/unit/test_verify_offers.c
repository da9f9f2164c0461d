/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on tables with a wrong peer or a wrong room: the verifier checks
 * them before it plays them, refuses them, and accesses nothing outside of its
 * memory.
 */
#include "unit.h"
#include "irregular.h"

enum { RANKS = 6, ELEMENT = 16, NOWHERE = 1 << 20 };

/* Parts for ranks of the node are copied, or stay where they are. */
static void scene_open(struct irregular *s, const dcoll_algorithm_t *a,
                       unsigned ppn, size_t pulled)
{
    irregular_open(s, RANKS, ppn, traffic_make(RANKS, TRAFFIC_EQUAL, 3, RANKS),
                   ELEMENT);
    s->bounds.pulled = pulled;
    assert_true(irregular_make(s, a));
}

static bool accepted(const struct irregular *s)
{
    char why[512];
    return !dcoll_verify(&s->program, 3, why, sizeof why);
}

static void refused(const struct irregular *s, unsigned rank, unsigned index,
                    const char *what)
{
    const dcoll_op_t *op = &s->program.rank[rank].ops[index];
    if (accepted(s))
        fail_msg("%s, %u nodes: not refused: %s, operation %u (%s) of rank %u",
                 s->algorithm->name, s->shape.nnodes, what, index,
                 dcoll_kind_name(op->kind), rank);
}

static bool same_node(const struct irregular *s, unsigned a, unsigned b)
{
    return dcoll_shape_node(&s->shape, a) == dcoll_shape_node(&s->shape, b);
}

/* PACK and EXPECT mean a node, PICK a rank. */
static bool means_the_same(const struct irregular *s, const dcoll_op_t *op,
                           unsigned peer)
{
    return peer == op->peer ||
           (op->kind != DCOLL_PICK && same_node(s, peer, op->peer)) ||
           (op->kind == DCOLL_EXPECT && op->src.space == DCOLL_TEMP);
}

static void plant_peers(struct irregular *s, unsigned rank, unsigned index)
{
    dcoll_op_t *op = &s->program.rank[rank].ops[index];
    const dcoll_op_t before = *op;
    for (unsigned peer = 0; peer < RANKS; peer++) {
        op->peer = peer;
        if (!means_the_same(s, &before, peer))
            refused(s, rank, index, "another peer");
    }
    op->peer = RANKS;
    refused(s, rank, index, "a peer that there is not");
    op->peer = UINT32_MAX;
    refused(s, rank, index, "a peer that there is not");
    *op = before;
}

/* Of a table or bundle: too little for its entries, or beyond its memory. */
static void plant_rooms(struct irregular *s, unsigned rank, unsigned index)
{
    static const size_t rooms[] = {
        0, 1, ELEMENT, 3 * ELEMENT, NOWHERE, SIZE_MAX / ELEMENT * ELEMENT};
    dcoll_op_t *op = &s->program.rank[rank].ops[index];
    const dcoll_op_t before = *op;
    for (unsigned i = 0; op->bytes && i < sizeof rooms / sizeof *rooms; i++) {
        op->bytes = rooms[i];
        refused(s, rank, index, "another room");
    }
    *op = before;
}

static void plant_tables(struct irregular *s, unsigned rank, unsigned index)
{
    static const size_t strides[] = {
        0, 1, ELEMENT, ELEMENT + 8, 3 * ELEMENT, NOWHERE, SIZE_MAX / 2 + 1};
    const dcoll_op_t *op = &s->program.rank[rank].ops[index];
    if (op->kind != DCOLL_PACK && (op->kind != DCOLL_EXPECT || op->bytes))
        return;
    dcoll_deal_t *deal = &s->program.rank[rank].deals[op->deal];
    const dcoll_deal_t before = *deal;
    for (unsigned i = 0; i < sizeof strides / sizeof *strides; i++) {
        deal->stride = strides[i];
        refused(s, rank, index, "another distance of tables");
    }
    *deal = before;
}

static void plant_places(struct irregular *s, unsigned rank, unsigned index)
{
    dcoll_op_t *op = &s->program.rank[rank].ops[index];
    const dcoll_op_t before = *op;
    dcoll_place_t *place = op->kind == DCOLL_OFFER ? &op->dst : &op->src;
    place->offset = NOWHERE;
    refused(s, rank, index, "beyond the memory");
    place->offset = SIZE_MAX / ELEMENT * ELEMENT;
    refused(s, rank, index, "beyond all memory");
    *op = before;
    place->space = place->space == DCOLL_NODE ? DCOLL_TEMP : DCOLL_NODE;
    refused(s, rank, index, "another space");
    *op = before;
}

/* A rank's own part is in no table. */
static bool looks_at_offers(const dcoll_op_t *op, unsigned rank)
{
    return op->kind == DCOLL_OFFER || op->kind == DCOLL_PACK ||
           op->kind == DCOLL_EXPECT ||
           (op->kind == DCOLL_PICK && op->peer != rank);
}

static void plant(const dcoll_algorithm_t *a, unsigned ppn, size_t pulled)
{
    struct irregular s;
    scene_open(&s, a, ppn, pulled);
    assert_true(accepted(&s));
    for (unsigned rank = 0; rank < RANKS; rank += RANKS - 1)
        for (unsigned i = 0; i < s.program.rank[rank].nops; i++) {
            const dcoll_op_t *op = &s.program.rank[rank].ops[i];
            if (!looks_at_offers(op, rank))
                continue;
            if (op->kind != DCOLL_OFFER)
                plant_peers(&s, rank, i);
            plant_rooms(&s, rank, i);
            plant_tables(&s, rank, i);
            plant_places(&s, rank, i);
        }
    irregular_close(&s);
}

static void test_node(void **state)
{
    plant(&alltoallv_shm, RANKS, SIZE_MAX);
    plant(&alltoallv_shm, RANKS, 1);
}

static void test_nodes(void **state)
{
    for (unsigned ppn = 1; ppn <= 4; ppn++)
        plant(&alltoallv_smp, ppn, ppn % 2 ? SIZE_MAX : 1);
}

static void test_counts(void **state)
{
    plant(&alltoallv_direct, 2, SIZE_MAX);
}

/* Nobody may be permitted to write, nor an own part be copied, before a rank
 * knows what comes. */
static void test_expects_first(void **state)
{
    static const dcoll_algorithm_t *const all[] = {
        &alltoallv_shm, &alltoallv_smp, &alltoallv_direct};
    struct irregular s;
    for (unsigned i = 0; i < 3; i++) {
        scene_open(&s, all[i], i ? 2 : RANKS, SIZE_MAX);
        dcoll_schedule_t *one = &s.program.rank[2];
        unsigned expect = one->nops;
        while (one->ops[--expect].kind != DCOLL_EXPECT)
            ;
        const dcoll_op_t op = one->ops[expect];
        one->ops[expect] = one->ops[expect + 1];
        one->ops[expect + 1] = op;
        refused(&s, 2, expect, "before EXPECT");
        irregular_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_expects_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

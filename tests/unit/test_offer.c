/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of offers that peers can write: whatever a peer's table contains, also
 * if it changes after the check, nothing outside of it is read and nothing
 * outside of recv is written. The test plays the peer.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/offer.h"
#include "coll/run/irregular/offer.h"

enum { RANKS = 2, ELEMENT = 4, ROOM = 8, GUARD = 64, SECRET = 0x5e };

static const size_t send_counts[RANKS] = {1, 2};
static const unsigned node[] = {0, RANKS}, nodes[] = {0, 1, RANKS};
static const unsigned char sent[3 * ELEMENT] = "aaaabbbbbbbb";

/* Rank 0, what it receives with guards on both sides, and the peer's table, or
 * the bundle that has come from its node. */
struct scene {
    dcoll_team_t team;
    struct drail_platform platform;
    dcoll_request_t q;
    unsigned char recv[GUARD + ROOM * ELEMENT + GUARD];
    unsigned char *memory; /* NODE, and behind it what is not to be read */
    unsigned char *table;
    size_t room; /* of either */
};

static void copy(const struct drail_platform *p, void *dst, const void *src,
                 size_t bytes)
{
    memcpy(dst, src, bytes);
}

static const dcoll_op_t *operation(const struct scene *s, dcoll_kind_t kind,
                                   unsigned peer)
{
    const dcoll_op_t *op = s->q.schedule.ops;
    while (op->kind != kind || (kind == DCOLL_PICK && op->peer != peer))
        op++;
    return op;
}

static void scene_open_for(struct scene *s, const dcoll_algorithm_t *a,
                           unsigned nnodes)
{
    *s = (struct scene){
        .team.shape = {RANKS, nnodes, nnodes == 1 ? node : nodes, 1},
        .team.locals = RANKS / nnodes,
        .team.platform = &s->platform};
    dcoll_request_t *q = &s->q;
    s->platform.copy = copy;
    q->team = &s->team;
    q->algorithm = a;
    q->traffic = (dcoll_traffic_t){.element = ELEMENT,
                                   .max_pair = ROOM,
                                   .max_rank = ROOM,
                                   .labelled = true,
                                   .pulled = SIZE_MAX};
    q->args = (dcoll_args_t){
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &q->traffic};
    dcoll_generate(q->algorithm, &s->team.shape, &q->args, 0, &q->schedule);
    assert_int_equal(q->schedule.error, 0);
    assert_int_equal(dealing_open(&q->dealing, RANKS), 0);
    s->memory = malloc(q->schedule.node_bytes + GUARD);
    assert_non_null(s->memory);
    memset(s->memory, SECRET, q->schedule.node_bytes + GUARD);
    memset(s->recv, 0xa5, sizeof s->recv);
    q->elements = (struct elements){.send = sent,
                                    .recv = s->recv + GUARD,
                                    .element = ELEMENT,
                                    .send_counts = send_counts,
                                    .room = ROOM};
    q->base[DCOLL_NODE] = s->memory;
    s->table = s->memory + operation(s, DCOLL_PICK, 1)->src.offset;
    s->room = operation(s, DCOLL_PICK, 1)->bytes;
}

static void scene_open(struct scene *s)
{
    scene_open_for(s, &alltoallv_shm, 1);
}

static void scene_close(struct scene *s)
{
    dealing_close(&s->q.dealing);
    dcoll_schedule_free(&s->q.schedule);
    free(s->memory);
}

static struct offer *peers_offer(const struct scene *s)
{
    return (struct offer *)(s->table + sizeof(struct offer_head));
}

/* The peer has so much for rank 0, there. */
static void play_peer(struct scene *s, uint64_t elements, uint64_t at)
{
    *(struct offer_head *)s->table = (struct offer_head){0, ELEMENT};
    *peers_offer(s) = (struct offer){elements, at};
}

static void look(struct scene *s)
{
    const dcoll_op_t *offer = operation(s, DCOLL_OFFER, 0);
    assert_int_equal(offer_elements(&s->q, offer), 0);
    assert_int_equal(offer_expect(&s->q, operation(s, DCOLL_EXPECT, 0)), 0);
}

static void take(struct scene *s)
{
    for (unsigned peer = 0; peer < RANKS; peer++)
        assert_int_equal(offer_pick(&s->q, operation(s, DCOLL_PICK, peer)), 0);
}

static bool all(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void check_guards(const struct scene *s)
{
    assert_true(all(s->recv, GUARD, 0xa5));
    assert_true(all(s->recv + sizeof s->recv - GUARD, GUARD, 0xa5));
}

/* A right one, to see that the others are refused for what they say. */
static void test_right(void **state)
{
    struct scene s;
    scene_open(&s);
    size_t at = s.room - 2 * ELEMENT; /* up to the end */
    play_peer(&s, 2, at);
    memcpy(s.table + at, "ccccdddd", 2 * ELEMENT);
    look(&s);
    take(&s);
    assert_int_equal(s.q.dealing.start_error, 0);
    assert_memory_equal(s.recv + GUARD, "aaaaccccdddd", 3 * ELEMENT);
    check_guards(&s);
    scene_close(&s);
}

#define LAST_ELEMENT UINT64_MAX /* where only one has room */

/* Refused: the error names the peer, and nothing is written. */
static void refuses(uint64_t elements, uint64_t at)
{
    struct scene s;
    scene_open(&s);
    play_peer(&s, elements, at == LAST_ELEMENT ? s.room - ELEMENT : at);
    look(&s);
    take(&s);
    assert_int_equal(s.q.dealing.start_error, DRAIL_EINVAL);
    assert_non_null(strstr(s.team.error.text, "rank"));
    assert_true(all(s.recv, sizeof s.recv, 0xa5));
    scene_close(&s);
}

static void test_beyond_the_table(void **state)
{
    refuses(2, LAST_ELEMENT);
    refuses(2, (uint64_t)1 << 62);
    refuses(2, UINT64_MAX >> 1);
}

/* Sums and products that wrap around fit everywhere. */
static void test_too_many(void **state)
{
    refuses(ROOM, 64);
    refuses(UINT64_MAX, 64);
    refuses(UINT64_MAX / ELEMENT + 1, 64);
    refuses((uint64_t)1 << 63, 64);
}

/* Why it has nothing is an error that this rank can return, whatever it says:
 * not "try again", nor success. */
static void test_strange_errors(void **state)
{
    static const int64_t said[] = {DRAIL_EAGAIN, 1, INT64_MIN,
                                   (int64_t)1 << 32};
    struct scene s;
    for (unsigned i = 0; i < sizeof said / sizeof *said; i++) {
        scene_open(&s);
        play_peer(&s, 2, s.room - 2 * ELEMENT);
        ((struct offer_head *)s.table)->error = said[i];
        look(&s);
        assert_int_equal(s.q.dealing.start_error, DRAIL_EINVAL);
        scene_close(&s);
    }
    scene_open(&s);
    play_peer(&s, 0, 0);
    ((struct offer_head *)s.table)->error = DRAIL_ENOMEM;
    look(&s);
    assert_int_equal(s.q.dealing.start_error, DRAIL_ENOMEM);
    scene_close(&s);
}

/* The rank takes the first offer, not a later one. */
static void test_changed_afterwards(void **state)
{
    struct scene s;
    scene_open(&s);
    play_peer(&s, 2, 64);
    look(&s);
    *peers_offer(&s) = (struct offer){ROOM + GUARD / ELEMENT, 64};
    take(&s);
    check_guards(&s);
    assert_true(all(s.recv + GUARD + 3 * ELEMENT, (ROOM - 3) * ELEMENT, 0xa5));
    scene_close(&s);
}

/* -------------------------------------------- from the other rank's node ---
 */

static void play_bundle(struct scene *s, uint64_t bytes, uint64_t elements,
                        uint64_t at)
{
    const struct offer_head head = {0, ELEMENT};
    const struct offer offer = {elements, at};
    *(struct bundle_head *)s->table = (struct bundle_head){bytes, 0};
    memcpy(s->table + offer_section(0, 1), &head, sizeof head);
    memcpy(s->table + offer_entry(0, 1, 0), &offer, sizeof offer);
}

static void look_at_all(struct scene *s)
{
    const dcoll_schedule_t *schedule = &s->q.schedule;
    for (unsigned i = 0; i < schedule->nops; i++)
        if (schedule->ops[i].kind == DCOLL_EXPECT)
            assert_int_equal(offer_expect(&s->q, &schedule->ops[i]), 0);
}

static void test_bundle(void **state)
{
    struct scene s;
    scene_open_for(&s, &alltoallv_smp, 2);
    size_t at = s.room - 2 * ELEMENT;
    play_bundle(&s, s.room, 2, at);
    memcpy(s.table + at, "ccccdddd", 2 * ELEMENT);
    *(struct offer_head *)s.memory = (struct offer_head){0, ELEMENT};
    look_at_all(&s);
    take(&s);
    assert_int_equal(s.q.dealing.start_error, 0);
    assert_memory_equal(s.recv + GUARD, "aaaaccccdddd", 3 * ELEMENT);
    check_guards(&s);
    scene_close(&s);
}

static void refuses_bundle(int64_t bytes, uint64_t elements, int64_t at)
{
    struct scene s;
    scene_open_for(&s, &alltoallv_smp, 2);
    uint64_t end = s.room;
    play_bundle(&s, end + (uint64_t)bytes, elements, end + (uint64_t)at);
    look_at_all(&s);
    take(&s);
    assert_int_equal(s.q.dealing.start_error, DRAIL_EINVAL);
    assert_true(all(s.recv, sizeof s.recv, 0xa5));
    scene_close(&s);
}

/* Elements beyond the bundle, or what it says of its own length; and what only
 * ranks of this node may have where they are. */
static void test_malformed_bundle(void **state)
{
    refuses_bundle(0, 2, -ELEMENT);
    refuses_bundle(-ELEMENT, 2, -2 * ELEMENT);
    refuses_bundle(ELEMENT, 1, -2 * ELEMENT);
    refuses_bundle(0, UINT64_MAX / ELEMENT + 1, -ELEMENT);
    refuses_bundle(0, 1, INT64_MIN);
}

/* Too short for its heads. */
static void test_short_bundle(void **state)
{
    struct scene s;
    for (uint64_t bytes = 0; bytes < offer_section(1, 1); bytes += 8) {
        scene_open_for(&s, &alltoallv_smp, 2);
        play_bundle(&s, bytes, 0, 0);
        look_at_all(&s);
        assert_int_equal(s.q.dealing.start_error, DRAIL_EINVAL);
        scene_close(&s);
    }
}

/* Packs the offers of this node's tables for another node: more than there is
 * room. */
static void test_pack(void **state)
{
    struct scene s;
    scene_open_for(&s, &alltoallv_smp, 2);
    unsigned char *bundle = calloc(1, s.q.schedule.temp_bytes + GUARD);
    const dcoll_op_t *pack = operation(&s, DCOLL_PACK, 1);
    struct offer *mine = (struct offer *)(s.memory + sizeof(struct offer_head));
    assert_non_null(bundle);
    s.q.base[DCOLL_TEMP] = bundle;
    assert_int_equal(offer_elements(&s.q, operation(&s, DCOLL_OFFER, 0)), 0);
    assert_int_equal(offer_pack(&s.q, pack), 0);
    assert_memory_equal(bundle + offer_section(1, 1), "bbbbbbbb", 2 * ELEMENT);
    mine[1].elements = ROOM + GUARD;
    assert_int_equal(offer_pack(&s.q, pack), DRAIL_EINVAL);
    mine[1] = (struct offer){1, UINT64_MAX};
    assert_int_equal(offer_pack(&s.q, pack), DRAIL_EINVAL);
    assert_true(all(bundle + s.q.schedule.temp_bytes, GUARD, 0));
    free(bundle);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_beyond_the_table),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_strange_errors),
        cmocka_unit_test(test_changed_afterwards),
        cmocka_unit_test(test_bundle),
        cmocka_unit_test(test_malformed_bundle),
        cmocka_unit_test(test_short_bundle),
        cmocka_unit_test(test_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

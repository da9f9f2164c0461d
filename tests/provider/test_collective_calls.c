/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation of dat_ib_collective_*: sizes, roots, in place or not; groups
 * of 1 to 4 ranks on 1 to 4 nodes. */
#include "collective_ranks.h"

static const DAT_COUNT sizes[] = {0, 1, 8, 100, 4096, 70000, LONGEST};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void broadcasts(struct rank *r, unsigned char *buffer)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned root = 0; root < r->size; root++) {
            size_t n = (size_t)sizes[s];
            fill_of(buffer, r->rank == root ? root : 9, n);
            DAT_OK(dat_ib_collective_broadcast(r->group, buffer, sizes[s], root,
                                               context(s), 0));
            good(r, DAT_IB_COLLECTIVE_BROADCAST_STATUS, s);
            check_of(buffer, root, n);
        }
}

static void allgathers(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            memset(all, 0xee, r->size * n + 1);
            fill_of(in_place ? all + r->rank * n : mine, r->rank, n);
            DAT_OK(dat_ib_collective_allgather(
                r->group, in_place ? NULL : mine, sizes[s], all,
                in_place ? sizes[s] : sizes[s] * (DAT_COUNT)r->size, context(s),
                0));
            good(r, DAT_IB_COLLECTIVE_ALLGATHER_STATUS, s);
            for (unsigned i = 0; i < r->size; i++)
                check_of(all + i * n, i, n);
            assert_int_equal(all[r->size * n], 0xee);
        }
}

static void sums(struct rank *r, int32_t *mine, int32_t *sum)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            DAT_COUNT bytes = sizes[s] & ~3;
            size_t n = (size_t)bytes / sizeof *mine;
            int32_t *from = in_place ? sum : mine;
            for (size_t i = 0; i < n; i++)
                from[i] = (int32_t)(i * (r->rank + 1));
            DAT_OK(dat_ib_collective_allreduce(
                r->group, in_place ? NULL : mine, bytes, sum, bytes,
                DAT_IB_COLLECTIVE_REDUCE_OP_SUM, DAT_IB_COLLECTIVE_TYPE_INT32,
                context(s), 0));
            good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, s);
            int32_t factor = (int32_t)(r->size * (r->size + 1) / 2);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(sum[i], (int32_t)i * factor);
        }
}

static void gathers(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            memset(all, 0xee, r->size * n + 1);
            fill_of(stays ? all + root * n : mine, r->rank, n);
            DAT_OK(dat_ib_collective_gather(
                r->group, stays ? NULL : mine, sizes[s], here ? all : NULL,
                here ? sizes[s] * (DAT_COUNT)r->size : 0, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_GATHER_STATUS, s);
            for (unsigned i = 0; here && i < r->size; i++)
                check_of(all + i * n, i, n);
            assert_int_equal(all[r->size * n], 0xee);
        }
}

static void scatters(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            for (unsigned i = 0; here && i < r->size; i++)
                fill_of(all + i * n, i, n);
            memset(mine, 0xee, n + 1);
            DAT_OK(dat_ib_collective_scatter(
                r->group, here ? all : NULL,
                in_place ? sizes[s] : sizes[s] * (DAT_COUNT)r->size,
                stays ? NULL : mine, sizes[s], root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_SCATTER_STATUS, s);
            check_of(stays ? all + root * n : mine, r->rank, n);
            assert_int_equal(mine[n], 0xee);
        }
}

static void alltoalls(struct rank *r, unsigned char *from, unsigned char *to)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned char *out = in_place ? to : from;
            memset(to, 0xee, r->size * n + 1);
            for (unsigned i = 0; i < r->size; i++)
                fill_of(out + i * n, 8 * r->rank + i, n);
            DAT_OK(dat_ib_collective_alltoall(
                r->group, in_place ? NULL : from, sizes[s], to,
                sizes[s] * (DAT_COUNT)r->size, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_ALLTOALL_STATUS, s);
            for (unsigned i = 0; i < r->size; i++)
                check_of(to + i * n, 8 * i + r->rank, n);
            assert_int_equal(to[r->size * n], 0xee);
        }
}

/* Blocks of other sizes, in reverse order, with gaps of a byte. The header's
 * macros of gatherv and alltoallv name arguments that they do not have. */
struct blocks {
    DAT_COUNT size[MOST], at[MOST];
};

static struct blocks blocks_of(const struct rank *r, unsigned turn,
                               DAT_COUNT most)
{
    struct blocks b;
    DAT_COUNT at = 0;
    memset(&b, 0, sizeof b);
    for (unsigned i = r->size; i-- > 0; at += b.size[i] + 1) {
        b.size[i] = most * (DAT_COUNT)((i + turn) % 3) / 2;
        b.at[i] = at;
    }
    return b;
}

/* Where they begin, seen from rank 0's, which is the last one. */
static struct blocks seen_from_last(struct blocks b)
{
    for (unsigned i = MOST; i-- > 0;)
        b.at[i] -= b.at[0];
    return b;
}

static void fill_blocks(const struct rank *r, unsigned char *at,
                        const struct blocks *b, unsigned first)
{
    memset(at, 0xee, (size_t)(b->at[0] + b->size[0] + 1));
    for (unsigned i = 0; i < r->size; i++)
        fill_of(at + b->at[i], first + i, (size_t)b->size[i]);
}

static void check_blocks(const struct rank *r, const unsigned char *at,
                         const struct blocks *b, unsigned factor,
                         unsigned first)
{
    for (unsigned i = 0; i < r->size; i++) {
        check_of(at + b->at[i], factor * i + first, (size_t)b->size[i]);
        assert_int_equal(at[b->at[i] + b->size[i]], 0xee);
    }
}

static void gathers_of_other_sizes(struct rank *r, unsigned char *mine,
                                   unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned turn = 0; turn < 4; turn++) {
            struct blocks b = blocks_of(r, turn, sizes[s]);
            bool to_one = turn % 2, in_place = turn / 2;
            bool here = !to_one || r->rank == s % r->size;
            bool stays = here && in_place;
            struct blocks seen = seen_from_last(b);
            memset(all, 0xee, (size_t)(b.at[0] + b.size[0] + 1));
            DAT_COUNT n = b.size[r->rank];
            fill_of(stays ? all + b.at[r->rank] : mine, r->rank, (size_t)n);
            if (to_one)
                DAT_OK(dat_extension_op(
                    r->group, (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_GATHERV_OP,
                    stays ? NULL : mine, n, all, here ? b.size : NULL, b.at,
                    s % r->size, context(s), 0));
            else
                DAT_OK(dat_ib_collective_allgatherv(
                    r->group, stays ? NULL : mine, n, all + b.at[0], b.size,
                    seen.at, context(s), 0));
            good(r,
                 to_one ? DAT_IB_COLLECTIVE_GATHERV_STATUS
                        : DAT_IB_COLLECTIVE_ALLGATHERV_STATUS,
                 s);
            if (here)
                check_blocks(r, all, &b, 1, 0);
        }
}

static void scatters_of_other_sizes(struct rank *r, unsigned char *mine,
                                    unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned turn = 0; turn < 4; turn++) {
            struct blocks b = blocks_of(r, turn, sizes[s]);
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = here && turn % 2;
            DAT_COUNT n = b.size[r->rank];
            fill_blocks(r, all, &b, 0);
            memset(mine, 0xee, (size_t)n + 1);
            DAT_OK(dat_ib_collective_scatterv(
                r->group, all, here ? b.size : NULL, b.at, stays ? NULL : mine,
                n, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_SCATTERV_STATUS, s);
            check_of(stays ? all + b.at[root] : mine, r->rank, (size_t)n);
            assert_int_equal(mine[n], 0xee);
        }
}

/* Both ranks of a pair know the size: it depends on their sum. */
static void alltoalls_of_other_sizes(struct rank *r, unsigned char *from,
                                     unsigned char *to)
{
    for (unsigned s = 0; s < SIZES; s++) {
        struct blocks b = blocks_of(r, r->rank, sizes[s]);
        struct blocks seen = seen_from_last(b);
        fill_blocks(r, from, &b, 8 * r->rank);
        memset(to, 0xee, (size_t)(b.at[0] + b.size[0] + 1));
        DAT_OK(dat_extension_op(r->group,
                                (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_ALLTOALLV_OP,
                                from + b.at[0], seen.size, seen.at, to, b.size,
                                b.at, context(s), 0));
        good(r, DAT_IB_COLLECTIVE_ALLTOALLV_STATUS, s);
        check_blocks(r, to, &b, 8, r->rank);
    }
}

static void reduces(struct rank *r, int32_t *mine, int32_t *sum)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            DAT_COUNT bytes = sizes[s] & ~3;
            size_t n = (size_t)bytes / sizeof *mine;
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            int32_t *from = stays ? sum : mine;
            int32_t factor = (int32_t)(r->size * (r->size + 1) / 2);
            for (size_t i = 0; i < n; i++)
                from[i] = (int32_t)(i * (r->rank + 1));
            DAT_OK(dat_ib_collective_reduce(
                r->group, stays ? NULL : mine, bytes, here ? sum : NULL,
                here ? bytes : 0, DAT_IB_COLLECTIVE_REDUCE_OP_SUM,
                DAT_IB_COLLECTIVE_TYPE_INT32, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_REDUCE_STATUS, s);
            for (size_t i = 0; here && i < n; i++)
                assert_int_equal(sum[i], (int32_t)i * factor);
        }
}

/* Each operation with its result for ranks 0 to size - 1, which have 2, 3, … */
static void operators(struct rank *r)
{
    static const struct {
        DAT_IB_COLLECTIVE_REDUCE_DATA_OP op;
        int64_t of_two, of_four;
    } known[] = {
        {DAT_IB_COLLECTIVE_REDUCE_OP_MAX, 3, 5},
        {DAT_IB_COLLECTIVE_REDUCE_OP_MIN, 2, 2},
        {DAT_IB_COLLECTIVE_REDUCE_OP_SUM, 5, 14},
        {DAT_IB_COLLECTIVE_REDUCE_OP_PROD, 6, 120},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LAND, 1, 1},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BAND, 2, 0},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LOR, 1, 1},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BOR, 3, 7},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LXOR, 0, 0},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BXOR, 1, 0},
    };
    for (size_t i = 0; r->size % 2 == 0 && i < sizeof known / sizeof known[0];
         i++) {
        int64_t mine = r->rank + 2, result = -1;
        DAT_OK(dat_ib_collective_allreduce(
            r->group, &mine, 8, &result, 8, known[i].op,
            DAT_IB_COLLECTIVE_TYPE_INT64, context(i), 0));
        good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, i);
        assert_int_equal(result,
                         r->size == 2 ? known[i].of_two : known[i].of_four);
    }
}

#define SUM_OF(ctype, name)                                                    \
    do {                                                                       \
        ctype mine = (ctype)(r->rank + 1), sum = 0;                            \
        DAT_OK(dat_ib_collective_allreduce(                                    \
            r->group, &mine, sizeof mine, &sum, sizeof sum,                    \
            DAT_IB_COLLECTIVE_REDUCE_OP_SUM, DAT_IB_COLLECTIVE_TYPE_##name,    \
            context(7), 0));                                                   \
        good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, 7);                        \
        assert_true(sum == (ctype)(r->size * (r->size + 1) / 2));              \
    } while (0)

static void types(struct rank *r)
{
    SUM_OF(int8_t, INT8);
    SUM_OF(uint8_t, UINT8);
    SUM_OF(int16_t, INT16);
    SUM_OF(uint16_t, UINT16);
    SUM_OF(int32_t, INT32);
    SUM_OF(uint32_t, UINT32);
    SUM_OF(int64_t, INT64);
    SUM_OF(uint64_t, UINT64);
    SUM_OF(float, FLOAT);
    SUM_OF(double, DOUBLE);
}

static unsigned ppn; /* of the test's groups; 0: no layout */

static void all_operations(struct rank *r)
{
    unsigned char *mine = malloc(MOST * (LONGEST + 1));
    unsigned char *all = malloc(MOST * (LONGEST + 1));
    open_ia(r);
    create_member(r);
    create_group(r, ppn + r->size, ppn);
    barriers(r);
    broadcasts(r, mine);
    allgathers(r, mine, all);
    sums(r, (void *)mine, (void *)all);
    gathers(r, mine, all);
    scatters(r, mine, all);
    alltoalls(r, mine, all);
    gathers_of_other_sizes(r, mine, all);
    scatters_of_other_sizes(r, mine, all);
    alltoalls_of_other_sizes(r, mine, all);
    reduces(r, (void *)mine, (void *)all);
    operators(r);
    types(r);
    close_all(r);
    free(mine);
    free(all);
}

static void test_operations(void **state)
{
    for (unsigned size = 1; size <= MOST; size++)
        for (ppn = 0; ppn <= size; ppn++)
            run_well(size, all_operations);
}

int main(int argc, char **argv)
{
    (void)argc;
    make_rails(argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations)};
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* coll/select/table.c and select.c: which algorithm `auto` takes. */
#include <unistd.h>
#include "unit.h"
#include "coll/select/table.h"
#include "dapl_rail/dapl_rail.h"

static const unsigned begin[] = {0, 2, 4};
static const dcoll_shape_t two_nodes = {4, 2, begin, 2};
static const unsigned one_begin[] = {0, 4};
static const dcoll_shape_t one_node = {4, 1, one_begin, 2};

static char path[] = "/tmp/test_table.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    return unlink(path);
}

/* A table of three rows, the last of another engine, and a line behind it. */
static void write_table(const char *last)
{
    dcoll_table_row_t rows[] = {
        {.bytes = 64, .zero_copy = false},
        {.bytes = 4096, .zero_copy = true},
        {.bytes = 64, .engine = DRAIL_ENGINE_THREADED},
    };
    const char *const names[] = {"ring", "doubling", "direct"};
    dcoll_table_t table = {rows, 3};
    for (unsigned i = 0; i < 3; i++) {
        rows[i].collective = DCOLL_ALLGATHER;
        rows[i].ranks = 4;
        rows[i].ppn = rows[i].ports = 2;
        rows[i].algorithm = dcoll_algorithm_find(DCOLL_ALLGATHER, names[i]);
        assert_non_null(rows[i].algorithm);
        rows[i].us = 2, rows[i].lo = 1, rows[i].hi = 3;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    dcoll_table_write(file, &table, "a,b", "# a line of environment\n");
    if (last)
        fputs(last, file);
    assert_int_equal(fclose(file), 0);
}

/* @p from: file of the table, NULL: built-in rules. */
static const char *select_for(const char *from, drail_engine_t engine,
                              const dcoll_shape_t *shape, size_t bytes,
                              bool *zero_copy)
{
    dcoll_args_t args = {
        .collective = DCOLL_ALLGATHER, .bytes = bytes, .depth = 2};
    dcoll_table_t table = {0};
    char why[256];
    if (from)
        assert_int_equal(dcoll_table_load(from, "a,b", &table, why, sizeof why),
                         0);
    const dcoll_algorithm_t *a =
        dcoll_table_select(from ? &table : NULL, engine, shape, &args);
    dcoll_table_free(&table);
    assert_non_null(a);
    *zero_copy = args.zero_copy;
    return a->name;
}

static const char *select_name(const char *from, const dcoll_shape_t *shape,
                               size_t bytes, bool *zero_copy)
{
    return select_for(from, DRAIL_ENGINE_SINGLE, shape, bytes, zero_copy);
}

static void test_nearest_size(void **state)
{
    bool zero_copy;
    write_table(NULL);
    assert_string_equal(select_name(path, &two_nodes, 64, &zero_copy), "ring");
    assert_false(zero_copy);
    assert_string_equal(select_name(path, &two_nodes, 200, &zero_copy), "ring");
    assert_string_equal(select_name(path, &two_nodes, 2048, &zero_copy),
                        "doubling");
    assert_true(zero_copy);
}

/* Of another shape, or far from all sizes, the table says nothing. */
static void test_not_measured(void **state)
{
    bool mine, builtin;
    write_table(NULL);
    assert_string_equal(select_name(path, &one_node, 64, &mine),
                        select_name(NULL, &one_node, 64, &builtin));
    assert_int_equal(mine, builtin);
    assert_string_equal(select_name(path, &two_nodes, 1 << 20, &mine),
                        select_name(NULL, &two_nodes, 1 << 20, &builtin));
    assert_int_equal(mine, builtin);
}

/* Each engine by its own rows. */
static void test_engine(void **state)
{
    bool zero_copy, builtin;
    write_table(NULL);
    assert_string_equal(
        select_for(path, DRAIL_ENGINE_THREADED, &two_nodes, 64, &zero_copy),
        "direct");
    assert_string_equal(
        select_for(path, DRAIL_ENGINE_NONTHREADED, &two_nodes, 64, &zero_copy),
        select_name(NULL, &two_nodes, 64, &builtin));
    assert_int_equal(zero_copy, builtin);
}

/* Names of algorithms are those of their collective. */
static void test_reductions(void **state)
{
    dcoll_table_t table;
    char why[256];
    write_table("reduce 4 2 2 single 64 direct 0 2 1 3\n"
                "allreduce 4 2 2 single 64 direct 1 2 1 3\n");
    assert_int_equal(dcoll_table_load(path, "a,b", &table, why, sizeof why), 0);
    for (dcoll_collective_t c = DCOLL_REDUCE; c <= DCOLL_ALLREDUCE; c++) {
        dcoll_args_t args = {
            .collective = c, .bytes = 64, .element = 8, .depth = 2};
        const dcoll_algorithm_t *a =
            dcoll_table_select(&table, DRAIL_ENGINE_SINGLE, &two_nodes, &args);
        assert_ptr_equal(a, dcoll_algorithm_find(c, "direct"));
        assert_int_equal(args.zero_copy, c == DCOLL_ALLREDUCE);
    }
    dcoll_table_free(&table);
}

static void expect_bad(const char *text)
{
    dcoll_table_t table;
    char why[256] = "";
    assert_int_equal(dcoll_table_load(path, "a,b", &table, why, sizeof why),
                     DRAIL_EINVAL);
    if (!strstr(why, text))
        fail_msg("'%s' is not in '%s'", text, why);
    dcoll_table_free(&table);
}

static void test_malformed(void **state)
{
    static const char *const lines[] = {
        "allgather 4 2 2 single 64 ring 0 2 1\n",
        "allgather 4 2 2 single 64 ring 2 2 1 3\n",
        "allgather 0 2 2 single 64 ring 0 2 1 3\n",
        "allgather 4 2 2 single 64 ring 0 2 3 1\n",
        "allgather 4 2 2 single 64 ring 0 nan 1 3\n",
        "allgather 4 2 2 single 64 ring 0 2 1 3 4\n",
        "allgather 4 2 2 single -64 ring 0 2 1 3\n",
        "allgather 4 2 2 single 64 ring 0 2 0 3\n",
        "allgather 4 2 2 diesel 64 ring 0 2 1 3\n",
        "\n",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_table(lines[i]);
        expect_bad("line 11 is malformed");
    }
    write_table("allgather 4 2 2 single 64 nonsense 0 2 1 3\n");
    expect_bad("there is no allgather nonsense");
    write_table("nonsense 4 2 2 single 64 ring 0 2 1 3\n");
    expect_bad("there is no nonsense ring");
}

/* Each of the first lines, with something else in it. */
static void test_foreign(void **state)
{
    static const char *const texts[] = {"line 1", "line 2", "line 3", "line 4",
                                        "line 5"};
    char lines[16][256];
    for (unsigned wrong = 0; wrong < 5; wrong++) {
        unsigned count = 0;
        write_table(NULL);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (count < 16 && fgets(lines[count], sizeof lines[count], file))
            count++;
        fclose(file);
        file = fopen(path, "w");
        assert_non_null(file);
        for (unsigned i = 0; i < count; i++)
            fprintf(file, "%s%s", i == wrong ? "x" : "", lines[i]);
        fclose(file);
        expect_bad(texts[wrong]);
    }
    fclose(fopen(path, "w"));
    expect_bad("ends at line 0");
}

static void test_missing(void **state)
{
    dcoll_table_t table;
    char why[256];
    assert_int_equal(
        dcoll_table_load("/nonexistent/table", "a,b", &table, why, sizeof why),
        DRAIL_EINVAL);
    assert_non_null(strstr(why, "No such file"));
}

/* The built-in rules find one that serves, for every collective and shape. */
static void test_builtin(void **state)
{
    for (unsigned c = 0; c < DCOLL_COLLECTIVES; c++)
        for (unsigned n = 1; n <= 9; n++)
            for (unsigned ppn = 1; ppn <= n; ppn++)
                for (size_t bytes = 0; bytes <= 1 << 20;
                     bytes = bytes ? bytes * 4 : 1) {
                    unsigned nodes = (n + ppn - 1) / ppn, first[10];
                    for (unsigned i = 0; i <= nodes; i++)
                        first[i] = i * ppn < n ? i * ppn : n;
                    dcoll_shape_t shape = {n, nodes, first, 2};
                    dcoll_args_t args = {.collective = (dcoll_collective_t)c,
                                         .bytes = bytes,
                                         .depth = 2};
                    const dcoll_algorithm_t *a = dcoll_table_select(
                        NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
                    assert_non_null(a);
                    assert_int_equal(a->collective, c);
                    assert_true(!dcoll_refusal(a, &shape, &args));
                }
}

/* How many messages there are between nodes of two ranks. */
static unsigned messages(dcoll_collective_t collective, size_t bytes)
{
    static const unsigned first[] = {0, 2, 4, 6, 8};
    const dcoll_shape_t shape = {8, 4, first, 2};
    dcoll_args_t args = {.collective = collective, .bytes = bytes, .depth = 2};
    dcoll_program_t program;
    unsigned puts = 0;
    const dcoll_algorithm_t *a =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
    assert_int_equal(dcoll_program_make(a, &shape, &args, &program), 0);
    for (unsigned r = 0; r < 8; r++)
        for (unsigned i = 0; i < program.rank[r].nops; i++)
            puts += program.rank[r].ops[i].kind == DCOLL_PUT;
    dcoll_program_free(&program);
    return puts;
}

/* Between nodes of several ranks: at most one message from each node to each
 * other one; of an all-to-all for short blocks. */
static void test_messages_between_nodes(void **state)
{
    for (size_t bytes = 4; bytes <= 65536; bytes *= 4) {
        assert_in_range(messages(DCOLL_ALLTOALL, bytes), 6, 4 * 3);
        assert_in_range(messages(DCOLL_ALLGATHER, bytes), 6, 4 * 3);
    }
    assert_in_range(messages(DCOLL_GATHER, 32768), 3, 3);
}

/* All-to-all messages go over one node, which makes them fewer, while all that
 * a node has for others, here 12 blocks, is short. Between two nodes there is
 * nothing to gain. */
static void test_little_goes_over_one_node(void **state)
{
    assert_int_equal(messages(DCOLL_ALLTOALL, 4096 / 12), 2 * 3);
    assert_int_equal(messages(DCOLL_ALLTOALL, 4096 / 12 + 1), 4 * 2);
    dcoll_args_t args = {.collective = DCOLL_ALLTOALL, .bytes = 8, .depth = 2};
    const dcoll_algorithm_t *a =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &two_nodes, &args);
    assert_string_not_equal(a->name, "smp-gather-scatter");
}

/* The choice of auto for an all-to-all on many nodes of as many ranks each. */
static const char *on_many(unsigned ppn, size_t bytes)
{
    enum { NODES = 64 };
    unsigned first[NODES + 1];
    for (unsigned n = 0; n <= NODES; n++)
        first[n] = n * ppn;
    const dcoll_shape_t shape = {NODES * ppn, NODES, first, 2};
    dcoll_args_t args = {
        .collective = DCOLL_ALLTOALL, .bytes = bytes, .depth = 2};
    return dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args)->name;
}

/* Of many nodes none is in the midst of all, and those of many ranks have too
 * much for each other to take it round. */
static void test_many_nodes(void **state)
{
    assert_string_equal(on_many(2, 8), "smp-bruck");
    assert_string_equal(on_many(2, 2047), "smp-bruck");
    assert_string_equal(on_many(2, 2048), "smp-direct");
    assert_string_equal(on_many(16, 31), "smp-bruck");
    assert_string_equal(on_many(16, 32), "smp-direct");
}

/* The choice of auto for a call on a node with plain buffers. */
static const char *once(dcoll_collective_t collective, unsigned ranks,
                        size_t bytes)
{
    const unsigned first[] = {0, ranks};
    const dcoll_shape_t shape = {ranks, 1, first, 2};
    dcoll_args_t args = {
        .collective = collective, .bytes = bytes, .depth = 2, .one_shot = true};
    const dcoll_algorithm_t *a =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
    assert_non_null(a);
    assert_true(!dcoll_refusal(a, &shape, &args));
    return a->name;
}

/* Long blocks are read where they are, but many ranks would read the same ones
 * of an all-gather. */
static void test_one_shot(void **state)
{
    for (unsigned n = 1; n <= 16; n++)
        for (unsigned c = 0; c < DCOLL_COLLECTIVES; c++)
            for (size_t bytes = 1; bytes <= 64 << 20; bytes *= 4)
                once((dcoll_collective_t)c, n, bytes);
    assert_string_equal(once(DCOLL_ALLGATHER, 4, 1 << 20), "pull");
    assert_string_equal(once(DCOLL_ALLGATHER, 4, (1 << 20) - 1),
                        "shm-allgather");
    assert_string_equal(once(DCOLL_ALLGATHER, 8, 2 << 20), "shm-allgather");
    assert_string_equal(once(DCOLL_ALLGATHER, 8, 4 << 20), "pull");
    assert_string_equal(once(DCOLL_ALLTOALL, 8, 512 << 10), "pull");
    assert_string_equal(once(DCOLL_GATHER, 8, 512 << 10), "shm-gather");
}

/* A chain needs a piece for each of its ranks. */
static void test_chains(void **state)
{
    static const dcoll_collective_t to_all[] = {DCOLL_REDUCE, DCOLL_ALLREDUCE};
    for (unsigned i = 0; i < 2; i++) {
        assert_string_equal(once(to_all[i], 16, 256 << 10), "shm-chain");
        assert_string_equal(once(to_all[i], 16, 255 << 10), "shm-slices");
        assert_string_equal(once(to_all[i], 64, 1 << 20), "shm-chain");
        assert_string_equal(once(to_all[i], 65, 1 << 20), "shm-slices");
        assert_string_not_equal(once(to_all[i], 2, 1 << 20), "shm-chain");
    }
    for (unsigned n = 2; n <= 16; n *= 2) {
        assert_string_equal(once(DCOLL_REDUCE_SCATTER_BLOCK, n, 256 << 10),
                            n == 2 ? "shm-reduce-scatter" : "shm-chain");
        assert_string_equal(once(DCOLL_REDUCE_SCATTER_BLOCK, n, 16 << 10),
                            "shm-reduce-scatter");
        assert_string_equal(once(DCOLL_SCAN, n, 64 << 10), "shm-chain");
        assert_string_equal(once(DCOLL_EXSCAN, n, 64 << 10), "shm-chain");
        assert_string_equal(once(DCOLL_SCAN, n, 32 << 10), "shm-scan");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_size),
        cmocka_unit_test(test_not_measured),
        cmocka_unit_test(test_engine),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_builtin),
        cmocka_unit_test(test_messages_between_nodes),
        cmocka_unit_test(test_little_goes_over_one_node),
        cmocka_unit_test(test_many_nodes),
        cmocka_unit_test(test_one_shot),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}

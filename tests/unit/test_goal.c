/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench/goal: a schedule that is written as GOAL and read again takes the same
 * time and is written as the same text; wrong files are refused, with the line.
 */
#include <time.h>
#include <unistd.h>
#include "unit.h"
#include "bench/goal/goal.h"
#include "coll/algorithms/algorithms.h"

enum { RANKS_MOST = 17, PORTS_MOST = 3, BYTES = 64 * RANKS_MOST };

static char path[] = "/tmp/test_goal_XXXXXX";

static void open_path(void)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static char *text_of(const dcoll_program_t *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(goal_write(file, p, 1), 0);
    fclose(file);
    return text;
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool make(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                 bool zero_copy, dcoll_program_t *p)
{
    dcoll_args_t args = {.collective = a->collective,
                         .bytes = a->collective == DCOLL_BARRIER ? 0 : BYTES,
                         .element = 8,
                         .root = shape->nranks / 2,
                         .zero_copy = zero_copy,
                         .depth = 2};
    args.commutes = dcoll_needs_commuting(a, shape, &args);
    args.depth = dcoll_depth(a, shape, args.bytes, 2);
    if (dcoll_program_make(a, shape, &args, p))
        return false;
    if (!goal_refusal(p))
        return true;
    dcoll_program_free(p);
    return false;
}

static void check_round_trip(const dcoll_program_t *p, const char *name)
{
    static const dcoll_cost_model_t model = {.ts = 1000,
                                             .tau = 3,
                                             .copy = 1,
                                             .combine = 1,
                                             .note = 700,
                                             .latency = 400};
    char why[256] = "";
    goal_t goal;
    dcoll_shape_t shape;
    dcoll_program_t again;
    char *text = text_of(p);
    write_text(text);
    if (goal_read(&goal, path, why, sizeof why) ||
        goal_program(&goal, &shape, &again, why, sizeof why) ||
        dcoll_verify(&again, 1, why, sizeof why))
        fail_msg("%s of %u ranks: %s", name, p->shape->nranks, why);
    assert_float_equal(dcoll_cost(p, &model), dcoll_cost(&again, &model), 1e-6);
    char *twice = text_of(&again);
    assert_string_equal(text, twice);
    free(text);
    free(twice);
    goal_program_free(&shape, &again);
    goal_free(&goal);
}

static void test_round_trip(void **state)
{
    unsigned begin[RANKS_MOST + 1], count = 0;
    open_path();
    for (unsigned n = 1; n <= RANKS_MOST; n += n < 9 ? 1 : 4)
        for (unsigned k = 1; k <= PORTS_MOST; k++)
            for (unsigned zero = 0; zero < 2; zero++) {
                const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, 1, begin),
                                             begin, k};
                for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a;
                     a++) {
                    dcoll_program_t p;
                    if (!make(*a, &shape, zero, &p))
                        continue;
                    check_round_trip(&p, (*a)->name);
                    dcoll_program_free(&p);
                    count++;
                }
            }
    assert_true(count > 1000);
    unlink(path);
}

/* The file, which can be read, as schedules. 0, or -1 with the reason. */
static int in_order(dcoll_shape_t *shape, dcoll_program_t *p, char why[256])
{
    goal_t goal;
    assert_int_equal(goal_read(&goal, path, why, 256), 0);
    int rc = goal_program(&goal, shape, p, why, 256);
    goal_free(&goal);
    return rc;
}

/* Each operation of a broadcast is left out in turn. */
static void test_planted(void **state)
{
    unsigned begin[10];
    const dcoll_shape_t shape = {9, dcoll_shape_nodes(9, 1, begin), begin, 1};
    dcoll_program_t p;
    open_path();
    assert_true(make(&bcast_binomial, &shape, false, &p));
    for (unsigned r = 0; r < 9; r++)
        for (unsigned i = 0; i < p.rank[r].nops; i++) {
            const dcoll_kind_t kind = p.rank[r].ops[i].kind;
            if ((kind != DCOLL_PUT && kind != DCOLL_WAIT) ||
                p.rank[r].ops[i].lag)
                continue;
            char why[256] = "";
            dcoll_shape_t of;
            dcoll_program_t again;
            p.rank[r].ops[i].kind = DCOLL_COMPLETE;
            p.rank[r].ops[i].puts = 0;
            char *text = text_of(&p);
            p.rank[r].ops[i].kind = kind;
            write_text(text);
            assert_int_equal(in_order(&of, &again, why), -1);
            assert_ptr_equal(strstr(why, "line "), why);
            free(text);
        }
    dcoll_program_free(&p);
    unlink(path);
}

static const struct {
    const char *text, *why;
} wrong[] = {
    {"", "line 0: the file ends without 'num_ranks'"},
    {"num_ranks 0\n", "line 1: '0' where a rank at least must be"},
    {"num_ranks 1025\n", "line 1: '1025' where a number from 0 to 1024"},
    {"num_ranks 1\n", "line 1: the file ends without rank 0"},
    {"rank 0 {\n}\n", "line 1: '0' where 'num_ranks', before all ranks, must"},
    {"num_ranks 1\nrank 1 {\n}\n", "line 2: '1' where a number from 0 to 0"},
    {"num_ranks 1\nrank 0 {\n", "line 2: the file ends within a rank"},
    {"num_ranks 1\n/* rank 0 {\n", "line 2: the file ends within a comment"},
    {"num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n",
     "line 4: '0' where a rank that is not in a line before"},
    {"num_ranks 2\nrank 0 {\nsend 8b from 1\n}\n",
     "line 3: 'from' where 'to' must be"},
    {"num_ranks 2\nrank 0 {\nsend 8 to 1\n}\n",
     "line 3: 'to' where 'b' must be"},
    {"num_ranks 2\nrank 0 {\nsend 8b to 0\n}\n",
     "line 3: '0' where another rank must be"},
    {"num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\n",
     "line 3: '-' where a number"},
    {"num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}\n",
     "line 4: there is a label 'a' before"},
    {"num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}\n",
     "line 4: 'b' where a label of a line before"},
    {"num_ranks 2\nrank 0 {\ncalc 1 cpu 1\n}\n",
     "line 3: '1' where a number from 0 to 0"},
    {"num_ranks 1\nrank 0 {\ncalc 1 2\n}\n",
     "line 3: '2' where the end of the line"},
    {"num_ranks 1\nrank 0 {\njump 1\n}\n",
     "line 3: 'jump' where 'send', 'recv' or 'calc'"},
    {"num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n",
     "line 3: '99999999999999999999' where a number"},
    {"num_ranks 1\nrank 0 {\n\x1b[31mcalc 1\n}\n",
     "line 3: '\\x1b' where 'send', 'recv' or 'calc'"},
    {"num_ranks 1\nrank 0 {\ncalc 1 \xc3\xa9\n}\n",
     "line 3: '\\xc3' where the end of the line"},
    {"num_ranks 1\nrank 0 {\ncalc \x7f\n}\n", "line 3: '\\x7f' where a number"},
    /* read, but no schedule */
    {"num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires "
     "a\n}\n",
     "line 3: it requires itself"},
    {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n"
     "a: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
     "line 7: it requires itself"},
    {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\n}\n",
     "line 3: no rank receives it"},
    {"num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 "
     "tag 2\n}\n",
     "line 6: no rank sends what this receive waits for"},
    {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n",
     "line 6: it receives 9 bytes, but line 3 sends 8"},
    {"num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires "
     "a\n}\nrank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n",
     "line 3: no rank sends what this receive waits for"},
};

static void test_wrong(void **state)
{
    open_path();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char why[256] = "";
        goal_t goal;
        dcoll_shape_t shape;
        dcoll_program_t program;
        write_text(wrong[i].text);
        int rc = goal_read(&goal, path, why, sizeof why);
        if (!rc) {
            rc = goal_program(&goal, &shape, &program, why, sizeof why);
            goal_free(&goal);
        }
        assert_int_equal(rc, -1);
        if (strncmp(why, wrong[i].why, strlen(wrong[i].why)))
            fail_msg("'%s' instead of '%s'", why, wrong[i].why);
    }
    unlink(path);
}

/* A receive that comes first in the file, but last; tags out of order; what
 * only needs to have started. */
static void test_any_order(void **state)
{
    char why[256] = "";
    dcoll_shape_t shape;
    dcoll_program_t p;
    const dcoll_cost_model_t one = {.ts = 1};
    open_path();
    write_text("num_ranks 2 /* two\n ranks */\n"
               "rank 1 {\nx: recv 5b from 0 tag 7 // the last\n"
               "y: recv 4b from 0 tag 3\nx irequires y }\n"
               "rank 0 { a: recv 1b from 1\nb: send 4 b to 1 tag 3 cpu 0 nic "
               "1\n"
               "c: send 5b to 1 tag 7\nc requires b\n}\n");
    assert_int_equal(in_order(&shape, &p, why), -1);
    write_text("num_ranks 2\n"
               "rank 1 {\nx: recv 5b from 0 tag 7 // the last\n"
               "y: recv 4b from 0 tag 3\nz: send 1b to 0\nz requires x\n"
               "x irequires y }\n"
               "rank 0 { a: recv 1b from 1\nb: send 4 b to 1 tag 3 cpu 0 nic "
               "1\n"
               "c: send 5b to 1 tag 7\nc requires b\n}\n");
    assert_int_equal(in_order(&shape, &p, why), 0);
    assert_int_equal(shape.ports, 2);
    assert_int_equal(dcoll_verify(&p, 1, why, sizeof why), 0);
    assert_float_equal(dcoll_cost(&p, &one), 3, 1e-9);
    goal_program_free(&shape, &p);
    unlink(path);
}

/* Each rank receives before it sends: one of them only needs to have started
 * its receive, so no rank waits for ever. */
static void test_started_receive(void **state)
{
    char why[256] = "";
    dcoll_shape_t shape;
    dcoll_program_t p;
    open_path();
    for (int waits = 0; waits < 2; waits++) {
        char text[256];
        snprintf(text, sizeof text,
                 "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\n"
                 "b %s a\n}\nrank 1 {\na: recv 8b from 0\nb: send 8b to 0\n"
                 "b requires a\n}\n",
                 waits ? "requires" : "irequires");
        write_text(text);
        assert_int_equal(in_order(&shape, &p, why), -waits);
        if (waits)
            continue;
        assert_int_equal(dcoll_verify(&p, 1, why, sizeof why), 0);
        goal_program_free(&shape, &p);
    }
    unlink(path);
}

/* Many messages for a rank, which receives them in the opposite order. */
static void write_backwards(unsigned senders, unsigned each)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "num_ranks %u\nrank 0 {\n", senders + 1);
    for (unsigned i = senders * each; i-- > 0;)
        fprintf(file, "r%u: recv 1b from %u tag %u\n", i, 1 + i / each, i);
    for (unsigned i = senders * each - 1; i-- > 0;)
        fprintf(file, "r%u requires r%u\n", i, i + 1);
    fprintf(file, "}\n");
    for (unsigned r = 0; r < senders; r++) {
        fprintf(file, "rank %u {\n", r + 1);
        for (unsigned i = r * each; i < (r + 1) * each; i++)
            fprintf(file, "send 1b to 0 tag %u\n", i);
        fprintf(file, "}\n");
    }
    assert_int_equal(fclose(file), 0);
}

/* Two ranks of many wait for each other in turn. */
static void write_turns(unsigned ranks, unsigned turns)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "num_ranks %u\n", ranks);
    for (unsigned r = 0; r < ranks; r++) {
        fprintf(file, "rank %u {\n", r);
        for (unsigned i = 0; r < 2 && i < turns; i++)
            fprintf(file, "l%u: %s 1b %s %u\n", i, i % 2 == r ? "send" : "recv",
                    i % 2 == r ? "to" : "from", 1 - r);
        for (unsigned i = 1; r < 2 && i < turns; i++)
            fprintf(file, "l%u requires l%u\n", i, i - 1);
        fprintf(file, "}\n");
    }
    assert_int_equal(fclose(file), 0);
}

/* In a time that is not quadratic. */
static void test_many_messages(void **state)
{
    char why[256] = "";
    dcoll_shape_t shape;
    dcoll_program_t p;
    open_path();
    for (unsigned turns = 0; turns < 2; turns++) {
        if (turns)
            write_turns(1024, 60000);
        else
            write_backwards(8, 60000);
        const clock_t begin = clock();
        if (in_order(&shape, &p, why))
            fail_msg("%s", why);
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        print_message("%.2f s\n", seconds);
        assert_true(seconds < 30);
        goal_program_free(&shape, &p);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_started_receive),
        cmocka_unit_test(test_many_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

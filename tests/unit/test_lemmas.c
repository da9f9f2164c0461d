/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statements of Liu et al. 2002, section 3.2.4, about the four-stage algorithm,
 * checked on the schedules that run: lemmas 1 to 3, table 2, theorem 1, and the
 * constant of theorem 2, as corrected in docs/alltoallv.md; and no message
 * exceeds its room for any counts.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "sizes_play.h"
#include "traffic.h"

#ifdef DRAIL_SANITIZE
/* Each number of ranks up to the first, then some; for equal counts by steps.
 */
enum { EACH = 16, OTHERS = 29, STEP = 5 };
#else
enum { EACH = 32, OTHERS = 13, STEP = 1 };
#endif
enum { RANKS = 128, ELEMENT = 16, STAGES = 4 };

static unsigned ceil_root(unsigned n)
{
    unsigned root = 0;
    while (root * root < n)
        root++;
    return root;
}

/* Numbers a few above and below a square are among them. */
static unsigned after(unsigned n)
{
    return n < EACH || n % OTHERS ? n + 1 : n + OTHERS / 2;
}

/* Of these counts; returns L_max. */
static uint64_t play(const char *name, const struct traffic *t,
                     struct sizes *sizes)
{
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, name);
    const unsigned node[] = {0, t->n};
    const dcoll_shape_t shape = {t->n, 1, node, 1};
    dcoll_traffic_t bounds = traffic_bounds(t, ELEMENT);
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = a->depth, .traffic = &bounds};
    dcoll_program_t program;
    bounds.labelled = false; /* rooms of elements alone: none to spare */
    *sizes = (struct sizes){.spread = !strncmp(name, "a4", 2)};
    if (!bounds.max_rank)
        return 0;
    assert_int_equal(dcoll_program_make(a, &shape, &args, &program), 0);
    program.counts = t->counts;
    const char *wrong = sizes_play(&program, sizes);
    if (wrong)
        fail_msg("%s, %u ranks, %s: %s", name, t->n, t->name, wrong);
    dcoll_program_free(&program);
    return bounds.max_rank;
}

/* The longest messages of all steps, of a stage or (STAGES) of all. */
static uint64_t sum_of_steps(const struct sizes *sizes, unsigned stage)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SIZES_STEPS; i++)
        if (stage == STAGES || sizes->stage[i] == stage)
            sum += sizes->step[i];
    return sum;
}

/* ------------------------------------------------- lengths that P divides */

/* Table 2, with the lengths as lemma 3 proves them; the numbers of messages
 * include the one to itself. */
static void check_table_2(const struct sizes *s, uint64_t most)
{
    const struct mesh *m = &s->mesh;
    const unsigned n = m->ranks, c = m->columns, r = m->rows;
    for (unsigned i = 0; i < STAGES; i++) {
        bool rows = i % 2 == 0;
        unsigned complete = rows ? r : c, incomplete = rows ? r - 1 : c + 1;
        assert_true(s->message[i][COMPLETE] * n <= complete * most);
        assert_true(s->message[i][INCOMPLETE] * n <= incomplete * most);
        assert_int_equal(s->count[i][COMPLETE], rows ? c : r);
        assert_int_equal(s->count[i][INCOMPLETE], !m->rest ? 0
                                                  : rows   ? c + 1
                                                           : r - 1);
    }
}

/* Theorem 1: buffers. */
static void check_buffers(const struct sizes *s, uint64_t most)
{
    const unsigned n = s->mesh.ranks, root = ceil_root(n);
    for (unsigned i = 0; i < STAGES; i++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            assert_true(s->send[i][kind] * n <= root * root * most);
            assert_true(s->received[i][kind] * n <= root * root * most);
        }
}

/* The constants of theorem 2: P / L_max times the longest messages of all
 * steps. */
static unsigned constant_rows(const struct mesh *m)
{
    return (m->columns + (m->rest ? 1 : 0)) * m->rows;
}

static unsigned constant_columns(const struct mesh *m)
{
    return m->columns * m->rows + (m->rest ? m->rows - 1 : 0);
}

static void check_constants(const struct sizes *s, uint64_t most, bool reached)
{
    const struct mesh *m = &s->mesh;
    const unsigned n = m->ranks, root = ceil_root(n);
    const unsigned rows = constant_rows(m), columns = constant_columns(m);
    for (unsigned i = 0; i < STAGES; i++) {
        uint64_t bound = (i % 2 ? columns : rows) * most;
        assert_true(sum_of_steps(s, i) * n <= bound);
        assert_true(!reached || sum_of_steps(s, i) * n == bound);
    }
    assert_true(2 * (rows + columns) <= 4 * (root + 1) * root);
    /* the abstract's is too small for just these */
    assert_int_equal(2 * (rows + columns) > 4 * root * root,
                     m->rest && m->rows == root && m->columns == root);
}

static void check_divisible(unsigned n, enum traffic_pattern pattern,
                            const char *name)
{
    struct traffic t = traffic_make(n, pattern, 3, n);
    struct sizes sizes;
    for (size_t i = 0; i < (size_t)n * n; i++)
        t.counts[i] *= n;
    uint64_t most = play(name, &t, &sizes);
    if (most) {
        assert_int_equal(sizes.uneven, 0); /* lemma 2 */
        check_table_2(&sizes, most);
        check_buffers(&sizes, most);
        check_constants(&sizes, most, pattern == TRAFFIC_EQUAL);
    }
    traffic_free(&t);
}

static void test_divisible(void **state)
{
    for (unsigned n = 1; n <= RANKS; n += STEP)
        check_divisible(n, TRAFFIC_EQUAL, n % 2 ? "a4" : "a4-n1");
    for (unsigned n = 1; n <= RANKS; n = after(n))
        check_divisible(n, n % TRAFFIC_PATTERNS, "a4");
}

/* Of A2 each stage takes as long as P messages of L_max / P. */
static void test_a2(void **state)
{
    for (unsigned n = 1; n <= EACH; n++) {
        struct traffic t = traffic_make(n, n % TRAFFIC_PATTERNS, 3, n);
        struct sizes sizes;
        for (size_t i = 0; i < (size_t)n * n; i++)
            t.counts[i] *= n;
        uint64_t most = play("a2", &t, &sizes);
        assert_true(sum_of_steps(&sizes, 0) <= most);
        assert_true(sum_of_steps(&sizes, 1) <= most);
        assert_int_equal(sizes.uneven, 0);
        traffic_free(&t);
    }
}

/* Elements for one rank are one message in the first stage of the generalised
 * A3; A4 cuts it. */
static void test_hot_spot(void **state)
{
    for (unsigned n = 4; n <= EACH; n++) {
        struct traffic t = traffic_make(n, TRAFFIC_TO_ONE, 3 * n, n);
        struct sizes mesh, a4;
        play("mesh", &t, &mesh);
        play("a4", &t, &a4);
        assert_int_equal(
            mesh.message[0][COMPLETE] + mesh.message[0][INCOMPLETE], 3 * n);
        assert_true(a4.message[0][COMPLETE] <= 3 * a4.mesh.rows);
        traffic_free(&t);
    }
}

/* ------------------------------------------------------------ any lengths */

/* The excess over lemma 3, in elements of each destination. */
struct extra {
    double most[STAGES];
    unsigned ranks[STAGES];
    const char *traffic[STAGES];
};

static double lemma_3(const struct mesh *m, unsigned stage, unsigned kind,
                      uint64_t most)
{
    unsigned rows = m->rows - kind, columns = m->columns + kind;
    return (double)(stage % 2 ? columns : rows) * (double)most / m->ranks;
}

static void note(struct extra *e, const struct sizes *s, uint64_t most,
                 const char *traffic)
{
    for (unsigned i = 0; i < STAGES; i++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            double more = ((double)s->message[i][kind] -
                           lemma_3(&s->mesh, i, kind, most)) /
                          s->mesh.ranks;
            if (more <= e->most[i])
                continue;
            e->most[i] = more;
            e->ranks[i] = s->mesh.ranks;
            e->traffic[i] = traffic;
        }
}

/* The room is never exceeded: sizes_play() looks. */
static void test_any(void **state)
{
    struct extra extra = {0};
    for (unsigned n = 1; n <= RANKS; n = after(n))
        for (unsigned i = 0; i < 3; i++) {
            unsigned pattern = (n + i * 4) % TRAFFIC_PATTERNS;
            struct traffic t = traffic_make(n, pattern, 1 + i * (n % 11), n);
            struct sizes sizes;
            uint64_t most = play("a4", &t, &sizes);
            if (most)
                note(&extra, &sizes, most, t.name);
            play(n % 2 ? "mesh" : "a2", &t, &sizes);
            traffic_free(&t);
        }
    for (unsigned i = 0; i < STAGES; i++)
        print_message("stage %u: %.3f P more than lemma 3, %u ranks, %s\n",
                      i + 1, extra.most[i], extra.ranks[i], extra.traffic[i]);
}

/* Rooms beyond what lemma 3 says: a few elements for each destination. */
static void check_room(const struct mesh *m, unsigned stage, double elements,
                       uint64_t most)
{
    double lemma = lemma_3(m, stage, COMPLETE, most);
    double other = lemma_3(m, stage, INCOMPLETE, most);
    lemma = m->rest && other > lemma ? other : lemma;
    assert_true(elements - lemma <= (m->rest ? 6.2 : 2.7) * m->ranks);
}

static void test_rooms(void **state)
{
    const dcoll_traffic_t traffic = {
        .element = ELEMENT, .max_pair = 1 << 30, .max_rank = 1 << 30};
    for (unsigned n = 1; n <= RANKS; n++) {
        const struct mesh m = mesh_of(n);
        struct stage_bound bound[STAGES_MAX];
        stages_bounds(&stages_a4, &m, &traffic, bound);
        for (unsigned i = 0; i < STAGES; i++)
            check_room(&m, i, bound[i].elements, traffic.max_rank);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divisible), cmocka_unit_test(test_a2),
        cmocka_unit_test(test_hot_spot),  cmocka_unit_test(test_any),
        cmocka_unit_test(test_rooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

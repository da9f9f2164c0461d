/* SPDX-License-Identifier: BSD-3-Clause */
/* The history remembers which pages a program used in its intervals. It tells
 * the turns of a loop apart, and it ends learning by faults for names that do
 * not come back. */
#include "unit.h"
#include "dsm/pages/history.h"
#include "dsm/pages/pages.h"

enum { PAGES = 16, INTERVALS = 3000, MOST = 256 };

static size_t remembered(const ddsm_t *d)
{
    size_t sum = 0;
    for (size_t i = 0; i < (size_t)NAMES * PASTS; i++)
        for (unsigned k = 0; k < 2 * USES; k++)
            sum +=
                d->pasts[i / PASTS][i % PASTS].list[k / USES][k % USES].count;
    return sum;
}

/* A space of few pages, whose names have no past. */
struct scene {
    ddsm_t d;
    struct page page[PAGES];
    uint32_t recorded[USES][PAGES];
};

static void begin(struct scene *s)
{
    *s = (struct scene){
        .d = {.page = s->page,
              .pages = PAGES,
              .foretold_by = NAMES,
              .recorded = {{.page = s->recorded[0]}, {.page = s->recorded[1]}},
              .pasts = calloc(NAMES, sizeof *s->d.pasts)}};
    assert_non_null(s->d.pasts);
    for (size_t p = 0; p < PAGES; p++)
        s->page[p].state = PAGE_INVALID;
}

/* Memory is limited. */
static void new_names(void **state)
{
    struct scene s;
    size_t most = 0;
    begin(&s);
    for (uint64_t n = 1; n <= INTERVALS; n++) {
        /* the last name comes back, and foretells badly */
        const uint64_t names[DDSM_NAMES] = {n, 2 * n, 1 + n % 5};
        s.d.interval++;
        history_turn(&s.d, names);
        assert_int_equal(s.d.remembered, remembered(&s.d));
        history_record(&s.d, USE_FETCH, n % PAGES, PAGES - n % PAGES);
        history_record(&s.d, USE_WRITE, 0, n % PAGES);
        if (s.d.remembered > most)
            most = s.d.remembered;
    }
    assert_in_range(most, MOST * PAGES / 2, MOST * PAGES);
    history_close(&s.d);
}

/* The more exact names do not come back, and the last one foretells neither
 * well nor badly: faults to learn what the others use are limited. */
static void vain_names(void **state)
{
    enum { PART = 8 };
    struct scene s;
    unsigned learnt = 0;
    begin(&s);
    for (uint64_t n = 1; n <= INTERVALS; n++) {
        const uint64_t names[DDSM_NAMES] = {2 * n, 2 * n + 1, 1};
        s.d.interval++;
        history_turn(&s.d, names);
        learnt += s.d.learning;
        for (size_t p = 0; p < PAGES; p++)
            if ((p + n) % PART)
                history_record(&s.d, USE_FETCH, p, 1);
    }
    assert_in_range(learnt, 1, INTERVALS / 4);
    history_close(&s.d);
}

/* The more exact names come back, but the last one foretells well: they need
 * no tests of their own. */
static void needless_names(void **state)
{
    enum { PERIOD = 50, TIMES = 6 };
    struct scene s;
    unsigned learnt = 0;
    begin(&s);
    for (uint64_t n = 0; n < (uint64_t)PERIOD * TIMES; n++) {
        s.d.interval++;
        const struct page_list *list =
            history_turn(&s.d, (uint64_t[DDSM_NAMES]){2 + n % PERIOD, 0, 1});
        learnt += s.d.learning;
        if (!list || s.d.learning)
            history_record(&s.d, USE_FETCH, 0, PAGES);
    }
    assert_in_range(learnt, 1, PERIOD * TIMES / 8);
    history_close(&s.d);
}

/* A loop uses pages in each turn but the last one, which ends with a barrier,
 * too. Returns how many pages are fetched in advance in that one. */
static size_t run_loop(struct scene *s, unsigned turns)
{
    enum { FIRST = 3, COUNT = 4 };
    size_t foretold = 0;
    s->d.interval += 2; /* without a name */
    history_turn(&s->d, (uint64_t[DDSM_NAMES]){0});
    for (unsigned t = 0; t < turns; t++) {
        s->d.interval++;
        const struct page_list *list =
            history_turn(&s->d, (uint64_t[DDSM_NAMES]){7});
        foretold = list ? list[USE_FETCH].count : 0;
        if (t + 1 < turns && (!foretold || s->d.learning))
            history_record(&s->d, USE_FETCH, FIRST, COUNT);
        if (t + 1 < turns && t > 1)
            assert_int_equal(foretold, COUNT);
    }
    return foretold;
}

static void last_turn(void **state)
{
    enum { TURNS = 10, RUNS = 60 };
    struct scene s;
    unsigned wrong = 0;
    begin(&s);
    for (unsigned run = 0; run < RUNS; run++)
        wrong += run_loop(&s, TURNS) != 0;
    assert_in_range(wrong, 1, 2);
    history_close(&s.d);
}

/* All turns of a loop use the same pages: what their names take over from that
 * of the loop is tested once. */
static void equal_turns(void **state)
{
    enum { TURNS = 10, RUNS = 8 };
    struct scene s;
    unsigned learnt = 0;
    begin(&s);
    for (unsigned run = 0; run < RUNS; run++) {
        s.d.interval += 2; /* without a name */
        history_turn(&s.d, (uint64_t[DDSM_NAMES]){0});
        for (unsigned t = 0; t < TURNS; t++) {
            s.d.interval++;
            const struct page_list *list =
                history_turn(&s.d, (uint64_t[DDSM_NAMES]){7});
            learnt += s.d.learning;
            assert_int_equal(list ? list[USE_FETCH].count : 0,
                             run || t ? PAGES : 0);
            if (!list || s.d.learning)
                history_record(&s.d, USE_FETCH, 0, PAGES);
        }
    }
    assert_in_range(learnt, TURNS, 2 * TURNS);
    history_close(&s.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_names),      cmocka_unit_test(vain_names),
        cmocka_unit_test(needless_names), cmocka_unit_test(last_turn),
        cmocka_unit_test(equal_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

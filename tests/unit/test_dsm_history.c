/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a program whose intervals always have new names is limited. */
#include "unit.h"
#include "dsm/pages/history.h"
#include "dsm/pages/pages.h"

enum { PAGES = 16, INTERVALS = 3000, MOST = 256 };

void pages_sort(struct page_list *list)
{
}

static size_t remembered(const ddsm_t *d)
{
    size_t sum = 0;
    for (size_t i = 0; i < (size_t)DDSM_NAMES * PASTS; i++)
        for (unsigned k = 0; k < 2 * USES; k++)
            sum +=
                d->pasts[i / PASTS][i % PASTS].list[k / USES][k % USES].count;
    return sum;
}

static void new_names(void **state)
{
    struct page page[PAGES] = {{0}};
    uint32_t recorded[USES][PAGES];
    ddsm_t d = {.page = page,
                .pages = PAGES,
                .foretold_by = DDSM_NAMES,
                .recorded = {{.page = recorded[0]}, {.page = recorded[1]}},
                .pasts = calloc(DDSM_NAMES, sizeof *d.pasts)};
    size_t most = 0;
    assert_non_null(d.pasts);
    for (uint64_t n = 1; n <= INTERVALS; n++) {
        /* the last name comes back, and foretells badly */
        const uint64_t names[DDSM_NAMES] = {n, 2 * n, 1 + n % 5};
        history_turn(&d, names);
        assert_int_equal(d.remembered, remembered(&d));
        history_record(&d, USE_FETCH, n % PAGES, PAGES - n % PAGES);
        history_record(&d, USE_WRITE, 0, n % PAGES);
        if (d.remembered > most)
            most = d.remembered;
    }
    assert_in_range(most, MOST * PAGES / 2, MOST * PAGES);
    history_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

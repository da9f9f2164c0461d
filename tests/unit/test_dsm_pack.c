/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs of changes: made and carried out; cut short, and with wrong lines. */
#include "unit.h"
#include "dsm/pages/pack.h"
#include "dsm/pages/pages.h"

enum { PAGE = 4096, PAGES = 8, BYTES = PAGES * PAGE, RANKS = 3 };

static _Alignas(64) char store[BYTES], twins[BYTES], home[BYTES];
static char pack[4 * BYTES];
static struct page page[PAGES];
static struct page_cost cost[PAGES];
static uint32_t number[PAGES], grouped[PAGES];
static size_t group[RANKS + 1];
static struct pack_part parts[RANKS];

void pages_announce(ddsm_t *d, size_t p)
{
    d->page[p].written = true;
}

void pages_count_write(ddsm_t *d, size_t p)
{
    d->page[p].writes++;
}

/* Of rank 0, which has written all pages; the homes take turns. */
static ddsm_t space_of(size_t room)
{
    ddsm_t d = {
        .store = store,
        .twins = twins,
        .bytes = BYTES,
        .page_shift = 12,
        .size = RANKS,
        .page = page,
        .cost = cost,
        .dirty = {number, PAGES},
        .grouped = grouped,
        .group = group,
        .control = {.pack = pack, .pack_parts = parts, .pack_room = room}};
    for (unsigned p = 0; p < PAGES; p++) {
        number[p] = p;
        page[p] = (struct page){.home = (uint16_t)(p % RANKS)};
    }
    for (size_t i = 0; i < BYTES; i++)
        store[i] = home[i] = twins[i] = (char)random();
    return d;
}

static bool apply(const char *from, size_t bytes)
{
    const ddsm_t d = {.store = home, .bytes = BYTES};
    /* a sanitizer sees what is read behind it */
    char *copy = malloc(bytes + !bytes);
    assert_non_null(copy);
    copy[0] = 0;
    memcpy(copy, from, bytes);
    const bool right = pack_apply((ddsm_t *)&d, copy, copy + bytes);
    free(copy);
    return right;
}

static void check_homes(void)
{
    for (unsigned r = 0; r < RANKS; r++)
        assert_true(apply(pack + parts[r].offset, parts[r].bytes));
    assert_int_equal(parts[0].bytes, 0);
    for (unsigned p = 0; p < PAGES; p++) {
        const void *wanted = page[p].packed ? store : twins;
        assert_memory_equal(home + p * PAGE, (const char *)wanted + p * PAGE,
                            PAGE);
        assert_true(page[p].written == page[p].packed);
    }
}

static bool pack_all(ddsm_t *d)
{
    return pack_changes(d, &d->dirty, 4);
}

/* Page p has a change at every (p + 1)th byte; page 7 has two. */
static void made_and_carried_out(void **state)
{
    ddsm_t d = space_of(sizeof pack);
    for (size_t i = 0; i < BYTES; i++)
        if (i / PAGE < 7 ? i % (i / PAGE + 1) == 0 : i % 3000 == 0)
            store[i]++;
    for (unsigned p = 0; p < PAGES; p++)
        page[p].element_shift = p == 5 ? 3 : 0;
    assert_true(pack_all(&d));
    for (unsigned p = 0; p < PAGES; p++) /* page 5 differs in one piece */
        assert_int_equal(page[p].packed, p % RANKS && p != 5 && p != 7);
    check_homes();
}

static void without_room(void **state)
{
    ddsm_t d = space_of(2 * PAGE);
    for (size_t i = 0; i < BYTES; i += 3)
        store[i]++;
    assert_true(pack_all(&d));
    assert_true(page[1].packed && !page[7].packed);
    check_homes();
}

static void cut_short(void **state)
{
    ddsm_t d = space_of(sizeof pack);
    for (size_t i = 0; i < PAGE; i += 2)
        store[PAGE + i]++;
    memset(store + PAGE, 1, 64);
    memset(twins + PAGE, 2, 64);
    assert_true(pack_all(&d));
    assert_true(apply(pack, 0));
    for (size_t bytes = 1; bytes < parts[1].bytes; bytes++)
        assert_false(apply(pack, bytes));
    assert_true(apply(pack, parts[1].bytes));
}

static void wrong_lines(void **state)
{
    const uint64_t lines = BYTES / 64;
    const uint64_t wrong[][2] = {{lines, 0},      {lines - 1, 2},
                                 {1, lines},      {UINT64_MAX, 1},
                                 {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    static char part[4 * BYTES];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(part, wrong[i], sizeof wrong[i]);
        assert_false(apply(part, sizeof part));
    }
}

/* Two runs of a line each. */
static void wrong_order(void **state)
{
    static char part[2 * (16 + 8 + 1)];
    const uint64_t mask = 1;
    for (uint64_t first = 0; first < 3; first++) {
        for (uint64_t i = 0; i < 2; i++) {
            const uint64_t run[2] = {i ? 1 : first, 1};
            memcpy(part + i * 25, run, 16);
            memcpy(part + i * 25 + 16, &mask, 8);
        }
        assert_true(apply(part, sizeof part) == (first < 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_and_carried_out),
        cmocka_unit_test(without_room),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(wrong_lines),
        cmocka_unit_test(wrong_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond checks the atomics that a peer asks for. It executes those that may
 * access their words, and no others. */
#include "unit.h"

#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"
#include "providers/bond/message/message.h"

#define WORDS  4u
#define KEY    (5 * CORE_MAX_MRS + 3)
#define ZONE   7
#define ATOMIC CORE_PRIV_REMOTE_ATOMIC

static struct core_mr mrs[CORE_MAX_MRS];
static struct core_ia core = {.mrs = mrs};
static struct bond_ia ia = {.ia = &core};
static struct bond_zone zone = {.id = ZONE};
static struct bond_range range;
static uint64_t word[WORDS];
static struct bond_conn conn;

/* -------------------------------------------------- instead of the bond --- */

struct bond_range *bond_range_find(struct bond_ia *b, uint32_t key)
{
    const struct core_mr *mr = core_mr_find(b->ia, key);
    return mr && !range.leaving ? &range : NULL;
}

void bond_request_fail(struct bond_conn *c, uint64_t request,
                       DAT_DTO_COMPLETION_STATUS status)
{
}

void bond_request_look(struct bond_conn *c, uint64_t request)
{
}

/* ---------------------------------------------------------------- tests --- */

static void begin(int priv)
{
    memset(word, 0, sizeof word);
    conn = (struct bond_conn){.b = &ia, .zone = &zone};
    range.leaving = false;
    mrs[KEY % CORE_MAX_MRS] = (struct core_mr){.key = KEY,
                                               .base = (uintptr_t)&word[1],
                                               .length = 2 * sizeof *word,
                                               .priv = priv,
                                               .pz_id = ZONE};
}

static void arrive(struct bond_atomic ask)
{
    struct {
        struct bond_header h;
        struct bond_atomic ask;
    } message = {{.kind = BOND_ATOMIC, .bytes = sizeof ask}, ask};
    bond_atomic_execute(&conn, &message.h);
    assert_true(conn.answers_due);
}

static void expect_refused(struct bond_atomic ask)
{
    arrive(ask);
    assert_true(conn.answers.refused);
    assert_int_equal(conn.answers.count, 0);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(word[i], 0);
}

static struct bond_atomic add_to(uint64_t address, uint32_t key)
{
    return (struct bond_atomic){.address = address, .operand = 1, .key = key};
}

static void executed(void **state)
{
    struct bond_atomic ask = add_to((uintptr_t)&word[2], KEY);
    begin(ATOMIC);
    arrive(ask);
    assert_int_equal(word[2], 1);
    memset(&ask.swap, 0xfe, sizeof ask.swap); /* any byte but 0 */
    ask.compare = 1;
    ask.operand = 9;
    arrive(ask);
    assert_int_equal(word[2], 9);
    arrive(ask);
    assert_int_equal(word[2], 9);
    assert_int_equal(conn.answers.count, 3);
    assert_int_equal(conn.answers.old[0], 0);
    assert_int_equal(conn.answers.old[1], 1);
    assert_int_equal(conn.answers.old[2], 9);
    assert_false(conn.answers.refused);
}

static void refused(void **state)
{
    const struct bond_atomic asks[] = {
        add_to((uintptr_t)&word[0], KEY),
        add_to((uintptr_t)&word[3], KEY),
        add_to((uintptr_t)&word[1] + 4, KEY), /* not aligned */
        add_to((uintptr_t)&word[2] + 4, KEY),
        add_to(0, KEY),
        add_to(UINT64_MAX - 7, KEY),
        add_to((uintptr_t)&word[1], 0),
        add_to((uintptr_t)&word[1], KEY + 1),
        add_to((uintptr_t)&word[1], KEY + CORE_MAX_MRS), /* later generation */
        add_to((uintptr_t)&word[1], KEY - CORE_MAX_MRS),
        add_to((uintptr_t)&word[1], UINT32_MAX),
    };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        begin(ATOMIC);
        expect_refused(asks[i]);
    }
}

static void of_no_right(void **state)
{
    const struct bond_atomic ask = add_to((uintptr_t)&word[1], KEY);
    begin((int)DAT_MEM_PRIV_ALL_FLAG);
    expect_refused(ask);
    begin(ATOMIC);
    mrs[KEY % CORE_MAX_MRS].pz_id = ZONE + 1;
    expect_refused(ask);
    begin(ATOMIC);
    range.leaving = true;
    expect_refused(ask);
}

static void too_short(void **state)
{
    const struct bond_header h = {.kind = BOND_ATOMIC};
    begin(ATOMIC);
    bond_atomic_execute(&conn, &h);
    assert_true(conn.answers.refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executed),
        cmocka_unit_test(refused),
        cmocka_unit_test(of_no_right),
        cmocka_unit_test(too_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that differ between a page and its twin, against a comparison byte by
 * byte. */
#include "unit.h"
#include "dsm/pages/diff.h"

enum { BYTES = 4096 };

struct found {
    char mark[BYTES];
    size_t pieces, end, stop_after;
};

static int piece(void *context, size_t offset, size_t bytes)
{
    struct found *f = context;
    assert_true(bytes > 0 && offset + bytes <= BYTES);
    /* in order, and never side by side */
    assert_true(f->pieces == 0 || offset > f->end);
    f->end = offset + bytes;
    f->pieces++;
    memset(f->mark + offset, 1, bytes);
    return f->pieces == f->stop_after ? 7 : 0;
}

static void compare(const char *a, const char *b, unsigned grain)
{
    struct found f = {.pieces = 0};
    const size_t element = (size_t)1 << grain;
    assert_int_equal(diff_pieces(a, b, BYTES, grain, piece, &f), 0);
    for (size_t i = 0; i < BYTES; i++) {
        const size_t e = i / element * element;
        assert_int_equal(f.mark[i], memcmp(a + e, b + e, element) != 0);
    }
}

static void drawn(void **state)
{
    static _Alignas(64) char a[BYTES], b[BYTES];
    srandom(5);
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < BYTES; i++)
            a[i] = b[i] = (char)random();
        /* from some bytes to most of them, alone and in rows */
        for (unsigned n = (unsigned)random() % (round % 3 ? 20 : 800); n; n--) {
            size_t at = (size_t)random() % BYTES;
            size_t row = round % 2 ? 1 : (size_t)random() % 200;
            for (; row && at < BYTES; row--, at++)
                b[at] = (char)(b[at] + 1);
        }
        for (unsigned grain = 0; grain <= 6; grain++)
            compare(a, b, grain);
    }
}

static void none_and_all(void **state)
{
    static _Alignas(64) char a[BYTES], b[BYTES];
    struct found f = {.pieces = 0};
    assert_int_equal(diff_pieces(a, b, BYTES, 3, piece, &f), 0);
    assert_int_equal(f.pieces, 0);
    memset(b, 1, BYTES);
    assert_int_equal(diff_pieces(a, b, BYTES, 0, piece, &f), 0);
    assert_int_equal(f.pieces, 1);
    assert_int_equal(f.end, BYTES);
}

static void stops(void **state)
{
    static _Alignas(64) char a[BYTES], b[BYTES];
    struct found f = {.stop_after = 2};
    b[0] = b[100] = b[200] = b[BYTES - 1] = 1;
    assert_int_equal(diff_pieces(a, b, BYTES, 0, piece, &f), 7);
    assert_int_equal(f.pieces, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn),
        cmocka_unit_test(none_and_all),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

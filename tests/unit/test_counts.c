/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/counts: the patterns of irregular all-to-all, and files of counts. */
#include <errno.h>
#include <unistd.h>
#include "unit.h"
#include "bench/counts/counts.h"

#define M 100

/* Pattern1: each rank has one destination of M, and `rest` for all others. */
static void test_spike(void **state)
{
    const counts_t c = {COUNTS_SPIKE, .ranks = 16, .rest = 3, .seed = 7};
    unsigned different = 0, first = 16;
    for (unsigned i = 0; i < 16; i++) {
        unsigned spikes = 0, at = 0;
        for (unsigned j = 0; j < 16; j++) {
            uint64_t n = counts_of(&c, M, i, j);
            assert_true(n == M || n == 3);
            at = n == M ? j : at;
            spikes += n == M;
        }
        assert_int_equal(spikes, 1);
        first = i ? first : at;
        different += at != first;
    }
    assert_true(different > 0);
    /* not more than M */
    assert_int_equal(counts_sum(&c, 2).longest, 2);
    assert_int_equal(counts_sum(&c, 2).total, 2 * 16 * 16);
}

/* Pattern2: j = (i % C) C + i / C; a permutation, its own inverse. */
static void test_transpose(void **state)
{
    for (unsigned n = 1; n <= 40; n++) {
        const counts_t c = {COUNTS_TRANSPOSE, .ranks = n, .rest = 0};
        unsigned columns = 1;
        while (columns * columns < n)
            columns++;
        for (unsigned i = 0; i < n; i++) {
            unsigned j = i % columns * columns + i / columns;
            assert_int_equal(counts_of(&c, M, i, j < n ? j : i), M);
            if (columns * columns == n)
                assert_int_equal(counts_of(&c, M, j, i), M);
        }
        assert_int_equal(counts_sum(&c, M).total, n * M);
        if (columns * columns == n)
            assert_int_equal(counts_sum(&c, M).most, M);
    }
}

static void test_others(void **state)
{
    const counts_t one = {COUNTS_ALLTOONE, .ranks = 5};
    const counts_sums_t s = counts_sum(&one, M);
    assert_int_equal(s.total, 5 * M);
    assert_int_equal(s.moved, 4 * M);
    assert_int_equal(s.most, 5 * M);
    assert_int_equal(s.longest, M);

    const counts_t zipf = {COUNTS_ZIPF, .ranks = 5, .exponent = 2};
    assert_int_equal(counts_of(&zipf, M, 3, 0), M);
    assert_int_equal(counts_of(&zipf, M, 3, 1), M / 4);
    assert_int_equal(counts_of(&zipf, M, 0, 4), M / 25);
    const counts_t flat = {COUNTS_ZIPF, .ranks = 5, .exponent = 0};
    assert_int_equal(counts_sum(&flat, M).total, 25 * M);

    const counts_t uniform = {COUNTS_UNIFORM, .ranks = 30, .seed = 1};
    const counts_t other = {COUNTS_UNIFORM, .ranks = 30, .seed = 2};
    unsigned differ = 0;
    for (unsigned i = 0; i < 30; i++)
        for (unsigned j = 0; j < 30; j++) {
            assert_true(counts_of(&uniform, M, i, j) <= M);
            differ +=
                counts_of(&uniform, M, i, j) != counts_of(&other, M, i, j);
        }
    assert_true(differ > 800);
    double mean = (double)counts_sum(&uniform, M).total / 900;
    assert_true(mean > 45 && mean < 55);
}

/* Reads a file with this text. NULL: it is good; else the reason. */
static const char *read_text(counts_t *c, const char *text)
{
    static char why[128];
    char path[] = "/tmp/counts-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    *c = (counts_t){COUNTS_FILE, .ranks = 2};
    int rc = counts_read(c, path, why, sizeof why);
    unlink(path);
    return rc ? why : NULL;
}

static void test_file(void **state)
{
    counts_t c;
    assert_null(read_text(&c, "# counts\n1 2\n\n3,\t4294967295 # last"));
    assert_int_equal(counts_of(&c, 1, 0, 0), 1);
    assert_int_equal(counts_of(&c, 1, 1, 1), UINT32_MAX);
    assert_int_equal(counts_of(&c, 3, 1, 0), 9);
    assert_int_equal(counts_sum(&c, 2).moved, 10);
    free(c.file);
    const struct {
        const char *text, *why;
    } bad[] = {
        {"", "the file ends after line 0, with 0 of them"},
        {"1 2\n", "the file ends after line 1, with 1 of them"},
        {"1 2\n3\n", "line 2 ends after column 1"},
        {"1 2\n3 4 5\n", "line 2, column 3 is one too many"},
        {"1 2\n3 4\n\n5 6\n", "line 4, column 1 is one too many"},
        {"1 2\n3 -4\n", "line 2, column 2 is '-4'"},
        {"1 x\n", "line 1, column 2 is 'x'"},
        {"1 4294967296\n", "line 1, column 2 is '4294967296'"},
        {"1 99999999999999999999\n",
         "line 1, column 2 is '99999999999999999999'"},
        {"1.5 2\n", "line 1, column 1 is '1.5'"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = read_text(&c, bad[i].text);
        assert_non_null(why);
        assert_string_equal(why, bad[i].why);
        free(c.file);
    }
}

/* Opened, but there is nothing to read. */
static void test_directory(void **state)
{
    char why[128] = "";
    counts_t c = {COUNTS_FILE, .ranks = 2};
    assert_int_equal(counts_read(&c, "/tmp", why, sizeof why), -1);
    assert_string_equal(why, strerror(EISDIR));
    free(c.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spike),     cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_others),    cmocka_unit_test(test_file),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

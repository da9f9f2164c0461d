/* SPDX-License-Identifier: BSD-3-Clause */
/* Results on standard output are alone there: providers write to it, too. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "bench/report/output.h"

static int out, err; /* written there */
static int old_out, old_err;

static int set_up(void **state)
{
    out = memfd_create("out", MFD_CLOEXEC);
    err = memfd_create("err", MFD_CLOEXEC);
    fflush(stdout);
    old_out = dup(STDOUT_FILENO);
    old_err = dup(STDERR_FILENO);
    return dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0;
}

static int put_back(void **state)
{
    fflush(stdout);
    dup2(old_out, STDOUT_FILENO);
    dup2(old_err, STDERR_FILENO);
    close(old_out);
    close(old_err);
    close(out);
    close(err);
    return 0;
}

static int write_row(FILE *file, format_t format, const void *result)
{
    fprintf(file, "%s\n", (const char *)result);
    return 0;
}

static const char *text_of(int fd)
{
    static char text[256];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void provider_complains(void **state)
{
    static const options_t opts = {.format = FORMAT_CSV};
    outputs_t outputs = {0};
    assert_int_equal(outputs_open(&outputs, &opts, "test"), 0);
    printf("DAPL ERR\n");
    fflush(stdout);
    assert_int_equal(outputs_write(&outputs, write_row, "bytes,us"), 0);
    outputs_discard(&outputs);
    assert_string_equal(text_of(out), "bytes,us\n");
    assert_string_equal(text_of(err), "DAPL ERR\n");
}

/* Nobody is there: the run fails before it measures anything. */
static void closed(void **state)
{
    static const options_t opts = {.format = FORMAT_CSV};
    outputs_t outputs = {0};
    fflush(stdout);
    close(STDOUT_FILENO);
    assert_int_equal(outputs_open(&outputs, &opts, "test"), -1);
    outputs_discard(&outputs);
    clearerr(stdout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(provider_complains, set_up, put_back),
        cmocka_unit_test_setup_teardown(closed, set_up, put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of copies that bypass the caches: by measuring, or by stream= of
 * dat.conf. The attribute `copies` shows it; the bytes are correct either way.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define BYTES (6 << 20)
#define IMAGE (BYTES + 2 * GUARD)

typedef struct fixture {
    peer_t peer;
    end_t me;
    uint64_t seed, id;
} fixture_t;

static void open_pair(fixture_t *f)
{
    *f = (fixture_t){.seed = 2026};
    peer_open(&f->peer, &f->me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, BYTES,
                                DAT_MEM_PRIV_ALL_FLAG});
    fill(f->me.mem.all, IMAGE, 2);
}

static void close_pair(fixture_t *f)
{
    peer_close(&f->peer, &f->me);
}

static void write_one(fixture_t *f, size_t from, size_t to, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, from, bytes);
    DAT_RMR_TRIPLET target = remote(&f->peer.end.mem, to, bytes);
    uint64_t id = ++f->id;
    DAT_OK(dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(id), &target, 0));
    EXPECT_DTO(f->me.request, id, DAT_DTO_SUCCESS, bytes);
}

static void read_one(fixture_t *f, size_t to, size_t from, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, to, bytes);
    DAT_RMR_TRIPLET source = remote(&f->peer.end.mem, from, bytes);
    uint64_t id = ++f->id;
    DAT_OK(dat_ep_post_rdma_read(f->me.ep, 1, &iov, cookie(id), &source, 0));
    EXPECT_DTO(f->me.request, id, DAT_DTO_SUCCESS, bytes);
}

static const char *attribute(fixture_t *f, const char *name)
{
    const char *value = provider_attribute(f->me.ia, name);
    if (!value)
        fail_msg("no attribute %s", name);
    return value;
}

/* Other processors have no such stores; then every copy is plain. */
static void skip_if_plain(fixture_t *f)
{
    if (strcmp(attribute(f, "copies"), "plain"))
        return;
    close_pair(f);
    skip();
}

static long streamed(fixture_t *f)
{
    return atol(attribute(f, "copies_non_temporal"));
}

static size_t below(fixture_t *f, size_t limit)
{
    return random_next(&f->seed) % limit;
}

/* Every alignment, and lengths around lines, pages and groups of pages. */
static void exact(void **state)
{
    static const size_t around[] = {64,        128,      4096,     8192,
                                    3 * 4096,  4 * 4096, 5 * 4096, 8 * 4096,
                                    64 * 4096, 1u << 20};
    static unsigned char image[IMAGE], found[IMAGE];
    fixture_t f;
    open_pair(&f);
    fill(image, IMAGE, 1);
    peer_fill(&f.peer, 1);
    for (size_t i = 0; i < 4 * sizeof around / sizeof *around; i++) {
        size_t n = around[i / 4] + below(&f, 130) - 65 + 2, room = BYTES - n;
        size_t from = below(&f, room), to = below(&f, room);
        memcpy(image + GUARD + to, f.me.mem.data + from, n);
        write_one(&f, from, to, n);
        from = below(&f, room), to = 1 + below(&f, room - 1);
        unsigned char before = f.me.mem.data[to - 1];
        unsigned char after = f.me.mem.data[to + n];
        read_one(&f, to, from, n);
        assert_memory_equal(f.me.mem.data + to, image + GUARD + from, n);
        assert_int_equal(f.me.mem.data[to - 1], before);
        assert_int_equal(f.me.mem.data[to + n], after);
    }
    peer_read(&f.peer, found);
    assert_memory_equal(found, image, IMAGE);
    close_pair(&f);
}

static void given_always(void **state)
{
    fixture_t f;
    open_pair(&f);
    skip_if_plain(&f);
    assert_string_equal(attribute(&f, "copies"), "non-temporal from 128");
    long before = streamed(&f);
    write_one(&f, 0, 0, 127);
    read_one(&f, 0, 0, 127);
    assert_int_equal(streamed(&f), before);
    write_one(&f, 0, 0, 128);
    read_one(&f, 0, 0, 1 << 20);
    assert_int_equal(streamed(&f), before + 2);
    close_pair(&f);
}

static void given_never(void **state)
{
    fixture_t f;
    open_pair(&f);
    skip_if_plain(&f);
    assert_string_equal(attribute(&f, "copies"),
                        "non-temporal from 1073741824");
    write_one(&f, 0, 0, 4 << 20);
    read_one(&f, 0, 0, 4 << 20);
    assert_int_equal(streamed(&f), 0);
    close_pair(&f);
}

/* The attribute names the way of copying for a direction and size: "plain",
 * … */
static void expect_known(fixture_t *f, const char *direction, bool known[3])
{
    static const char *const sizes[] = {"512K ", "2M ", "8M "};
    const char *text = strstr(attribute(f, "copies"), direction);
    assert_non_null(text);
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(text, sizes[i]);
        assert_non_null(at);
        at += strlen(sizes[i]);
        bool measured =
            !strncmp(at, "plain", 5) || !strncmp(at, "non-temporal", 12);
        assert_int_equal(measured, known[i]);
        assert_true(measured || !strncmp(at, "unmeasured", 10));
    }
}

static bool says_streamed(fixture_t *f, const char *what)
{
    const char *text = strstr(attribute(f, "copies"), what);
    assert_non_null(text);
    return !strncmp(text + strlen(what), "non-temporal", 12);
}

/* Measured when first needed, for that size and direction alone; then what
 * was measured is what is done. */
static void measured(void **state)
{
    fixture_t f;
    open_pair(&f);
    skip_if_plain(&f);
    write_one(&f, 0, 0, (512 << 10) - 1);
    expect_known(&f, "writes: ", (bool[]){false, false, false});
    assert_int_equal(streamed(&f), 0);

    write_one(&f, 0, 0, 512 << 10);
    expect_known(&f, "writes: ", (bool[]){true, false, false});
    expect_known(&f, "reads: ", (bool[]){false, false, false});
    long each = says_streamed(&f, "writes: 512K ");
    assert_int_equal(streamed(&f), each);
    for (int i = 0; i < 3; i++)
        write_one(&f, 0, 0, 1 << 20);
    assert_int_equal(streamed(&f), 4 * each);

    read_one(&f, 0, 0, 4 << 20);
    expect_known(&f, "reads: ", (bool[]){false, true, false});
    expect_known(&f, "writes: ", (bool[]){true, false, false});
    close_pair(&f);
}

/* The way to fetch a long send is measured when the receive is posted: not when
 * it is filled, which may be under locks. */
static void measured_by_a_receive(void **state)
{
    fixture_t f;
    open_pair(&f);
    skip_if_plain(&f);
    DAT_LMR_TRIPLET iov = local(&f.me.mem, 0, BYTES);
    expect_known(&f, "reads: ", (bool[]){false, true, false});
    DAT_OK(dat_ep_post_recv(f.me.ep, 1, &iov, cookie(1), 0));
    peer_post_send(&f.peer, 0, 512 << 10, 1, 0);
    EXPECT_DTO(f.me.recv, 1, DAT_DTO_SUCCESS, 512 << 10);
    expect_known(&f, "reads: ", (bool[]){false, true, false});
    iov = local(&f.me.mem, 0, 1 << 20);
    DAT_OK(dat_ep_post_recv(f.me.ep, 1, &iov, cookie(2), 0));
    expect_known(&f, "reads: ", (bool[]){true, true, false});
    close_pair(&f);
}

/* -------------------------------------------------- runs by parameter --- */

/* A dat.conf in which the rail has these parameters. */
static void write_conf(const char *path, const char *params)
{
    char line[4096];
    FILE *in = fopen(getenv("DAT_OVERRIDE"), "r"), *out = fopen(path, "w");
    assert_true(in && out);
    while (fgets(line, sizeof line, in)) {
        char *quotes = strstr(line, "\"\"");
        if (strncmp(line, IA_DEFAULT " ", sizeof IA_DEFAULT) || !quotes)
            continue;
        fprintf(out, "%.*s\"%s\"%s", (int)(quotes - line), line, params,
                quotes + 2);
    }
    fclose(in);
    fclose(out);
}

/* The registry reads dat.conf when a process starts: this program starts
 * itself again, and says by its argument which tests run there. */
static int run_with(const char *params, char *which)
{
    char conf[] = "/tmp/copy_choice_XXXXXX";
    int fd = mkstemp(conf), status = 1;
    assert_true(fd >= 0);
    close(fd);
    write_conf(conf, params);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("DAT_OVERRIDE", conf, 1);
        execv("/proc/self/exe", (char *[]){"test_copy_choice", which, NULL});
        _exit(127);
    }
    waitpid(pid, &status, 0);
    unlink(conf);
    return status;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest always[] = {cmocka_unit_test(exact),
                                        cmocka_unit_test(given_always)};
    const struct CMUnitTest never[] = {cmocka_unit_test(given_never)};
    const struct CMUnitTest choice[] = {
        cmocka_unit_test(measured), cmocka_unit_test(measured_by_a_receive)};
    if (argc < 2)
        return run_with("stream=128", "always") ||
               run_with("stream=1G", "never") || run_with("", "choice");
    if (!strcmp(argv[1], "always"))
        return cmocka_run_group_tests_name("stream=128", always, NULL, NULL);
    if (!strcmp(argv[1], "never"))
        return cmocka_run_group_tests_name("stream=1G", never, NULL, NULL);
    return cmocka_run_group_tests_name("measured", choice, NULL, NULL);
}

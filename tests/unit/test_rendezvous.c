/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0's side of the rendezvous: which connections it accepts, whatever
 * others send. */
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/job/socket.h"

#define PATIENT 30 /* seconds */
#define CROWD   1000
#define LOADED  1500 /* ms, in which a process comes on a busy machine */

static struct secret secret;
static struct addresses where;
static int listener;

static int setup(void **state)
{
    unsigned port;
    char text[32];
    secret_set(&secret, "of sixteen characters", 21);
    listener = address_listen_any(&port, NULL);
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    return listener < 0 || address_parse(&where, text);
}

static int teardown(void **state)
{
    close(listener);
    return 0;
}

/* A rank in a process of its own, which ends when it is in. */
static pid_t rank_comes(unsigned rank, unsigned size)
{
    drail_error_t err = {0};
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    alarm(PATIENT);
    int fd = rendezvous_connect(&where, rank, size, &secret, deadline_in(20000),
                                &err);
    if (fd < 0)
        fprintf(stderr, "# %s\n", err.text);
    char byte;
    if (fd >= 0) /* until the test lets it go */
        read(fd, &byte, 1);
    _exit(fd < 0);
}

static int stranger_connects(void)
{
    int fd = address_connect(&where.list[0], deadline_in(5000));
    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const void *data, size_t bytes)
{
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(5000)};
    assert_int_equal(socket_send(&s, data, bytes), 0);
}

/* Serves two ranks; the other one connects. */
static void both_meet(drail_error_t *err, int ms)
{
    int fds[2], status = 1;
    pid_t pid = rank_comes(1, 2);
    int rc = rendezvous_serve(listener, 2, &secret, deadline_in(ms), fds, err);
    if (rc)
        print_message("# %s\n", err->text);
    assert_int_equal(rc, 0);
    assert_true(fds[1] >= 0);
    close(fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void alone(void **state)
{
    int fds[1];
    assert_int_equal(
        rendezvous_serve(listener, 1, &secret, deadline_in(0), fds, NULL), 0);
}

/* They say nothing, or not enough, and stay. */
static void silent_strangers(void **state)
{
    struct join_request hello;
    drail_error_t err = {0};
    int fds[20];
    join_request_make(&hello, 1, 2);
    for (unsigned i = 0; i < 20; i++) {
        fds[i] = stranger_connects();
        say(fds[i], &hello, i % 4 * sizeof hello / 4);
    }
    both_meet(&err, 4000); /* less than a visitor may take */
    for (unsigned i = 0; i < 20; i++)
        close(fds[i]);
}

static void noisy_strangers(void **state)
{
    static const char *const noise[] = {
        "GET / HTTP/1.1\r\nHost: rank0\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
        "drailjob",
        ("drailjob, but then something else that is quite long, "
         "longer than a hello would be, so that more is said"),
        "\n"};
    drail_error_t err = {0};
    int fds[5];
    for (unsigned i = 0; i < 5; i++) {
        fds[i] = stranger_connects();
        say(fds[i], noise[i], strlen(noise[i]));
    }
    both_meet(&err, 4000);
    for (unsigned i = 0; i < 5; i++)
        close(fds[i]);
}

/* More than there are places: a rank's turn comes nevertheless. */
static void crowd(void **state)
{
    struct rlimit files;
    drail_error_t err = {0};
    int fds[CROWD];
    unsigned n = 0;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < CROWD + 100)
        skip();
    /* as many as the listener keeps waiting */
    for (; n < CROWD; n++)
        fds[n] = stranger_connects();
    both_meet(&err, 4000);
    while (n)
        close(fds[--n]);
}

/* Takes part until its proof is asked for. */
static int introduce(struct join_request *hello, struct join_reply *answer)
{
    int fd = stranger_connects();
    say(fd, hello, sizeof *hello);
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(10000)};
    assert_int_equal(socket_recv(&s, answer, sizeof *answer), 0);
    return fd;
}

/* In another process, as this one serves. */
static pid_t visitor(void (*visit)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    alarm(PATIENT);
    visit();
    _exit(0);
}

static void keep(unsigned size, int ms, int code, const char *text)
{
    int fds[4];
    drail_error_t err = {0};
    assert_int_equal(
        rendezvous_serve(listener, size, &secret, deadline_in(ms), fds, &err),
        code);
    if (!strstr(err.text, text))
        fail_msg("'%s' has no '%s'", err.text, text);
}

static void await(pid_t pid)
{
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void expect_answer(int fd, enum refusal refusal)
{
    struct join_reply answer;
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(10000)};
    assert_int_equal(socket_recv(&s, &answer, sizeof answer), 0);
    assert_int_equal(answer.refusal, refusal);
    close(fd);
}

static void other_version(void)
{
    struct join_request hello;
    struct join_reply answer;
    struct join_proof proof;
    join_request_make(&hello, 1, 2);
    snprintf(hello.version, sizeof hello.version, "9.8.7");
    int fd = introduce(&hello, &answer);
    handshake_mac(&secret, SIDE_RANK, &hello, &answer, proof.mac);
    say(fd, &proof, sizeof proof);
    expect_answer(fd, REFUSAL_VERSION);
}

static void versions(void **state)
{
    pid_t pid = visitor(other_version);
    keep(2, 10000, DRAIL_EINVAL, "runs dapl_rail 9.8.7, rank 0 runs");
    await(pid);
}

static void other_protocol(void)
{
    struct join_request hello;
    join_request_make(&hello, 1, 2);
    hello.preamble.protocol++;
    int fd = stranger_connects();
    say(fd, &hello, sizeof hello);
    expect_answer(fd, REFUSAL_PROTOCOL);
}

static void protocols(void **state)
{
    pid_t pid = visitor(other_protocol);
    keep(2, LOADED, DRAIL_ETIMEOUT, "speaks another protocol");
    await(pid);
}

/* A rank can't use the proof of another rank. */
static void replayed(void)
{
    struct join_request hello;
    struct join_reply first, second;
    struct join_proof proof;
    join_request_make(&hello, 1, 2);
    int spy = introduce(&hello, &first);
    handshake_mac(&secret, SIDE_RANK, &hello, &first, proof.mac);
    close(spy);
    int fd = introduce(&hello, &second);
    assert_memory_not_equal(first.nonce, second.nonce, NONCE_BYTES);
    say(fd, &proof, sizeof proof);
    expect_answer(fd, REFUSAL_SECRET);
}

static void replay(void **state)
{
    pid_t pid = visitor(replayed);
    keep(2, LOADED, DRAIL_ETIMEOUT, "has another secret");
    await(pid);
}

/* A false rank 0. */
static void false_root(void **state)
{
    drail_error_t err = {0};
    struct join_request hello;
    struct join_reply answer;
    struct join_proof proof;
    struct sockaddr_in6 from;
    socklen_t bytes = sizeof from;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        int rc =
            rendezvous_connect(&where, 1, 2, &secret, deadline_in(10000), &err);
        _exit(rc != DRAIL_EACCESS ||
              !strstr(err.text, "does not prove to be rank 0"));
    }
    struct timed_socket door = {.fd = listener, .deadline = deadline_in(10000)};
    assert_int_equal(socket_ready(&door, POLLIN), 0);
    int fd = accept(listener, (struct sockaddr *)&from, &bytes);
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(10000)};
    assert_int_equal(socket_recv(&s, &hello, sizeof hello), 0);
    join_reply_make(&answer, 2);
    say(fd, &answer, sizeof answer);
    assert_int_equal(socket_recv(&s, &proof, sizeof proof), 0);
    /* the rank's own proof is not rank 0's */
    memcpy(answer.mac, proof.mac, sizeof answer.mac);
    say(fd, &answer, sizeof answer);
    await(pid);
    close(fd);
}

/* A rank that had joined dies before the others are there. */
static void rank_comes_and_goes(unsigned rank, unsigned size)
{
    int fd = rendezvous_connect(&where, rank, size, &secret, deadline_in(10000),
                                NULL);
    assert_true(fd >= 0);
    close(fd);
}

static void rank_leaves(void)
{
    rank_comes_and_goes(2, 3);
}

static void early_end(void **state)
{
    pid_t pid = visitor(rank_leaves);
    keep(3, 20000, DRAIL_EPEER, "rank 2 has ended before all ranks had come");
    await(pid);
}

static void rank_stays(void)
{
    struct oob_header last;
    int fd =
        rendezvous_connect(&where, 1, 4, &secret, deadline_in(10000), NULL);
    assert_true(fd >= 0);
    rank_comes_and_goes(2, 4);
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(10000)};
    assert_int_equal(socket_recv(&s, &last, sizeof last), 0);
    assert_int_equal(last.status, DRAIL_EPEER);
    assert_int_equal(last.rank, 2);
}

/* ... and the others hear which, though rank 3 has not come either. */
static void early_end_is_told(void **state)
{
    pid_t pid = visitor(rank_stays);
    keep(4, 20000, DRAIL_EPEER, "rank 2 has ended before all ranks had come");
    await(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alone, setup, teardown),
        cmocka_unit_test_setup_teardown(silent_strangers, setup, teardown),
        cmocka_unit_test_setup_teardown(noisy_strangers, setup, teardown),
        cmocka_unit_test_setup_teardown(crowd, setup, teardown),
        cmocka_unit_test_setup_teardown(versions, setup, teardown),
        cmocka_unit_test_setup_teardown(protocols, setup, teardown),
        cmocka_unit_test_setup_teardown(replay, setup, teardown),
        cmocka_unit_test_setup_teardown(false_root, setup, teardown),
        cmocka_unit_test_setup_teardown(early_end, setup, teardown),
        cmocka_unit_test_setup_teardown(early_end_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

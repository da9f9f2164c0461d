/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank on its way to rank 0, which may be slow, or not the only one that
 * listens at its addresses. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/socket.h"

#define PATIENT 20000 /* ms */
#define SLOW_MS 3500  /* longer than one try may take */

static struct secret right, wrong;

static int group_setup(void **state)
{
    alarm(PATIENT / 1000 + 10);
    return secret_set(&right, "of sixteen characters", 21) ||
           secret_set(&wrong, "of another job's ranks", 22);
}

static int listen_at(struct address *a)
{
    unsigned port;
    char text[32];
    struct addresses where;
    int fd = address_listen_any(&port, NULL);
    assert_true(fd >= 0);
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    assert_int_equal(address_parse(&where, text), 0);
    *a = where.list[0];
    return fd;
}

/* Does it end when the other host is gone, whether there is something to say or
 * not? */
static bool notices(int fd)
{
    int keep = 0, idle = 0, ms = 0;
    socklen_t n = sizeof(int);
    return !getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &keep, &n) && keep &&
           !getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &n) &&
           idle <= 30 &&
           !getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &n) && ms > 0 &&
           ms <= 30000;
}

/* Rank 1 of 2, in a process of its own; ends with 0 when it is in. */
static pid_t rank_comes(const struct addresses *where, int ms)
{
    drail_error_t err = {0};
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    int fd = rendezvous_connect(where, 1, 2, &right, deadline_in(ms), &err);
    if (fd < 0)
        fprintf(stderr, "# %s\n", err.text);
    char byte;
    if (fd >= 0) /* until rank 0 lets it go */
        (void)!read(fd, &byte, 1);
    _exit(fd < 0 || !notices(fd));
}

/* Rank 0 of another job. */
static pid_t another_keeps(int listener)
{
    int fds[2];
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(rendezvous_serve(listener, 2, &wrong, deadline_in(PATIENT), fds,
                               NULL) != DRAIL_ETIMEOUT);
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Each host has 172.17.0.1, say, and jobs of others. */
static void another_job(void **state)
{
    struct addresses where = {.count = 2};
    int fds[2], other = listen_at(&where.list[0]);
    int own = listen_at(&where.list[1]);
    drail_error_t err = {0};
    pid_t stranger = another_keeps(other), rank = rank_comes(&where, PATIENT);
    int rc = rendezvous_serve(own, 2, &right, deadline_in(PATIENT), fds, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_true(notices(fds[1]));
    close(fds[1]);
    assert_int_equal(status_of(rank), 0);
    kill(stranger, SIGKILL);
    status_of(stranger);
    close(other);
    close(own);
}

/* Where nobody but others are, that is told at once. */
static void only_another_job(void **state)
{
    struct addresses where = {.count = 2};
    int other = listen_at(&where.list[0]), none = listen_at(&where.list[1]);
    drail_error_t err = {0};
    close(none);
    pid_t stranger = another_keeps(other);
    assert_int_equal(
        rendezvous_connect(&where, 1, 2, &right, deadline_in(PATIENT), &err),
        DRAIL_EACCESS);
    assert_non_null(strstr(err.text, "it has another secret"));
    kill(stranger, SIGKILL);
    status_of(stranger);
    close(other);
}

/* The rank has proved its identity: rank 0 may count on it. */
static void slow_root(void **state)
{
    struct addresses where = {.count = 1};
    int listener = listen_at(&where.list[0]);
    struct timed_socket s = {.fd = listener, .deadline = deadline_in(PATIENT)};
    struct join_request hello;
    struct join_reply answer;
    struct join_proof proof;
    pid_t rank = rank_comes(&where, PATIENT);
    assert_int_equal(socket_ready(&s, POLLIN), 0);
    s.fd = accept(listener, NULL, NULL);
    assert_int_equal(socket_recv(&s, &hello, sizeof hello), 0);
    assert_int_equal(join_reply_make(&answer, 2), 0);
    assert_int_equal(socket_send(&s, &answer, sizeof answer), 0);
    assert_int_equal(socket_recv(&s, &proof, sizeof proof), 0);
    struct pollfd left = {.fd = s.fd, .events = POLLIN | POLLRDHUP};
    assert_int_equal(poll(&left, 1, SLOW_MS), 0);
    handshake_mac(&right, SIDE_ROOT, &hello, &answer, answer.mac);
    assert_int_equal(socket_send(&s, &answer, sizeof answer), 0);
    close(s.fd);
    assert_int_equal(status_of(rank), 0);
    close(listener);
}

/* This host's name has such an address in /etc/hosts; others know another one.
 */
static void alias(void **state)
{
    struct addresses named, own;
    struct sockaddr_in bound;
    socklen_t bytes = sizeof bound;
    assert_int_equal(address_parse(&named, "127.0.1.1:7"), 0);
    ((struct sockaddr_in *)&named.list[0].where)->sin_port = 0;
    int listener = address_listen(&named, "alias", NULL);
    assert_true(listener >= 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&bound, &bytes),
                     0);
    assert_int_equal(address_own(&own, ntohs(bound.sin_port), NULL), 0);
    if (own.list[0].where.ss_family != AF_INET)
        skip();
    int fd = address_connect(&own.list[0], deadline_in(PATIENT));
    assert_true(fd >= 0);
    close(fd);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_job),
        cmocka_unit_test(only_another_job),
        cmocka_unit_test(slow_root),
        cmocka_unit_test(alias),
    };
    return cmocka_run_group_tests(tests, group_setup, NULL);
}

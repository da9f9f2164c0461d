/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP peers that do nothing, end, or are no DAT peers at all: libfabric reads a
 * connection in order, and only when it is called.
 */
#include "tcp.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES (4u << 20)

static const peer_options_t in_a_process = {PEER_PROCESS, MEMORY_MALLOC, BYTES,
                                            DAT_MEM_PRIV_ALL_FLAG};

static void post_write(end_t *me, const peer_t *peer, uint64_t number,
                       size_t bytes)
{
    DAT_LMR_TRIPLET here = local(&me->mem, 0, bytes);
    DAT_RMR_TRIPLET there = remote(&peer->end.mem, 0, bytes);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &here, cookie(number), &there, 0));
}

/* The peer waits for something else, outside of DAT. */
static void one_sided(void **state)
{
    peer_t peer;
    end_t me;
    peer_open(&peer, &me, &in_a_process);
    for (uint64_t i = 0; i < 8; i++) {
        unsigned char *mine = me.mem.data;
        DAT_LMR_TRIPLET here = local(&me.mem, BYTES / 2, BYTES / 2);
        DAT_RMR_TRIPLET there = remote(&peer.end.mem, 0, BYTES / 2);
        fill(mine, BYTES / 2, i);
        post_write(&me, &peer, i, BYTES / 2);
        DAT_OK(
            dat_ep_post_rdma_read(me.ep, 1, &here, cookie(100 + i), &there, 0));
        EXPECT_DTO(me.request, i, DAT_DTO_SUCCESS, BYTES / 2);
        EXPECT_DTO(me.request, 100 + i, DAT_DTO_SUCCESS, BYTES / 2);
        assert_memory_equal(mine, mine + BYTES / 2, BYTES / 2);
    }
    peer_close(&peer, &me);
}

/* Its message is in the way, as there is no receive. */
static void death_behind_a_message(void **state)
{
    static const size_t bytes[] = {8, 100000}; /* systems keep them */
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        peer_t peer;
        end_t me;
        peer_start(&peer, &in_a_process);
        end_open(&me, NULL);
        peer_connect(&peer, &me);
        peer_post_send(&peer, 0, bytes[i], 1, 0);
        peer_kill(&peer);
        EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
        end_close(&me);
    }
}

/* It disconnects, and the word for it is behind such a message. */
static void disconnection_behind_a_message(void **state)
{
    peer_t peer;
    end_t me;
    peer_start(&peer, &in_a_process);
    end_open_memory(&me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&peer, &me);
    peer_post_send(&peer, 0, 64, 1, 0);
    peer_disconnect(&peer, DAT_CLOSE_GRACEFUL_FLAG);
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(me.conn, WAIT_MS * 1000, 1, &event, &more));
    assert_true(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
    peer_close(&peer, &me);
}

/* It is not dead: its system acknowledges, and later it goes on. */
static void stopped(void **state)
{
    enum { N = 16 };
    peer_t peer;
    end_t me;
    peer_open(&peer, &me, &in_a_process);
    assert_int_equal(kill(peer.pid, SIGSTOP), 0);
    for (uint64_t i = 0; i < N; i++)
        post_write(&me, &peer, i, BYTES);
    expect_silence(me.conn, 3000); /* longer than the default of `silence` */
    assert_int_equal(kill(peer.pid, SIGCONT), 0);
    for (uint64_t i = 0; i < N; i++)
        EXPECT_DTO(me.request, i, DAT_DTO_SUCCESS, BYTES);
    peer_close(&peer, &me);
}

static int stranger(DAT_CONN_QUAL qual)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)qual),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* The other side closes the socket. */
static void expect_closed(int fd)
{
    char byte;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

static unsigned count(const char *folder)
{
    unsigned n = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    while (readdir(all))
        n++;
    closedir(all);
    return n;
}

/* Waits until there are as few, at most 10 s: a thread that has been joined
 * is listed for a moment. */
static void assert_at_most(const char *folder, unsigned most)
{
    for (int i = 0; count(folder) > most && i < 1000; i++)
        usleep(10000);
    assert_in_range(count(folder), 0, most);
}

/* Strangers say nothing, nonsense, or leave: a genuine peer connects. */
static void strangers(void **state)
{
    static const char nonsense[300] = "GET / HTTP/1.0\r\n\r\n";
    end_t a, b;
    end_open(&a, NULL);
    end_open(&b, NULL);
    int silent = stranger(b.qual);
    for (size_t n = 0; n <= sizeof nonsense; n += 60) {
        int fd = stranger(b.qual);
        assert_int_equal(send(fd, nonsense, n, MSG_NOSIGNAL), n);
        close(fd);
    }
    end_connect_both(&a, &b);
    expect_silence(b.cr, 10);
    ends_close(&a, &b);
    expect_closed(silent);
}

static void connect_once(end_t *a, end_t *b)
{
    end_connect_both(a, b);
    DAT_OK(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(a->conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b->conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_reset(a->ep));
    DAT_OK(dat_ep_reset(b->ep));
}

/* A stranger sends a request of libfabric's, or a part of it, and no more. */
static void parts_of_a_request(void **state)
{
    enum { HEADER = 32, DATA = 100 };
    static const unsigned char request[HEADER + DATA] = {3, 0, 0, DATA};
    static const size_t parts[] = {1, HEADER, HEADER + 1, HEADER + DATA};
    end_t a, b;
    end_open(&a, NULL);
    end_open(&b, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int fd = stranger(b.qual);
        assert_int_equal(send(fd, request, parts[i], MSG_NOSIGNAL), parts[i]);
        expect_silence(b.cr, 10);
        connect_once(&a, &b);
        close(fd);
    }
    ends_close(&a, &b);
}

/* The IA is closed when peers' sockets are accepted, some or all, and their
 * requests have not arrived. */
static void closed_before_the_request(void **state)
{
    enum { N = 20 };
    unsigned files = count("/proc/self/fd");
    for (unsigned accepted = 0; accepted <= N; accepted += N / 2) {
        end_t end;
        int silent[N];
        end_open(&end, NULL);
        unsigned opened = count("/proc/self/fd");
        for (int n = 0; n < N; n++)
            silent[n] = stranger(end.qual);
        while (count("/proc/self/fd") < opened + N + accepted)
            poll_pause();
        end_close(&end);
        for (int n = 0; n < N; n++)
            expect_closed(silent[n]);
    }
    assert_at_most("/proc/self/fd", files);
}

/* The same for a service point: libfabric reads a request with what describes
 * its listener. Connections that it has accepted stay. */
static void freed_before_the_request(void **state)
{
    end_t a, b;
    end_open(&a, NULL);
    end_open(&b, NULL);
    int silent = stranger(b.qual);
    end_connect_both(&a, &b);
    DAT_OK(dat_psp_free(b.psp));
    expect_closed(silent);
    DAT_OK(dat_psp_create(b.ia, b.qual, b.cr, DAT_PSP_CONSUMER_FLAG, &b.psp));
    silent = stranger(b.qual);
    expect_silence(b.cr, 10);
    DAT_OK(dat_psp_free(b.psp));
    DAT_OK(dat_psp_create(b.ia, b.qual, b.cr, DAT_PSP_CONSUMER_FLAG, &b.psp));
    expect_closed(silent);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

/* A child does not keep what its parent gives up. */
static void a_childs_copies(void **state)
{
    end_t a, b;
    int hold[2];
    char nothing;
    end_open(&a, NULL);
    end_open(&b, NULL);
    end_connect_both(&a, &b);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_reset(a.ep));
    assert_int_equal(pipe(hold), 0);
    pid_t pid = fork();
    if (!pid) {
        close(hold[1]);
        _exit(read(hold[0], &nothing, 1) != 0);
    }
    close(hold[0]);
    DAT_OK(dat_psp_free(b.psp));
    b.psp = NULL;
    DAT_OK(end_connect(&a, b.qual));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    close(hold[1]);
    join(pid);
    ends_close(&a, &b);
}

/* No thread and no descriptor. */
static void nothing_is_left(void **state)
{
    unsigned threads = count("/proc/self/task"), files = count("/proc/self/fd");
    for (int i = 0; i < 3; i++) {
        end_t a, b;
        end_open(&a, NULL);
        end_open(&b, NULL);
        for (int n = 0; n < 5; n++)
            connect_once(&a, &b);
        ends_close(&a, &b);
    }
    assert_at_most("/proc/self/task", threads);
    assert_at_most("/proc/self/fd", files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sided),
        cmocka_unit_test(death_behind_a_message),
        cmocka_unit_test(disconnection_behind_a_message),
        cmocka_unit_test(stopped),
        cmocka_unit_test(strangers),
        cmocka_unit_test(parts_of_a_request),
        cmocka_unit_test(closed_before_the_request),
        cmocka_unit_test(freed_before_the_request),
        cmocka_unit_test(a_childs_copies),
        cmocka_unit_test(nothing_is_left),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

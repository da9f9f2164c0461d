/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The active side confirms the connection, sends, and dies, all of which is
 * found at once: the connection was established, and the message is delivered.
 */
#include "tcp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic DAT_CONN_QUAL *qual; /* shared by both; 0: not yet */
static atomic_bool hold;            /* the IA's thread */
static pthread_t self;

__attribute__((visibility("default"))) int
epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
    __typeof__(&epoll_wait) real;
    *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
    while (hold && !pthread_equal(pthread_self(), self))
        poll_pause();
    return real(fd, events, most, ms);
}

static void confirm_send_and_die(void *arg)
{
    end_t me;
    while (!*qual)
        poll_pause();
    end_open_memory(&me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&me, *qual));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    DAT_LMR_TRIPLET iov = local(&me.mem, 0, 64);
    DAT_OK(dat_ep_post_send(me.ep, 1, &iov, cookie(1),
                            DAT_COMPLETION_SUPPRESS_FLAG));
    _exit(0);
}

/* Does the answer lie in the peer's socket? */
static bool answered(unsigned port)
{
    char line[512];
    bool found = false;
    FILE *all = fopen("/proc/net/tcp", "r");
    assert_non_null(all);
    while (!found && fgets(line, sizeof line, all)) {
        unsigned remote_port, unread;
        found = sscanf(line, "%*s %*s %*8[^:]:%x %*s %*8[^:]:%x", &remote_port,
                       &unread) == 2 &&
                remote_port == port && unread;
    }
    fclose(all);
    return found;
}

static void found_at_once(void **state)
{
    int status;
    qual = shared_memory(sizeof *qual);
    self = pthread_self();
    pid_t peer = spawn(confirm_send_and_die, NULL);
    end_t me;
    end_open_memory(&me, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET iov = local(&me.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(me.ep, 1, &iov, cookie(7), 0));
    *qual = me.qual;
    DAT_EVENT event = EXPECT_EVENT(me.cr, DAT_CONNECTION_REQUEST_EVENT);
    assert_int_equal(kill(peer, SIGSTOP), 0);
    assert_int_equal(waitpid(peer, &status, WUNTRACED), peer);
    DAT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle,
                         me.ep, 0, NULL));
    while (!answered((uint16_t)me.qual))
        poll_pause();
    hold = true;
    assert_int_equal(kill(peer, SIGCONT), 0);
    assert_int_equal(waitpid(peer, &status, 0), peer);
    assert_int_equal(status, 0);
    hold = false;
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_DTO(me.recv, 7, DAT_DTO_SUCCESS, 64);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&me);
    shared_free((void *)qual, sizeof *qual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_at_once),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

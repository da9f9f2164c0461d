/* SPDX-License-Identifier: BSD-3-Clause */
/* An interruption is what a job hears of, also where it comes in the middle of
 * a message, or after the failures that it caused. */
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/supervise/supervisor.h"

static void nap_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

/* Rank 1 gets a signal while another of its threads sends a request. */
static void while_a_request_is_sent(void **state)
{
    struct supervisor supervisor;
    struct oob_header request = {0};
    sigset_t old;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    supervisor_signals_take(&old);
    assert_int_equal(supervisor_open(&supervisor, 1, 2, &pair[0], 1000), 0);
    pthread_mutex_lock(&supervisor.send_lock);
    kill(getpid(), SIGTERM);
    nap_ms(20);
    pthread_mutex_unlock(&supervisor.send_lock);
    assert_int_equal(recv(pair[1], &request, sizeof request, MSG_WAITALL),
                     sizeof request);
    assert_int_equal(request.status, OOB_INTERRUPTED);
    close(pair[1]);
    supervisor_close(&supervisor);
    supervisor_signals_give(&supervisor, &old);
    close(pair[0]);
}

static void send_to(int fd, struct oob_header request)
{
    assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
}

/* Rank 0 has failed because rank 1 was interrupted, and is heard first. */
static void after_a_failure(void **state)
{
    struct oob_server server;
    int pairs[2][2];
    assert_int_equal(oob_server_open(&server, 2), 0);
    for (unsigned r = 0; r < 2; r++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[r]), 0);
        server.ranks[r].fd = pairs[r][0];
    }
    send_to(pairs[0][1], (struct oob_header){.status = OOB_END, .exit = 1});
    send_to(pairs[1][1], (struct oob_header){.status = OOB_INTERRUPTED});
    oob_server_event(&server, 0, POLLIN);
    oob_server_event(&server, 1, POLLIN);
    assert_int_equal(server.broken.status, DRAIL_EINTR);
    assert_int_equal(server.broken.rank, 1);
    oob_server_close(&server);
    close(pairs[0][1]);
    close(pairs[1][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_a_request_is_sent),
        cmocka_unit_test(after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer dies at any moment: the connection breaks, and all requests are
 * flushed. */
#include "peer.h"

#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES   (4 << 20)
#define SOON_NS 1000000000 /* what dapl_shm.7 promises */
#define ROUNDS  20

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The victim uses the connection in all ways, both ways, until it is killed. */
typedef struct meeting {
    DAT_CONN_QUAL qual; /* set before the gate opens */
    DAT_RMR_TRIPLET target;
} meeting_t;

static void victim(void *arg)
{
    const meeting_t *meeting = arg;
    end_t end;
    uint64_t seed = 1;
    end_open_memory(&end, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&end, meeting->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t i = 0;; i++) {
        size_t n = random_next(&seed) % (i % 4 ? 5000 : 1000000);
        DAT_LMR_TRIPLET iov = local(&end.mem, 0, n);
        DAT_RMR_TRIPLET target = meeting->target;
        target.segment_length = (DAT_SEG_LENGTH)n;
        DAT_LMR_TRIPLET small = local(&end.mem, 0, n % 5000);
        DAT_LMR_TRIPLET in = local(&end.mem, BYTES / 2, 5000);
        dat_ep_post_recv(end.ep, 1, &in, cookie(i), 0);
        dat_ep_post_rdma_write(end.ep, 1, &iov, cookie(i), &target, 0);
        dat_ep_post_rdma_read(end.ep, 1, &iov, cookie(i), &target, 0);
        dat_ep_post_send(end.ep, 1, &small, cookie(i), 0);
        evd_drain(end.request);
        evd_drain(end.recv);
    }
}

/* Uses the connection until a post fails or an event tells that it broke. */
static void use_until_broken(end_t *me)
{
    DAT_EVENT event;
    DAT_LMR_TRIPLET in = local(&me->mem, 0, 5000);
    DAT_LMR_TRIPLET out = local(&me->mem, BYTES / 2, 100);
    while (dat_evd_dequeue(me->conn, &event) != DAT_SUCCESS) {
        dat_ep_post_recv(me->ep, 1, &in, cookie(1), 0);
        dat_ep_post_send(me->ep, 1, &out, cookie(2), 0);
        evd_drain(me->request);
        evd_drain(me->recv);
    }
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
}

typedef struct killing {
    pid_t pid;
    useconds_t after;
} killing_t;

static void killer(void *arg)
{
    const killing_t *k = arg;
    usleep(k->after);
    kill(k->pid, SIGKILL);
}

static void killed_at_random_moments(void **state)
{
    uint64_t seed;
    assert_int_equal(getrandom(&seed, sizeof seed, 0), sizeof seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    int64_t best = INT64_MAX; /* a busy machine delays some, not all */
    for (int round = 0; round < ROUNDS; round++) {
        end_t me;
        int gate[2];
        meeting_t *meeting = shared_memory(sizeof *meeting);
        assert_int_equal(pipe(gate), 0);
        pid_t pid = spawn_behind(gate, victim, meeting);
        close(gate[0]);
        end_open_memory(&me, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
        meeting->qual = me.qual;
        meeting->target = remote(&me.mem, 0, BYTES);
        close(gate[1]);
        end_accept(&me);

        killing_t k = {pid, (useconds_t)(random_next(&seed) % 30000)};
        int64_t start = now_ns();
        pid_t by = spawn(killer, &k);
        use_until_broken(&me);
        int64_t took = now_ns() - start - (int64_t)k.after * 1000;
        print_message("round %d: killed after %u us, broken %.1f ms later\n",
                      round, k.after, (double)took / 1e6);
        assert_true(took > 0); /* not by itself, before */
        best = took < best ? took : best;
        join(by);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        end_close(&me);
        shared_free(meeting, sizeof *meeting);
    }
    assert_true(best < SOON_NS);
}

/* The death wakes a thread that sleeps in dat_evd_wait. */
static void sleeping_when_it_happens(void **state)
{
    enum { N = 8 };
    peer_t peer;
    end_t me;
    peer_start(&peer, &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                        DAT_MEM_PRIV_ALL_FLAG});
    end_open_memory(&me, MEMORY_MEMFD, 65536, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&peer, &me);
    DAT_LMR_TRIPLET iov = local(&me.mem, 0, 64);
    for (uint64_t i = 0; i < N; i++)
        DAT_OK(dat_ep_post_recv(me.ep, 1, &iov, cookie(i), 0));
    for (uint64_t i = 0; i < N; i++) /* nobody receives them */
        DAT_OK(dat_ep_post_send(me.ep, 1, &iov, cookie(100 + i), 0));

    killing_t k = {peer.pid, 200000};
    pid_t by = spawn(killer, &k);
    EXPECT_DTO(me.recv, 0, DAT_DTO_ERR_FLUSHED, 0);
    for (uint64_t i = 1; i < N; i++)
        EXPECT_DTO(me.recv, i, DAT_DTO_ERR_FLUSHED, 0);
    for (uint64_t i = 0; i < N; i++) {
        DAT_EVENT event = EXPECT_EVENT(me.request, DAT_DTO_COMPLETION_EVENT);
        DAT_DTO_COMPLETION_EVENT_DATA *dto =
            &event.event_data.dto_completion_event_data;
        assert_int_equal(dto->user_cookie.as_64, 100 + i);
        assert_int_not_equal(dto->status, DAT_DTO_SUCCESS);
    }
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    join(by);
    assert_int_equal(waitpid(peer.pid, NULL, 0), peer.pid);
    close(peer.socket);
    /* the endpoint can be used again */
    DAT_OK(dat_ep_reset(me.ep));
    end_t other;
    end_open(&other, NULL);
    end_connect_both(&me, &other);
    ends_close(&me, &other);
}

/* It died while its request for a connection was pending. */
static void killed_while_connecting(void **state)
{
    end_t me;
    meeting_t *meeting = shared_memory(sizeof *meeting);
    pid_t pid = spawn_and_open(&me, &meeting->qual, victim, meeting);
    DAT_EVENT event = EXPECT_EVENT(me.cr, DAT_CONNECTION_REQUEST_EVENT);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* told by the call, or by an event */
    DAT_RETURN rc = dat_cr_accept(
        event.event_data.cr_arrival_event_data.cr_handle, me.ep, 0, NULL);
    if (rc == DAT_SUCCESS) {
        DAT_COUNT more;
        DAT_OK(dat_evd_wait(me.conn, 2000000, 1, &event, &more));
        if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
            DAT_OK(dat_evd_wait(me.conn, 2000000, 1, &event, &more));
        if (event.event_number != DAT_CONNECTION_EVENT_BROKEN)
            assert_int_equal(event.event_number,
                             DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    }
    end_close(&me);
    shared_free(meeting, sizeof *meeting);
}

/* Its service point dies with it: connecting fails soon. */
static void service_died(void **state)
{
    peer_t peer;
    end_t me;
    peer_start(&peer, &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, 4096,
                                        DAT_MEM_PRIV_ALL_FLAG});
    end_open(&me, NULL);
    peer_kill(&peer);
    DAT_OK(end_connect(&me, peer.end.qual));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    end_close(&me);
}

/* Stopped is not dead: a slow peer keeps its connection. */
static void stopped_is_not_dead(void **state)
{
    peer_t peer;
    end_t me;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, 4096,
                                DAT_MEM_PRIV_ALL_FLAG});
    assert_int_equal(kill(peer.pid, SIGSTOP), 0);
    expect_silence(me.conn, 1500);
    assert_int_equal(kill(peer.pid, SIGCONT), 0);
    DAT_LMR_TRIPLET iov = local(&me.mem, 0, 64);
    peer_post_recv(&peer, 0, 64, 1);
    DAT_OK(dat_ep_post_send(me.ep, 1, &iov, cookie(1), 0));
    peer_expect_dto(&peer, EVD_RECV, 1, DAT_DTO_SUCCESS, 64);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_moments),
        cmocka_unit_test(sleeping_when_it_happens),
        cmocka_unit_test(killed_while_connecting),
        cmocka_unit_test(service_died),
        cmocka_unit_test(stopped_is_not_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

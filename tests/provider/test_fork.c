/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that fork while they have connections. */
#include "peer.h"
#include "tests/sanitizers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------- a child of the peer's ---
 */

typedef struct mourning {
    DAT_CONN_QUAL qual;
    int hold[2]; /* the child lives until this pipe is closed */
} mourning_t;

static void die_and_leave_a_child(void *arg)
{
    const mourning_t *m = arg;
    end_t end;
    end_open(&end, NULL);
    DAT_OK(end_connect(&end, m->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    if (!fork()) {
        char nothing;
        close(m->hold[1]);
        (void)!read(m->hold[0], &nothing, 1);
        _exit(0);
    }
    raise(SIGKILL);
}

/* A child that has the peer's sockets does not hide the peer's death. */
static void death_is_seen_behind_a_child(void **state)
{
    end_t me;
    int status;
    mourning_t *m = shared_memory(sizeof *m);
    assert_int_equal(pipe(m->hold), 0);
    pid_t pid = spawn_and_open(&me, &m->qual, die_and_leave_a_child, m);
    end_accept(&me);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(m->hold[0]);
    close(m->hold[1]);
    end_close(&me);
    shared_free(m, sizeof *m);
}

/* ----------------------------------------------------- a child of our own ---
 */

static void exchange(peer_t *peer, end_t *me, uint64_t number)
{
    DAT_LMR_TRIPLET iov = local(&me->mem, 0, 64);
    DAT_RMR_TRIPLET there = remote(&peer->end.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(me->ep, 1, &iov, cookie(number), 0));
    peer_post_recv(peer, 0, 64, number);
    DAT_OK(dat_ep_post_send(me->ep, 1, &iov, cookie(number), 0));
    peer_expect_dto(peer, EVD_RECV, number, DAT_DTO_SUCCESS, 64);
    EXPECT_DTO(me->request, number, DAT_DTO_SUCCESS, 64);
    peer_post_send(peer, 0, 64, number, 0);
    EXPECT_DTO(me->recv, number, DAT_DTO_SUCCESS, 64);
    peer_expect_dto(peer, EVD_REQUEST, number, DAT_DTO_SUCCESS, 64);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &iov, cookie(number), &there, 0));
    EXPECT_DTO(me->request, number, DAT_DTO_SUCCESS, 64);
}

static void close_abruptly(void *arg)
{
    end_t *end = arg;
    DAT_OK(dat_ia_close(end->ia, DAT_CLOSE_ABRUPT_FLAG));
}

static void close_piece_by_piece(void *arg)
{
    end_close(arg);
}

/* The parent's objects are over for the child, and say so. */
static void use(void *arg)
{
    end_t *end = arg;
    DAT_EP_STATE is;
    DAT_LMR_TRIPLET iov = local(&end->mem, 0, 64);
    DAT_OK(dat_ep_get_status(end->ep, &is, NULL, NULL));
    assert_int_equal(is, DAT_EP_STATE_DISCONNECTED);
    DAT_OK(dat_ep_post_recv(end->ep, 1, &iov, cookie(1), 0));
    EXPECT_DTO(end->recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    DAT_OK(dat_ep_post_send(end->ep, 1, &iov, cookie(2), 0));
    EXPECT_DTO(end->request, 2, DAT_DTO_ERR_FLUSHED, 0);
    DAT_OK(dat_ep_disconnect(end->ep, DAT_CLOSE_GRACEFUL_FLAG));
    DAT_OK(dat_ep_reset(end->ep));
}

/* Peers that were told of the child's would meet the parent. */
static void nothing_new(void *arg)
{
    end_t *end = arg;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_REGION_DESCRIPTION what = {.for_va = end->mem.data};
    DAT_LMR_HANDLE lmr;
    DAT_OK(dat_ep_reset(end->ep));
    DAT_FAILS(end_connect(end, end->qual), DAT_INVALID_STATE);
    DAT_FAILS(dat_psp_create_any(end->ia, &qual, end->cr, DAT_PSP_CONSUMER_FLAG,
                                 &psp),
              DAT_INVALID_STATE);
    DAT_FAILS(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, what, 64, end->pz,
                             DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, NULL,
                             NULL, NULL, NULL),
              DAT_INVALID_STATE);
    end_close(end);
}

/* A child may open the rail for itself. */
static void open_again(void *arg)
{
    end_t a, b;
    end_close(arg);
    if (TSAN) /* its children can't start threads */
        return;
    end_open(&a, NULL);
    end_open(&b, NULL);
    end_connect_both(&a, &b);
    ends_close(&a, &b);
}

static void a_child_ends_nothing(void **state)
{
    static void (*const child[])(void *) = {
        close_abruptly, close_piece_by_piece, use, nothing_new, open_again};
    uint64_t number = 1;
    end_t me;
    peer_t peer;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                DAT_MEM_PRIV_ALL_FLAG});
    exchange(&peer, &me, number++);
    for (size_t i = 0; i < sizeof child / sizeof child[0]; i++) {
        join(spawn(child[i], &me));
        exchange(&peer, &me, number++);
    }
    /* the manager still sees what comes */
    peer_disconnect(&peer, DAT_CLOSE_ABRUPT_FLAG);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer_expect_event(&peer, EVD_CONN, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer_reset(&peer);
    DAT_OK(dat_ep_reset(me.ep));
    peer_connect(&peer, &me);
    peer_close(&peer, &me);
}

/* ------------------------------------------- waiters, and what is posted ---
 */

typedef struct left { /* by the parent, for its child */
    end_t end;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE served;
} left_t;

/* Again if it meets the question whether it waits already. */
static void *sleep_for_a_request(void *arg)
{
    left_t *l = arg;
    DAT_EVENT event;
    DAT_COUNT more;
    while (DAT_GET_TYPE(dat_evd_wait(l->end.cr, WAIT_MS * 1000, 1, &event,
                                     &more)) == DAT_INVALID_STATE)
        ;
    return NULL;
}

static void *sleep_for_a_cno(void *arg)
{
    left_t *l = arg;
    DAT_EVD_HANDLE evd;
    while (DAT_GET_TYPE(dat_cno_wait(l->cno, WAIT_MS * 1000, &evd)) ==
           DAT_INVALID_STATE)
        ;
    return NULL;
}

/* The threads that wait are its parent's, and so is the connection. */
static void take_over(void *arg)
{
    left_t *l = arg;
    DAT_EVENT event;
    EXPECT_DTO(l->end.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(l->end.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    DAT_FAILS(dat_evd_dequeue(l->end.cr, &event), DAT_QUEUE_EMPTY);
    DAT_OK(dat_evd_free(l->served));
    DAT_OK(dat_cno_free(l->cno));
    end_close(&l->end);
}

static void until_waited_for(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    for (int i = 0;
         DAT_GET_TYPE(dat_evd_dequeue(evd, &event)) != DAT_INVALID_STATE; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void until_cno_waited_for(DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE evd;
    for (int i = 0;
         DAT_GET_TYPE(dat_cno_wait(cno, 0, &evd)) != DAT_INVALID_STATE; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void a_child_waits_for_nobody(void **state)
{
    left_t l;
    end_t other;
    pthread_t thread[2];
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    end_open_memory(&l.end, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&other, NULL);
    DAT_OK(dat_cno_create(l.end.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &l.cno));
    DAT_OK(
        dat_evd_create(l.end.ia, 4, l.cno, DAT_EVD_SOFTWARE_FLAG, &l.served));
    end_connect_both(&l.end, &other);
    DAT_LMR_TRIPLET iov = local(&l.end.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(l.end.ep, 1, &iov, cookie(1), 0));
    DAT_OK(dat_ep_post_send(l.end.ep, 1, &iov, cookie(2), 0));
    assert_int_equal(pthread_create(&thread[0], NULL, sleep_for_a_request, &l),
                     0);
    assert_int_equal(pthread_create(&thread[1], NULL, sleep_for_a_cno, &l), 0);
    until_waited_for(l.end.cr);
    until_cno_waited_for(l.cno);
    join(spawn(take_over, &l));
    /* the parent's waiters wait on */
    until_waited_for(l.end.cr);
    DAT_OK(dat_evd_post_se(l.served, &event));
    pthread_join(thread[1], NULL);
    DAT_OK(dat_ep_free(other.ep));
    DAT_OK(dat_ep_create(other.ia, other.pz, other.recv, other.request,
                         other.conn, NULL, &other.ep));
    DAT_OK(end_connect(&other, l.end.qual));
    pthread_join(thread[0], NULL);
    DAT_OK(dat_ia_close(l.end.ia, DAT_CLOSE_ABRUPT_FLAG));
    l.end.mem.lmr = DAT_HANDLE_NULL;
    region_destroy(&l.end.mem);
    end_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death_is_seen_behind_a_child),
        cmocka_unit_test(a_child_ends_nothing),
        cmocka_unit_test(a_child_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

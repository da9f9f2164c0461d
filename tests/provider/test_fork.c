/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that fork while they have connections. */
#include "peer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer's children can't start threads. */
#if defined(__SANITIZE_THREAD__)
#define THREADLESS 1
#elif defined(__has_feature)
#define THREADLESS __has_feature(thread_sanitizer)
#else
#define THREADLESS 0
#endif

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
    (void)state;
    end_t me;
    int gate[2], status;
    mourning_t *m = shared_memory(sizeof *m);
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(m->hold), 0);
    pid_t pid = spawn_behind(gate, die_and_leave_a_child, m);
    close(gate[0]);
    end_open(&me, NULL);
    m->qual = me.qual;
    close(gate[1]);
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

/* What was its parent's is over for the child, and says so. */
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

/* A child may open the rail for itself. */
static void open_again(void *arg)
{
    end_t a, b;
    end_close(arg);
    if (THREADLESS)
        return;
    end_open(&a, NULL);
    end_open(&b, NULL);
    end_connect_both(&a, &b);
    end_close(&a);
    end_close(&b);
}

static void a_child_ends_nothing(void **state)
{
    (void)state;
    static void (*const child[])(void *) = {
        close_abruptly, close_piece_by_piece, use, open_again};
    uint64_t number = 1;
    end_t me;
    peer_t peer;
    peer_start(&peer, &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                        DAT_MEM_PRIV_ALL_FLAG});
    end_open_memory(&me, MEMORY_MEMFD, 4096, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&peer, &me);
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
    end_close(&me);
    peer_stop(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death_is_seen_behind_a_child),
        cmocka_unit_test(a_child_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

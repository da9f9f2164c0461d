/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that lives, and is not stopped, stays inside an access: the end of its
 * connection waits, but every other call goes on. The test plays the peer
 * itself, and finds the connection's counters among its own mappings. */
#include "peer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/shm/message/segment.h"

#define BYTES 4096

/* The peer (active) is in an access of my memory. */
typedef struct scene {
    end_t me, peer;
    struct shm_dir *counters; /* of the peer */
} scene_t;

static void begin(scene_t *s)
{
    ends_open(&s->me, &s->peer, MEMORY_MALLOC, BYTES);
    end_connect_both(&s->peer, &s->me);
    struct shm_segment *segment = shared_mapping("dapl-shm-connection", 0);
    s->counters = &segment->dir[0];
    atomic_store(&s->counters->access[0], s->me.mem.rmr_context);
}

static void leave(const scene_t *s)
{
    atomic_store(&s->counters->access[0], 0);
}

static DAT_EP_STATE state_of(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN idle;
    DAT_OK(dat_ep_get_status(ep, &state, &idle, &idle));
    return state;
}

/* Another connection of my IA, from its first call to its last. */
static void use_otherwise(const end_t *me)
{
    end_t other = *me, partner;
    DAT_OK(dat_evd_create(me->ia, END_QLEN, DAT_HANDLE_NULL,
                          DAT_EVD_CONNECTION_FLAG, &other.conn));
    DAT_OK(dat_ep_create(me->ia, me->pz, me->recv, me->request, other.conn,
                         NULL, &other.ep));
    end_open(&partner, NULL);
    end_connect_both(&other, &partner);
    DAT_OK(dat_ep_disconnect(other.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(other.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_free(other.ep));
    DAT_OK(dat_evd_free(other.conn));
    end_close(&partner);
}

static void expect_ended_after(scene_t *s, DAT_EVENT_NUMBER event)
{
    use_otherwise(&s->me);
    expect_silence(s->me.conn, 1);
    leave(s);
    EXPECT_EVENT(s->me.conn, event);
    assert_int_equal(state_of(s->me.ep), DAT_EP_STATE_DISCONNECTED);
    expect_silence(s->me.conn, 5);
    ends_close(&s->me, &s->peer);
}

/* What the peer sent before is delivered, what is posted meanwhile flushed. */
static void peer_disconnects(void **state)
{
    scene_t s;
    begin(&s);
    DAT_LMR_TRIPLET in = local(&s.me.mem, 0, 64),
                    out = local(&s.peer.mem, 0, 8);
    DAT_OK(dat_ep_post_recv(s.me.ep, 1, &in, cookie(1), 0));
    DAT_OK(dat_ep_post_recv(s.me.ep, 1, &in, cookie(2), 0));
    DAT_OK(dat_ep_post_send(s.peer.ep, 1, &out, cookie(3), 0));
    DAT_OK(dat_ep_disconnect(s.peer.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(s.peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DTO(s.me.recv, 1, DAT_DTO_SUCCESS, 8);
    expect_ended_after(&s, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void requests_are_flushed(void **state)
{
    scene_t s;
    begin(&s);
    DAT_LMR_TRIPLET in = local(&s.me.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(s.me.ep, 1, &in, cookie(1), 0));
    DAT_OK(dat_ep_disconnect(s.peer.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(s.peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    use_otherwise(&s.me);
    DAT_OK(dat_ep_post_send(s.me.ep, 1, &in, cookie(2), 0));
    leave(&s);
    EXPECT_DTO(s.me.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(s.me.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_EVENT(s.me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&s.me, &s.peer);
}

static void i_disconnect(void **state)
{
    scene_t s;
    begin(&s);
    for (int flag = 0; flag < 3; flag++) {
        DAT_OK(dat_ep_disconnect(s.me.ep, flag == 1 ? DAT_CLOSE_GRACEFUL_FLAG
                                                    : DAT_CLOSE_ABRUPT_FLAG));
        assert_int_equal(state_of(s.me.ep), DAT_EP_STATE_DISCONNECT_PENDING);
    }
    DAT_FAILS(dat_ep_reset(s.me.ep), DAT_INVALID_STATE);
    EXPECT_EVENT(s.peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_ended_after(&s, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* ------------------------------------------------------- freed meanwhile */

typedef struct freeing {
    DAT_EP_HANDLE ep;
    atomic_bool done;
} freeing_t;

static void *free_endpoint(void *arg)
{
    freeing_t *f = arg;
    DAT_OK(dat_ep_free(f->ep));
    atomic_store(&f->done, true);
    return NULL;
}

/* Afterwards the memory is the consumer's again, so this call waits; others do
 * not. */
static void free_waits(const char *ia, bool disconnected, bool cancelled)
{
    scene_t s;
    freeing_t f = {0};
    pthread_t thread;
    setenv("TEST_IA", ia, 1);
    begin(&s);
    if (disconnected)
        DAT_OK(dat_ep_disconnect(s.me.ep, DAT_CLOSE_ABRUPT_FLAG));
    f.ep = s.me.ep;
    s.me.ep = DAT_HANDLE_NULL;
    assert_int_equal(pthread_create(&thread, NULL, free_endpoint, &f), 0);
    EXPECT_EVENT(s.peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    use_otherwise(&s.me);
    if (cancelled)
        assert_int_equal(pthread_cancel(thread), 0);
    use_otherwise(&s.me);
    assert_false(atomic_load(&f.done));
    leave(&s);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&f.done));
    ends_close(&s.me, &s.peer);
    unsetenv("TEST_IA");
}

static void free_of_a_connected_endpoint(void **state)
{
    free_waits(IA_DEFAULT, false, false);
    free_waits("bond0", false, false);
}

static void free_of_an_ending_endpoint(void **state)
{
    free_waits(IA_DEFAULT, true, false);
    free_waits("bond0", true, false);
}

/* A call that has begun is completed (core.h, rule 7). */
static void free_of_a_cancelled_thread(void **state)
{
    free_waits(IA_DEFAULT, false, true);
    free_waits("bond0", false, true);
}

/* ------------------------------------------------------- the peer's death */

typedef struct meeting {
    DAT_CONN_QUAL qual;
    atomic_uint key; /* of the LMR that the peer is to access */
} meeting_t;

static void dies_inside(void *arg)
{
    meeting_t *meeting = arg;
    end_t end;
    end_open(&end, NULL);
    DAT_OK(end_connect(&end, meeting->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    struct shm_segment *segment = shared_mapping("dapl-shm-connection", 0);
    atomic_store(&segment->dir[0].access[0], 1);
    DAT_OK(dat_ep_disconnect(end.ep, DAT_CLOSE_ABRUPT_FLAG));
    pause();
}

static void death_ends_the_wait(void **state)
{
    meeting_t *meeting = shared_memory(sizeof *meeting);
    end_t me;
    pid_t pid = spawn_and_open(&me, &meeting->qual, dies_inside, meeting);
    end_accept(&me);
    use_otherwise(&me);
    expect_silence(me.conn, 20);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&me);
    shared_free(meeting, sizeof *meeting);
}

/* ------------------------------------------------------- the IA is closed */

static DAT_RMR_CONTEXT latest; /* of shm0's LMRs */

STAND_IN DAT_RETURN dat_lmr_create(
    DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION where,
    DAT_VLEN bytes, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
    DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *context,
    DAT_RMR_CONTEXT *remote_context, DAT_VLEN *length, DAT_VADDR *address)
{
    DAT_RETURN ret =
        real(dat_lmr_create)(ia, type, where, bytes, pz, privileges, va, lmr,
                             context, remote_context, length, address);
    if (ret == DAT_SUCCESS && !strcmp(ia_of(*lmr), IA_DEFAULT))
        latest = *remote_context;
    return ret;
}

/* Over each member, as the test does not know which connection is shm0's. */
static void access_everywhere(uint32_t key)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, offset;
        if (strstr(line, "dapl-shm-connection") &&
            sscanf(line, "%" SCNx64 "-%*x rw-s %" SCNx64, &start, &offset) ==
                2 &&
            !offset)
            atomic_store(&((struct shm_segment *)start)->dir[0].access[0], key);
    }
    fclose(maps);
}

static void stops_inside(void *arg)
{
    meeting_t *meeting = arg;
    end_t end;
    end_open(&end, NULL);
    DAT_OK(end_connect(&end, meeting->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    access_everywhere(meeting->key);
    raise(SIGSTOP);
}

/* The bond gives up waiting for a stopped peer. It keeps no memory:
 * LeakSanitizer would report it, without the suppression of libdat2. */
static void bond_is_closed(void **state)
{
    meeting_t *meeting = shared_memory(sizeof *meeting);
    end_t me;
    region_t accessed;
    int status;
    setenv("TEST_IA", "bond0", 1);
    pid_t pid = spawn_and_open(&me, &meeting->qual, stops_inside, meeting);
    region_create(&accessed, MEMORY_MEMFD, BYTES, me.ia, me.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    meeting->key = latest;
    end_accept(&me);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    DAT_OK(dat_ia_close(me.ia, DAT_CLOSE_ABRUPT_FLAG));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    accessed.lmr = DAT_HANDLE_NULL;
    region_destroy(&accessed);
    shared_free(meeting, sizeof *meeting);
    unsetenv("TEST_IA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_disconnects),
        cmocka_unit_test(requests_are_flushed),
        cmocka_unit_test(i_disconnect),
        cmocka_unit_test(free_of_a_connected_endpoint),
        cmocka_unit_test(free_of_an_ending_endpoint),
        cmocka_unit_test(free_of_a_cancelled_thread),
        cmocka_unit_test(death_ends_the_wait),
        cmocka_unit_test(bond_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory is deregistered while a transfer over TCP accesses it, whose data
 * libfabric moves piece by piece. Either the deregistration says that the
 * memory is in use, or nothing accesses it any more.
 */
#include "tcp.h"
#include "dapl_rail/platform/busywait.h"
#include "providers/core/extensions.h"
#include "tests/stop_inside.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#define BYTES    (64u << 20) /* more than the sockets take */
#define OLD      0x11
#define NEW      0x5a
#define ATTEMPTS 20u

typedef struct meeting {
    DAT_CONN_QUAL qual; /* set before the gate opens */
    DAT_RMR_TRIPLET target;
    atomic_int status;   /* of the transfer */
    atomic_uint strange; /* bytes of NEW that the peer has got */
} meeting_t;

static void transfer(meeting_t *m, bool read)
{
    end_t end;
    DAT_EVENT event;
    DAT_COUNT more;
    end_open_memory(&end, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    memset(end.mem.data, read ? 0 : NEW + 1, BYTES);
    DAT_OK(end_connect(&end, m->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    DAT_LMR_TRIPLET iov = local(&end.mem, 0, BYTES);
    atomic_store(&stop_inside, true);
    if (read)
        DAT_OK(
            dat_ep_post_rdma_read(end.ep, 1, &iov, cookie(0), &m->target, 0));
    else
        DAT_OK(
            dat_ep_post_rdma_write(end.ep, 1, &iov, cookie(0), &m->target, 0));
    DAT_OK(dat_evd_wait(end.request, WAIT_MS * 1000, 1, &event, &more));
    atomic_store(&m->status, event.event_data.dto_completion_event_data.status);
    unsigned strange = 0;
    for (size_t i = 0; read && i < BYTES; i++)
        strange += end.mem.data[i] == NEW;
    atomic_store(&m->strange, strange);
    end_close(&end);
}

static void reader(void *meeting)
{
    transfer(meeting, true);
}

static void writer(void *meeting)
{
    transfer(meeting, false);
}

/* The peer is stopped in the middle of its transfer. */
static pid_t begin(end_t *me, meeting_t **m, void (*peer)(void *))
{
    int gate[2], status;
    *m = shared_memory(sizeof **m);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = spawn_behind(gate, peer, *m);
    close(gate[0]);
    end_open_memory(me, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    memset(me->mem.data, OLD, BYTES);
    (*m)->qual = me->qual;
    (*m)->target = remote(&me->mem, 0, BYTES);
    close(gate[1]);
    end_accept(me);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void go_on(pid_t pid)
{
    assert_int_equal(kill(pid, SIGCONT), 0);
    join(pid);
}

static void finish(end_t *me, meeting_t *m)
{
    end_close(me);
    shared_free(m, sizeof *m);
}

/* dat_lmr_free() waits about a second for a peer that is stopped. */
static DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr)
{
    uint64_t begin = busywait_now_ns();
    DAT_RETURN rc = dat_lmr_free(lmr);
    uint64_t ms = (busywait_now_ns() - begin) / 1000000;
    printf("# dat_lmr_free: %u ms\n", (unsigned)ms);
    assert_in_range(ms, 0, 1300);
    assert_true(ms > 900 || rc == DAT_SUCCESS);
    return rc;
}

/* The memory may be used for other things: when it is free, or at once after
 * the connection has ended. */
static void free_memory(end_t *me)
{
    DAT_RETURN rc = lmr_free(me->mem.lmr);
    if (rc != DAT_SUCCESS) {
        DAT_FAILS(rc, DAT_INVALID_STATE);
        DAT_OK(dat_ep_disconnect(me->ep, DAT_CLOSE_ABRUPT_FLAG));
        DAT_OK(dat_lmr_free(me->mem.lmr));
    }
    me->mem.lmr = DAT_HANDLE_NULL;
    memset(me->mem.data, NEW, BYTES);
}

static void read_by_a_stopped_peer(void **state)
{
    end_t me;
    meeting_t *m;
    pid_t pid = begin(&me, &m, reader);
    free_memory(&me);
    go_on(pid);
    assert_int_equal(atomic_load(&m->strange), 0);
    assert_int_not_equal(atomic_load(&m->status), DAT_DTO_SUCCESS);
    finish(&me, m);
}

static void written_by_a_stopped_peer(void **state)
{
    end_t me;
    meeting_t *m;
    pid_t pid = begin(&me, &m, writer);
    free_memory(&me);
    go_on(pid);
    assert_int_not_equal(atomic_load(&m->status), DAT_DTO_SUCCESS);
    for (size_t i = 0; i < BYTES; i++)
        if (me.mem.data[i] != NEW)
            fail_msg("byte %zu was written after it had been freed", i);
    finish(&me, m);
}

/* The call does not wait for the peer, as dat_lmr_free() does, for a second. */
static void attempts_do_not_wait(void **state)
{
    end_t me;
    meeting_t *m;
    pid_t pid = begin(&me, &m, reader);
    time_t from = time(NULL);
    for (unsigned i = 0; i < ATTEMPTS; i++)
        DAT_FAILS(dapl_lmr_try_free(me.mem.lmr), DAT_INVALID_STATE);
    assert_true(time(NULL) - from < ATTEMPTS / 2);
    go_on(pid);
    for (unsigned i = 0; dapl_lmr_try_free(me.mem.lmr) != DAT_SUCCESS; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    me.mem.lmr = DAT_HANDLE_NULL;
    finish(&me, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_by_a_stopped_peer),
        cmocka_unit_test(written_by_a_stopped_peer),
        cmocka_unit_test(attempts_do_not_wait),
    };
    tcp_or_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

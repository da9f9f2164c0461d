/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics on private memory exclude each other across processes. A process that
 * is killed or stopped during one does not block the others for ever. */
#include "peer.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>

typedef struct meeting {
    DAT_CONN_QUAL qual;
    DAT_RMR_TRIPLET word;
    atomic_bool stop;
    int hold[2]; /* children of adders live until this pipe is closed */
    bool leaves_a_child;
    struct {
        atomic_ullong adds;
        atomic_bool failed;
    } adder[2];
} meeting_t;

typedef struct part {
    meeting_t *meeting;
    int which;
} part_t;

/* A child has all descriptors of its parent's, also when that is dead. */
static void fork_a_holder(const meeting_t *m)
{
    if (!fork()) {
        char nothing;
        close(m->hold[1]);
        (void)!read(m->hold[0], &nothing, 1);
        _exit(0);
    }
}

/* Adds until told to stop, or until an addition fails. */
static void add_all_the_time(void *arg)
{
    const part_t *part = arg;
    meeting_t *m = part->meeting;
    end_t end;
    end_open_memory(&end, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&end, m->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    if (m->leaves_a_child && !part->which)
        fork_a_holder(m);
    DAT_LMR_TRIPLET old = local(&end.mem, 0, 8);
    while (!atomic_load(&m->stop) &&
           !atomic_load(&m->adder[part->which].failed)) {
        DAT_OK(
            dat_ib_post_fetch_and_add(end.ep, 1, &old, cookie(1), &m->word, 0));
        DAT_EVENT event = EXPECT_EVENT(end.request, DAT_IB_DTO_EVENT);
        if (event.event_data.dto_completion_event_data.status ==
            DAT_DTO_SUCCESS)
            atomic_fetch_add(&m->adder[part->which].adds, 1);
        else
            atomic_store(&m->adder[part->which].failed, true);
    }
    end_close(&end);
}

typedef struct scene {
    end_t me;
    DAT_EP_HANDLE first_ep;
    meeting_t *meeting;
    part_t part[2];
    pid_t pid[2];
} scene_t;

static void begin(scene_t *s, bool leaves_a_child)
{
    int gate[2];
    s->meeting = shared_memory(sizeof *s->meeting);
    s->meeting->leaves_a_child = leaves_a_child;
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(s->meeting->hold), 0);
    for (int i = 0; i < 2; i++) {
        s->part[i] = (part_t){s->meeting, i};
        s->pid[i] = spawn_behind(gate, add_all_the_time, &s->part[i]);
    }
    close(gate[0]);
    end_open_memory(&s->me, MEMORY_MALLOC, 64,
                    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG |
                                         DAT_IB_MEM_PRIV_REMOTE_ATOMIC));
    memset(s->me.mem.data, 0, 64);
    s->meeting->qual = s->me.qual;
    s->meeting->word = remote(&s->me.mem, 0, 8);
    close(gate[1]);
    end_accept(&s->me);
    s->first_ep = s->me.ep;
    DAT_OK(dat_ep_create(s->me.ia, s->me.pz, s->me.recv, s->me.request,
                         s->me.conn, NULL, &s->me.ep));
    end_accept(&s->me);
}

/* Waits for n more additions of the second; false: it has failed. */
static bool second_goes_on(scene_t *s, unsigned n)
{
    unsigned long long until = atomic_load(&s->meeting->adder[1].adds) + n;
    for (int i = 0; atomic_load(&s->meeting->adder[1].adds) < until; i++) {
        if (atomic_load(&s->meeting->adder[1].failed))
            return false;
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    return true;
}

/* @p lost: additions that may have been made, but not counted */
static void end_scene(scene_t *s, unsigned lost)
{
    uint64_t sum;
    DAT_OK(dat_ep_free(s->first_ep));
    end_t *me = &s->me;
    DAT_OK(dat_ep_free(me->ep));
    me->ep = DAT_HANDLE_NULL;
    memcpy(&sum, me->mem.data, sizeof sum);
    unsigned long long counted = atomic_load(&s->meeting->adder[0].adds) +
                                 atomic_load(&s->meeting->adder[1].adds);
    assert_in_range(sum, counted, counted + lost);
    end_close(me);
    close(s->meeting->hold[0]);
    close(s->meeting->hold[1]);
    shared_free(s->meeting, sizeof *s->meeting);
}

static void owner_is_killed(void **state)
{
    for (int round = 0; round < 10; round++) {
        scene_t s;
        begin(&s, round % 2);
        assert_true(second_goes_on(&s, 10));
        assert_int_equal(kill(s.pid[0], SIGKILL), 0);
        assert_true(second_goes_on(&s, 100)); /* before it is reaped */
        atomic_store(&s.meeting->stop, true);
        join(s.pid[1]);
        assert_int_equal(waitpid(s.pid[0], NULL, 0), s.pid[0]);
        end_scene(&s, 1);
    }
}

/* The other goes on, or is told by an error. */
static void owner_is_stopped(void **state)
{
    scene_t s;
    begin(&s, false);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(kill(s.pid[0], SIGSTOP), 0);
        bool goes_on = second_goes_on(&s, 10);
        assert_int_equal(kill(s.pid[0], SIGCONT), 0);
        if (!goes_on)
            break;
        poll_pause();
    }
    atomic_store(&s.meeting->stop, true);
    join(s.pid[0]);
    join(s.pid[1]);
    end_scene(&s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owner_is_killed),
        cmocka_unit_test(owner_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is withdrawn while a peer writes to it: freed memory is not touched
 * any more, and a peer that is stopped in the middle of an access blocks no
 * call for ever. */
#include "peer.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE ((size_t)1 << 20)
#define BLOCK    4096

typedef struct meeting {
    DAT_CONN_QUAL qual; /* set before the gate opens */
    DAT_RMR_TRIPLET target;
    atomic_uint writes;
} meeting_t;

/* Writes to the target as long as the connection lasts. */
static void writer(void *arg)
{
    meeting_t *meeting = arg;
    end_t end;
    DAT_EVENT event = {0};
    size_t bytes = meeting->target.segment_length;
    end_open_memory(&end, MEMORY_MALLOC, bytes, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&end, meeting->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    DAT_LMR_TRIPLET iov = local(&end.mem, 0, bytes);
    while (dat_evd_dequeue(end.conn, &event) != DAT_SUCCESS) {
        dat_ep_post_rdma_write(end.ep, 1, &iov, cookie(0), &meeting->target, 0);
        atomic_fetch_add(&meeting->writes, 1);
        while (dat_evd_dequeue(end.request, &event) == DAT_SUCCESS)
            ;
    }
    assert_in_range(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED,
                    DAT_CONNECTION_EVENT_BROKEN);
    end_close(&end);
}

typedef struct scene {
    end_t me;
    meeting_t *meeting;
    pid_t writer;
} scene_t;

/* A peer that writes all the time. */
static void begin(scene_t *s, memory_kind_t kind, size_t bytes)
{
    int gate[2];
    s->meeting = shared_memory(sizeof *s->meeting);
    assert_int_equal(pipe(gate), 0);
    s->writer = spawn_behind(gate, writer, s->meeting);
    close(gate[0]);
    end_open_memory(&s->me, kind, bytes, DAT_MEM_PRIV_ALL_FLAG);
    s->meeting->qual = s->me.qual;
    s->meeting->target = remote(&s->me.mem, 0, bytes);
    close(gate[1]);
    end_accept(&s->me);
    for (int i = 0; atomic_load(&s->meeting->writes) < 3; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void end_scene(scene_t *s)
{
    end_close(&s->me);
    shared_free(s->meeting, sizeof *s->meeting);
}

static DAT_RETURN free_endpoint(scene_t *s)
{
    DAT_EP_HANDLE ep = s->me.ep;
    s->me.ep = DAT_HANDLE_NULL;
    return dat_ep_free(ep);
}

/* The memory is used for something else, which must stay as it is: from its end
 * on, for a copy that is still going on comes from the other side. */
static void use_again(scene_t *s)
{
    s->me.mem.lmr = DAT_HANDLE_NULL;
    for (size_t at = s->me.mem.bytes; at; at -= BLOCK)
        memset(s->me.mem.data + at - BLOCK, 0x5a, BLOCK);
    join(s->writer);
    for (size_t i = 0; i < s->me.mem.bytes; i++)
        if (s->me.mem.data[i] != 0x5a)
            fail_msg("byte %zu was written after it had been freed", i);
}

static void not_written_after_free(void **state)
{
    for (int round = 0; round < 16; round++) {
        scene_t s;
        begin(&s, (memory_kind_t)(round % 2), MEGABYTE);
        DAT_OK(free_endpoint(&s));
        DAT_OK(dat_lmr_free(s.me.mem.lmr));
        use_again(&s);
        end_scene(&s);
    }
}

/* The same when the connection is ended, but not the endpoint. */
static void not_written_after_disconnect(void **state)
{
    for (int round = 0; round < 10; round++) {
        scene_t s;
        begin(&s, (memory_kind_t)(round % 2), MEGABYTE);
        DAT_OK(dat_ep_disconnect(s.me.ep, DAT_CLOSE_ABRUPT_FLAG));
        EXPECT_EVENT(s.me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        DAT_LMR_HANDLE lmr = s.me.mem.lmr;
        use_again(&s);
        s.me.mem.lmr = lmr;
        end_scene(&s);
    }
}

/* A process or thread (0: this one) stays on this core. */
static void run_on(pid_t pid, int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    assert_int_equal(sched_setaffinity(pid, sizeof set, &set), 0);
}

static const struct sched_param none;

typedef struct hogging {
    int core;
    pid_t slow; /* it gets what is left of the core */
    cpu_set_t all;
} hogging_t;

/* Keeps a core from others for two seconds or more. */
static void *hog(void *arg)
{
    const hogging_t *h = arg;
    run_on(0, h->core);
    const time_t end = time(NULL) + 3;
    while (time(NULL) < end)
        ;
    /* or other tests would keep the core from it for longer */
    sched_setaffinity(h->slow, sizeof h->all, &h->all);
    sched_setscheduler(h->slow, SCHED_OTHER, &none);
    return NULL;
}

/* A peer that gets next to no time, but goes on: it is waited for. */
static void not_written_by_a_slow_peer(void **state)
{
    hogging_t h = {0};
    scene_t s;
    pthread_t thread;
    assert_int_equal(sched_getaffinity(0, sizeof h.all, &h.all), 0);
    if (CPU_COUNT(&h.all) < 2)
        skip();
    while (!CPU_ISSET(h.core, &h.all))
        h.core++;
    begin(&s, MEMORY_MALLOC, 128 * MEGABYTE);
    h.slow = s.writer;
    run_on(h.slow, h.core);
    assert_int_equal(sched_setscheduler(h.slow, SCHED_IDLE, &none), 0);
    assert_int_equal(pthread_create(&thread, NULL, hog, &h), 0);
    usleep(200000); /* the writer is in the midst of a write, and stays there */
    DAT_OK(dat_ep_disconnect(s.me.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(s.me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_LMR_HANDLE lmr = s.me.mem.lmr;
    use_again(&s);
    s.me.mem.lmr = lmr;
    pthread_join(thread, NULL);
    end_scene(&s);
}

/* ------------------------------------------------------- stopped peers --- */

/* Lets a stopped process go on if the test hangs on it. */
typedef struct watchdog {
    pid_t stopped;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool ended, barked;
} watchdog_t;

static void *watch(void *arg)
{
    watchdog_t *w = arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_MS / 1000;
    pthread_mutex_lock(&w->lock);
    while (!w->ended && !w->barked)
        if (pthread_cond_timedwait(&w->done, &w->lock, &until)) {
            w->barked = true;
            kill(w->stopped, SIGCONT);
        }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void stop(watchdog_t *w, pid_t pid)
{
    int status;
    *w = (watchdog_t){.stopped = pid,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .done = PTHREAD_COND_INITIALIZER};
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
}

/* The process goes on; it must not have done so before. */
static void go_on(watchdog_t *w)
{
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    assert_int_equal(kill(w->stopped, SIGCONT), 0);
    assert_false(w->barked);
}

typedef struct freeing {
    DAT_LMR_HANDLE lmr;
    DAT_RETURN result;
    atomic_bool done;
} freeing_t;

static void *free_lmr(void *arg)
{
    freeing_t *f = arg;
    f->result = dat_lmr_free(f->lmr);
    atomic_store(&f->done, true);
    return NULL;
}

/* Frees the LMR, while the IA is used for other things. */
static DAT_RETURN free_beside_others(scene_t *s, unsigned *others)
{
    freeing_t f = {.lmr = s->me.mem.lmr};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_lmr, &f), 0);
    for (*others = 0; !atomic_load(&f.done); ++*others) {
        DAT_PZ_HANDLE pz;
        DAT_OK(dat_pz_create(s->me.ia, &pz));
        DAT_OK(dat_pz_free(pz));
        poll_pause();
    }
    pthread_join(thread, NULL);
    return f.result;
}

/* The endpoint is freed, the memory is not: an error says that the peer is
 * still inside. Later it can be freed. */
static void stopped_inside(void **state)
{
    bool was_inside = false;
    for (int round = 0; round < 5 && !was_inside; round++) {
        scene_t s;
        watchdog_t w;
        unsigned others;
        begin(&s, MEMORY_MEMFD, 8 * MEGABYTE);
        stop(&w, s.writer);
        DAT_OK(free_endpoint(&s));
        DAT_RETURN rc = free_beside_others(&s, &others);
        go_on(&w);
        was_inside = rc != DAT_SUCCESS;
        if (was_inside) {
            DAT_FAILS(rc, DAT_INVALID_STATE);
            assert_true(others > 10);
            while ((rc = dat_lmr_free(s.me.mem.lmr)) != DAT_SUCCESS)
                DAT_FAILS(rc, DAT_INVALID_STATE);
        }
        use_again(&s);
        end_scene(&s);
    }
    assert_true(was_inside);
}

/* A connected peer, whose key is withdrawn: no access after it went on. */
static void stopped_on_a_connection(void **state)
{
    scene_t s;
    watchdog_t w;
    begin(&s, MEMORY_MEMFD, 8 * MEGABYTE);
    stop(&w, s.writer);
    DAT_RETURN rc = dat_lmr_free(s.me.mem.lmr);
    go_on(&w);
    while (rc != DAT_SUCCESS) {
        DAT_FAILS(rc, DAT_INVALID_STATE);
        rc = dat_lmr_free(s.me.mem.lmr);
    }
    EXPECT_EVENT(s.me.conn, DAT_CONNECTION_EVENT_BROKEN);
    use_again(&s);
    end_scene(&s);
}

/* Descriptors of this process. */
static unsigned descriptors(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void closed_while_stopped_inside(void **state)
{
    scene_t s;
    watchdog_t w;
    unsigned before = descriptors();
    begin(&s, MEMORY_MEMFD, 8 * MEGABYTE);
    stop(&w, s.writer);
    DAT_OK(dat_ia_close(s.me.ia, DAT_CLOSE_ABRUPT_FLAG));
    go_on(&w);
    join(s.writer);
    s.me.mem.lmr = DAT_HANDLE_NULL;
    region_destroy(&s.me.mem);
    shared_free(s.meeting, sizeof *s.meeting);
    assert_int_equal(descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_written_after_free),
        cmocka_unit_test(not_written_after_disconnect),
        cmocka_unit_test(not_written_by_a_slow_peer),
        cmocka_unit_test(stopped_inside),
        cmocka_unit_test(stopped_on_a_connection),
        cmocka_unit_test(closed_while_stopped_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

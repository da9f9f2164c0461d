/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads asleep in dat_evd_wait and dat_cno_wait: which events wake them, what
 * they cost other threads, and that a cancelled one leaves nothing behind. */
#include "util.h"
#include "tests/sanitizers.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BYTES   262144
#define WRITES  5
#define LONG_MS 100 /* looks of managers that have something to mind */

/* How often the provider has called the functions below, which take the place
 * of libc's, to wake a thread or to sleep. */
static atomic_int wakes, sleeps;
/* Are this thread's sleeps counted? The provider's own threads sleep, too: the
 * test counts only those of its threads. */
static _Thread_local bool counted;

STAND_IN long syscall(long number, ...);
long syscall(long number, ...)
{
    static long (*_Atomic found)(long, ...); /* by several threads */
    long (*libc)(long, ...) = atomic_load(&found);
    if (!libc) {
        libc = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
        atomic_store(&found, libc);
    }
    va_list args;
    long a[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        atomic_fetch_add(&wakes, 1);
    if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
        atomic_fetch_add(&sleeps, counted);
    return libc(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Over TCP one sleeper of an IA's may wait for its descriptor. */
STAND_IN int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                   const sigset_t *mask)
{
    struct timespec left = timeout ? *timeout : (struct timespec){0};
    atomic_fetch_add(&sleeps, counted);
    return (int)syscall(SYS_ppoll, fds, n, timeout ? &left : NULL, mask,
                        sizeof(uint64_t));
}

STAND_IN int eventfd_write(int fd, eventfd_t value)
{
    atomic_fetch_add(&wakes, 1);
    return write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}

/* Managers look now and then, whatever happens: not while a test wants them to
 * sleep until they are woken. */
static atomic_bool endless;
static atomic_int resting;

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    bool rests = ms < 0 || (atomic_load(&endless) && ms >= LONG_MS);
    atomic_fetch_add(&resting, rests);
    int n = (int)syscall(SYS_epoll_pwait, fd, events, max, rests ? -1 : ms,
                         NULL, sizeof(uint64_t));
    atomic_fetch_sub(&resting, rests);
    return n;
}

static void let_managers_rest(int managers)
{
    time_t end = time(NULL) + WAIT_MS / 1000;
    atomic_store(&endless, true);
    while (atomic_load(&resting) < managers) {
        assert_true(time(NULL) <= end);
        poll_pause();
    }
}

typedef struct sleeper {
    pthread_t thread;
    DAT_EVD_HANDLE evd;
    DAT_CNO_HANDLE cno; /* it waits for this one if there is one */
    int cancel_type;
    DAT_RETURN ret;
    DAT_EVENT event;
    DAT_EVD_HANDLE triggered;
} sleeper_t;

static void *sleeper_run(void *arg)
{
    sleeper_t *s = arg;
    DAT_COUNT more;
    counted = true;
    pthread_setcanceltype(s->cancel_type, NULL);
    if (s->cno)
        s->ret = dat_cno_wait(s->cno, DAT_TIMEOUT_INFINITE, &s->triggered);
    else
        s->ret =
            dat_evd_wait(s->evd, DAT_TIMEOUT_INFINITE, 1, &s->event, &more);
    return NULL;
}

/* Returns when it sleeps. */
static void sleeper_start(sleeper_t *s)
{
    int before = atomic_load(&sleeps);
    assert_int_equal(pthread_create(&s->thread, NULL, sleeper_run, s), 0);
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (atomic_load(&sleeps) == before) {
        assert_true(time(NULL) <= end);
        sched_yield();
    }
}

static void *sleeper_join(sleeper_t *s)
{
    void *result;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_MS / 1000;
    assert_int_equal(pthread_timedjoin_np(s->thread, &result, &end), 0);
    return result;
}

static void pair_open(end_t *a, end_t *b)
{
    ends_open(a, b, MEMORY_MEMFD, BYTES);
    end_connect_both(a, b);
}

static void dequeue(DAT_EVD_HANDLE evd, uint64_t number)
{
    DAT_EVENT event;
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (dat_evd_dequeue(evd, &event) != DAT_SUCCESS) {
        assert_true(time(NULL) <= end);
        sched_yield();
    }
    assert_int_equal(
        event.event_data.dto_completion_event_data.user_cookie.as_64, number);
}

static void post_recv(end_t *end, size_t bytes, uint64_t number)
{
    DAT_LMR_TRIPLET in = local(&end->mem, 0, bytes);
    DAT_OK(dat_ep_post_recv(end->ep, 1, &in, cookie(number), 0));
}

static void post_send(end_t *end, size_t bytes, uint64_t number)
{
    DAT_LMR_TRIPLET out = local(&end->mem, 0, bytes);
    DAT_OK(dat_ep_post_send(end->ep, 1, &out, cookie(number), 0));
}

static void write_to(end_t *from, const end_t *to)
{
    DAT_LMR_TRIPLET out = local(&from->mem, 0, 8);
    DAT_RMR_TRIPLET in = remote(&to->mem, 0, 8);
    DAT_OK(dat_ep_post_rdma_write(from->ep, 1, &out, cookie(WRITES), &in, 0));
    dequeue(from->request, WRITES);
}

static void software_event(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    DAT_OK(dat_evd_post_se(evd, &event));
}

/* -------------------------------------------------------------- wake-ups ---
 */

/* Messages make no system call for a thread that sleeps for connection
 * requests. */
static void nobody_wakes_an_idle_one(void **state)
{
    enum { MESSAGES = 1000 };
    end_t a, b;
    if (!strncmp(IA_NAME, "bond", 4)) /* its members' threads wake each other */
        skip();
    pair_open(&a, &b);
    sleeper_t idle[2] = {{.evd = a.cr}, {.evd = b.cr}};
    sleeper_start(&idle[0]);
    sleeper_start(&idle[1]);
    atomic_store(&wakes, 0);
    for (uint64_t i = 0; i < MESSAGES; i++) {
        end_t *from = i % 2 ? &a : &b, *to = i % 2 ? &b : &a;
        post_recv(to, 8, i);
        post_send(from, 8, i);
        dequeue(to->recv, i);
        dequeue(from->request, i);
    }
    assert_int_equal(atomic_load(&wakes), 0);
    for (int i = 0; i < 2; i++) {
        DAT_OK(dat_evd_set_unwaitable(idle[i].evd));
        sleeper_join(&idle[i]);
        DAT_FAILS(idle[i].ret, DAT_INVALID_STATE);
    }
    ends_close(&a, &b);
}

/* A sleeper is woken by what it waits for, in each EVD and by a CNO. */
static void its_event_wakes_it(void **state)
{
    end_t a, b;
    DAT_CNO_HANDLE cno;
    pair_open(&a, &b);
    sleeper_t recv = {.evd = b.recv}, request = {.evd = a.request};
    sleeper_start(&recv);
    sleeper_start(&request);
    post_send(&a, 100000, 1); /* complete when it was taken */
    post_recv(&b, 100000, 2);
    sleeper_join(&recv);
    sleeper_join(&request);
    DAT_OK(recv.ret);
    DAT_OK(request.ret);

    DAT_OK(dat_cno_create(b.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    DAT_OK(dat_evd_modify_cno(b.recv, cno));
    sleeper_t by_cno = {.cno = cno};
    post_recv(&b, 8, 3);
    sleeper_start(&by_cno);
    post_send(&a, 8, 4);
    sleeper_join(&by_cno);
    DAT_OK(by_cno.ret);
    assert_ptr_equal(by_cno.triggered, b.recv);
    dequeue(b.recv, 3);

    /* also if the EVD comes to the CNO only when the thread sleeps */
    DAT_OK(dat_evd_modify_cno(b.recv, DAT_HANDLE_NULL));
    post_recv(&b, 8, 5);
    sleeper_start(&by_cno);
    DAT_OK(dat_evd_modify_cno(b.recv, cno));
    post_send(&a, 8, 6);
    sleeper_join(&by_cno);
    DAT_OK(by_cno.ret);
    assert_ptr_equal(by_cno.triggered, b.recv);
    dequeue(b.recv, 5);
    DAT_OK(dat_evd_modify_cno(b.recv, DAT_HANDLE_NULL));
    DAT_OK(dat_cno_free(cno));
    ends_close(&a, &b);
}

/* The thread was asleep before the connection was made. */
static void a_later_connection_wakes_it(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    post_recv(&b, 8, 1);
    sleeper_t recv = {.evd = b.recv};
    sleeper_start(&recv);
    end_connect_both(&a, &b);
    post_send(&a, 8, 2);
    sleeper_join(&recv);
    DAT_OK(recv.ret);
    ends_close(&a, &b);
}

/* A thread that sleeps for something else still lets the IA's messages move,
 * as an adapter would: here a long one, which the receiver fetches. */
static void a_sleeper_looks_after_others(void **state)
{
    end_t a, b;
    pair_open(&a, &b);
    sleeper_t conn = {.evd = b.conn};
    post_recv(&b, BYTES, 1);
    sleeper_start(&conn);
    post_send(&a, BYTES, 2);
    EXPECT_DTO(a.request, 2, DAT_DTO_SUCCESS, BYTES);
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    sleeper_join(&conn);
    DAT_OK(conn.ret);
    assert_int_equal(conn.event.event_number,
                     DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, BYTES);
    ends_close(&a, &b);
}

/* The same for one that polls another EVD. */
static void a_poller_looks_after_others(void **state)
{
    end_t a, b;
    DAT_EVENT event;
    pair_open(&a, &b);
    post_recv(&b, BYTES, 1);
    post_send(&a, BYTES, 2);
    time_t end = time(NULL) + WAIT_MS / 1000;
    while (dat_evd_dequeue(a.request, &event) != DAT_SUCCESS) {
        dat_evd_dequeue(b.conn, &event);
        assert_true(time(NULL) <= end);
    }
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, BYTES);
    ends_close(&a, &b);
}

/* Two that connections feed: the second is woken also when the first, which
 * may have looked after both, is gone. */
static void one_is_left(void **state)
{
    for (int how = 0; how < 2; how++) {
        end_t a, b;
        pair_open(&a, &b);
        sleeper_t first = {.evd = a.recv}, left = {.evd = a.request};
        post_recv(&a, 8, 1);
        sleeper_start(&first);
        sleeper_start(&left);
        /* what comes to none of them, but spends what else would wake the
         * manager */
        for (int i = 0; i < WRITES; i++) {
            write_to(&b, &a);
            let_managers_rest(2);
        }
        if (how) {
            assert_int_equal(pthread_cancel(first.thread), 0);
            assert_ptr_equal(sleeper_join(&first), PTHREAD_CANCELED);
        } else {
            post_send(&b, 8, 2);
            sleeper_join(&first);
            DAT_OK(first.ret);
        }
        post_recv(&b, BYTES, 3);
        post_send(&a, BYTES, 4);
        dequeue(b.recv, 3);
        sleeper_join(&left);
        DAT_OK(left.ret);
        assert_int_equal(
            left.event.event_data.dto_completion_event_data.user_cookie.as_64,
            4);
        atomic_store(&endless, false);
        ends_close(&a, &b);
    }
}

static atomic_int signals;

static void on_signal(int number)
{
    atomic_fetch_add(&signals, 1);
}

/* A handler that has run ends a wait, as that says, or it goes on. */
static void a_signal_interrupts(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    end_t a, b;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pair_open(&a, &b);
    sleeper_t s = {.evd = a.recv};
    post_recv(&a, 8, 1);
    sleeper_start(&s);
    assert_int_equal(pthread_kill(s.thread, SIGUSR1), 0);
    time_t end = time(NULL) + WAIT_MS / 1000;
    /* ThreadSanitizer has handlers run when the thread is awake again */
    while (!TSAN && !atomic_load(&signals)) {
        assert_true(time(NULL) <= end);
        poll_pause();
    }
    post_send(&b, 8, 2);
    sleeper_join(&s);
    assert_true(s.ret == DAT_SUCCESS ||
                DAT_GET_TYPE(s.ret) == DAT_INTERRUPTED_CALL);
    sigaction(SIGUSR1, &before, NULL);
    ends_close(&a, &b);
}

/* More sleepers than an IA has bells for. */
static void many_sleepers(void **state)
{
    enum { N = 80 };
    end_t end;
    static sleeper_t s[N];
    end_open(&end, NULL);
    for (int i = 0; i < N; i++) {
        s[i] = (sleeper_t){0};
        DAT_OK(dat_evd_create(end.ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG,
                              &s[i].evd));
        if (i < 64)
            sleeper_start(&s[i]);
        else
            assert_int_equal(
                pthread_create(&s[i].thread, NULL, sleeper_run, &s[i]), 0);
    }
    for (int i = N - 1; i >= 0; i--) {
        software_event(s[i].evd);
        sleeper_join(&s[i]);
        DAT_OK(s[i].ret);
        DAT_OK(dat_evd_free(s[i].evd));
    }
    end_close(&end);
}

/* --------------------------------------------------------- cancellation --- */

static void cancelled(sleeper_t *s)
{
    sleeper_start(s);
    assert_int_equal(pthread_cancel(s->thread), 0);
    assert_ptr_equal(sleeper_join(s), PTHREAD_CANCELED);
}

static void *wake_cancelled(void *evd)
{
    pthread_cancel(pthread_self());
    dat_evd_set_unwaitable(evd);
    pthread_testcancel();
    return NULL;
}

/* A cancelled thread has woken the threads that it had to wake. */
static void a_cancelled_one_wakes(void **state)
{
    end_t a, b;
    pthread_t waker;
    pair_open(&a, &b);
    sleeper_t s = {.evd = a.recv};
    sleeper_start(&s);
    assert_int_equal(pthread_create(&waker, NULL, wake_cancelled, a.recv), 0);
    assert_int_equal(pthread_join(waker, NULL), 0);
    sleeper_join(&s);
    DAT_FAILS(s.ret, DAT_INVALID_STATE);
    ends_close(&a, &b);
}

static atomic_bool entered, cancelled_awake;

static void *sleeps_when_cancelled(void *sleeper)
{
    atomic_store(&entered, true);
    while (!atomic_load(&cancelled_awake))
        ; /* no cancellation point */
    return sleeper_run(sleeper);
}

/* A thread that is awake when it is cancelled ends when it goes to sleep. */
static void one_is_cancelled_awake(void **state)
{
    end_t end;
    DAT_EVENT event;
    sleeper_t s = {0};
    if (TSAN) /* complains of any thread that ends in pthread_setcanceltype() */
        skip();
    end_open(&end, NULL);
    DAT_OK(dat_evd_create(end.ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG,
                          &s.evd));
    assert_int_equal(pthread_create(&s.thread, NULL, sleeps_when_cancelled, &s),
                     0);
    while (!atomic_load(&entered))
        sched_yield();
    assert_int_equal(pthread_cancel(s.thread), 0);
    atomic_store(&cancelled_awake, true);
    assert_ptr_equal(sleeper_join(&s), PTHREAD_CANCELED);
    software_event(s.evd);
    DAT_OK(dat_evd_dequeue(s.evd, &event));
    DAT_OK(dat_evd_free(s.evd));
    end_close(&end);
}

static void a_cancelled_one_leaves_nothing(void **state)
{
    static const int type[] = {PTHREAD_CANCEL_DEFERRED,
                               PTHREAD_CANCEL_ASYNCHRONOUS};
    end_t end;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd, served;
    DAT_EVENT event;
    end_open(&end, NULL);
    for (int i = 0; i < 2; i++) {
        DAT_OK(dat_cno_create(end.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
        DAT_OK(dat_evd_create(end.ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG,
                              &evd));
        DAT_OK(dat_evd_create(end.ia, 4, cno, DAT_EVD_SOFTWARE_FLAG, &served));
        cancelled(&(sleeper_t){.evd = evd, .cancel_type = type[i]});
        cancelled(&(sleeper_t){.cno = cno, .cancel_type = type[i]});
        /* as if nobody had waited: no waiter, no bell */
        atomic_store(&wakes, 0);
        software_event(evd);
        software_event(served);
        assert_int_equal(atomic_load(&wakes), 0);
        DAT_OK(dat_evd_dequeue(evd, &event));
        DAT_OK(dat_evd_dequeue(served, &event));
        DAT_OK(dat_evd_free(served));
        DAT_OK(dat_evd_free(evd));
        DAT_OK(dat_cno_free(cno));
    }
    end_close(&end);
}

/* ------------------------------------------------------------- dequeuing ---
 */

/* The event of a waiter is not another thread's to take. */
static void no_dequeue_beside_a_waiter(void **state)
{
    end_t end;
    DAT_EVENT event;
    end_open(&end, NULL);
    sleeper_t s = {0};
    DAT_OK(dat_evd_create(end.ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG,
                          &s.evd));
    for (int i = 0; i < 10; i++) {
        sleeper_start(&s);
        DAT_FAILS(dat_evd_dequeue(s.evd, &event), DAT_INVALID_STATE);
        software_event(s.evd);
        sleeper_join(&s);
        DAT_OK(s.ret);
    }
    DAT_OK(dat_evd_free(s.evd));
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_wakes_an_idle_one),
        cmocka_unit_test(its_event_wakes_it),
        cmocka_unit_test(a_later_connection_wakes_it),
        cmocka_unit_test(a_sleeper_looks_after_others),
        cmocka_unit_test(a_poller_looks_after_others),
        cmocka_unit_test(one_is_left),
        cmocka_unit_test(a_signal_interrupts),
        cmocka_unit_test(many_sleepers),
        cmocka_unit_test(a_cancelled_one_wakes),
        cmocka_unit_test(one_is_cancelled_awake),
        cmocka_unit_test(a_cancelled_one_leaves_nothing),
        cmocka_unit_test(no_dequeue_beside_a_waiter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

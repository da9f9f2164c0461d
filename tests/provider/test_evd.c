/* SPDX-License-Identifier: BSD-3-Clause */
/* EVD and CNO: queues, waiting, thresholds, states. */
#include "util.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef struct fixture {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd; /* software events, CNO unless made without */
} fixture_t;

static void open_evd(fixture_t *f, DAT_COUNT qlen, bool with_cno)
{
    memset(f, 0, sizeof *f);
    DAT_OK(dat_ia_open((DAT_NAME_PTR)IA_NAME, 8, &f->async, &f->ia));
    if (with_cno)
        DAT_OK(dat_cno_create(f->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &f->cno));
    DAT_OK(dat_evd_create(f->ia, qlen, f->cno, DAT_EVD_SOFTWARE_FLAG, &f->evd));
}

static void close_evd(fixture_t *f)
{
    DAT_OK(dat_evd_free(f->evd));
    if (f->cno)
        DAT_OK(dat_cno_free(f->cno));
    DAT_OK(dat_ia_close(f->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static DAT_RETURN post(const fixture_t *f, uintptr_t value)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    event.event_data.software_event_data.pointer = (void *)value;
    return dat_evd_post_se(f->evd, &event);
}

static uintptr_t value_of(const DAT_EVENT *event)
{
    assert_int_equal(event->event_number, DAT_SOFTWARE_EVENT);
    return (uintptr_t)event->event_data.software_event_data.pointer;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void create_and_query(void **state)
{
    fixture_t f;
    DAT_EVD_PARAM param;
    open_evd(&f, 10, true);
    DAT_OK(dat_evd_query(f.evd, DAT_EVD_FIELD_ALL, &param));
    assert_non_null(param.ia_handle); /* the provider's, not the registry's */
    assert_ptr_equal(param.cno_handle, f.cno);
    assert_true(param.evd_qlen >= 10);
    assert_int_equal(param.evd_flags, DAT_EVD_SOFTWARE_FLAG);
    assert_true(param.evd_state & DAT_EVD_STATE_ENABLED);
    assert_true(param.evd_state & DAT_EVD_STATE_WAITABLE);
    close_evd(&f);
}

static void create_bad_arguments(void **state)
{
    fixture_t f;
    DAT_EVD_HANDLE evd;
    open_evd(&f, 8, false);
    DAT_FAILS(dat_evd_create(f.ia, 0, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_evd_create(f.ia, 8, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0, &evd),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_evd_create(f.ia, 8, f.evd, DAT_EVD_DTO_FLAG, &evd),
              DAT_INVALID_HANDLE);
    assert_true(dat_evd_create(f.ia, 1 << 30, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                               &evd) != DAT_SUCCESS);
    close_evd(&f);
}

static void events_in_order(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    open_evd(&f, 64, false);
    DAT_FAILS(dat_evd_dequeue(f.evd, &event), DAT_QUEUE_EMPTY);
    for (uintptr_t round = 0; round < 10; round++) {
        for (uintptr_t i = 1; i <= 50; i++)
            DAT_OK(post(&f, i + round));
        for (uintptr_t i = 1; i <= 50; i++) {
            DAT_OK(dat_evd_dequeue(f.evd, &event));
            assert_int_equal(value_of(&event), i + round);
            assert_ptr_equal(event.evd_handle, f.evd);
        }
    }
    DAT_FAILS(dat_evd_dequeue(f.evd, &event), DAT_QUEUE_EMPTY);
    close_evd(&f);
}

static void software_events_are_checked(void **state)
{
    fixture_t f;
    DAT_EVENT event = {.event_number = DAT_DTO_COMPLETION_EVENT};
    open_evd(&f, 8, false);
    DAT_FAILS(dat_evd_post_se(f.evd, &event), DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_evd_post_se(f.evd, NULL), DAT_INVALID_PARAMETER);
    close_evd(&f);
}

static void queue_full(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_EVD_PARAM param;
    open_evd(&f, 8, false);
    DAT_OK(dat_evd_query(f.evd, DAT_EVD_FIELD_EVD_QLEN, &param));
    for (int i = 1; i <= param.evd_qlen; i++)
        DAT_OK(post(&f, (uintptr_t)i));
    DAT_FAILS(post(&f, 999), DAT_QUEUE_FULL);
    for (int i = 1; i <= param.evd_qlen; i++) {
        DAT_OK(dat_evd_dequeue(f.evd, &event));
        assert_int_equal(value_of(&event), i);
    }
    DAT_OK(post(&f, 1000)); /* usable again */
    DAT_OK(dat_evd_dequeue(f.evd, &event));
    assert_int_equal(value_of(&event), 1000);
    close_evd(&f);
}

static void resize_keeps_events(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_EVD_PARAM param;
    open_evd(&f, 8, false);
    for (uintptr_t i = 1; i <= 8; i++)
        DAT_OK(post(&f, i));
    DAT_OK(dat_evd_resize(f.evd, 100));
    DAT_OK(dat_evd_query(f.evd, DAT_EVD_FIELD_EVD_QLEN, &param));
    assert_true(param.evd_qlen >= 100);
    for (uintptr_t i = 9; i <= 100; i++)
        DAT_OK(post(&f, i));
    DAT_FAILS(dat_evd_resize(f.evd, 10), DAT_INVALID_STATE);
    for (uintptr_t i = 1; i <= 100; i++) {
        DAT_OK(dat_evd_dequeue(f.evd, &event));
        assert_int_equal(value_of(&event), i);
    }
    DAT_FAILS(dat_evd_resize(f.evd, 0), DAT_INVALID_PARAMETER);
    close_evd(&f);
}

/* A long queue keeps all that it has room for, … */
static void long_queue_fills(void **state)
{
    enum { LONG = 10000 };
    fixture_t f;
    DAT_EVENT event;
    open_evd(&f, LONG, false);
    for (uintptr_t i = 1; i <= LONG; i++)
        DAT_OK(post(&f, i));
    for (uintptr_t i = 1; i <= LONG; i++) {
        DAT_OK(dat_evd_dequeue(f.evd, &event));
        assert_int_equal(value_of(&event), i);
    }
    close_evd(&f);
}

static long resident_pages(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &all, &resident), 2);
    fclose(f);
    return resident;
}

/* … and takes no memory for what it never holds at once. */
static void long_queue_is_small(void **state)
{
    enum { LONG = 100000 };
    fixture_t f;
    DAT_EVENT event;
    open_evd(&f, LONG, false);
    long before = resident_pages();
    for (uintptr_t i = 1; i <= LONG; i++) {
        DAT_OK(post(&f, i));
        DAT_OK(dat_evd_dequeue(f.evd, &event));
    }
    assert_in_range(resident_pages() - before, 0,
                    (2 << 20) / sysconf(_SC_PAGESIZE));
    close_evd(&f);
}

static void wait_times_out(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_COUNT more = -1;
    open_evd(&f, 8, false);
    int64_t start = now_ms();
    DAT_FAILS(dat_evd_wait(f.evd, 50000, 1, &event, &more),
              DAT_TIMEOUT_EXPIRED);
    int64_t took = now_ms() - start;
    assert_in_range(took, 49, 1000);
    assert_int_equal(more, 0);
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
    close_evd(&f);
}

static void wait_has_a_threshold(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_EVD_PARAM param;
    DAT_COUNT more = -1;
    open_evd(&f, 8, false);
    for (uintptr_t i = 1; i <= 3; i++)
        DAT_OK(post(&f, i));
    DAT_FAILS(dat_evd_wait(f.evd, 10000, 4, &event, &more),
              DAT_TIMEOUT_EXPIRED);
    assert_int_equal(more, 3);
    DAT_OK(post(&f, 4));
    DAT_OK(dat_evd_wait(f.evd, 10000, 4, &event, &more));
    assert_int_equal(value_of(&event), 1);
    assert_int_equal(more, 3);

    DAT_FAILS(dat_evd_wait(f.evd, 0, 0, &event, &more), DAT_INVALID_PARAMETER);
    DAT_OK(dat_evd_query(f.evd, DAT_EVD_FIELD_EVD_QLEN, &param));
    DAT_FAILS(dat_evd_wait(f.evd, 0, param.evd_qlen + 1, &event, &more),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, NULL, &more), DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, &event, NULL), DAT_INVALID_PARAMETER);
    close_evd(&f);
}

typedef struct delayed {
    fixture_t *f;
    int ms;
    uintptr_t count;
    pthread_t waiter;
} delayed_t;

static void *post_later(void *arg)
{
    delayed_t *d = arg;
    for (uintptr_t i = 1; i <= d->count; i++) {
        usleep((useconds_t)d->ms * 1000);
        post(d->f, i);
    }
    return NULL;
}

static void wait_is_woken(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_COUNT more;
    pthread_t thread;
    open_evd(&f, 8, false);
    delayed_t d = {&f, 30, 3, 0};
    assert_int_equal(pthread_create(&thread, NULL, post_later, &d), 0);
    int64_t start = now_ms();
    DAT_OK(dat_evd_wait(f.evd, DAT_TIMEOUT_INFINITE, 3, &event, &more));
    assert_in_range(now_ms() - start, 80, 2000);
    assert_int_equal(more, 2);
    pthread_join(thread, NULL);
    close_evd(&f);
}

static void *wait_for_one(void *arg)
{
    fixture_t *f = arg;
    DAT_EVENT event;
    DAT_COUNT more;
    return (void *)(uintptr_t)dat_evd_wait(f->evd, 5000000, 1, &event, &more);
}

static DAT_RETURN result_of(pthread_t thread)
{
    void *result;
    assert_int_equal(pthread_join(thread, &result), 0);
    return (DAT_RETURN)(uintptr_t)result;
}

static void only_one_waiter(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_COUNT more;
    pthread_t thread;
    open_evd(&f, 8, false);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, &f), 0);
    usleep(100000);
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, &event, &more), DAT_INVALID_STATE);
    DAT_OK(post(&f, 1));
    DAT_OK(result_of(thread));
    close_evd(&f);
}

static void unwaitable(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_COUNT more;
    pthread_t thread;
    open_evd(&f, 8, false);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, &f), 0);
    usleep(100000);
    DAT_OK(dat_evd_set_unwaitable(f.evd)); /* ends the wait under way */
    DAT_FAILS(result_of(thread), DAT_INVALID_STATE);
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, &event, &more), DAT_INVALID_STATE);
    DAT_OK(post(&f, 7));
    DAT_OK(dat_evd_dequeue(f.evd, &event));
    assert_int_equal(value_of(&event), 7);
    DAT_OK(dat_evd_clear_unwaitable(f.evd));
    DAT_FAILS(dat_evd_wait(f.evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
    close_evd(&f);
}

static void on_signal(int number)
{
}

static void *signal_later(void *arg)
{
    delayed_t *d = arg;
    usleep((useconds_t)d->ms * 1000);
    pthread_kill(d->waiter, SIGUSR1);
    return NULL;
}

/* A handled signal ends the wait, or it goes on: but it never hangs. */
static void wait_and_signals(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_COUNT more;
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal}, before;
    open_evd(&f, 8, false);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    delayed_t d = {&f, 50, 0, pthread_self()};
    assert_int_equal(pthread_create(&thread, NULL, signal_later, &d), 0);
    DAT_RETURN rc = dat_evd_wait(f.evd, 500000, 1, &event, &more);
    if (DAT_GET_TYPE(rc) != DAT_INTERRUPTED_CALL)
        DAT_FAILS(rc, DAT_TIMEOUT_EXPIRED);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &before, NULL);
    close_evd(&f);
}

static void cno_reports_its_evd(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_EVD_HANDLE evd = NULL, other;
    DAT_CNO_PARAM param;
    open_evd(&f, 8, true);
    DAT_OK(dat_evd_create(f.ia, 8, f.cno, DAT_EVD_SOFTWARE_FLAG, &other));
    DAT_FAILS(dat_cno_wait(f.cno, 20000, &evd), DAT_TIMEOUT_EXPIRED);
    DAT_OK(post(&f, 1));
    DAT_OK(dat_cno_wait(f.cno, 1000000, &evd));
    assert_ptr_equal(evd, f.evd);
    DAT_OK(dat_evd_dequeue(f.evd, &event));
    DAT_FAILS(dat_cno_wait(f.cno, 20000, &evd), DAT_TIMEOUT_EXPIRED);

    fixture_t g = f;
    g.evd = other;
    DAT_OK(post(&g, 2));
    DAT_OK(dat_cno_wait(f.cno, 1000000, &evd));
    assert_ptr_equal(evd, other);

    DAT_OK(dat_cno_query(f.cno, DAT_CNO_FIELD_ALL, &param));
    assert_int_equal(param.proxy_type, DAT_PROXY_TYPE_NONE);
    DAT_FAILS(dat_cno_free(f.cno), DAT_INVALID_STATE); /* EVDs use it */
    DAT_OK(dat_evd_free(other));
    close_evd(&f);
}

static void cno_is_woken(void **state)
{
    fixture_t f;
    DAT_EVD_HANDLE evd = NULL;
    pthread_t thread;
    open_evd(&f, 8, true);
    delayed_t d = {&f, 50, 1, 0};
    assert_int_equal(pthread_create(&thread, NULL, post_later, &d), 0);
    DAT_OK(dat_cno_wait(f.cno, DAT_TIMEOUT_INFINITE, &evd));
    assert_ptr_equal(evd, f.evd);
    pthread_join(thread, NULL);
    close_evd(&f);
}

static void disabled_evd_does_not_trigger(void **state)
{
    fixture_t f;
    DAT_EVENT event;
    DAT_EVD_HANDLE evd = NULL;
    open_evd(&f, 8, true);
    DAT_OK(dat_evd_disable(f.evd));
    DAT_OK(post(&f, 1));
    DAT_FAILS(dat_cno_wait(f.cno, 20000, &evd), DAT_TIMEOUT_EXPIRED);
    DAT_OK(dat_evd_dequeue(f.evd, &event));
    assert_int_equal(value_of(&event), 1);
    DAT_OK(dat_evd_enable(f.evd));
    DAT_OK(post(&f, 2));
    DAT_OK(dat_cno_wait(f.cno, 1000000, &evd));
    assert_ptr_equal(evd, f.evd);
    close_evd(&f);
}

static void cno_can_be_changed(void **state)
{
    fixture_t f;
    DAT_CNO_HANDLE second;
    DAT_EVD_HANDLE evd = NULL;
    open_evd(&f, 8, true);
    DAT_OK(dat_cno_create(f.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &second));
    DAT_OK(dat_evd_modify_cno(f.evd, second));
    DAT_OK(post(&f, 1));
    DAT_FAILS(dat_cno_wait(f.cno, 10000, &evd), DAT_TIMEOUT_EXPIRED);
    DAT_OK(dat_cno_wait(second, 1000000, &evd));
    assert_ptr_equal(evd, f.evd);
    DAT_OK(dat_evd_modify_cno(f.evd, DAT_HANDLE_NULL));
    DAT_OK(dat_cno_free(second));
    close_evd(&f);
}

static void agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
    *(DAT_EVD_HANDLE *)instance = evd;
}

/* Proxy agents are not offered, and that is said. */
static void cno_has_no_agent(void **state)
{
    fixture_t f;
    DAT_EVD_HANDLE seen = NULL;
    DAT_CNO_HANDLE cno;
    DAT_OS_WAIT_PROXY_AGENT proxy = {&seen, agent};
    open_evd(&f, 8, true);
    DAT_FAILS(dat_cno_create(f.ia, proxy, &cno), DAT_MODEL_NOT_SUPPORTED);
    DAT_FAILS(dat_cno_modify_agent(f.cno, proxy), DAT_MODEL_NOT_SUPPORTED);
    close_evd(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_and_query),
        cmocka_unit_test(create_bad_arguments),
        cmocka_unit_test(events_in_order),
        cmocka_unit_test(software_events_are_checked),
        cmocka_unit_test(queue_full),
        cmocka_unit_test(resize_keeps_events),
        cmocka_unit_test(long_queue_fills),
        cmocka_unit_test(long_queue_is_small),
        cmocka_unit_test(wait_times_out),
        cmocka_unit_test(wait_has_a_threshold),
        cmocka_unit_test(wait_is_woken),
        cmocka_unit_test(only_one_waiter),
        cmocka_unit_test(unwaitable),
        cmocka_unit_test(wait_and_signals),
        cmocka_unit_test(cno_reports_its_evd),
        cmocka_unit_test(cno_is_woken),
        cmocka_unit_test(disabled_evd_does_not_trigger),
        cmocka_unit_test(cno_can_be_changed),
        cmocka_unit_test(cno_has_no_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

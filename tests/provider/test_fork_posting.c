/* SPDX-License-Identifier: BSD-3-Clause */
/* A process forks while other threads post an event and take one. In the child,
 * which has no such threads, the first was never posted, and the second is
 * taken. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define FORKS 100

static atomic_bool stop;

static void *post(void *arg)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    while (!atomic_load(&stop))
        dat_evd_post_se(arg, &event);
    return NULL;
}

static void *take(void *arg)
{
    DAT_EVENT event;
    while (!atomic_load(&stop))
        dat_evd_dequeue(arg, &event);
    return NULL;
}

/* Everything that is counted can be taken. */
static void take_all(void *arg)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    DAT_COUNT more;
    alarm(WAIT_MS / 1000);
    while (dat_evd_wait(arg, 0, 1, &event, &more) == DAT_SUCCESS)
        ;
    assert_int_equal(more, 0);
    for (int i = 0; i < END_QLEN; i++) {
        DAT_OK(dat_evd_post_se(arg, &event));
        DAT_OK(dat_evd_dequeue(arg, &event));
    }
}

static void in_the_child(void **state)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
    pthread_t thread[2];
    DAT_OK(dat_ia_open((DAT_NAME_PTR)IA_NAME, 16, &async, &ia));
    DAT_OK(dat_evd_create(ia, END_QLEN, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG,
                          &evd));
    assert_int_equal(pthread_create(&thread[0], NULL, post, evd), 0);
    assert_int_equal(pthread_create(&thread[1], NULL, take, evd), 0);
    for (int i = 0; i < FORKS; i++)
        join(spawn(take_all, evd));
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    DAT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A process forks while another thread opens and closes IAs: no lock stays
 * taken in the child. The provider is called directly, because the registry's
 * own locks would stay taken. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <dat2/dat_registry.h>

#define FORKS 200
#define RAIL  "ultra24-a0" /* with a link model, whose clocks have a lock */

typedef struct opener {
    const DAT_PROVIDER *provider;
    atomic_bool stop;
    atomic_uint failed;
} opener_t;

static DAT_RETURN open_and_close(const DAT_PROVIDER *provider)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_RETURN ret = provider->ia_open_func((DAT_NAME_PTR)RAIL, 4, &async, &ia);
    return ret == DAT_SUCCESS
               ? provider->ia_close_func(ia, DAT_CLOSE_ABRUPT_FLAG)
               : ret;
}

static void *open_all_the_time(void *arg)
{
    opener_t *o = arg;
    while (!atomic_load(&o->stop))
        if (open_and_close(o->provider) != DAT_SUCCESS)
            atomic_fetch_add(&o->failed, 1);
    return NULL;
}

static void child(void *arg)
{
    const opener_t *o = arg;
    alarm(WAIT_MS / 1000);
    DAT_OK(open_and_close(o->provider));
}

static void nothing_stays_locked(void **state)
{
#ifdef DRAIL_SANITIZE
    skip(); /* sanitizers' own locks are not held over fork */
#endif
    end_t end;
    pthread_t thread;
    opener_t o = {0};
    end_open_on(&end, RAIL, NULL);
    o.provider = *(const DAT_PROVIDER **)end.pz;
    assert_int_equal(pthread_create(&thread, NULL, open_all_the_time, &o), 0);
    for (int i = 0; i < FORKS; i++)
        join(spawn(child, &o));
    atomic_store(&o.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&o.failed), 0);
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_stays_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

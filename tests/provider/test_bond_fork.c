/* SPDX-License-Identifier: BSD-3-Clause */
/* A process forks while a bond calls its members. The library of these members
 * was loaded after the bond's own. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_ofi.so", "tcp-lo", "provider=tcp device=lo"},
    {"libdapl_ofi.so", "tcp-lo2", "provider=tcp device=lo"},
    {"libdapl_bond.so", "bond-shm", "a b"},
    {"libdapl_bond.so", "bond-tcp", "tcp-lo tcp-lo2"},
};
#define FORKS 100

static atomic_bool stop;

static void *register_memory(void *arg)
{
    end_t *end = arg;
    while (!atomic_load(&stop)) {
        region_create(&end->mem, MEMORY_MALLOC, 4096, end->ia, end->pz,
                      DAT_MEM_PRIV_ALL_FLAG);
        region_destroy(&end->mem);
    }
    return NULL;
}

static void nothing(void *arg)
{
}

static bool has_tcp(void)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    if (dat_ia_open((DAT_NAME_PTR) "tcp-lo", 8, &async, &ia) != DAT_SUCCESS)
        return false;
    DAT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    return true;
}

static void no_deadlock(void **state)
{
#ifdef DRAIL_SANITIZE
    skip(); /* sanitizers' own locks are not held over fork */
#endif
    end_t shm, tcp;
    pthread_t thread;
    end_open_on(&shm, "bond-shm", NULL);
    if (!has_tcp())
        skip();
    end_open_on(&tcp, "bond-tcp", NULL);
    alarm(WAIT_MS / 1000);
    assert_int_equal(pthread_create(&thread, NULL, register_memory, &tcp), 0);
    for (unsigned i = 0; i < FORKS; i++)
        join(spawn(nothing, NULL));
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    alarm(0);
    memset(&tcp.mem, 0, sizeof tcp.mem);
    end_close(&tcp);
    end_close(&shm);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_deadlock),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

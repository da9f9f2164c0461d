/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener in a process that has run out of file descriptors. */
#include "peer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int slept;

/* The provider takes this for libc's: its manager may not sleep while it
 * holds what other threads need. */
STAND_IN int usleep(useconds_t us)
{
    atomic_fetch_add(&slept, 1);
    return poll(NULL, 0, (int)(us / 1000));
}

typedef struct meeting {
    DAT_CONN_QUAL qual;
    int connecting[2]; /* a pipe */
} meeting_t;

static void connect_to(void *arg)
{
    const meeting_t *m = arg;
    end_t end;
    end_open(&end, NULL);
    DAT_OK(end_connect(&end, m->qual));
    assert_int_equal(write(m->connecting[1], "", 1), 1);
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&end);
}

/* Requests wait until there is one for them, and nothing else does. */
static void connected_when_there_is_one(void **state)
{
    end_t me;
    int gate[2];
    char byte;
    struct rlimit was, none;
    meeting_t *m = shared_memory(sizeof *m);
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(m->connecting), 0);
    pid_t pid = spawn_behind(gate, connect_to, m);
    close(gate[0]);
    end_open(&me, NULL);
    m->qual = me.qual;
    atomic_store(&slept, 0); /* by libraries that were loaded */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    close(gate[1]);
    assert_int_equal(read(m->connecting[0], &byte, 1), 1);
    expect_silence(me.cr, 50);
    DAT_PZ_HANDLE pz;
    for (int i = 0; i < 1000; i++) {
        DAT_OK(dat_pz_create(me.ia, &pz));
        DAT_OK(dat_pz_free(pz));
    }
    assert_int_equal(atomic_load(&slept), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    end_accept(&me);
    end_close(&me);
    join(pid);
    close(m->connecting[0]);
    close(m->connecting[1]);
    shared_free(m, sizeof *m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connected_when_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

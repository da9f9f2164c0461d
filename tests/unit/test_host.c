/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes count as on one host. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/rendezvous/host.h"

enum { SAME, DIFFERENT, FORBIDDEN };

/* How a child with these namespaces of its own sees itself. */
static int seen_from(int namespaces)
{
    unsigned char here[HOST_BYTES], there[HOST_BYTES];
    int status;
    host_identify(here);
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(namespaces))
            _exit(FORBIDDEN);
        host_identify(there);
        _exit(memcmp(here, there, HOST_BYTES) ? DIFFERENT : SAME);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void one_host(void **state)
{
    assert_int_equal(seen_from(0), SAME);
}

/* Of one kernel and name, but nothing in shared memory is found there. */
static void other_namespaces(void **state)
{
    static const int kinds[] = {CLONE_NEWIPC, CLONE_NEWNET};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int seen = seen_from(kinds[i]);
        if (seen == FORBIDDEN)
            skip();
        assert_int_equal(seen, DIFFERENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_host),
        cmocka_unit_test(other_namespaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that forks: its child has none of its threads and no part in its
 * connections. The child's calls fail, and it can close what it has. */
#include <sys/wait.h>

#include "memory.h"
#include "tests/sanitizers.h"

#define STRIPED (1u << 20)
#define IN_TIME 20 /* s */

static void put_fails(struct rank *r, const struct memory *m)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, STRIPED);
    int rc = drail_put(r->t, r->peer, &x, 0, 0, &req);
    if (!rc)
        rc = drail_wait(r->t, &req, -1);
    check(rc < 0);
}

static void in_child(struct rank *r, const struct memory *m, bool puts)
{
    pid_t pid = fork();
    int status = -1;
    check(pid >= 0);
    if (!pid) {
        alarm(IN_TIME);
        if (puts && !TSAN) /* whose children can't start threads */
            put_fails(r, m);
        drail_close(r->t);
        _exit(0);
    }
    check(waitpid(pid, &status, 0) == pid);
    check(!status);
}

static void child_closes(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, STRIPED);
    memory_put(r, &m, STRIPED);
    barrier(r);
    in_child(r, &m, false);
    in_child(r, &m, true);
    barrier(r);
    memory_put(r, &m, STRIPED);
    memory_close(r, &m);
}

static void resident(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_RESIDENT;
    cfg->timeout_ms = 5000;
}

static void short_timeout(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"threads", 2, child_closes, resident, 0},
    {"no threads", 2, child_closes, short_timeout, 0},
};

RUN_TESTS(tests)

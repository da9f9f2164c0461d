/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine auto on one core: threads are not even tried. */
#include <dirent.h>
#include <sched.h>

#include "memory.h"
#include "ranks.h"

#define BYTES (64u << 10)

static unsigned threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;
    check(tasks != NULL);
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n;
}

static void tries_the_others(struct rank *r)
{
    struct memory b;
    char text[1024] = "";
    unsigned before = threads();
    memory_open(r, &b, BYTES);
    /* the first contest is over when what it has measured is told */
    for (unsigned n = 0; r->rank == 0 && n < 100000; n++) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &b, BYTES);
        expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        drail_explain(r->t, BYTES, text, sizeof text);
        if (!strstr(text, "single not yet"))
            break;
    }
    if (r->rank == 0) {
        check(!strstr(text, "nonthreaded not yet"));
        check(strstr(text, ", threaded not yet") != NULL);
        check(threads() == before);
    }
    memory_close(r, &b);
}

static void with_auto(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->engine = DRAIL_ENGINE_AUTO;
}

static const struct test tests[] = {
    {"no threads", 2, tries_the_others, with_auto, 0},
};

int main(int argc, char **argv)
{
    cpu_set_t mine, one;
    unsigned first = 0;
    if (sched_getaffinity(0, sizeof mine, &mine))
        return 1;
    while (!CPU_ISSET(first, &mine))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        return 1;
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}

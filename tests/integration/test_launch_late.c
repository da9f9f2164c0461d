/* SPDX-License-Identifier: BSD-3-Clause */
/* Launched ranks that don't come to a job of their launch in time. */
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

#define PATIENT 20 /* seconds */
#define SECRET  "a secret of sixteen characters"

static char where[64];

/* Nobody listens there. */
static void choose_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t bytes = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, bytes) ||
        getsockname(fd, (struct sockaddr *)&a, &bytes))
        exit(1);
    snprintf(where, sizeof where, "127.0.0.1:%u", ntohs(a.sin_port));
    close(fd);
}

static void configure(drail_job_config_t *cfg, unsigned rank, unsigned size,
                      drail_error_t *err)
{
    drail_job_config_init(cfg);
    cfg->rank = rank;
    cfg->nranks = size;
    cfg->rendezvous = where;
    cfg->error = err;
}

static int expect(int rc, const drail_error_t *err, int code, const char *text)
{
    if (rc == code && strstr(err->text, text))
        return 0;
    printf("# %d (%s), not %d (…%s…)\n", rc, err->text, code, text);
    return 1;
}

static int body(drail_job_t *job, void *ran)
{
    *(bool *)ran = true;
    return drail_job_barrier(job, -1) != 0;
}

/* Rank 1 waits as long as it was told; rank 0 comes when that is over. */
static int one_of_two(unsigned rank, const int over[2])
{
    drail_job_config_t cfg;
    drail_launch_t *launch = NULL;
    drail_error_t err = {0};
    bool ran = false;
    char byte = 0;
    alarm(PATIENT);
    close(over[rank ? 0 : 1]);
    configure(&cfg, rank, 2, &err);
    int rc = drail_launch_open(&cfg, &launch);
    if (rc)
        return expect(rc, &err, 0, "");
    cfg.launch = launch;
    if (rank) {
        cfg.connect_ms = 100;
        rc = expect(drail_job_run(&cfg, body, &ran), &err, DRAIL_ETIMEOUT, "");
        rc |= write(over[1], &byte, 1) != 1;
    } else {
        rc = read(over[0], &byte, 1) != 1;
        rc |= expect(drail_job_run(&cfg, body, &ran), &err, DRAIL_EJOB,
                     "rank 1 is gone");
    }
    /* there is no other job after that */
    rc |= !drail_job_run(&cfg, body, &ran) || ran;
    drail_launch_close(launch);
    return rc;
}

static int late(void)
{
    int over[2], failures = 0;
    choose_port();
    if (pipe(over))
        return 1;
    fflush(NULL);
    for (unsigned r = 0; r < 2; r++)
        if (!fork())
            exit(one_of_two(r, over));
    close(over[0]);
    close(over[1]);
    for (int status; wait(&status) > 0;)
        failures += status != 0;
    return failures;
}

static int alone(int connect_ms, int code)
{
    drail_job_config_t cfg;
    drail_launch_t *launch = NULL;
    drail_error_t err = {0};
    choose_port();
    configure(&cfg, 0, 1, &err);
    cfg.connect_ms = connect_ms;
    int rc = expect(drail_launch_open(&cfg, &launch), &err, code,
                    code ? "connect -1 ms" : "");
    drail_launch_close(launch);
    return rc;
}

static int limits(void)
{
    return alone(INT_MAX, 0) + alone(-1, DRAIL_EINVAL);
}

int main(void)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } tests[] = {{"a rank comes too late", late}, {"times", limits}};
    int failures = 0;
    setenv("DRAIL_SECRET", SECRET, 1);
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++) {
        int failed = tests[i].run();
        printf("%s %u - %s\n", failed ? "not ok" : "ok", i + 1, tests[i].name);
        failures += failed;
    }
    printf("1..2\n");
    return failures != 0;
}

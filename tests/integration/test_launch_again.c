/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in turn under a launcher that speaks PMI-2, which a process may leave
 * once only. The launcher is a thread of the test's. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "dapl_rail/dapl_rail.h"

#define PATIENT 20 /* seconds */

struct launcher {
    pthread_t thread;
    int fd, client;
    char value[2048]; /* that rank 0 has put */
};

static void answer(const struct launcher *l, const char *text)
{
    char message[4096];
    int n = snprintf(message, sizeof message, "%6zu%s", strlen(text), text);
    (void)!write(l->fd, message, (size_t)n);
}

static void take(struct launcher *l, const char *request)
{
    char text[4096], name[32] = "";
    const char *value = strstr(request, ";value=");
    if (value)
        snprintf(l->value, sizeof l->value, "%s", value + 7);
    sscanf(request, "cmd=%31[a-z-]", name);
    snprintf(text, sizeof text,
             "cmd=%s-response;rc=0;rank=0;size=1;found=TRUE;value=%s;", name,
             l->value);
    answer(l, text);
}

/* Until the process has left the job; then nobody is there any more. */
static void *serve(void *arg)
{
    static const char version[] =
        "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";
    struct launcher *l = arg;
    char head[7] = "", text[4097] = "", byte = 0;
    while (byte != '\n' && read(l->fd, &byte, 1) == 1)
        continue;
    (void)!write(l->fd, version, sizeof version - 1);
    while (!strstr(text, "cmd=finalize;") &&
           recv(l->fd, head, 6, MSG_WAITALL) == 6) {
        long n = strtol(head, NULL, 10);
        if (recv(l->fd, text, (size_t)n, MSG_WAITALL) != n)
            break;
        text[n] = '\0';
        if (strstr(text, "=;")) /* as MPICH 5's does */
            break;
        take(l, text);
    }
    close(l->fd);
    return NULL;
}

static int begin(void **state)
{
    static struct launcher l;
    int pair[2];
    char text[16];
    alarm(PATIENT);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    l = (struct launcher){.fd = pair[0], .client = pair[1]};
    snprintf(text, sizeof text, "%d", l.client);
    setenv("PMI_FD", text, 1);
    *state = &l;
    return pthread_create(&l.thread, NULL, serve, &l);
}

static int end(void **state)
{
    struct launcher *l = *state;
    close(l->client);
    alarm(0);
    return pthread_join(l->thread, NULL);
}

static int body(drail_job_t *job, void *runs)
{
    ++*(int *)runs;
    return drail_job_size(job) != 1;
}

/* The sentence says what to do instead. */
static void left_and_back(void **state)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    int runs = 0;
    drail_job_config_init(&cfg);
    cfg.error = &err;
    assert_int_equal(drail_job_run(&cfg, body, &runs), 0);
    assert_int_equal(drail_job_run(&cfg, body, &runs), DRAIL_EJOB);
    assert_non_null(strstr(err.text, "drail_launch_open"));
    assert_int_equal(runs, 1);
}

static void in_one_launch(void **state)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    int runs = 0;
    drail_job_config_init(&cfg);
    cfg.error = &err;
    assert_int_equal(drail_launch_open(&cfg, &cfg.launch), 0);
    assert_int_equal(drail_job_run(&cfg, body, &runs), 0);
    assert_int_equal(drail_job_run(&cfg, body, &runs), 0);
    assert_int_equal(runs, 2);
    drail_launch_close(cfg.launch);
}

/* Nothing is said to a launcher that would end then. */
static void intel_hydra(void **state)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    int runs = 0;
    drail_job_config_init(&cfg);
    cfg.error = &err;
    setenv("I_MPI_HYDRA_UUID", "0e790000-bfd0-2c09-2861-0600bdc7b534", 1);
    assert_int_equal(drail_job_run(&cfg, body, &runs), DRAIL_EJOB);
    assert_non_null(strstr(err.text, "Intel MPI's mpiexec"));
    setenv("PMI_JOBID", "1", 1); /* srun within its job */
    assert_int_equal(drail_job_run(&cfg, body, &runs), 0);
    unsetenv("PMI_JOBID");
    unsetenv("I_MPI_HYDRA_UUID");
    assert_int_equal(runs, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(left_and_back, begin, end),
        cmocka_unit_test_setup_teardown(in_one_launch, begin, end),
        cmocka_unit_test_setup_teardown(intel_hydra, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/launch/shared.h"
#include "probe.h"

#define PARALLEL      8
#define TIME_LIMIT_MS 10000

typedef struct worker {
    pid_t pid; /* 0: idle */
    int fd;    /* hangs up when the child ends */
    uint64_t deadline_ns;
    probe_t *probe;
} worker_t;

probe_t *probe_list(unsigned *count, int *rc)
{
    unsigned listed = 0;
    *rc = drail_rails_list(NULL, 0, &listed);
    if (*rc || !listed)
        return NULL;
    *rc = DRAIL_ENOMEM;
    char(*names)[DRAIL_NAME_MAX] = calloc(listed, sizeof *names);
    /* the children fill it in */
    probe_t *probes = shared_alloc(listed * sizeof *probes);
    if (!names || !probes) {
        free(names);
        return NULL;
    }
    *count = listed;
    *rc = drail_rails_list(names, listed, &listed);
    for (unsigned i = 0; i < *count; i++)
        memcpy(probes[i].name, names[i], sizeof probes[i].name);
    free(names);
    return probes;
}

probe_t *probe_members(const probe_t *probe, unsigned *count)
{
    char names[sizeof probe->info.members], *save = NULL;
    memcpy(names, probe->info.members, sizeof names);
    probe_t *probes =
        names[0] ? shared_alloc(DRAIL_MAX_RAILS * sizeof *probes) : NULL;
    *count = 0;
    for (char *name = strtok_r(names, " ", &save);
         probes && name && *count < DRAIL_MAX_RAILS;
         name = strtok_r(NULL, " ", &save))
        snprintf(probes[(*count)++].name, DRAIL_NAME_MAX, "%s", name);
    return probes;
}

void probe_free(probe_t *probes, unsigned count)
{
    if (probes)
        munmap(probes, count * sizeof *probes);
}

static void fail(probe_t *probe, int rc, const char *text)
{
    probe->rc = probe->error.code = rc;
    snprintf(probe->error.text, sizeof probe->error.text, "%s", text);
}

/* Adds the last line that the provider wrote: as a rule, why it refuses. */
static void add_reason(drail_error_t *error, int written)
{
    char text[1024];
    fflush(stdout); /* where some providers complain */
    off_t size = lseek(written, 0, SEEK_END), most = sizeof text - 1;
    ssize_t n =
        pread(written, text, sizeof text - 1, size > most ? size - most : 0);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *newline = strrchr(text, '\n');
    size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, ": %s",
             newline ? newline + 1 : text);
}

static bool of_simulated_ranks(const char *name)
{
    unsigned rail;
    char rest;
    return sscanf(name, "sim%u%c", &rail, &rest) == 1;
}

static void __attribute__((noreturn)) child(probe_t *probe, pid_t parent)
{
    int written = memfd_create("railinfo", MFD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    dup2(written, STDOUT_FILENO);
    dup2(written, STDERR_FILENO);
    probe->rc = drail_rail_query(probe->name, &probe->info, &probe->error);
    if (probe->rc && of_simulated_ranks(probe->name))
        fail(probe, probe->rc,
             "a rail in virtual time, of simulated ranks alone: railbench "
             "--rails sim:PLATFORM, sim_platform(5)");
    else if (probe->rc)
        add_reason(&probe->error, written);
    _exit(0);
}

static void start(worker_t *worker, probe_t *probe)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC)) {
        fail(probe, DRAIL_EOPEN, strerror(errno));
        return;
    }
    /* until the child says otherwise */
    fail(probe, DRAIL_EOPEN, "the provider ended the process");
    pid_t pid = fork();
    if (pid == 0)
        child(probe, parent);
    close(ends[1]);
    if (pid < 0) {
        fail(probe, DRAIL_EOPEN, strerror(errno));
        close(ends[0]);
        return;
    }
    *worker = (worker_t){pid, ends[0],
                         clock_ns() + TIME_LIMIT_MS * UINT64_C(1000000), probe};
}

static void finish(worker_t *worker)
{
    waitpid(worker->pid, NULL, 0);
    close(worker->fd);
    worker->pid = 0;
}

static void await(worker_t *workers)
{
    struct pollfd polls[PARALLEL];
    for (unsigned i = 0; i < PARALLEL; i++)
        polls[i] = (struct pollfd){.fd = workers[i].pid ? workers[i].fd : -1};
    poll(polls, PARALLEL, 100);
    for (unsigned i = 0; i < PARALLEL; i++) {
        worker_t *worker = &workers[i];
        if (!worker->pid)
            continue;
        if (polls[i].revents) {
            finish(worker);
        } else if (clock_ns() > worker->deadline_ns) {
            kill(worker->pid, SIGKILL);
            fail(worker->probe, DRAIL_ETIMEOUT, "no answer in time");
            finish(worker);
        }
    }
}

void probe_run(probe_t *probes, unsigned count)
{
    worker_t workers[PARALLEL] = {0};
    unsigned next = 0, busy;
    fflush(NULL);
    do {
        busy = 0;
        for (unsigned i = 0; i < PARALLEL; i++) {
            if (!workers[i].pid && next < count)
                start(&workers[i], &probes[next++]);
            busy += workers[i].pid != 0;
        }
        if (busy)
            await(workers);
    } while (busy || next < count);
}

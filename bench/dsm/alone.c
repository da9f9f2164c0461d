/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs in a child process, so that an interruption loses nothing of what the
 * ranks have measured.
 */
#include "alone.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/report/progress.h"
#include "program.h"

typedef struct alone {
    dsm_result_t *result;
    sampling_t rule;
    progress_t progress;
    const dsm_part_t *part;
    unsigned count;
    double us[STATS_MAX];
} alone_t;

unsigned dsm_programs(const options_t *opts)
{
    unsigned count = 0;
    for (unsigned p = 0; p < DSM_PARTS; p++)
        count += program_at(opts, p) != NULL;
    return count;
}

static int repeat(alone_t *a)
{
    const dsm_program_t *p = a->part->program;
    uint64_t ns = 0;
    progress_show(&a->progress, "%s: %s: by one rank alone, repeat %u",
                  a->result->test->table.command, a->part->name, a->count + 1);
    void *solution = (p->timed ? p->timed : p->alone)(
        a->result->opts, a->count % DSM_SEEDS, &ns);
    if (!solution)
        return DRAIL_ENOMEM;
    free(solution);
    a->us[a->count++] = (double)ns / 1e3;
    return 0;
}

static summary_t figure(const void *of, unsigned i)
{
    const alone_t *a = of;
    double us[STATS_MAX];
    (void)i;
    memcpy(us, a->us, a->count * sizeof *us); /* the summary sorts */
    return sampling_summary(&a->rule, us, a->count);
}

/* Looks at the time after each repeat, and not only at the numbers of repeats
 * at which rows may end: a run may take minutes. */
static bool is_enough(const alone_t *a)
{
    const sampled_t sampled = {
        .count = 1, .figures = 1, .figure = figure, .of = (void *)a};
    if (!a->count)
        return false;
    return sampling_enough(&a->rule, a->count, &sampled) ||
           (!a->rule.repeat && clock_ns() >= a->rule.until_ns);
}

static int time_all(alone_t *a)
{
    unsigned left = dsm_programs(a->result->opts);
    int rc = 0;
    progress_init(&a->progress);
    for (unsigned p = 0; !rc && p < DSM_PARTS; p++) {
        if (!program_at(a->result->opts, p))
            continue;
        a->part = dsm_parts[p];
        a->count = 0;
        sampling_part(&a->rule, left--);
        while (!rc && !is_enough(a))
            rc = repeat(a);
        if (!rc)
            a->result->alone_us[p] = figure(a, 0);
    }
    progress_clear(&a->progress);
    return rc;
}

/* Waits for the child. @p signals, which are blocked: SIGCHLD, and SIGINT and
 * SIGTERM, on which the child is killed. */
static int await(pid_t child, const sigset_t *signals)
{
    int status = 0;
    bool wanted = false;
    while (!wanted && !waitpid(child, &status, WNOHANG)) {
        const int signal = sigwaitinfo(signals, NULL);
        wanted = signal == SIGINT || signal == SIGTERM;
    }
    if (wanted) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return DRAIL_EINTR;
    }
    return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : DRAIL_ENOMEM;
}

int dsm_time_alone(dsm_result_t *r, const sampling_t *rule)
{
    alone_t alone = {.result = r, .rule = *rule};
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t child = fork();
    if (!child) { /* interrupted by its parent only */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(time_all(&alone) != 0);
    }
    const int rc = child < 0 ? DRAIL_ENOMEM : await(child, &signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

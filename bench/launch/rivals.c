/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/limits/cores.h"
#include "rivals.h"
#include "bench/pair/session.h"

#define MOST 256 /* processes of this program that are looked at */

typedef struct process {
    pid_t pid, parent;
} process_t;

/* ------------------------------------------------------------- our own --- */

/* The cores that this host's ranks pin to, as session_pin chooses them. */
static void find_cores(rivals_t *r, const options_t *opts)
{
    cores_t allowed;
    options_t each = *opts;
    unsigned ranks = opts->locals ? opts->locals : (unsigned)opts->ranks;
    CPU_ZERO(&r->cores);
    cores_allowed(&allowed);
    for (each.local = 0; each.local < ranks && allowed.count; each.local++) {
        pinning_t at = session_pinning(&each, each.local);
        unsigned threads = opts->no_pin ? allowed.count : crowd_threads(opts);
        for (unsigned t = 0; t < threads; t++)
            CPU_SET(allowed.cpu[(at.base + t) % allowed.count], &r->cores);
    }
}

int rivals_open(rivals_t *r, drail_job_t *job, const options_t *opts)
{
    struct name {
        pid_t pid;
        ino_t space; /* the numbers of processes are of it */
    } mine = {getpid(), 0}, *all;
    unsigned ranks = drail_job_size(job);
    struct stat st;
    *r = (rivals_t){.blind = drail_job_rank(job) != 0};
    find_cores(r, opts);
    if (!opts->locals)
        return 0;
    if (!stat("/proc/self/ns/pid", &st))
        mine.space = st.st_ino;
    all = calloc(ranks, sizeof *all);
    r->own = calloc(ranks, sizeof *r->own);
    int rc = all && r->own
                 ? drail_job_allgather(job, &mine, sizeof mine, all, -1)
                 : DRAIL_ENOMEM;
    for (unsigned i = 0; !rc && i < ranks; i++) {
        if (drail_launch_host(opts->launch, i) !=
            drail_launch_host(opts->launch, 0))
            continue;
        r->own[r->nown++] = all[i].pid;
        r->blind |= all[i].space != all[0].space;
    }
    free(all);
    return rc;
}

void rivals_close(rivals_t *r)
{
    free(r->own);
}

static bool is_own(const rivals_t *r, const process_t *p)
{
    if (!r->own)
        return p->parent == getppid() || p->pid == getppid();
    for (unsigned i = 0; i < r->nown; i++)
        if (r->own[i] == p->pid)
            return true;
    return false;
}

/* ---------------------------------------------------------- the others --- */

/* A running process of the same name? */
static bool read_process(const char *number, const char *name, process_t *p)
{
    char path[64], line[512], state = 'Z';
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    char *open = read ? strchr(line, '(') : NULL;
    char *close = read ? strrchr(line, ')') : NULL;
    if (!open || !close || sscanf(close + 1, " %c %d", &state, &parent) < 2 ||
        state == 'Z')
        return false;
    *close = '\0';
    *p = (process_t){(pid_t)atol(number), parent};
    return !strcmp(open + 1, name);
}

static unsigned find_processes(process_t *found)
{
    process_t self;
    char name[32] = "";
    unsigned count = 0;
    FILE *file = fopen("/proc/self/comm", "re");
    DIR *all = file && fgets(name, sizeof name, file) ? opendir("/proc") : NULL;
    name[strcspn(name, "\n")] = '\0';
    for (const struct dirent *e; all && count < MOST && (e = readdir(all));)
        if (isdigit((unsigned char)*e->d_name) &&
            read_process(e->d_name, name, &self))
            found[count++] = self;
    if (all)
        closedir(all);
    if (file)
        fclose(file);
    return count;
}

/* A parent of ranks only waits for them. */
static bool only_waits(const process_t *p, const process_t *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (all[i].parent == p->pid)
            return true;
    return false;
}

static bool shares_cores(const rivals_t *r, pid_t pid)
{
    cpu_set_t theirs;
    if (sched_getaffinity(pid, sizeof theirs, &theirs))
        return false;
    CPU_AND(&theirs, &theirs, &r->cores);
    return CPU_COUNT(&theirs) > 0;
}

void rivals_look(rivals_t *r)
{
    process_t all[MOST];
    unsigned count = r->blind || r->found ? 0 : find_processes(all);
    for (unsigned i = 0; i < count && !r->found; i++)
        if (!is_own(r, &all[i]) && !only_waits(&all[i], all, count) &&
            shares_cores(r, all[i].pid))
            r->found = all[i].pid;
}

void rivals_warn(const rivals_t *r, const char *command)
{
    if (r->found)
        fprintf(stderr,
                "%s: warning: process %ld measured on the same cores at the "
                "same time: both results are disturbed\n",
                command, (long)r->found);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/system/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

/* On the shared heap, where it stays: a rank may be behind. */
struct change {
    struct change *next;
    enum { SETS, SETS_NEW, UNSETS, CLEARS, GOES } action;
    unsigned rank; /* that has made it */
    size_t name;   /* bytes, with the zero; the value is behind it */
    char text[];
};

static _Atomic bool has_changed;
static const struct change *followed; /* the last one */

static size_t room(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static void add(int action, const char *name, const char *value)
{
    struct shared_environment *all = &shared_words->environment;
    if (memory_ranks() == 1)
        return;
    struct change *change =
        memory_calloc(sizeof *change + room(name) + room(value));
    if (!change)
        fail(FAILED, "out of memory for the environment");
    change->action = action;
    change->rank = memory_rank();
    change->name = room(name);
    memcpy(change->text, name ? name : "", room(name));
    memcpy(change->text + room(name), value ? value : "", room(value));
    memory_lock(&all->lock);
    if (all->last)
        all->last->next = change;
    else
        all->first = change;
    all->last = change;
    memory_unlock(&all->lock);
    has_changed = true;
}

void railomp_sets(const char *name, const char *value, bool replaces)
{
    const int sets = replaces ? SETS : SETS_NEW;
    add(!name ? CLEARS : value ? sets : UNSETS, name, value);
}

void railomp_changes_directory(void)
{
    char path[PATH_MAX];
    if (getcwd(path, sizeof path))
        add(GOES, path, NULL);
}

bool environment_is_changed(void)
{
    return atomic_load(&has_changed) && atomic_exchange(&has_changed, false);
}

/* The rank that has made the change is there already. */
static void go(const struct change *change)
{
    char path[PATH_MAX]; /* the system call must find the page */
    if (change->rank == memory_rank())
        return;
    strcpy(path, change->text);
    if (chdir(path))
        fail(FAILED,
             "rank %u has changed the directory to %s, but this rank can't: %s",
             change->rank, path, strerror(errno));
}

/* In the order of all ranks; this one's own changes, too. */
static void carry_out(const struct change *change)
{
    switch (change->action) {
    case SETS:
    case SETS_NEW:
        setenv(change->text, change->text + change->name,
               change->action == SETS);
        return;
    case UNSETS:
        unsetenv(change->text);
        return;
    case CLEARS:
        clearenv();
        return;
    case GOES: /* only the last one counts */
        return;
    }
}

void environment_follow(void)
{
    const struct change *next =
        followed ? followed->next : shared_words->environment.first;
    const struct change *goes = NULL;
    for (; next; next = next->next) {
        carry_out(next);
        if (next->action == GOES)
            goes = next;
        followed = next;
    }
    if (goes)
        go(goes);
}

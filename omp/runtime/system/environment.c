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

int railomp_setenv(const char *name, const char *value, bool replaces)
{
    const bool was_set = name && getenv(name);
    const int rc = setenv(name, value, replaces);
    if (!rc && (replaces || !was_set))
        add(replaces ? SETS : SETS_NEW, name, value);
    return rc;
}

int railomp_putenv(char *text)
{
    const char *equal = strchr(text, '=');
    if (memory_ranks() == 1 || !equal) {
        const int rc = putenv(text);
        if (!rc && !equal)
            railomp_unsets(text);
        return rc;
    }
    char *name = strndup(text, (size_t)(equal - text));
    const int rc = name ? railomp_setenv(name, equal + 1, true) : -1;
    free(name);
    return rc;
}

void railomp_unsets(const char *name)
{
    add(name ? UNSETS : CLEARS, name, NULL);
}

void railomp_changes_directory(void)
{
    char path[PATH_MAX];
    if (getcwd(path, sizeof path))
        add(GOES, path, NULL);
}

void environment_begin(void)
{
    for (char **text = environ; text && *text; text++)
        if (memory_is_shared(*text) && !(*text = strdup(*text)))
            fail(FAILED, "out of memory for the environment");
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

/* Do changes from @first on, before @change, set what it sets if unset? It was
 * not set before them, or @change would not be in the list. */
static bool is_set_before(const struct change *change,
                          const struct change *first)
{
    bool is_set = false;
    for (; first != change; first = first->next)
        if (first->action == CLEARS ||
            (first->action != GOES && !strcmp(first->text, change->text)))
            is_set = first->action == SETS || first->action == SETS_NEW;
    return is_set;
}

/* In the order of all ranks; this one's own changes, too. @first: the first one
 * since ranks had the same environment. */
static void carry_out(const struct change *change, const struct change *first)
{
    switch (change->action) {
    case SETS_NEW:
        if (is_set_before(change, first))
            return;
        /* fall through */
    case SETS:
        setenv(change->text, change->text + change->name, true);
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
    const struct change *first = next, *goes = NULL;
    for (; next; next = next->next) {
        carry_out(next, first);
        if (next->action == GOES)
            goes = next;
        followed = next;
    }
    if (goes)
        go(goes);
}

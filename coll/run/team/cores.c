/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "coll/run/team/cores.h"
#include "dapl_rail/platform/boot.h"

void cores_find(struct cores *mine)
{
    mine->host = boot_id();
    CPU_ZERO(&mine->allowed);
    if (!sched_getaffinity(0, sizeof mine->allowed, &mine->allowed))
        return;
    /* there are more cores than a set holds: allow all */
    for (long core = 0; core < sysconf(_SC_NPROCESSORS_ONLN); core++)
        if (core < CPU_SETSIZE)
            CPU_SET((size_t)core, &mine->allowed);
}

static bool share_cores(const struct cores *a, const struct cores *b)
{
    cpu_set_t both;
    CPU_AND(&both, &a->allowed, &b->allowed);
    return a->host == b->host && CPU_COUNT(&both);
}

unsigned cores_sharers(const struct cores *all, unsigned nranks, unsigned rank,
                       unsigned *sharers)
{
    unsigned count = 0;
    for (unsigned r = 0; r < nranks; r++)
        if (r != rank && share_cores(&all[r], &all[rank]))
            sharers[count++] = r;
    return count;
}

bool cores_oversubscribed(const struct cores *all, unsigned nranks,
                          unsigned rank)
{
    cpu_set_t both, theirs;
    unsigned ranks = 0, within = 0;
    CPU_ZERO(&theirs);
    for (unsigned r = 0; r < nranks; r++) {
        if (!share_cores(&all[r], &all[rank]))
            continue;
        CPU_AND(&both, &all[r].allowed, &all[rank].allowed);
        CPU_OR(&theirs, &theirs, &all[r].allowed);
        ranks++;
        within += CPU_EQUAL(&both, &all[r].allowed) != 0;
    }
    return ranks > (unsigned)CPU_COUNT(&theirs) ||
           within > (unsigned)CPU_COUNT(&all[rank].allowed);
}

bool cores_several_hosts(const struct cores *all, unsigned nranks,
                         unsigned rank)
{
    for (unsigned r = 0; r < nranks; r++)
        if (all[r].host != all[rank].host)
            return true;
    return false;
}

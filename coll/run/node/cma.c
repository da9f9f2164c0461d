/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "coll/run/node/cma.h"

/* Returns the bytes read; fewer: errno says why. */
static size_t read_some(pid_t pid, uint64_t from, void *to, size_t bytes)
{
    struct iovec here = {to, bytes};
    struct iovec there = {(void *)(uintptr_t)from, bytes};
    ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

static bool can_read(const struct member *m)
{
    uint64_t there;
    return read_some(m->pid, m->self, &there, sizeof there) == sizeof there &&
           there == m->word;
}

bool cma_permitted(const dcoll_team_t *team)
{
    for (unsigned r = team->first; r < team->first + team->locals; r++)
        if (!can_read(team_member(team, r)))
            return false;
    return true;
}

int cma_read(dcoll_team_t *team, unsigned peer, uint64_t from,
             unsigned char *to, size_t bytes)
{
    pid_t pid = team_member(team, peer)->pid;
    if (pid == getpid()) { /* ranks of one process */
        team->platform->copy(team->platform, to, (void *)(uintptr_t)from,
                             bytes);
        return 0;
    }
    for (size_t n; bytes; bytes -= n, from += n, to += n) {
        n = read_some(pid, from, to, bytes);
        if (!n)
            return team_fail(
                team, errno == ESRCH ? DRAIL_EPEER : DRAIL_EACCESS,
                "rank %u: reading the memory of rank %u failed: %s", team->rank,
                peer, strerror(errno));
    }
    return 0;
}

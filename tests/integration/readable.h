/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_READABLE_H
#define TESTS_READABLE_H

#include <sys/uio.h>

#include "ranks.h"

/* May ranks read each other's memory through the kernel? All ranks call it. */
static inline bool ranks_are_readable(struct rank *r)
{
    struct place {
        pid_t pid;
        uint64_t at, word;
    } mine = {getpid(), (uintptr_t)&mine.word, 1 + r->rank}, all[8];
    uint64_t found = 0;
    expect(r, 0, drail_job_allgather(r->job, &mine, sizeof mine, all, -1));
    const struct place *other = &all[(r->rank + 1) % r->size];
    struct iovec here = {&found, sizeof found};
    struct iovec there = {(void *)(uintptr_t)other->at, sizeof found};
    bool may =
        process_vm_readv(other->pid, &here, 1, &there, 1, 0) == sizeof found &&
        found == other->word;
    bool each[8];
    expect(r, 0, drail_job_allgather(r->job, &may, sizeof may, each, -1));
    for (unsigned i = 0; i < r->size; i++)
        may = may && each[i];
    return may;
}

#endif

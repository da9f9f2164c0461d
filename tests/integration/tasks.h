/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of this process. */
#ifndef TESTS_TASKS_H
#define TESTS_TASKS_H

#include <dirent.h>

#include "ranks.h"

static inline unsigned threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;
    check(tasks != NULL);
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n;
}

#endif

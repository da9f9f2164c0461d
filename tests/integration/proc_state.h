/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_PROC_STATE_H
#define TESTS_PROC_STATE_H

#include <stdio.h>
#include <sys/types.h>

/* The state of a process in /proc, for instance 'T': it is stopped. */
static inline char proc_state(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file)
        fclose(file);
    return state;
}

#endif

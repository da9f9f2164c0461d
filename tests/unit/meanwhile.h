/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank acts between two accesses of another one to shared memory: before that
 * access which `countdown` names (0: the next one; negative: none). */
#ifndef TESTS_MEANWHILE_H
#define TESTS_MEANWHILE_H

static int countdown;
static void (*meanwhile)(void);

/* Comes before each access. */
static void access_memory(void)
{
    if (countdown-- == 0)
        meanwhile();
}

#endif

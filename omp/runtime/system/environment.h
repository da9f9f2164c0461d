/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment and the directory, which the system has for each process.
 * What one rank changes is put into a list in shared memory. All ranks carry it
 * out in the next barrier, or when a region begins; of several changes of the
 * directory only the last one.
 */
#ifndef OMP_RUNTIME_ENVIRONMENT_H
#define OMP_RUNTIME_ENVIRONMENT_H

#include <stdbool.h>

/* Several ranks begin: gives the environment texts of its own in place of those
 * that putenv() has been given before main, as these are shared now. */
void environment_begin(void);
/* This rank has put something into the list since the last call. */
bool environment_is_changed(void);
/* Carries out what is new in the list; called while the program's threads
 * wait. */
void environment_follow(void);

#endif

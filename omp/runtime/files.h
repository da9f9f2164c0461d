/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of the C library (FILE) of a program with several ranks. A FILE is
 * private memory of the rank that has opened it, its owner. What another rank
 * writes to it is put into a list in shared memory; the owner carries the list
 * out before it uses a file itself after an acquire, and in barriers. So output
 * is in the order that synchronisation gives.
 */
#ifndef OMP_RUNTIME_FILES_H
#define OMP_RUNTIME_FILES_H

#include <stdbool.h>

/* Once, when the memory is open. */
void files_begin(void);
/* Several ranks print: lines of standard output stay whole. True: it was not
 * so before, and files_end_lines() is to be called. */
bool files_begin_lines(void);
void files_end_lines(void);
/* This rank has put something into the list since the last call. */
bool files_are_queued(void);
/* Carries out what other ranks have put into the list for this one. */
void files_drain(void);

#endif

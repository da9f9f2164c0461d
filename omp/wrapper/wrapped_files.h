/* SPDX-License-Identifier: BSD-3-Clause */
/* For program_files.c and program_wide.c. */
#ifndef OMP_WRAPPER_WRAPPED_FILES_H
#define OMP_WRAPPER_WRAPPED_FILES_H

#include <stdio.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define WRAPPED(type, name, ...)                                               \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

/* @file, which this rank has opened; else the program ends. */
#define NEEDS_OWN(name) railomp_file_needed(file, #name)

/* fscanf and its like, by one with a va_list that is wrapped, too */
#define SCANS(name, by, character)                                             \
    WRAPPED(int, name, FILE *file, const character *format, ...)               \
    {                                                                          \
        va_list arguments;                                                     \
        va_start(arguments, format);                                           \
        const int found = __wrap_##by(file, format, arguments);                \
        va_end(arguments);                                                     \
        return found;                                                          \
    }

#endif

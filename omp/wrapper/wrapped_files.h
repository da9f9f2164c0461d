/* SPDX-License-Identifier: BSD-3-Clause */
/* For program_files.c and program_wide.c. */
#ifndef OMP_WRAPPER_WRAPPED_FILES_H
#define OMP_WRAPPER_WRAPPED_FILES_H

#include <stdio.h>

#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

/* @file, which this rank has opened; else the program ends. */
#define NEEDS_OWN(name) railomp_file_needed(file, #name)

/* fputs and its like; @write passes @length(text) characters on to the owner */
#define PUTS(name, character, write, length)                                   \
    WRAPPED(int, name, const character *text, FILE *file)                      \
    {                                                                          \
        FILE *here = railomp_file_here(file);                                  \
        if (here)                                                              \
            return __real_##name(text, here);                                  \
        write(file, text, length(text));                                       \
        return 1;                                                              \
    }

/* fgets and its like */
#define GETS(name, character)                                                  \
    WRAPPED(character *, name, character *to, int room, FILE *file)            \
    {                                                                          \
        return __real_##name(to, room, NEEDS_OWN(name));                       \
    }

/* fprintf and its like, by one with a va_list that is wrapped, too */
#define PRINTS(name, by, character)                                            \
    WRAPPED(int, name, FILE *file, const character *format, ...)               \
    {                                                                          \
        va_list arguments;                                                     \
        va_start(arguments, format);                                           \
        const int length = __wrap_##by(file, format, arguments);               \
        va_end(arguments);                                                     \
        return length;                                                         \
    }

/* The same with -D_FORTIFY_SOURCE. */
#define VPRINTS_CHECKED(name, by, character)                                   \
    WRAPPED(int, name, FILE *file, int flag, const character *format,          \
            va_list arguments)                                                 \
    {                                                                          \
        FILE *here = railomp_file_here(file);                                  \
        return here ? __real_##name(here, flag, format, arguments)             \
                    : __wrap_##by(file, format, arguments);                    \
    }
#define PRINTS_CHECKED(name, by, character)                                    \
    WRAPPED(int, name, FILE *file, int flag, const character *format, ...)     \
    {                                                                          \
        va_list arguments;                                                     \
        va_start(arguments, format);                                           \
        const int length = __wrap_##by(file, flag, format, arguments);         \
        va_end(arguments);                                                     \
        return length;                                                         \
    }

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

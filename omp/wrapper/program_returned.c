/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: functions of the C library that return memory, or
 * lengthen the caller's. They use the library's own heap, which other ranks do
 * not see. So the result is copied to the shared heap. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

/* the linker's names */
void __real_free(void *p);
int __real_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_asprintf(char **text, const char *format, ...);
int __wrap___vasprintf_chk(char **text, int flag, const char *format,
                           va_list arguments);
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);
char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);
char *__real_getcwd(char *to, size_t room);
char *__wrap_getcwd(char *to, size_t room);
char *__wrap___getcwd_chk(char *to, size_t room, size_t all);
ssize_t __real_getdelim(char **line, size_t *room, int end, FILE *file);
ssize_t __wrap_getdelim(char **line, size_t *room, int end, FILE *file);
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *file);
ssize_t __wrap_getline(char **line, size_t *room, FILE *file);

/* A shared copy of a library's memory, which is freed. */
static void *shared(void *own, size_t bytes)
{
    void *copy = own ? railomp_malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, own, bytes);
    const int saved = errno;
    __real_free(own);
    errno = saved;
    return copy;
}

static char *shared_text(char *own)
{
    return shared(own, own ? strlen(own) + 1 : 0);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    char *own = NULL;
    const int length = __real_vasprintf(&own, format, arguments);
    if (length < 0)
        return length;
    *text = shared(own, (size_t)length + 1);
    return *text ? length : -1;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

/* with -D_FORTIFY_SOURCE */
int __wrap___vasprintf_chk(char **text, int flag, const char *format,
                           va_list arguments)
{
    (void)flag;
    return __wrap_vasprintf(text, format, arguments);
}

int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    const int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

char *__wrap_realpath(const char *path, char *to)
{
    char *found = __real_realpath(path, to);
    return to ? found : shared_text(found);
}

char *__wrap_getcwd(char *to, size_t room)
{
    if (to)
        railomp_prepare(to, room, true);
    char *found = __real_getcwd(to, room);
    return to ? found : shared_text(found);
}

/* with -D_FORTIFY_SOURCE: @all bytes are at @to */
char *__wrap___getcwd_chk(char *to, size_t room, size_t all)
{
    check_room(room, all);
    return __wrap_getcwd(to, room);
}

/* Makes room for @bytes at *@line. */
static bool lengthen(char **line, size_t *room, size_t bytes)
{
    const size_t had = *line ? *room : 0;
    if (bytes <= had)
        return true;
    if (bytes < 2 * had)
        bytes = 2 * had;
    char *longer = railomp_realloc(*line, bytes);
    if (!longer)
        return false;
    *line = longer;
    *room = bytes;
    return true;
}

ssize_t __wrap_getdelim(char **line, size_t *room, int end, FILE *file)
{
    char *own = NULL;
    size_t own_room = 0;
    if (!line || !room) {
        errno = EINVAL;
        return -1;
    }
    file = railomp_file_needed(file, end == '\n' ? "getline" : "getdelim");
    ssize_t length = __real_getdelim(&own, &own_room, end, file);
    if (length >= 0 && !lengthen(line, room, (size_t)length + 1))
        length = -1;
    if (length >= 0)
        memcpy(*line, own, (size_t)length + 1);
    __real_free(own);
    return length;
}

/* its name in inline functions of stdio.h */
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *file)
{
    return __wrap_getdelim(line, room, end, file);
}

ssize_t __wrap_getline(char **line, size_t *room, FILE *file)
{
    return __wrap_getdelim(line, room, '\n', file);
}

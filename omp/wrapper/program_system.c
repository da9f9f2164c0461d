/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: system calls of the program, but those of
 * program_io.c and program_waits.c. What the kernel reads or writes is brought
 * here before, as it does not wait for a page that is elsewhere. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "omp/wrapper/program.h"

static void reads(const void *from, size_t bytes)
{
    if (from)
        railomp_prepare(from, bytes, false);
}

static void writes(void *to, size_t bytes)
{
    if (to)
        railomp_prepare(to, bytes, true);
}

static void reads_text(const char *text)
{
    if (text)
        reads(text, strlen(text) + 1);
}

static void writes_text(char *text)
{
    if (text)
        writes(text, strlen(text) + 1);
}

/* __real_ and __wrap_ are the linker's names */
#define CALL(type, name, parameters, arguments, prepare)                       \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        prepare;                                                               \
        return __real_##name arguments;                                        \
    }

/* of one path */
#define PATH(name) CALL(int, name, (const char *path), (path), reads_text(path))
#define PATH_MODE(name)                                                        \
    CALL(int, name, (const char *path, mode_t mode), (path, mode),             \
         reads_text(path))
#define TWO_PATHS(name)                                                        \
    CALL(int, name, (const char *from, const char *to), (from, to),            \
         (reads_text(from), reads_text(to)))
/* of a path, or a descriptor, that fills a structure */
#define PATH_FILLS(name, kind)                                                 \
    CALL(int, name, (const char *path, struct kind *to), (path, to),           \
         (reads_text(path), writes(to, sizeof *to)))
#define FD_FILLS(name, kind)                                                   \
    CALL(int, name, (int fd, struct kind *to), (fd, to), writes(to, sizeof *to))
#define FILLS(type, name, kind)                                                \
    CALL(type, name, (struct kind * to), (to), writes(to, sizeof *to))

/* open and its like; @name also with _FILE_OFFSET_BITS=64 and
 * -D_FORTIFY_SOURCE */
#define OPENING(name, parameters, arguments)                                   \
    int __real_##name parameters;                                              \
    int __wrap_##name parameters;                                              \
    int __wrap_##name parameters                                               \
    {                                                                          \
        va_list list;                                                          \
        va_start(list, flags);                                                 \
        const mode_t mode = va_arg(list, mode_t);                              \
        va_end(list);                                                          \
        reads_text(path);                                                      \
        return __real_##name arguments;                                        \
    }
#define OPENS(name)                                                            \
    OPENING(name, (const char *path, int flags, ...), (path, flags, mode))
#define OPENS_AT(name)                                                         \
    OPENING(name, (int fd, const char *path, int flags, ...),                  \
            (fd, path, flags, mode))
#define OPENS_CHECKED(name)                                                    \
    CALL(int, name, (const char *path, int flags), (path, flags),              \
         reads_text(path))
#define OPENS_AT_CHECKED(name)                                                 \
    CALL(int, name, (int fd, const char *path, int flags), (fd, path, flags),  \
         reads_text(path))

/* ---------------------------------------------------------- files by name */

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
OPENS_CHECKED(__open_2)
OPENS_CHECKED(__open64_2)
OPENS_AT_CHECKED(__openat_2)
OPENS_AT_CHECKED(__openat64_2)
PATH_MODE(creat)
PATH_MODE(creat64)
PATH_MODE(mkdir)
PATH_MODE(mkfifo)
PATH_MODE(chmod)
PATH(rmdir)
PATH(unlink)
PATH(remove)
TWO_PATHS(rename)
TWO_PATHS(link)
TWO_PATHS(symlink)
PATH_FILLS(stat, stat)
PATH_FILLS(stat64, stat64)
PATH_FILLS(lstat, stat)
PATH_FILLS(lstat64, stat64)
PATH_FILLS(statvfs, statvfs)
FD_FILLS(fstat, stat)
FD_FILLS(fstat64, stat64)
CALL(int, access, (const char *path, int mode), (path, mode), reads_text(path))
CALL(int, truncate, (const char *path, off_t bytes), (path, bytes),
     reads_text(path))
CALL(int, truncate64, (const char *path, off64_t bytes), (path, bytes),
     reads_text(path))
CALL(int, utime, (const char *path, const struct utimbuf *times), (path, times),
     (reads_text(path), reads(times, sizeof *times)))
CALL(ssize_t, readlink, (const char *path, char *to, size_t room),
     (path, to, room), (reads_text(path), writes(to, room)))
/* with -D_FORTIFY_SOURCE: @all bytes are at @to */
CALL(ssize_t, __readlink_chk,
     (const char *path, char *to, size_t room, size_t all),
     (path, to, room, all), (reads_text(path), writes(to, room)))
CALL(DIR *, opendir, (const char *path), (path), reads_text(path))
CALL(int, mkstemp, (char *path), (path), writes_text(path))
CALL(int, mkstemp64, (char *path), (path), writes_text(path))
CALL(char *, mkdtemp, (char *path), (path), writes_text(path))

/* -------------------------------------------------- descriptors, processes */

CALL(int, pipe, (int fds[2]), (fds), writes(fds, 2 * sizeof *fds))
CALL(int, system, (const char *command), (command), reads_text(command))

/* --------------------------------------------------------- times and system */

CALL(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to),
     writes(to, sizeof *to))
CALL(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to),
     writes(to, sizeof *to))
CALL(int, gettimeofday, (struct timeval *restrict to, void *restrict zone),
     (to, zone),
     (writes(to, sizeof *to), writes(zone, sizeof(struct timezone))))
CALL(int, getrusage, (__rusage_who_t who, struct rusage *to), (who, to),
     writes(to, sizeof *to))
CALL(int, getrlimit, (__rlimit_resource_t what, struct rlimit *to), (what, to),
     writes(to, sizeof *to))
CALL(int, getrlimit64, (__rlimit_resource_t what, struct rlimit64 *to),
     (what, to), writes(to, sizeof *to))
CALL(int, sched_getaffinity, (pid_t id, size_t bytes, cpu_set_t *to),
     (id, bytes, to), writes(to, bytes))
CALL(int, sched_setaffinity, (pid_t id, size_t bytes, const cpu_set_t *from),
     (id, bytes, from), reads(from, bytes))
CALL(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags),
     (to, bytes, flags), writes(to, bytes))
FILLS(clock_t, times, tms)
FILLS(int, uname, utsname)
FILLS(int, sysinfo, sysinfo)

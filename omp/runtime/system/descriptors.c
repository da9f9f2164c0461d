/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/system/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

enum { MOST = 1024 };

static bool is_of_program[MOST];
static pid_t process; /* a child may close what it likes */
/* The file shows whether the runtime has closed the descriptor since. */
static struct {
    bool is_set;
    dev_t device;
    ino_t file;
} of_runtime[MOST];

void descriptors_of_program(void)
{
    for (int fd = 0; fd < MOST; fd++)
        is_of_program[fd] = fcntl(fd, F_GETFD) >= 0;
}

void descriptors_of_runtime(void)
{
    struct stat status;
    process = getpid();
    for (int fd = 0; fd < MOST; fd++)
        if (!is_of_program[fd] && !fstat(fd, &status)) {
            of_runtime[fd].is_set = true;
            of_runtime[fd].device = status.st_dev;
            of_runtime[fd].file = status.st_ino;
        }
}

static bool is_of_runtime(int fd)
{
    struct stat status;
    return fd >= 0 && fd < MOST && of_runtime[fd].is_set &&
           getpid() == process && !fstat(fd, &status) &&
           status.st_dev == of_runtime[fd].device &&
           status.st_ino == of_runtime[fd].file;
}

static void refuse(int fd, const char *function)
{
    fail(NOT_SERVED,
         "%s() is not served for descriptor %d: another rank has opened it, "
         "or the runtime; open the file in this rank, too",
         function, fd);
}

void railomp_descriptor(int fd, const char *function)
{
    if (is_of_runtime(fd))
        refuse(fd, function);
}

void railomp_no_descriptor(int fd, const char *function)
{
    /* a file that is open, but not for this, is an error as ever */
    if (fd > STDERR_FILENO && memory_rank() && fcntl(fd, F_GETFD) < 0)
        refuse(fd, function);
    errno = EBADF;
}

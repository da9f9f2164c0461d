/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: its calls that change the environment or the
 * directory, which other ranks follow. */
#include <string.h>
#include <unistd.h>

#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

WRAPPED(int, setenv, const char *name, const char *value, int replaces)
{
    return railomp_setenv(name, value, replaces);
}

WRAPPED(int, putenv, char *text)
{
    return railomp_putenv(text);
}

WRAPPED(int, unsetenv, const char *name)
{
    const int rc = __real_unsetenv(name);
    if (!rc)
        railomp_unsets(name);
    return rc;
}

WRAPPED(int, clearenv, void)
{
    railomp_unsets(NULL);
    return __real_clearenv();
}

WRAPPED(int, chdir, const char *path)
{
    if (path)
        railomp_prepare(path, strlen(path) + 1, false);
    const int rc = __real_chdir(path);
    if (!rc)
        railomp_changes_directory();
    return rc;
}

WRAPPED(int, fchdir, int fd)
{
    railomp_descriptor(fd, "fchdir");
    const int rc = __real_fchdir(fd);
    if (!rc)
        railomp_changes_directory();
    return rc;
}

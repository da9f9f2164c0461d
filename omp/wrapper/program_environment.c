/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: its calls that change the environment or the
 * directory, which other ranks follow. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define WRAPPED(name, ...)                                                     \
    int __real_##name(__VA_ARGS__);                                            \
    int __wrap_##name(__VA_ARGS__);                                            \
    int __wrap_##name(__VA_ARGS__)

WRAPPED(setenv, const char *name, const char *value, int replaces)
{
    const int rc = __real_setenv(name, value, replaces);
    if (!rc)
        railomp_sets(name, value, replaces);
    return rc;
}

WRAPPED(unsetenv, const char *name)
{
    const int rc = __real_unsetenv(name);
    if (!rc)
        railomp_sets(name, NULL, true);
    return rc;
}

WRAPPED(clearenv, void)
{
    railomp_sets(NULL, NULL, true);
    return __real_clearenv();
}

/* The environment would have the caller's text, which may lie in shared memory,
 * where the kernel can't read it for another program. */
WRAPPED(putenv, char *text)
{
    const char *equal = strchr(text, '=');
    if (!equal)
        return __wrap_unsetenv(text);
    char *name = railomp_strndup(text, (size_t)(equal - text));
    const int rc = name ? __wrap_setenv(name, equal + 1, 1) : -1;
    railomp_free(name);
    return rc;
}

WRAPPED(chdir, const char *path)
{
    railomp_prepare(path, strlen(path) + 1, false);
    const int rc = __real_chdir(path);
    if (!rc)
        railomp_changes_directory();
    return rc;
}

WRAPPED(fchdir, int fd)
{
    railomp_descriptor(fd, "fchdir");
    const int rc = __real_fchdir(fd);
    if (!rc)
        railomp_changes_directory();
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* railbench suite: becomes the script that runs the tests and makes a report of
 * them, which lies in the build tree's ../scripts or is installed in
 * ../libexec/dapl_rail. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/test.h"

/* From the folder of this program to the script. */
static const char *const places[] = {"../libexec/dapl_rail/suite",
                                     "../../scripts/suite"};

/* The folder of this program; "": it can't be known. */
static void own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
}

static int suite_become(int argc, char **argv)
{
    char folder[PATH_MAX], script[PATH_MAX + 64];
    char **args = calloc((size_t)argc + 4, sizeof *args);

    if (!args) {
        fputs("railbench suite: out of memory\n", stderr);
        return 2;
    }
    own_folder(folder);
    args[0] = script;
    args[1] = "--bin";
    args[2] = folder;
    memcpy(args + 3, argv, (size_t)argc * sizeof *args);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(script, sizeof script, "%s/%s", folder, places[i]);
        execv(script, args);
    }
    fprintf(stderr, "railbench suite: can't start %s: %s\n", script,
            strerror(errno));
    free(args);
    return 2;
}

const bench_test_t test_suite = {
    .table = {.command = "railbench suite",
              .summary = "What a machine is judged by: runs these tests and "
                         "makes one report, with pictures."},
    .name = "suite",
    .become = suite_become,
};

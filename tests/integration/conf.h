/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with rails of their own in dat.conf. */
#ifndef TESTS_CONF_H
#define TESTS_CONF_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

/* A line of dat.conf: a rail of this provider, shm or ofi, with these
 * parameters. */
#define RAIL_OF(provider, name, parameters)                                    \
    name " u2.0 nonthreadsafe default @" provider                              \
         "@ dapl_rail.0.1 \"" parameters "\" \"\"\n"
#define RAIL(name, parameters) RAIL_OF("shm", name, parameters)

/* A file beside the embedded entries and the providers. */
static inline void conf_path(char path[4096], const char *name)
{
    Dl_info library = {0};
    if (!dladdr((void *)(uintptr_t)&drail_strerror, &library)) {
        printf("Bail out! the library is not found\n");
        exit(1);
    }
    snprintf(path, 4096, "%.*s/dapl_rail/%s",
             (int)(strrchr(library.dli_fname, '/') - library.dli_fname),
             library.dli_fname, name);
}

static inline bool conf_has_ofi(void)
{
    char path[4096];
    conf_path(path, "libdapl_ofi.so");
    return !access(path, F_OK);
}

/*
 * The registry reads dat.conf when the process starts: this program starts
 * itself again, with a dat.conf of the embedded rails and these lines, in
 * which @name@ stands for a provider's library. Does not return the first
 * time.
 */
static inline void conf_restart(char **argv, const char *lines)
{
    char folder[4096], path[4096], line[4096],
        conf[] = "/tmp/drail_conf_XXXXXX";
    if (getenv("DAPL_RAIL_DAT_CONF"))
        return;
    int fd = mkstemp(conf);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        printf("Bail out! no dat.conf can be made\n");
        exit(1);
    }
    conf_path(folder, "");
    conf_path(path, "dat.conf");
    FILE *in = fopen(path, "r");
    if (!in) {
        printf("Bail out! %s can't be read\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fclose(in);
    for (const char *end; *lines; lines = end + 1) {
        size_t before = strcspn(lines, "@");
        const char *name = lines + before;
        fprintf(out, "%.*s", (int)before, lines);
        if (!*name++)
            break;
        end = strchr(name, '@');
        fprintf(out, "%slibdapl_%.*s.so", folder, (int)(end - name), name);
    }
    fclose(out);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("DAPL_RAIL_DAT_CONF", conf, 1);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    unlink(conf);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

#endif

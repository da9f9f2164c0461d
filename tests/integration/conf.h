/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with rails of their own in dat.conf. */
#ifndef TESTS_CONF_H
#define TESTS_CONF_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

/* A line of dat.conf: a rail of shared memory with these parameters. */
#define RAIL(name, parameters)                                                 \
    name " u2.0 nonthreadsafe default PROVIDER dapl_rail.0.1 \"" parameters    \
         "\" \"\"\n"

/*
 * The registry reads dat.conf when the process starts: this program starts
 * itself again, with a dat.conf of the embedded rails and these lines, in
 * which every PROVIDER stands for the shm provider's library. Does not return
 * the first time.
 */
static inline void conf_restart(char **argv, const char *lines)
{
    char folder[4096], path[8192], line[4096],
        conf[] = "/tmp/drail_conf_XXXXXX";
    Dl_info library;
    if (getenv("DAPL_RAIL_DAT_CONF"))
        return;
    int fd = mkstemp(conf);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out || !dladdr((void *)(uintptr_t)&drail_strerror, &library)) {
        printf("Bail out! no dat.conf can be made\n");
        exit(1);
    }
    /* the embedded entries and the provider lie beside the library */
    snprintf(folder, sizeof folder, "%.*s/dapl_rail",
             (int)(strrchr(library.dli_fname, '/') - library.dli_fname),
             library.dli_fname);
    snprintf(path, sizeof path, "%s/dat.conf", folder);
    FILE *in = fopen(path, "r");
    if (!in) {
        printf("Bail out! %s can't be read\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fclose(in);
    for (const char *at; (at = strstr(lines, "PROVIDER")); lines = at + 8)
        fprintf(out, "%.*s%s/libdapl_shm.so", (int)(at - lines), lines, folder);
    fputs(lines, out);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the embedded rails known to libdat2 without a file that the user must
 * edit.
 *
 * libdat2 reads one dat.conf in its constructor: $DAT_OVERRIDE, or
 * /etc/dat.conf. The constructor of this library runs before that: it depends
 * on nothing but libc, and libdapl_rail names it after libdat2, so the dynamic
 * linker initialises it first. It joins that file and the embedded entries in a
 * memfd, and points DAT_OVERRIDE there. libdapl_rail's own constructor, which
 * runs after libdat2's, restores the environment by dapl_embedded_done().
 *
 * This library must keep depending on nothing but libc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "embedded.h"

#define OVERRIDE     "DAT_OVERRIDE"
#define SYSTEM_CONF  "/etc/dat.conf"
#define EMBEDDED_ENV "DAPL_RAIL_DAT_CONF"
#define PROVDIR      "@PROVDIR@" /* in the entries: the folder of the providers */

static int conf_fd = -1;
static char *user_override;
static char error[256];

/* The embedded entries lie beside this library:
 * <libdir>/dapl_rail/dat.conf.in */
static int embedded_path(char *path, size_t size)
{
    const char *env = getenv(EMBEDDED_ENV);
    if (env) {
        snprintf(path, size, "%s", env);
        return 0;
    }
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)&dapl_embedded_done, &self))
        return -1;
    char real[PATH_MAX];
    if (!realpath(self.dli_fname, real))
        return -1;
    char *slash = strrchr(real, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    int n = snprintf(path, size, "%s/dapl_rail/dat.conf.in", real);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Appends a file and a newline (libdat2's parser joins lines otherwise). */
static int append_file(int out, const char *path)
{
    int in = open(path, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return -1;
    char buf[4096];
    ssize_t n;
    while ((n = read(in, buf, sizeof buf)) > 0)
        if (write(out, buf, (size_t)n) != n)
            break;
    close(in);
    return n == 0 && write(out, "\n", 1) == 1 ? 0 : -1;
}

/* Appends the entries of a template. The path of a provider is filled in here,
 * because the tree can be moved. */
static int append_entries(int out, const char *path)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return -1;
    int folder = (int)(strrchr(path, '/') - path), n = 0;
    char *line = NULL, *mark;
    size_t size = 0;
    while (n >= 0 && getline(&line, &size, in) > 0) {
        const char *rest = line;
        while (n >= 0 && (mark = strstr(rest, PROVDIR))) {
            n = dprintf(out, "%.*s%.*s", (int)(mark - rest), rest, folder,
                        path);
            rest = mark + strlen(PROVDIR);
        }
        if (n >= 0)
            n = dprintf(out, "%s", rest);
    }
    free(line);
    fclose(in);
    return n < 0 ? -1 : 0;
}

/* Appends a rail tcp-INTERFACE for each interface with an address, if the ofi
 * provider lies beside the embedded entries. An interface that is down may come
 * up while its rail is used. The loopback interface is among these entries
 * already. */
static void append_interfaces(int out, const char *entries)
{
    char library[PATH_MAX];
    struct ifaddrs *all;
    int n = snprintf(library, sizeof library, "%.*slibdapl_ofi.so",
                     (int)(strrchr(entries, '/') + 1 - entries), entries);
    if (n >= (int)sizeof library || access(library, R_OK) || getifaddrs(&all))
        return;
    for (const struct ifaddrs *at = all; at; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
            !(at->ifa_flags & IFF_LOOPBACK))
            dprintf(out,
                    "tcp-%s u2.0 nonthreadsafe default \"%s\" dapl_rail.0.1 "
                    "\"provider=tcp device=%s\" \"\"\n",
                    at->ifa_name, library, at->ifa_name);
    freeifaddrs(all);
}

__attribute__((constructor)) static void embedded_init(void)
{
    char path[PATH_MAX], fd_path[64];
    if (embedded_path(path, sizeof path))
        return;

    int fd = memfd_create("dat.conf", MFD_CLOEXEC);
    if (fd < 0)
        return;
    const char *before = getenv(OVERRIDE);
    /* a file that can't be read must fail as without this library */
    if (append_file(fd, before ? before : SYSTEM_CONF) && before)
        goto fail;
    if (getenv(EMBEDDED_ENV)) {
        if (append_file(fd, path)) {
            snprintf(error, sizeof error,
                     EMBEDDED_ENV ": can't read '%.160s': %s", path,
                     strerror(errno));
            goto fail;
        }
    } else if (append_entries(fd, path)) {
        goto fail;
    } else {
        append_interfaces(fd, path);
    }
    if (lseek(fd, 0, SEEK_SET) < 0)
        goto fail;
    if (before && !(user_override = strdup(before)))
        goto fail;
    snprintf(fd_path, sizeof fd_path, "/proc/self/fd/%d", fd);
    if (setenv(OVERRIDE, fd_path, 1))
        goto fail;
    conf_fd = fd;
    return;
fail:
    close(fd);
}

const char *dapl_embedded_error(void)
{
    return error[0] ? error : NULL;
}

void dapl_embedded_done(void)
{
    if (conf_fd < 0)
        return;
    if (user_override)
        setenv(OVERRIDE, user_override, 1);
    else
        unsetenv(OVERRIDE);
    free(user_override);
    user_override = NULL;
    close(conf_fd);
    conf_fd = -1;
}

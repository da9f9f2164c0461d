/* SPDX-License-Identifier: BSD-3-Clause */
/* Platform files by their names. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/sim/platform.h"

#define FILE_MAX (1 << 20) /* bytes of a file */

static bool is_file(const char *folder, int length, const char *name,
                    char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%.*s/%s.platform", length, folder, name);
    return n < PATH_MAX && access(path, F_OK) == 0;
}

static bool find_in_path(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("DRAIL_SIM_PATH");
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");
        if (length && is_file(folders, length, name, path))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* platforms/ beside the library that contains this function */
static bool find_beside(const char *name, char path[PATH_MAX])
{
    Dl_info info;
    char folder[PATH_MAX];
    const char *slash = NULL;
    if (dladdr((void *)sim_platform_read, &info) && info.dli_fname)
        slash = strrchr(info.dli_fname, '/');
    if (!slash || slash - info.dli_fname >= PATH_MAX - 16)
        return false;
    snprintf(folder, sizeof folder, "%.*s/platforms",
             (int)(slash - info.dli_fname), info.dli_fname);
    return is_file(folder, (int)strlen(folder), name, path);
}

/* The contents of a file, which the caller frees. NULL: errno; EINVAL: it is
 * not text, or too large. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(FILE_MAX + 1) : NULL;
    size_t n = text ? fread(text, 1, FILE_MAX + 1, file) : 0;
    int error = errno;
    if (text && (ferror(file) || n > FILE_MAX || memchr(text, 0, n))) {
        error = ferror(file) ? error : EINVAL;
        free(text);
        text = NULL;
    }
    if (text)
        text[n] = '\0';
    if (file)
        fclose(file);
    errno = error;
    return text;
}

int sim_platform_read(const char *name, unsigned ranks, struct sim_platform *p,
                      char why[SIM_WHY_MAX])
{
    char path[PATH_MAX];
    if (!strncmp(name, "sim:", 4))
        name += 4;
    if (strchr(name, '/')) {
        snprintf(path, sizeof path, "%s", name);
    } else if (!find_in_path(name, path) && !find_beside(name, path)) {
        snprintf(why, SIM_WHY_MAX,
                 "no platform '%.100s'; allowed are a path, and NAME of a "
                 "NAME.platform in DRAIL_SIM_PATH or beside the library",
                 name);
        return -1;
    }
    char *text = read_file(path);
    if (!text) {
        snprintf(why, SIM_WHY_MAX,
                 "%.200s: %s; allowed is a text file of up "
                 "to %d bytes",
                 path, strerror(errno), FILE_MAX);
        return -1;
    }
    int rc = sim_platform_parse(text, path, ranks, p, why);
    free(text);
    return rc;
}

static double each(const struct sim_rates *rates, unsigned copies)
{
    unsigned i = copies < rates->count ? copies : rates->count;
    return rates->together[i - 1] / copies;
}

double sim_platform_copy_rate(const struct sim_platform *p, unsigned copies)
{
    return each(&p->memory.copy_rate, copies);
}

double sim_platform_cache_rate(const struct sim_platform *p, unsigned copies)
{
    const struct sim_rates *copy = &p->memory.copy_rate,
                           *cache = &p->memory.cache_rate;
    if (cache->count > 1)
        return each(cache, copies);
    return cache->together[0] * each(copy, copies) / each(copy, 1);
}

unsigned sim_platform_leaf(const struct sim_platform *p, unsigned node,
                           unsigned rail)
{
    return p->leaf.wiring == SIM_WIRING_RAIL
               ? node / p->leaf.ports * p->rails + rail
               : node / (p->leaf.ports / p->rails);
}

double sim_platform_latency(const struct sim_platform *p, unsigned rail,
                            unsigned from_node, unsigned to_node)
{
    const bool through_spine =
        p->leaf.ports && sim_platform_leaf(p, from_node, rail) !=
                             sim_platform_leaf(p, to_node, rail);
    return p->rail[rail].latency + (through_spine ? p->leaf.spine_latency : 0);
}

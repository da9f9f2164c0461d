/* SPDX-License-Identifier: BSD-3-Clause */
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "utf8.h"
#include "bench/pair/session.h"

#ifndef DRAIL_REVISION
#define DRAIL_REVISION "unknown"
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

__attribute__((format(printf, 2, 3))) static void set(char *text,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, MACHINE_TEXT, format, args);
    va_end(args);
}

/* The first line of a file, or "unknown". */
static void set_first_line(char *text, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, MACHINE_TEXT, file))
        set(text, "unknown");
    text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Value of a "key : value" line of /proc/cpuinfo; false if there is none. */
static bool cpuinfo(const char *key, char *value, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;
    while (file && !found && getline(&line, &capacity, file) > 0) {
        char *colon = strstr(line, ": ");
        found = colon && !strncmp(line, key, strlen(key));
        if (found) {
            colon[2 + strcspn(colon + 2, "\n")] = '\0';
            snprintf(value, size, "%s", colon + 2);
        }
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

static void describe_cpu(machine_t *m)
{
    char flags[8192];
    if (!cpuinfo("model name", m->cpu, sizeof m->cpu))
        set(m->cpu, "unknown");
    m->virtual_machine =
        cpuinfo("flags", flags, sizeof flags) && strstr(flags, " hypervisor");
    set_first_line(m->governor,
                   "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (getloadavg(&m->load, 1) < 1)
        m->load = 0;
}

static unsigned count_objects(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n > 0 ? (unsigned)n : 0;
}

static uint64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache ? cache->attr->cache.size : 0;
}

static void describe_topology(machine_t *m)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return;
    if (!hwloc_topology_load(topology)) {
        m->packages = count_objects(topology, HWLOC_OBJ_PACKAGE);
        m->numa_nodes = count_objects(topology, HWLOC_OBJ_NUMANODE);
        m->cores = count_objects(topology, HWLOC_OBJ_CORE);
        m->hardware_threads = count_objects(topology, HWLOC_OBJ_PU);
        m->l1_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
        m->l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
        m->l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
        m->memory_bytes = hwloc_get_root_obj(topology)->total_memory;
    }
    hwloc_topology_destroy(topology);
}

/* The version of libdat2 is in the name of the file behind its soname. */
static int find_libdat2(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    char real[PATH_MAX];
    if (!strstr(info->dlpi_name, "libdat2.so") ||
        !realpath(info->dlpi_name, real))
        return 0;
    set(arg, "%s", strrchr(real, '/') + 1);
    return 1;
}

static void describe_software(machine_t *m)
{
    struct utsname name;
    unsigned hwloc = hwloc_get_api_version();

    if (!uname(&name)) {
        set(m->host, "%s", name.nodename);
        utf8_clean(m->host);
        set(m->kernel, "%s %s %s", name.sysname, name.release, name.machine);
    }
    set(m->libc, "glibc %s", gnu_get_libc_version());
    set(m->compiler, COMPILER);
    set(m->libdat2, "unknown");
    dl_iterate_phdr(find_libdat2, m->libdat2);
    set(m->hwloc, "%s (API %u.%u.%u)", HWLOC_VERSION, hwloc >> 16,
        hwloc >> 8 & 255, hwloc & 255);
    set(m->revision, "%s", DRAIL_REVISION);
}

void machine_describe(machine_t *m, const char *simulated)
{
    memset(m, 0, sizeof *m);
    set(m->simulated, "%s", simulated ? simulated : "");
    describe_cpu(m);
    describe_topology(m);
    describe_software(m);
    m->allowed_threads = crowd_cores();

    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

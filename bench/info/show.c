/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "bench/report/json.h"
#include "show.h"

/* The error's sentence, or the name of its code, in one line. */
static const char *reason(const probe_t *probe)
{
    return probe->error.text[0] ? probe->error.text : drail_strerror(probe->rc);
}

static const char *or_dash(const char *text)
{
    return text[0] ? text : "-";
}

/* Widest of a column's texts. */
static int width(const probe_t *probes, unsigned count, size_t offset,
                 const char *title)
{
    size_t widest = strlen(title);
    for (unsigned i = 0; i < count; i++) {
        size_t n = strlen((const char *)&probes[i] + offset);
        if (!probes[i].rc && n > widest)
            widest = n;
    }
    return (int)widest;
}

static void show_line(const probe_t *probe, const int widths[4])
{
    const drail_rail_info_t *info = &probe->info;
    char rate[32] = "-", numa[16] = "-";
    if (info->nominal_MBps > 0)
        snprintf(rate, sizeof rate, "%.0f", info->nominal_MBps);
    if (info->numa_node >= 0)
        snprintf(numa, sizeof numa, "%d", info->numa_node);
    printf("%-*s  %-*s  %-*s  %-*s  %5s  %4s  %-6s  %10llu  %-5s  %s\n",
           widths[0], probe->name, widths[1], or_dash(info->fabric), widths[2],
           or_dash(info->provider), widths[3], or_dash(info->adapter), rate,
           numa, or_dash(info->cpus), (unsigned long long)info->max_rdma,
           info->has_write_immed ? "yes" : "no",
           info->has_atomics ? "yes" : "no");
}

void show_rails(const probe_t *probes, unsigned count, bool all)
{
    unsigned closed = 0, open = 0;
    for (unsigned i = 0; i < count; i++)
        closed += probes[i].rc != 0;
    open = count - closed;
    if (open) {
        int widths[] = {
            width(probes, count, offsetof(probe_t, name), "rail"),
            width(probes, count, offsetof(probe_t, info.fabric), "fabric"),
            width(probes, count, offsetof(probe_t, info.provider), "provider"),
            width(probes, count, offsetof(probe_t, info.adapter), "adapter")};
        printf("%-*s  %-*s  %-*s  %-*s  %5s  %4s  %-6s  %10s  %-5s  %s\n",
               widths[0], "rail", widths[1], "fabric", widths[2], "provider",
               widths[3], "adapter", "MB/s", "NUMA", "cpus", "max RDMA",
               "immed", "atomics");
        for (unsigned i = 0; i < count; i++)
            if (!probes[i].rc)
                show_line(&probes[i], widths);
    } else {
        puts("No rail can be opened.");
    }
    if (closed && !all)
        printf("%s%u more %s listed in dat.conf but can't be opened here "
               "(railinfo --all says why).\n",
               open ? "\n" : "", closed, closed == 1 ? "is" : "are");
    if (closed && all) {
        printf("%slisted but can't be opened:\n", open ? "\n" : "");
        for (unsigned i = 0; i < count; i++)
            if (probes[i].rc)
                printf("%-24s %s\n", probes[i].name, reason(&probes[i]));
    }
}

static void show_rate(const char *what, double MBps)
{
    if (MBps > 0)
        printf("  %-28s %.0f MB/s\n", what, MBps);
    else
        printf("  %-28s %s\n", what, "unknown");
}

void show_rail(const probe_t *probe)
{
    const drail_rail_info_t *info = &probe->info;
    printf("%s\n", probe->name);
    printf("  %-28s %s\n", "fabric", or_dash(info->fabric));
    printf("  %-28s %s\n", "network", or_dash(info->network));
    printf("  %-28s %s\n", "reaches",
           info->host_only ? "ranks of its host" : "ranks of any host");
    printf("  %-28s %s\n", "provider", or_dash(info->provider));
    printf("  %-28s %u.%u\n", "DAPL version", info->dapl_major,
           info->dapl_minor);
    printf("  %-28s %s\n", "vendor", or_dash(info->vendor));
    printf("  %-28s %s\n", "adapter", or_dash(info->adapter));
    printf("  %-28s %s\n", "address", or_dash(info->address));
    show_rate("nominal rate", info->nominal_MBps);
    show_rate("adapter rate", info->adapter_MBps);
    printf("  %-28s %s\n", "host bus", or_dash(info->bus));
    show_rate("host bus rate", info->bus_MBps);
    if (info->link_model[0])
        printf("  %-28s %s\n", "link model", info->link_model);
    if (info->copies[0])
        printf("  %-28s %s\n", "copies", info->copies);
    if (info->members[0])
        printf("  %-28s %s\n", "members", info->members);
    if (info->numa_node >= 0)
        printf("  %-28s %d\n", "NUMA node", info->numa_node);
    else
        printf("  %-28s %s\n", "NUMA node", "near all");
    printf("  %-28s %s\n", "near CPUs", info->cpus[0] ? info->cpus : "all");
    printf("  %-28s %llu bytes\n", "longest send",
           (unsigned long long)info->max_message);
    printf("  %-28s %llu bytes\n", "longest RDMA",
           (unsigned long long)info->max_rdma);
    printf("  %-28s %u\n", "DTOs per endpoint", info->max_dto);
    printf("  %-28s %u\n", "event queue length", info->max_evd_qlen);
    printf("  %-28s %u\n", "segments per DTO", info->max_iov);
    printf("  %-28s %u\n", "RDMA reads outstanding", info->max_rdma_read_out);
    printf("  %-28s %u bytes\n", "private data", info->max_private_data);
    printf("  %-28s %s\n", "thread safe", info->thread_safe ? "yes" : "no");
    printf("  %-28s %s\n", "RDMA write with immediate",
           info->has_write_immed ? "yes" : "no");
    printf("  %-28s %s\n", "atomics", info->has_atomics ? "yes" : "no");
    printf("  %-28s %s\n", "data move",
           info->is_polled ? "by polling" : "by themselves");
}

static void info_json(json_t *j, const drail_rail_info_t *info)
{
    json_string(j, "fabric", info->fabric);
    json_string(j, "network", info->network);
    json_bool(j, "host_only", info->host_only);
    json_string(j, "provider", info->provider);
    json_uint(j, "dapl_major", info->dapl_major);
    json_uint(j, "dapl_minor", info->dapl_minor);
    json_string(j, "vendor", info->vendor);
    json_string(j, "adapter", info->adapter);
    json_string(j, "address", info->address);
    json_double(j, "nominal_MBps", info->nominal_MBps);
    json_string(j, "link_model", info->link_model);
    json_string(j, "copies", info->copies);
    json_string(j, "members", info->members);
    json_double(j, "adapter_MBps", info->adapter_MBps);
    json_string(j, "bus", info->bus);
    json_double(j, "bus_MBps", info->bus_MBps);
    json_int(j, "numa_node", info->numa_node);
    json_string(j, "cpus", info->cpus);
    json_uint(j, "max_message", info->max_message);
    json_uint(j, "max_rdma", info->max_rdma);
    json_uint(j, "max_dto", info->max_dto);
    json_uint(j, "max_evd_qlen", info->max_evd_qlen);
    json_uint(j, "max_iov", info->max_iov);
    json_uint(j, "max_rdma_read_out", info->max_rdma_read_out);
    json_uint(j, "max_private_data", info->max_private_data);
    json_bool(j, "thread_safe", info->thread_safe);
    json_bool(j, "has_write_immed", info->has_write_immed);
    json_bool(j, "has_atomics", info->has_atomics);
    json_bool(j, "is_polled", info->is_polled);
}

void show_rails_json(const probe_t *probes, unsigned count)
{
    json_t json, *j = &json;
    json_init(j, stdout);
    json_object(j, NULL);
    json_string(j, "schema", "dapl_rail.railinfo/1");
    json_array(j, "rails");
    for (unsigned i = 0; i < count; i++) {
        json_object(j, NULL);
        json_string(j, "name", probes[i].name);
        json_bool(j, "open", !probes[i].rc);
        if (probes[i].rc)
            json_string(j, "reason", reason(&probes[i]));
        else
            info_json(j, &probes[i].info);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

void show_settings(void)
{
    drail_setting_t s;
    for (unsigned i = 0; !drail_setting_get(i, &s); i++) {
        printf("%s=%s\n", s.name, s.value);
        printf("    %s (default: %s)\n", s.meaning, or_dash(s.fallback));
    }
}

void show_settings_json(void)
{
    drail_setting_t s;
    json_t json, *j = &json;
    json_init(j, stdout);
    json_object(j, NULL);
    json_string(j, "schema", "dapl_rail.settings/1");
    json_array(j, "settings");
    for (unsigned i = 0; !drail_setting_get(i, &s); i++) {
        json_object(j, NULL);
        json_string(j, "name", s.name);
        json_string(j, "meaning", s.meaning);
        json_string(j, "default", s.fallback);
        json_string(j, "value", s.value);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

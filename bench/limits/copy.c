/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "bench/clock.h"
#include "copy.h"
#include "dapl_rail/platform/long_copy.h"
#include "team.h"

#define LINE 64

typedef void (*copy_fn_t)(void *to, const void *from, size_t bytes);

static const struct {
    const char *name;
    copy_fn_t copy;
} kernels[COPY_KERNELS] = {
    [COPY_PLAIN] = {"plain", plain_copy},
#if STREAM_EXISTS
    [COPY_STREAM] = {"non-temporal", stream_copy},
#endif
};

const char *copy_kernel_name(copy_kernel_t kernel)
{
    return kernels[kernel].name;
}

typedef struct time_span {
    uint64_t start_ns, end_ns;
} time_span_t;

typedef struct copy_work {
    copy_part_t *parts;
    copy_fn_t copy;
    time_span_t *times;
} copy_work_t;

static void copy_next(copy_part_t *part, copy_fn_t copy)
{
    if (part->at + part->bytes > part->span)
        part->at = 0;
    copy(part->to + part->at, part->from + part->at, part->bytes);
    /* the compiler must not merge copies that nobody looks at */
    __asm__ volatile("" ::: "memory");
    part->at += (part->bytes + LINE - 1) & ~(size_t)(LINE - 1);
}

static void work(team_t *team, unsigned index, void *arg)
{
    copy_work_t *w = arg;
    copy_part_t *part = &w->parts[index];
    if (part->span == part->bytes)
        copy_next(part, w->copy);
    team_start(team);
    uint64_t start = clock_ns();
    for (uint64_t i = 0; i < part->copies; i++)
        copy_next(part, w->copy);
    w->times[index] = (time_span_t){start, clock_ns()};
}

double copy_run(copy_part_t *parts, unsigned count, copy_kernel_t kernel)
{
    double rate = NAN, bytes = 0;
    time_span_t *times = calloc(count, sizeof *times), all = {UINT64_MAX, 0};
    int *cpus = calloc(count, sizeof *cpus);
    if (!times || !cpus)
        goto out;
    for (unsigned i = 0; i < count; i++)
        cpus[i] = parts[i].cpu;

    copy_work_t w = {parts, kernels[kernel].copy, times};
    team_t team = {.work = work, .arg = &w};
    if (team_run(&team, count, cpus))
        goto out;
    for (unsigned i = 0; i < count; i++) {
        bytes += (double)parts[i].copies * (double)parts[i].bytes;
        if (times[i].start_ns < all.start_ns)
            all.start_ns = times[i].start_ns;
        if (times[i].end_ns > all.end_ns)
            all.end_ns = times[i].end_ns;
    }
    if (all.end_ns > all.start_ns)
        rate = bytes * 1e3 / (double)(all.end_ns - all.start_ns);
out:
    free(times);
    free(cpus);
    return rate;
}

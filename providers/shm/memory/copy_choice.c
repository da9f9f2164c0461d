/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which copies use non-temporal stores: those from stream= bytes on. Without
 * that parameter, this process measures (copy_trial.c) when a copy of a class
 * of sizes, or a receive that such a copy may fill, is first posted. Writes and
 * reads are measured apart: only the latter's data are read by the same core. A
 * copy for which plain was chosen may still be non-temporal if it finds its
 * data in no cache (copy_cold.c). Shorter copies are plain: their target is in
 * a cache.
 */
#include <stdio.h>
#include <unistd.h>

#include "providers/shm/memory/copy.h"
#include "providers/shm/shm.h"

/* Non-temporal copies must be faster by this much: plain ones leave more of the
 * memory's bandwidth to others. */
#define GAIN   0.95
#define TRIALS 3

static const struct {
    const char *name;
    size_t from, typical; /* bytes: smallest, and measured */
} classes[] = {
    {"512K", 512u << 10, 1u << 20},
    {"2M", 2u << 20, 4u << 20},
    {"8M", 8u << 20, 16u << 20},
};
#define CLASSES (sizeof classes / sizeof classes[0])

enum verdict { UNMEASURED, PLAIN, STREAM };

static const char *const names[] = {
    [UNMEASURED] = "unmeasured",
    [PLAIN] = "plain",
    [STREAM] = "non-temporal",
};

/* Of the machine, not of an IA; [write][class]. */
static _Atomic int verdicts[2][CLASSES];
static _Atomic float warm[2][CLASSES]; /* ns per byte, plain, in caches */
/* The process that is measuring; 0: none. In a child forked meanwhile it is the
 * parent, and is ignored. */
static _Atomic pid_t measuring;

/* The data may be read before they are overwritten, or not: both must gain. */
static bool stream_wins(const struct shm_times times[2])
{
    return times[1].read < GAIN * times[0].read &&
           times[1].unread < GAIN * times[0].unread;
}

/* Plain, unless all trials say otherwise: if only some do, both are about
 * equal. Plain also without a second CPU. */
static void measure(bool write, size_t class)
{
    struct shm_times times[2] = {0};
    int state = core_cancel_off();
    bool stream = true;
    for (int i = 0; stream && i < TRIALS; i++)
        stream = !shm_trial(classes[class].typical, !write, times) &&
                 stream_wins(times);
    if (!stream)
        atomic_store(&warm[write][class],
                     (float)(times[0].unread / classes[class].typical));
    atomic_store(&verdicts[write][class], stream ? STREAM : PLAIN);
    core_cancel_as(state);
}

/* bytes: at least those of the first class. */
static size_t class_of(size_t bytes)
{
    size_t class = CLASSES - 1;
    while (bytes < classes[class].from)
        class --;
    return class;
}

static int verdict(bool write, size_t class)
{
    return atomic_load_explicit(&verdicts[write][class], memory_order_relaxed);
}

size_t shm_choice_least(const struct shm_params *params)
{
    if (!shm_can_stream)
        return SIZE_MAX;
    return params->stream_bytes == SHM_STREAM_MEASURED ? classes[0].from
                                                       : params->stream_bytes;
}

static bool is_measured(const struct shm_ia *sia, size_t bytes)
{
    return bytes >= sia->stream_least &&
           sia->params.stream_bytes == SHM_STREAM_MEASURED;
}

static bool measure_begin(void)
{
    pid_t me = getpid(), by = atomic_load(&measuring);
    return by != me && atomic_compare_exchange_strong(&measuring, &by, me);
}

void shm_choice_measure(struct shm_ia *sia, bool write, size_t bytes)
{
    if (!is_measured(sia, bytes))
        return;
    size_t class = class_of(bytes);
    /* while another thread measures, this one does not wait */
    if (verdict(write, class) == UNMEASURED && measure_begin()) {
        if (verdict(write, class) == UNMEASURED)
            measure(write, class);
        atomic_store(&measuring, 0);
    }
}

struct shm_manner shm_choose(struct shm_ia *sia, bool write, size_t bytes,
                             struct shm_cold *cold)
{
    if (is_measured(sia, bytes)) {
        size_t class = class_of(bytes);
        int known = verdict(write, class);
        float ns =
            atomic_load_explicit(&warm[write][class], memory_order_relaxed);
        if (known == PLAIN && ns > 0)
            return (struct shm_manner){.warm = ns, .cold = cold};
        if (known != STREAM)
            return (struct shm_manner){0};
    }
    atomic_fetch_add_explicit(&sia->streamed, 1, memory_order_relaxed);
    return (struct shm_manner){.stream = true};
}

/* "writes: 512K plain, 2M unmeasured, 8M non-temporal" */
static int class_text(bool write, char *text, size_t size)
{
    int used = snprintf(text, size, "%s:", write ? "writes" : "reads");
    for (size_t i = 0; i < CLASSES; i++)
        used +=
            snprintf(text + used, size - (size_t)used, "%s %s %s", i ? "," : "",
                     classes[i].name, names[atomic_load(&verdicts[write][i])]);
    return used;
}

void shm_choice_text(const struct shm_ia *sia, char *text, size_t size)
{
    if (!shm_can_stream) {
        snprintf(text, size, "plain");
    } else if (sia->params.stream_bytes != SHM_STREAM_MEASURED) {
        snprintf(text, size, "non-temporal from %zu", sia->params.stream_bytes);
    } else {
        int used = class_text(true, text, size);
        used += snprintf(text + used, size - (size_t)used, "; ");
        class_text(false, text + used, size - (size_t)used);
    }
}

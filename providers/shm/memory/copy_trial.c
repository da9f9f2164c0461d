/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures plain and non-temporal copies on this machine, by the time until the
 * data have also been read: after a plain copy the reader gets them from the
 * writer's cache, else from memory. And by the time of copies whose data are
 * not read, whose target stays in the writer's cache.
 *
 * Buffers are copied and read in pieces, of which the median counts: a thread
 * that takes the CPU for a while spoils only a few pieces.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "providers/core/thread.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/shm.h"

#define PIECES 16

struct trial {
    char *from, *to;
    size_t piece; /* bytes */
    struct shm_manner manner;
    uint64_t ns[PIECES];
    uint64_t sum; /* so that the compiler keeps the reading */
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double median(struct trial *t)
{
    qsort(t->ns, PIECES, sizeof t->ns[0], by_value);
    return (double)t->ns[PIECES / 2];
}

static void copy(struct trial *t)
{
    for (size_t i = 0; i < PIECES; i++) {
        uint64_t start = busywait_now_ns();
        shm_copy(t->to + i * t->piece, t->from + i * t->piece, t->piece,
                 &t->manner);
        t->ns[i] = busywait_now_ns() - start;
    }
}

static void *read_all(void *arg)
{
    struct trial *t = arg;
    for (size_t i = 0; i < PIECES; i++) {
        const uint64_t *word = (const void *)(t->to + i * t->piece);
        uint64_t start = busywait_now_ns(), sum = 0;
        for (size_t n = t->piece / sizeof *word; n; n--)
            sum += *word++;
        t->sum += sum;
        t->ns[i] = busywait_now_ns() - start;
    }
    return NULL;
}

/* In a thread on any other CPU, even if this thread is pinned. */
static int read_elsewhere(struct trial *t)
{
    pthread_attr_t attr;
    pthread_t thread;
    cpu_set_t others;
    int here = sched_getcpu();
    memset(&others, 0xff, sizeof others);
    if (here >= 0 && here < CPU_SETSIZE)
        CPU_CLR((unsigned)here, &others);
    if (pthread_attr_init(&attr))
        return -1;
    int err = pthread_attr_setaffinity_np(&attr, sizeof others, &others);
    if (!err)
        err = core_thread_create(&thread, &attr, read_all, t);
    pthread_attr_destroy(&attr);
    return err ? -1 : pthread_join(thread, NULL);
}

/* The second round counts: the first one brings the caches into the state that
 * such copies leave. */
static int run(struct trial *t, bool here, struct shm_times *times)
{
    for (int round = 0; round < 2; round++) {
        copy(t);
        times->read = PIECES * median(t);
        if (here)
            read_all(t);
        else if (read_elsewhere(t))
            return -1;
        times->read += PIECES * median(t);
    }
    for (int round = 0; round < 2; round++)
        copy(t);
    times->unread = PIECES * median(t);
    return 0;
}

int shm_trial(size_t bytes, bool here, struct shm_times times[2])
{
    struct trial t = {.piece = bytes / PIECES};
    char *memory = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    t.from = memory;
    t.to = memory + bytes;
    memset(t.from, 1, bytes);
    int err = 0;
    for (int stream = 0; !err && stream < 2; stream++) {
        t.manner.stream = stream;
        err = run(&t, here, &times[stream]);
    }
    munmap(memory, 2 * bytes);
    return err;
}

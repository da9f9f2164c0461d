/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define BYTES_MAX    (UINT64_C(1) << 30)
#define MESSAGES_MAX UINT64_C(1000000000)
#define LIMIT_S      60
#define PAGE         ((size_t)4096)
#define LINE         ((size_t)64)
#define BUFFERS_MAX  (UINT64_C(1) << 20)
#define ROOM_MAX     (UINT64_C(4) << 30)

static const char *const names[] = {"lat", "bw", "put"};

const char *run_parse_number(const char *text, uint64_t max, char end,
                             uint64_t *value)
{
    char *rest;
    errno = 0;
    *value = strtoull(text, &rest, 10);
    if (errno || *text < '0' || *text > '9' || *rest != end || !*value ||
        *value > max)
        return NULL;
    return rest + 1;
}

/* Buffers begin on lines of their own, as ours do. */
static size_t stride(const run_t *run)
{
    return (run->bytes + LINE - 1) / LINE * LINE;
}

/* MESSAGES[:BUFFERS[:read]] */
static int parse_messages(const char *text, run_t *run)
{
    const char *rest;
    run->buffers = 1;
    if (run_parse_number(text, MESSAGES_MAX, '\0', &run->messages))
        return 0;
    text = run_parse_number(text, MESSAGES_MAX, ':', &run->messages);
    if (!text || run->what == RUN_LAT)
        return -1;
    rest = run_parse_number(text, BUFFERS_MAX, ':', &run->buffers);
    run->read = rest && !strcmp(rest, "read");
    if (rest ? !run->read
             : !run_parse_number(text, BUFFERS_MAX, '\0', &run->buffers))
        return -1;
    return run->buffers > ROOM_MAX / stride(run) ? -1 : 0;
}

static int parse(const char *text, run_t *run)
{
    const char *colon = strchr(text, ':');
    uint64_t bytes;
    size_t length = colon ? (size_t)(colon - text) : 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) != length || strncmp(text, names[i], length))
            continue;
        run->what = (run_what_t)i;
        text = run_parse_number(colon + 1, BYTES_MAX, ':', &bytes);
        if (!text)
            return -1;
        run->bytes = bytes;
        if (parse_messages(text, run))
            return -1;
        return i != RUN_LAT && run->messages % RUN_WINDOW ? -1 : 0;
    }
    return -1;
}

run_t *run_parse_all(int nargs, char **args)
{
    run_t *runs = calloc((size_t)nargs + 1, sizeof *runs);
    for (int i = 0; runs && i < nargs; i++)
        if (parse(args[i], &runs[i])) {
            fprintf(stderr,
                    "'%s' is wrong; allowed: lat|bw|put:BYTES:MESSAGES, bytes "
                    "from 1 to 1 GiB, messages of bw and put in windows of "
                    "%d, and of these :BUFFERS[:read] of 4 GiB at most\n",
                    args[i], RUN_WINDOW);
            exit(2);
        }
    if (!runs || !nargs) {
        fprintf(stderr, "allowed: a list of lat|bw|put:BYTES:MESSAGES\n");
        exit(2);
    }
    return runs;
}

size_t run_capacity(const run_t *runs, int count)
{
    size_t capacity = 0;
    for (int i = 0; i < count; i++) {
        size_t room = run_place(&runs[i], runs[i].buffers - 1) + runs[i].bytes;
        if (room > capacity)
            capacity = room;
    }
    return capacity;
}

size_t run_place(const run_t *run, uint64_t message)
{
    return message % run->buffers * stride(run);
}

static uint64_t sum_of(const char *at, size_t bytes)
{
    uint64_t sum = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        sum += word;
    }
    for (; i < bytes; i++)
        sum += (unsigned char)at[i];
    return sum;
}

void run_look(const run_t *run, const char *target, uint64_t first)
{
    for (int i = 0; run->read && i < RUN_WINDOW; i++) {
        uint64_t sum =
            sum_of(target + run_place(run, first + (uint64_t)i), run->bytes);
        __asm__ volatile("" ::"r"(sum)); /* so that it is computed */
    }
}

size_t run_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *run_buffer(size_t bytes)
{
    size_t pages = run_pages(bytes);
    void *buffer = aligned_alloc(PAGE, pages ? pages : PAGE);
    if (buffer)
        memset(buffer, 0x5a, bytes);
    return buffer;
}

void run_guard(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIMIT_S);
}

double run_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t run_warmup(uint64_t iterations)
{
    uint64_t tenth = iterations / 10 + 1;
    return tenth > RUN_WARMUP ? tenth : RUN_WARMUP;
}

void run_pin(int rank)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    int nth = rank % CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || nth--)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

int run_core(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) != 1)
        return -1;
    return sched_getcpu();
}

void run_print_library(const char *library, const int *cores, int count)
{
    /* MPI libraries describe themselves in many lines */
    printf("# %.*s\n# cores", (int)strcspn(library, "\n"), library);
    for (int i = 0; i < count; i++)
        printf(" %d", cores[i]);
    putchar('\n');
}

void run_print_header(const char *library, const int cores[2])
{
    run_print_library(library, cores, 2);
    puts("what,bytes,latency_us,bandwidth_MBps");
}

void run_print(const run_t *run, double seconds)
{
    double messages = (double)run->messages * (run->what == RUN_LAT ? 2 : 1);
    double us = seconds / messages * 1e6;
    printf("%s,%zu,%.6g,%.6g\n", names[run->what], run->bytes, us,
           (double)run->bytes / us);
}

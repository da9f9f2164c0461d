/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal control variables (OpenMP 5.0, section 2.5), and the environment
 * that they begin with. */
#ifndef OMP_RUNTIME_ICV_H
#define OMP_RUNTIME_ICV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* omp_sched_t */
enum schedule {
    SCHEDULE_STATIC = 1,
    SCHEDULE_DYNAMIC,
    SCHEDULE_GUIDED,
    SCHEDULE_AUTO,
    SCHEDULE_SECTIONS, /* as dynamic, but a rank takes one chunk at a time */
};
#define SCHEDULE_MONOTONIC 0x80000000u

/* Of a task. */
struct icv {
    uint32_t threads;  /* nthreads-var */
    uint32_t schedule; /* run-sched-var: an enum schedule, and … */
    int32_t chunk;     /* … its chunk; 0: none */
    uint8_t dynamic;
    uint8_t levels; /* max-active-levels-var */
};

/* Of the program. */
struct settings {
    uint32_t threads; /* in each rank */
    uint32_t limit;   /* thread-limit-var */
    size_t stack;     /* bytes of a thread's stack; 0: the system's */
    bool passive;     /* OMP_WAIT_POLICY */
    bool stats;       /* RAILOMP_STATS */
    bool copied;      /* RAILOMP_PAGES */
    struct icv first; /* of the initial task */
};
extern struct settings settings;

/* The processors of this host that the program may use. */
unsigned processors(void);
/* @chunk: 0 or less: the schedule's own. */
void icv_schedule(struct icv *icv, uint32_t schedule, int chunk);
/* Reads the environment; a wrong value ends the program. */
void settings_read(unsigned ranks, unsigned ranks_here);

#endif

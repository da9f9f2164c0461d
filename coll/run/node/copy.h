/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies into node memory, which ranks on other cores read again and again. A
 * plain store first invalidates the line in the readers' caches, which can cost
 * ten times as much as the copy. A non-temporal store need not, but readers
 * then find the data in memory, not in a cache. Which one is cheaper depends on
 * the machine and, on virtual machines, changes by the minute. So some copies
 * are timed, and each class of lengths uses the cheaper way.
 */
#ifndef DCOLL_AWAY_H
#define DCOLL_AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/platform/platform.h"

#define COPY_LEAST   (16u << 10) /* bytes; shorter copies use plain stores */
#define COPY_CLASSES 8u          /* each for twice as many bytes */

/* Ways to copy: plain stores, or non-temporal ones. */
enum { COPY_CACHED, COPY_STREAMED, COPY_WAYS };

/* Copies of similar lengths. Begins as {0}. */
struct copy_class {
    double cost[COPY_WAYS]; /* ns per byte, including a reader's */
    uint64_t calls;
};

/* Of one team. Begins as {0}. */
struct node_copier {
    struct copy_class classes[COPY_CLASSES];
};

/* The class of copies of `bytes`, at least COPY_LEAST. */
struct copy_class *copy_class_of(struct node_copier *copier, size_t bytes);
/* Chooses the way of the next copy; learn: its cost is to be measured. */
int copy_choose(struct copy_class *c, bool *learn);
/* Records the cost of a copy, in ns per byte. */
void copy_learn(struct copy_class *c, int way, double cost);

/* Copies; a flag set after it returns is seen only after the data. */
void node_copy(struct node_copier *copier, const struct drail_platform *p,
               void *to, const void *from, size_t bytes);

/* Copies out of node memory, from which another rank copies what this one has
 * written at the same time. */
void node_copy_crossing(const struct drail_platform *p, void *to,
                        const void *from, size_t bytes);

#endif

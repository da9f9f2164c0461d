/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies into node memory, from where ranks on other cores read them again and
 * again. A plain store takes the line from its readers' caches first, which
 * can cost ten times what the copy does; a non-temporal one need not, but
 * readers then find the data in memory, not in a cache. What that comes to
 * differs between machines, and virtual ones change by the minute, so both are
 * tried now and then, where it counts: in the copies themselves.
 */
#ifndef DCOLL_AWAY_H
#define DCOLL_AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/platform/platform.h"

#define COPY_LEAST   (16u << 10) /* bytes; shorter copies stay in caches */
#define COPY_CLASSES 8u          /* each from twice as many bytes on */

/* How a copy is made: plain, or past the caches. */
enum { COPY_CACHED, COPY_STREAMED, COPY_WAYS };

/* Copies of like lengths. Contents: zeros. */
struct copy_class {
    double cost[COPY_WAYS]; /* ns per byte, with what readers pay for it */
    uint64_t calls;
};

/* Of one team, whose threads use it one after the other. */
struct node_copier {
    struct copy_class classes[COPY_CLASSES];
};

/* Of copies of so many bytes, which are not fewer than COPY_LEAST. */
struct copy_class *copy_class_of(struct node_copier *copier, size_t bytes);
/* Which way the next copy goes, and whether its cost is to be learnt. */
int copy_choose(struct copy_class *c, bool *learn);
/* One took so many ns per byte. */
void copy_learn(struct copy_class *c, int way, double cost);

/* Nobody reads these bytes of node memory again, which this rank has just read
 * (of `all` of a start): they may be changed, so that he alone has their lines.
 * From him, who writes next gets them at once; of lines that he and their
 * writer share, each one has to be asked for. */
void node_own_lines(const struct drail_platform *p, void *data, size_t bytes,
                    size_t all);

/* What is announced after it returns is seen by whoever sees that. */
void node_copy(struct node_copier *copier, const struct drail_platform *p,
               void *to, const void *from, size_t bytes);

#endif

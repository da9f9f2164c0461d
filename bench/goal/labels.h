/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels of a rank's operations in a GOAL file. */
#ifndef BENCH_GOAL_LABELS_H
#define BENCH_GOAL_LABELS_H

#include <stdint.h>

#include "words.h"

#define LABEL_NONE UINT32_MAX

/** Begins as {0}. */
typedef struct labels {
    void *tree; /**< of tsearch; owned */
} labels_t;

/** Names an operation. @return 0; 1: there is that label; -1: out of memory. */
int labels_add(labels_t *labels, const char *name, uint32_t op);
/** The operation of that name, or LABEL_NONE. */
uint32_t labels_find(const labels_t *labels, const char *name);
/** Forgets and frees all of them. */
void labels_clear(labels_t *labels);

#endif

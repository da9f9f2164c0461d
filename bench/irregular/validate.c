/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The separate pass that checks data. With counts, each byte has its place.
 * Elements that say where they go may come in any order: then their number,
 * their targets and the sum of a hash of each are checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irregular.h"
#include "bench/pair/content.h"
#include "dapl_rail/platform/fnv.h"

#define STARTS 3

typedef struct check {
    coll_run_t *run;
    const coll_cell_t *cell;
    const coll_bed_t *bed;
    irregular_call_t *call;
    size_t element;
    uint64_t seed;    /* of this start */
    uint8_t *scratch; /* as long as recv and its guards */
} check_t;

/* Contents of the elements from one rank to another. */
static uint64_t seed_of(const check_t *c, unsigned from, unsigned to)
{
    return c->seed + (((uint64_t)from << 12) + to + 1) * 0x9e3779b97f4a7c15u;
}

/* As it lies in SEND of rank `from`. */
static void write_element(const check_t *c, uint8_t *at, unsigned from,
                          uint32_t to, size_t number)
{
    content_fill(at + sizeof to, c->element - sizeof to,
                 seed_of(c, from, to) + number);
    memcpy(at + IRREGULAR_DESTINATION, &to, sizeof to);
}

static void fill_send(const check_t *c)
{
    const irregular_call_t *call = c->call;
    uint8_t *at = c->bed->send;
    unsigned me = c->run->rank;
    if (call->interface == INTERFACE_ELEMENTS) {
        irregular_stamp(c->run, call, at);
        size_t *next = calloc(c->run->ranks, sizeof *next);
        for (size_t i = 0; next && i < call->sent; i++, at += c->element) {
            uint32_t to;
            memcpy(&to, at + IRREGULAR_DESTINATION, sizeof to);
            write_element(c, at, me, to, next[to]++);
        }
        free(next);
        return;
    }
    for (unsigned to = 0; to < c->run->ranks; to++) {
        size_t bytes = call->send_counts[to] * c->element;
        content_fill(at, bytes, seed_of(c, me, to));
        at += bytes;
    }
}

/* Writes the expected contents to scratch. recv gets guards, and bytes that are
 * all wrong. */
static void expect(const check_t *c)
{
    size_t bytes = c->call->received * c->element;
    uint8_t *at = c->scratch + COLL_GUARD;
    content_fill(c->scratch, COLL_GUARD, c->seed);
    content_fill(at + bytes, COLL_GUARD, c->seed);
    memcpy(c->bed->recv - COLL_GUARD, c->scratch, COLL_GUARD);
    memcpy(c->bed->recv + bytes, c->scratch, COLL_GUARD);
    for (unsigned from = 0; from < c->run->ranks; from++) {
        size_t part = c->call->recv_counts[from] * c->element;
        content_fill(at, part, seed_of(c, from, c->run->rank));
        at += part;
    }
    for (size_t i = 0; i < bytes; i++)
        c->bed->recv[i] = (uint8_t)~c->scratch[COLL_GUARD + i];
}

static uint64_t hash(const uint8_t *at, size_t bytes)
{
    uint64_t h = fnv_add(FNV_EMPTY, at, bytes);
    return h ^ h >> 29;
}

/* NULL, or what is wrong. */
static const char *check_elements(const check_t *c)
{
    const irregular_call_t *call = c->call;
    uint64_t found = 0, wanted = 0;
    uint32_t to, me = c->run->rank;
    if (call->came != call->received)
        return "another number of elements has come";
    for (size_t i = 0; i < call->came; i++) {
        const uint8_t *at = c->bed->recv + i * c->element;
        memcpy(&to, at + IRREGULAR_DESTINATION, sizeof to);
        if (to != me)
            return "an element is for another rank";
        found += hash(at, c->element);
    }
    for (unsigned from = 0; from < c->run->ranks; from++)
        for (size_t i = 0; i < call->recv_counts[from]; i++) {
            write_element(c, c->scratch + COLL_GUARD, from, me, i);
            wanted += hash(c->scratch + COLL_GUARD, c->element);
        }
    return found == wanted ? NULL : "elements have other contents";
}

static const char *check_recv(const check_t *c)
{
    size_t bytes = c->call->received * c->element;
    const uint8_t *recv = c->bed->recv;
    if (memcmp(recv - COLL_GUARD, c->scratch, COLL_GUARD) ||
        memcmp(recv + bytes, c->scratch + COLL_GUARD + bytes, COLL_GUARD))
        return "bytes beside recv were written";
    if (c->call->interface == INTERFACE_ELEMENTS)
        return check_elements(c);
    return memcmp(recv, c->scratch + COLL_GUARD, bytes) ? "recv is wrong"
                                                        : NULL;
}

static int check_start(check_t *c, unsigned start, bool *valid)
{
    char label[128];
    const coll_result_t *r = c->run->result;
    c->seed = r->seed + ((uint64_t)(start + 1) << 32) +
              ((uint64_t)(c->cell - r->cells) << 40);
    fill_send(c);
    expect(c);
    int rc = c->run->work->perform(c->run, c->cell->setup);
    const char *wrong = rc ? NULL : check_recv(c);
    if (!wrong)
        return rc;
    *valid = false;
    coll_setup_label(r->plan, &r->plan->setups[c->cell->setup], label,
                     sizeof label);
    fprintf(stderr, "%s: %s, %llu elements, start %u: rank %u: %s\n",
            r->test->table.command, label,
            (unsigned long long)c->cell->elements, start, c->run->rank, wrong);
    return 0;
}

int irregular_validate(coll_run_t *run, const coll_cell_t *cell, bool *valid)
{
    check_t c = {.run = run,
                 .cell = cell,
                 .bed = coll_bed_of(run, cell->setup),
                 .call = run->calls[cell->setup],
                 .element = run->opts->alltoallv.element};
    int rc = 0;
    c.scratch =
        malloc(c.call->received * c.element + c.element + 2 * COLL_GUARD);
    if (!c.scratch)
        return DRAIL_ENOMEM;
    *valid = true;
    for (unsigned s = 0; !rc && s < STARTS; s++)
        rc = check_start(&c, s, valid);
    free(c.scratch);
    return rc;
}

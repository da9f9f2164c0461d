/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench/pair/content.h"
#include "operation.h"

operation_t operation_named(const options_t *opts)
{
    return (operation_t){.reduction = *dcoll_reduction(opts->type, opts->op),
                         .type = opts->type,
                         .op = opts->op};
}

/* -------------------------------------------------------------- affine --- */

/* An element is a map a x + b: b in the low half of its bits, a in the high
 * half. */
static void combine_affine(void *context, const void *left, const void *right,
                           void *result, size_t count)
{
    const size_t element = (size_t)context;
    const uint64_t half = 4 * element, mask = (UINT64_C(1) << half) - 1;
    for (size_t i = 0; i < count * element; i += element) {
        uint64_t x = 0, y = 0, z;
        memcpy(&x, (const char *)left + i, element);
        memcpy(&y, (const char *)right + i, element);
        const uint64_t a = (x >> half) * (y >> half);
        const uint64_t b = (y >> half) * (x & mask) + (y & mask);
        z = (a & mask) << half | (b & mask);
        memcpy((char *)result + i, &z, element);
    }
}

operation_t operation_affine(size_t element)
{
    return (operation_t){
        .reduction = {element, combine_affine, (void *)element, false},
        .type = DCOLL_UINT64,
        .op = DCOLL_OPERATORS};
}

/* ------------------------------------------------------------ contents --- */

/* Integers may have any bits, as sums and products wrap around. A map has an
 * odd a: an even one would lose bits of the maps before it. */
static uint64_t bits(const operation_t *o, uint64_t random)
{
    const uint64_t odd = UINT64_C(1) << 4 * o->reduction.element;
    return o->op == DCOLL_OPERATORS ? random | odd : random;
}

/* Numbers whose results are exact: sums of 16384 of them fit even a float, and
 * the factors of two successive ranks have the product 1 or -1. */
static double number(const operation_t *o, uint64_t random, unsigned rank)
{
    if (o->op == DCOLL_PROD)
        return (random % 2 ? 1 : -1) * (rank % 2 ? 0.5 : 2);
    return (double)(random % 2001) - 1000;
}

/* True in a share of the elements that makes both results occur. */
static bool truth(dcoll_operator_t op, uint64_t random, unsigned ranks)
{
    return op == DCOLL_LAND  ? random % ranks != 0
           : op == DCOLL_LOR ? random % ranks == 0
                             : random % 2;
}

static bool is_logical(dcoll_operator_t op)
{
    return op == DCOLL_LAND || op == DCOLL_LOR || op == DCOLL_LXOR;
}

static void put_element(const operation_t *o, uint8_t *at, double d, uint64_t n)
{
    const float f = (float)d;
    const void *from = o->type == DCOLL_DOUBLE  ? (const void *)&d
                       : o->type == DCOLL_FLOAT ? (const void *)&f
                                                : (const void *)&n;
    memcpy(at, from, o->reduction.element);
}

static void fill_element(const operation_t *o, uint8_t *at, uint64_t random,
                         unsigned rank, unsigned ranks)
{
    const double d = is_logical(o->op) ? truth(o->op, random, ranks)
                                       : number(o, random, rank);
    put_element(o, at, d, is_logical(o->op) ? (uint64_t)d : bits(o, random));
}

void operation_fill(const operation_t *o, uint8_t *block, size_t bytes,
                    unsigned rank, unsigned ranks, uint64_t seed)
{
    const size_t element = o->reduction.element;
    for (size_t i = 0; i < bytes / element; i++)
        fill_element(o, block + i * element, content_word(seed, i), rank,
                     ranks);
}

void operation_fill_steady(const operation_t *o, uint8_t *block, size_t bytes)
{
    const size_t element = o->reduction.element;
    const bool zero =
        o->op == DCOLL_SUM || o->op == DCOLL_LXOR || o->op == DCOLL_BXOR;
    for (size_t i = 0; i < bytes / element; i++)
        put_element(o, block + i * element, !zero, !zero);
}

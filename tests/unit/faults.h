/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults planted in a program that the verifier accepts: each must be found. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "coll/schedule.h"

static inline int faults_verify(dcoll_program_t *p)
{
    char why[1024] = "";
    return dcoll_verify(p, dcoll_proof_starts(p), why, sizeof why);
}

/** An operation is left out. false: the fault is not found. */
static inline bool faults_found_without(dcoll_program_t *p, dcoll_schedule_t *s,
                                        unsigned i)
{
    const dcoll_op_t kept = s->ops[i];
    const size_t after = (s->nops - i - 1) * sizeof kept;
    memmove(&s->ops[i], &s->ops[i + 1], after);
    s->nops--;
    const bool found = faults_verify(p);
    memmove(&s->ops[i + 1], &s->ops[i], after);
    s->ops[i] = kept;
    s->nops++;
    return found;
}

/** An operation moves the bytes of the element of @p bytes before, or to there.
 *  false: the fault is not found. */
static inline bool faults_found_beside(dcoll_program_t *p, dcoll_op_t *op,
                                       bool target, size_t bytes)
{
    dcoll_place_t *place = target ? &op->dst : &op->src;
    if (place->offset < bytes || op->bytes < bytes)
        return true;
    place->offset -= bytes;
    const bool found = faults_verify(p);
    place->offset += bytes;
    return found;
}

/** Fails unless each operation of each rank is found to be missing when it is
 *  left out, and to be wrong when it is moved by an element. */
static inline void faults_expect_all(dcoll_program_t *p, unsigned nranks,
                                     size_t element, unsigned variant)
{
    for (unsigned r = 0; r < nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            dcoll_schedule_t *s = &p->rank[r];
            if (!faults_found_without(p, s, i))
                fail_msg("variant %u: rank %u without operation %u passes",
                         variant, r, i);
            if (!faults_found_beside(p, &s->ops[i], false, element) ||
                !faults_found_beside(p, &s->ops[i], true, element))
                fail_msg("variant %u: rank %u passes with operation %u beside "
                         "its place",
                         variant, r, i);
        }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of users' buffers: each cell of each block of each rank has its own
 * value in each start. */
#include "verify.h"

uint64_t verify_input(const struct verifier *v, unsigned start, unsigned rank,
                      size_t block, size_t cell)
{
    uint64_t cells = v->program->args.bytes / v->grain;
    uint64_t owner = (uint64_t)start * v->nranks + rank;
    return 1 + (owner * v->nranks + block) * cells + cell;
}

bool verify_input_of(const struct verifier *v, uint64_t value, unsigned *start,
                     unsigned *rank, size_t *block, size_t *cell)
{
    size_t cells = v->program->args.bytes / v->grain;
    if (!value || value >> 62) /* overwritten, or a term */
        return false;
    *cell = --value % cells;
    *block = value / cells % v->nranks;
    *rank = (unsigned)(value / cells / v->nranks % v->nranks);
    *start = (unsigned)(value / cells / v->nranks / v->nranks);
    return true;
}

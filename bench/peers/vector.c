/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "vector.h"

#define ELEMENT_MAX 65536

const char *vector_parse(const char *text, char end, vector_run_t *run)
{
    for (unsigned i = 0; i < COUNTS_FILE; i++) {
        size_t length = strlen(counts_names[i]);
        if (strncmp(text, counts_names[i], length) || text[length] != '-')
            continue;
        run->pattern = (counts_kind_t)i;
        return run_parse_number(text + length + 1, ELEMENT_MAX, end,
                                &run->element);
    }
    return NULL;
}

/* Of one direction. @return elements, or -1: too many. */
static int fill(const counts_t *c, uint64_t m, int rank, int sends, int *counts,
                int *displs)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < c->ranks; i++) {
        unsigned me = (unsigned)rank;
        uint64_t n = counts_of(c, m, sends ? me : i, sends ? i : me);
        if (total + n > INT_MAX)
            return -1;
        counts[i] = (int)n;
        displs[i] = (int)total;
        total += n;
    }
    return (int)total;
}

int vector_open(vector_t *v, const vector_run_t *run, uint64_t m)
{
    *v = (vector_t){.element = run->element, .type = MPI_DATATYPE_NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &v->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &v->ranks);
    /* the numbers of railbench's defaults */
    const counts_t counts = {.kind = run->pattern,
                             .ranks = (unsigned)v->ranks,
                             .rest = 1,
                             .exponent = 1,
                             .seed = 1};
    size_t n = (size_t)v->ranks;
    v->sent = calloc(4 * n, sizeof *v->sent);
    if (!v->sent)
        return -1;
    v->sent_at = v->sent + n;
    v->received = v->sent + 2 * n;
    v->received_at = v->sent + 3 * n;
    int out = fill(&counts, m, v->rank, 1, v->sent, v->sent_at);
    int in = fill(&counts, m, v->rank, 0, v->received, v->received_at);
    if (out < 0 || in < 0)
        return -1;
    v->send = run_buffer((size_t)out * v->element + 1);
    v->recv = run_buffer((size_t)in * v->element + 1);
    MPI_Type_contiguous((int)v->element, MPI_CHAR, &v->type);
    MPI_Type_commit(&v->type);
    return v->send && v->recv ? 0 : -1;
}

void vector_close(vector_t *v)
{
    if (v->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&v->type);
    free(v->sent);
    free(v->send);
    free(v->recv);
}

void vector_perform(const vector_t *v)
{
    MPI_Alltoallv(v->send, v->sent, v->sent_at, v->type, v->recv, v->received,
                  v->received_at, v->type, MPI_COMM_WORLD);
}

/* A byte of an element from one rank to another. */
static char content(int from, int to, size_t i)
{
    return (char)(from * 31 + to * 17 + (int)(i % 251) + 1);
}

int vector_check(const vector_t *v)
{
    int wrong = 0;
    for (int to = 0; to < v->ranks; to++)
        for (size_t i = 0; i < (size_t)v->sent[to] * v->element; i++)
            v->send[(size_t)v->sent_at[to] * v->element + i] =
                content(v->rank, to, i);
    for (int from = 0; from < v->ranks; from++)
        memset(v->recv + (size_t)v->received_at[from] * v->element, 0x5a,
               (size_t)v->received[from] * v->element);
    vector_perform(v);
    for (int from = 0; from < v->ranks; from++)
        for (size_t i = 0; i < (size_t)v->received[from] * v->element; i++)
            wrong |= v->recv[(size_t)v->received_at[from] * v->element + i] !=
                     content(from, v->rank, i);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return wrong;
}

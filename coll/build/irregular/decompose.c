/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll/build/irregular/decompose.h"

#define NONE ((unsigned)-1)

/* The traffic that no stage has yet, in quanta. In a matching each row has one
 * column, with an entry that is large. */
struct matrix {
    unsigned n;
    uint64_t *left;
    uint64_t *row, *column; /* sums */
    uint64_t least;         /* entries of at least so many are matched */
    unsigned *to, *from;    /* the matching */
    unsigned *queue, *via;  /* of a search: rows to look at; columns */
};

static uint64_t *entry(const struct matrix *m, unsigned row, unsigned column)
{
    return &m->left[(size_t)row * m->n + column];
}

static bool matrix_open(struct matrix *m, unsigned n)
{
    *m = (struct matrix){.n = n};
    m->left = calloc((size_t)n * n + 2 * (size_t)n, sizeof *m->left);
    m->to = malloc(4 * (size_t)n * sizeof *m->to);
    if (!m->left || !m->to)
        return false;
    m->row = m->left + (size_t)n * n;
    m->column = m->row + n;
    m->from = m->to + n;
    m->queue = m->from + n;
    m->via = m->queue + n;
    for (unsigned i = 0; i < n; i++)
        m->to[i] = m->from[i] = NONE;
    return true;
}

static void matrix_close(struct matrix *m)
{
    free(m->left);
    free(m->to);
}

/* ---------------------------------------------------------- equal sums --- */

/* Returns the largest sum. */
static uint64_t sum_up(struct matrix *m)
{
    uint64_t most = 0;
    memset(m->row, 0, 2 * m->n * sizeof *m->row);
    for (unsigned i = 0; i < m->n; i++)
        for (unsigned j = 0; j < m->n; j++) {
            m->row[i] += *entry(m, i, j);
            m->column[j] += *entry(m, i, j);
        }
    for (unsigned i = 0; i < 2 * m->n; i++)
        most = m->row[i] > most ? m->row[i] : most;
    return most;
}

/* Fills the matrix with quanta. Returns the elements of one. */
static uint64_t fill(struct matrix *m, const uint64_t *between, uint64_t least)
{
    const size_t n = m->n;
    for (size_t i = 0; i < n * n; i++)
        m->left[i] = i % (n + 1) ? between[i] : 0; /* not the diagonal */
    const uint64_t parts = DECOMPOSE_QUANTA * n;
    const uint64_t part = (sum_up(m) + parts - 1) / parts;
    const uint64_t quantum = part > least ? part : least;
    for (size_t i = 0; quantum > 1 && i < n * n; i++)
        m->left[i] = (m->left[i] + quantum - 1) / quantum;
    return quantum;
}

/* Adds traffic until all sums are that of the largest. Returns it. */
static uint64_t level(struct matrix *m)
{
    const uint64_t most = sum_up(m);
    for (unsigned i = 0, j = 0; i < m->n && j < m->n;) {
        const uint64_t row = most - m->row[i], column = most - m->column[j];
        const uint64_t more = row < column ? row : column;
        *entry(m, i, j) += more;
        m->row[i] += more;
        m->column[j] += more;
        i += more == row;
        j += more == column;
    }
    return most;
}

/* ------------------------------------------------------------- stages --- */

static void flip(struct matrix *m, unsigned row, unsigned column)
{
    for (;;) {
        const unsigned owner = m->via[column], next = m->to[owner];
        m->to[owner] = column;
        m->from[column] = owner;
        if (owner == row)
            return;
        column = next;
    }
}

/* Matches a row along the shortest path. It first tries the columns after it,
 * so equal traffic is matched in cyclic shifts. */
static bool match(struct matrix *m, unsigned row)
{
    unsigned count = 0;
    for (unsigned i = 0; i < m->n; i++)
        m->via[i] = NONE;
    m->queue[count++] = row;
    for (unsigned next = 0; next < count; next++)
        for (unsigned d = 1; d <= m->n; d++) {
            const unsigned i = m->queue[next], j = (i + d) % m->n;
            if (m->via[j] != NONE || *entry(m, i, j) < m->least)
                continue;
            m->via[j] = i;
            if (m->from[j] == NONE) {
                flip(m, row, j);
                return true;
            }
            m->queue[count++] = m->from[j];
        }
    return false;
}

static bool match_all(struct matrix *m)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->to[i] == NONE && !match(m, i))
            return false;
    return true;
}

/* Takes as much as all entries of the matching have. Returns it. */
static uint64_t take(struct matrix *m)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < m->n; i++)
        if (*entry(m, i, m->to[i]) < least)
            least = *entry(m, i, m->to[i]);
    for (unsigned i = 0; i < m->n; i++)
        *entry(m, i, m->to[i]) -= least;
    return least;
}

/* Drops what the matching can no longer have. */
static void unmatch(struct matrix *m)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->to[i] != NONE && *entry(m, i, m->to[i]) < m->least) {
            m->from[m->to[i]] = NONE;
            m->to[i] = NONE;
        }
}

static bool add_stage(struct decomposition *d, const struct matrix *m,
                      uint64_t length)
{
    if (d->stages == d->capacity) {
        const size_t more = 2 * (size_t)d->capacity + 16;
        void *lengths = realloc(d->length, more * sizeof *d->length);
        d->length = lengths ? lengths : d->length;
        void *targets = realloc(d->to, more * m->n * sizeof *d->to);
        d->to = targets ? targets : d->to;
        if (!lengths || !targets)
            return false;
        d->capacity = (unsigned)more;
    }
    d->length[d->stages] = length;
    memcpy(d->to + (size_t)d->stages++ * m->n, m->to, m->n * sizeof *m->to);
    return true;
}

/* Long stages first: of entries of at least half of the largest sum, a quarter
 * … */
static bool decompose_matrix(struct matrix *m, const uint64_t *between,
                             uint64_t least, struct decomposition *d)
{
    const uint64_t quantum = fill(m, between, least);
    uint64_t left = level(m);
    for (m->least = 1; m->least * 2 <= left;)
        m->least *= 2;
    while (left) {
        if (!match_all(m)) {
            m->least /= 2;
            continue;
        }
        const uint64_t length = take(m);
        left -= length;
        if (!add_stage(d, m, length * quantum))
            return false;
        unmatch(m);
    }
    return true;
}

bool decompose(unsigned nodes, const uint64_t *between, uint64_t least,
               struct decomposition *out)
{
    struct matrix m;
    *out = (struct decomposition){.nodes = nodes};
    const bool done =
        matrix_open(&m, nodes) && decompose_matrix(&m, between, least, out);
    matrix_close(&m);
    return done;
}

void decompose_free(struct decomposition *d)
{
    free(d->length);
    free(d->to);
}

unsigned decompose_target(const struct decomposition *d, unsigned stage,
                          unsigned node)
{
    return d->to[(size_t)stage * d->nodes + node];
}

unsigned decompose_sender(const struct decomposition *d, unsigned stage,
                          unsigned node)
{
    unsigned from = 0;
    while (decompose_target(d, stage, from) != node)
        from++;
    return from;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/build/irregular/mesh.h"
#include "traffic.h"

static const char *const names[TRAFFIC_PATTERNS] = {
    [TRAFFIC_NONE] = "none",     [TRAFFIC_EQUAL] = "equal",
    [TRAFFIC_SPIKE] = "spike",   [TRAFFIC_TRANSPOSE] = "transpose",
    [TRAFFIC_TO_ONE] = "to one", [TRAFFIC_FROM_ONE] = "from one",
    [TRAFFIC_RANDOM] = "random", [TRAFFIC_SPARSE] = "sparse",
    [TRAFFIC_COLUMN] = "column", [TRAFFIC_CATCH] = "catch",
};

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

static unsigned transposed(unsigned n, unsigned rank)
{
    struct mesh m = mesh_of(n);
    unsigned other = mesh_column(&m, rank) * m.columns + mesh_row(&m, rank);
    return other < n ? other : rank;
}

/* Counters begin with the destination's column. */
static unsigned catch (unsigned n, unsigned to, uint64_t bucket)
{
    struct mesh m = mesh_of(n);
    unsigned wanted = (unsigned)(bucket % m.columns);
    return 1 + (wanted + m.columns - mesh_column(&m, to)) % m.columns;
}

static uint64_t count(enum traffic_pattern pattern, unsigned n, unsigned from,
                      unsigned to, unsigned special, uint64_t most,
                      unsigned *seed)
{
    switch (pattern) {
    case TRAFFIC_EQUAL:
        return most;
    case TRAFFIC_SPIKE:
        return to == special ? most : 1;
    case TRAFFIC_TRANSPOSE:
        return to == transposed(n, from) ? most : 1;
    case TRAFFIC_TO_ONE:
        return to == n / 2 ? most : 0;
    case TRAFFIC_FROM_ONE:
        return from == n / 3 ? most : 0;
    case TRAFFIC_RANDOM:
        return next(seed) % (most + 1);
    case TRAFFIC_SPARSE:
        return next(seed) % 7 ? 0 : next(seed) % (most + 1);
    case TRAFFIC_COLUMN:
        return to % mesh_of(n).columns == most % mesh_of(n).columns ? most : 0;
    case TRAFFIC_CATCH:
        return catch (n, to, most);
    default:
        return 0;
    }
}

struct traffic traffic_make(unsigned n, enum traffic_pattern pattern,
                            uint64_t most, unsigned seed)
{
    struct traffic t = {n, names[pattern], calloc((size_t)n * n, 8)};
    if (!t.counts)
        abort();
    for (unsigned i = 0; i < n; i++) {
        unsigned special = next(&seed) % n;
        for (unsigned j = 0; j < n; j++)
            t.counts[(size_t)i * n + j] =
                count(pattern, n, i, j, special, most, &seed);
    }
    return t;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->counts);
}

dcoll_traffic_t traffic_bounds(const struct traffic *traffic, size_t element)
{
    dcoll_traffic_t bounds = {
        .element = element, .labelled = true, .counts = traffic->counts};
    for (unsigned i = 0; i < traffic->n; i++) {
        uint64_t sent = 0, received = 0;
        for (unsigned j = 0; j < traffic->n; j++) {
            uint64_t pair = traffic->counts[(size_t)i * traffic->n + j];
            sent += pair;
            received += traffic->counts[(size_t)j * traffic->n + i];
            bounds.max_pair = pair > bounds.max_pair ? pair : bounds.max_pair;
        }
        sent = sent > received ? sent : received;
        bounds.max_rank = sent > bounds.max_rank ? sent : bounds.max_rank;
    }
    return bounds;
}

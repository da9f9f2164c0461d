/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/irregular/mesh.h"

static unsigned root_below(unsigned n)
{
    unsigned root = 0;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

struct mesh mesh_of(unsigned nranks)
{
    unsigned floor = root_below(nranks);
    unsigned ceiling = floor * floor == nranks ? floor : floor + 1;
    unsigned columns = nranks == ceiling * floor - 1 ? floor : ceiling;
    return (struct mesh){
        .ranks = nranks,
        .columns = columns,
        .rows = (nranks + columns - 1) / columns,
        .rest = nranks % columns,
    };
}

bool mesh_is_square(const struct mesh *mesh)
{
    return mesh->columns * mesh->columns == mesh->ranks;
}

/* The target in this step of the member at position `at` of `of`. */
static unsigned after(unsigned at, unsigned step, unsigned of)
{
    return (at + step) % of;
}

/* ---------------------------------------------------------- all ranks --- */

static unsigned all_count(const struct mesh *mesh, unsigned rank)
{
    (void)rank;
    return mesh->ranks;
}

static bool all_bucket(const struct mesh *mesh, unsigned rank, unsigned step,
                       unsigned *bucket)
{
    *bucket = after(rank, step, mesh->ranks);
    return true;
}

static unsigned all_target(const struct mesh *mesh, unsigned rank,
                           unsigned bucket)
{
    (void)mesh;
    (void)rank;
    return bucket;
}

static bool all_source(const struct mesh *mesh, unsigned rank, unsigned index,
                       unsigned *source)
{
    (void)rank;
    *source = index;
    return index < mesh->ranks;
}

const struct exchange exchange_all = {
    .buckets = all_count,
    .steps = all_count,
    .bucket = all_bucket,
    .target = all_target,
    .source = all_source,
};

/* ------------------------------------------------------------ columns --- */

static unsigned column_height(const struct mesh *mesh, unsigned rank)
{
    return mesh_height(mesh, mesh_column(mesh, rank));
}

static bool column_bucket(const struct mesh *mesh, unsigned rank, unsigned step,
                          unsigned *bucket)
{
    *bucket = after(mesh_row(mesh, rank), step, column_height(mesh, rank));
    return true;
}

static unsigned column_target(const struct mesh *mesh, unsigned rank,
                              unsigned bucket)
{
    return bucket * mesh->columns + mesh_column(mesh, rank);
}

static bool column_source(const struct mesh *mesh, unsigned rank,
                          unsigned index, unsigned *source)
{
    *source = column_target(mesh, rank, index);
    return index < column_height(mesh, rank);
}

const struct exchange exchange_columns = {
    .buckets = column_height,
    .steps = column_height,
    .bucket = column_bucket,
    .target = column_target,
    .source = column_source,
};

/* --------------------------------------------------------------- rows --- */

/* Does the row receive messages for pseudo-nodes? */
static bool is_revised(const struct mesh *mesh, unsigned row)
{
    return row < mesh->rest && mesh_row_complete(mesh, row);
}

/* The step in which a rank stalls; 0: never. Rank k of a chain stalls in step r
 * - m
 * + k: the first one would collide with the additional message to its target,
 * each other one with the message of the rank before it. */
static unsigned stall_of(const struct mesh *mesh, unsigned rank)
{
    unsigned m = mesh_row(mesh, rank), c = mesh->columns;
    if (!is_revised(mesh, m))
        return 0;
    unsigned k = (m + c - mesh_column(mesh, rank)) % c;
    return k <= c - mesh->rest + m ? mesh->rest - m + k : 0;
}

static unsigned row_buckets(const struct mesh *mesh, unsigned rank)
{
    (void)rank;
    return mesh->columns;
}

static unsigned row_steps(const struct mesh *mesh, unsigned rank)
{
    return mesh->columns + (is_revised(mesh, mesh_row(mesh, rank)) ? 1 : 0);
}

static bool row_bucket(const struct mesh *mesh, unsigned rank, unsigned step,
                       unsigned *bucket)
{
    unsigned stall = stall_of(mesh, rank);
    if (step == stall)
        return false;
    if (stall && step > stall)
        step--;
    *bucket = after(mesh_column(mesh, rank), step, mesh->columns);
    return step <= mesh->columns;
}

static unsigned row_target(const struct mesh *mesh, unsigned rank,
                           unsigned bucket)
{
    unsigned row = mesh_row(mesh, rank);
    bool pseudo = !mesh_row_complete(mesh, row) && bucket >= mesh->rest;
    return (pseudo ? mesh_column(mesh, rank) : row) * mesh->columns + bucket;
}

/* The senders: the ranks of its row, and the one for a pseudo-node. */
static bool row_source(const struct mesh *mesh, unsigned rank, unsigned index,
                       unsigned *source)
{
    unsigned row = mesh_row(mesh, rank);
    unsigned in_row = mesh_row_complete(mesh, row) ? mesh->columns : mesh->rest;
    bool more = is_revised(mesh, row) && mesh_column(mesh, rank) >= mesh->rest;
    *source = index < in_row ? row * mesh->columns + index
                             : (mesh->rows - 1) * mesh->columns + row;
    return index < in_row + more;
}

const struct exchange exchange_rows = {
    .buckets = row_buckets,
    .steps = row_steps,
    .bucket = row_bucket,
    .target = row_target,
    .source = row_source,
};

/* ------------------------------------------------------- any exchange --- */

bool exchange_sender(const struct exchange *x, const struct mesh *mesh,
                     unsigned rank, unsigned step, unsigned *sender,
                     unsigned *place)
{
    unsigned bucket;
    for (*place = 0; x->source(mesh, rank, *place, sender); ++*place)
        if (step <= x->steps(mesh, *sender) &&
            x->bucket(mesh, *sender, step, &bucket) &&
            x->target(mesh, *sender, bucket) == rank)
            return true;
    return false;
}

unsigned exchange_place(const struct exchange *x, const struct mesh *mesh,
                        unsigned rank, unsigned sender)
{
    unsigned place = 0, source;
    while (x->source(mesh, rank, place, &source) && source != sender)
        place++;
    return place;
}

unsigned exchange_sources(const struct exchange *x, const struct mesh *mesh,
                          unsigned rank)
{
    unsigned count = 0, source;
    while (x->source(mesh, rank, count, &source))
        count++;
    return count;
}

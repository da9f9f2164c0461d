/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `railbench prove`: proves the schedules for a shape correct, and tells what
 * they need and cost. Nothing is sent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/coll/plan.h"
#include "bench/options/parsers.h"
#include "bench/report/output.h"
#include "bench/report/progress.h"
#include "coll/select/table.h"
#include "bench/test.h"
#include "bench/tune/series.h"
#include "bounds.h"
#include "bench/goal/goal.h"
#include "draws.h"
#include "irregular.h"

#define NODES_MAX 1024

typedef struct verify {
    verify_result_t result;
    const option_table_t *table;
    unsigned node_begin[NODES_MAX + 1];
    unsigned port_begin[NODES_MAX + 1]; /* with --rank-ports */
    unsigned capacity;
    uint64_t random; /* of draws */
} verify_t;

/* --------------------------------------------------------------- shape --- */

static int parse_given(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size)
{
    (void)row, (void)text, (void)allowed, (void)size;
    *(bool *)field = true;
    return 0;
}

/* Nodes as --nodes says; then their ranks are all there are. */
static int given_nodes(verify_t *v)
{
    const options_t *opts = v->result.opts;
    const char *text = opts->nodes;
    unsigned long ranks = 0;
    unsigned nodes = 0;
    char *end;
    do {
        ranks += strtoul(text, &end, 10);
        if (ranks > NODES_MAX) {
            option_wrong(v->table, "--nodes", opts->nodes,
                         "at most 1024 ranks in all");
            return -1;
        }
        v->node_begin[++nodes] = (unsigned)ranks;
        text = end + 1;
    } while (*end);
    if (opts->ppn || (opts->ranks != RANKS_DEFAULT && opts->ranks != ranks)) {
        option_wrong(v->table, "--nodes", opts->nodes,
                     "without --ranks and --ppn");
        return -1;
    }
    v->result.shape.nranks = (unsigned)ranks;
    v->result.shape.nnodes = nodes;
    return 0;
}

static int make_nodes(verify_t *v)
{
    const options_t *opts = v->result.opts;
    unsigned ranks = (unsigned)opts->ranks;
    unsigned ppn = (unsigned)options_ppn(opts);
    v->result.shape.ports = opts->ports ? (unsigned)opts->ports : opts->nrails;
    v->result.shape.node_begin = v->node_begin;
    if (opts->nodes)
        return given_nodes(v);
    v->result.shape.nranks = ranks;
    v->result.shape.nnodes = dcoll_shape_nodes(ranks, ppn, v->node_begin);
    return 0;
}

static int make_shape(verify_t *v)
{
    const options_t *opts = v->result.opts;
    dcoll_shape_t *shape = &v->result.shape;
    if (make_nodes(v))
        return -1;
    if (!opts->rank_ports)
        return 0;
    shape->ports =
        options_rank_ports(opts, v->table, shape->nranks, v->port_begin);
    return shape->ports ? 0 : -1;
}

/* ----------------------------------------------------------------- rows --- */

static int add_row(verify_t *v, const verify_row_t *row)
{
    verify_result_t *r = &v->result;
    if (r->nrows == v->capacity) {
        unsigned capacity = v->capacity ? 2 * v->capacity : 64;
        verify_row_t *rows = realloc(r->rows, capacity * sizeof *rows);
        if (!rows)
            return -1;
        r->rows = rows;
        v->capacity = capacity;
    }
    r->rows[r->nrows++] = *row;
    return 0;
}

/* Of a reduction: the longest of basic types that blocks are of whole ones
 * of, unless it is given. */
static size_t element_of(const options_t *opts, dcoll_collective_t collective,
                         size_t bytes)
{
    size_t element = sizeof(double);
    if (!dcoll_collective_reduces(collective))
        return 0;
    while (bytes % element)
        element /= 2;
    return opts->element ? opts->element : element;
}

/* A row of blocks. */
static verify_row_t regular_row(const verify_t *v,
                                dcoll_collective_t collective,
                                const dcoll_algorithm_t *algorithm,
                                size_t bytes)
{
    const options_t *opts = v->result.opts;
    const dcoll_shape_t *shape = &v->result.shape;
    const size_t least = coll_zero_copy_bytes(opts->zero_copy);
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    bytes = collective == DCOLL_BARRIER ? 0 : bytes;
    dcoll_args_t args = {
        .collective = collective,
        .bytes = bytes,
        .element = element_of(opts, collective, bytes),
        .commutes = true,
        .root = (unsigned)opts->root,
        .in_place = opts->in_place,
        .zero_copy = bytes >= least,
        .groups = (unsigned)opts->groups,
        .paced = opts->paced,
        .port_begin = opts->rank_ports ? v->port_begin : NULL,
        .depth = cfg.depth,
    };
    if (!algorithm) {
        algorithm = dcoll_table_select(NULL, opts->engines[0], shape, &args);
        dcoll_table_copy_short(NULL, shape, &args, algorithm, least);
    }
    args.commutes = dcoll_needs_commuting(algorithm, shape, &args);
    args.depth = dcoll_depth(algorithm, shape, bytes, cfg.depth);
    return (verify_row_t){.algorithm = algorithm, .args = args, .bytes = bytes};
}

/* A row of as many elements from each rank to each other. */
static verify_row_t irregular_row(const verify_t *v,
                                  const dcoll_algorithm_t *algorithm,
                                  size_t bytes)
{
    const dcoll_shape_t *shape = &v->result.shape;
    dcoll_traffic_t traffic = verify_traffic_equal(shape->nranks, bytes);
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    return (verify_row_t){
        .algorithm = algorithm,
        .args = {.collective = DCOLL_ALLTOALLV,
                 .depth = dcoll_depth(algorithm, shape, 0, cfg.depth)},
        .bytes = traffic.max_pair * traffic.element,
        .traffic = traffic};
}

/* The algorithm with all sizes; NULL: auto's choice, of regular ones. */
static int add_sizes(verify_t *v, dcoll_collective_t collective,
                     const dcoll_algorithm_t *algorithm)
{
    const options_t *opts = v->result.opts;
    unsigned nsizes = collective == DCOLL_BARRIER ? 1 : opts->nsizes;
    for (unsigned i = 0; i < nsizes; i++) {
        const verify_row_t row =
            collective == DCOLL_ALLTOALLV
                ? irregular_row(v, algorithm, opts->sizes[i])
                : regular_row(v, collective, algorithm, opts->sizes[i]);
        if (add_row(v, &row))
            return -1;
    }
    return 0;
}

static int add_all(verify_t *v, dcoll_collective_t collective)
{
    const dcoll_algorithm_t *const *a = collective == DCOLL_ALLTOALLV
                                            ? dcoll_algorithms_irregular()
                                            : dcoll_algorithms();
    for (; *a; a++)
        if ((*a)->collective == collective && add_sizes(v, collective, *a))
            return -1;
    return 0;
}

static bool selected(const options_t *opts, dcoll_collective_t collective)
{
    bool found = !opts->ncollectives;
    for (unsigned i = 0; i < opts->ncollectives; i++)
        found |= opts->collectives[i] == collective;
    return found;
}

static int check_elements(const verify_t *v)
{
    const options_t *opts = v->result.opts;
    char size[24], allowed[64];
    if (!opts->element)
        return 0;
    bool reduces = false;
    for (unsigned i = 0; i < DCOLL_COLLECTIVES; i++)
        reduces |= dcoll_collective_reduces((dcoll_collective_t)i) &&
                   selected(opts, (dcoll_collective_t)i);
    if (!reduces) {
        snprintf(size, sizeof size, "%llu", (unsigned long long)opts->element);
        option_wrong(v->table, "--element", size,
                     "with a --collective that reduces");
        return -1;
    }
    for (unsigned i = 0; i < opts->nsizes; i++) {
        if (opts->sizes[i] % opts->element == 0)
            continue;
        snprintf(size, sizeof size, "%llu", (unsigned long long)opts->sizes[i]);
        snprintf(allowed, sizeof allowed,
                 "whole elements of %llu bytes (--element)",
                 (unsigned long long)opts->element);
        option_wrong(v->table, "--sizes", size, allowed);
        return -1;
    }
    return 0;
}

/* Of all collectives that have one of that name. @return their number, or -1:
 * out of memory. */
static int add_named(verify_t *v, const char *name)
{
    int found = 0;
    for (unsigned i = 0; i <= DCOLL_ALLTOALLV; i++) {
        dcoll_collective_t collective = (dcoll_collective_t)i;
        const dcoll_algorithm_t *a = dcoll_algorithm_find(collective, name);
        bool all = !strcmp(name, "all");
        /* that of irregular ones depends on their counts */
        bool any = !strcmp(name, "auto") && collective != DCOLL_ALLTOALLV;
        if (!selected(v->result.opts, collective) || !(a || all || any))
            continue;
        found++;
        if (all ? add_all(v, collective) : add_sizes(v, collective, a))
            return -1;
    }
    return found;
}

static int make_rows(verify_t *v)
{
    const options_t *opts = v->result.opts;
    unsigned count = opts->nalgorithms ? opts->nalgorithms : 1;
    for (unsigned i = 0; i < count; i++) {
        const char *name = opts->nalgorithms ? opts->algorithms[i] : "all";
        int found = add_named(v, name);
        if (found < 0) {
            fprintf(stderr, "%s: out of memory\n", v->table->command);
            return 1;
        }
        if (!found) {
            option_wrong(v->table, "--algorithm", name,
                         "all, auto, or a name that '--algorithm all' shows "
                         "for the collective");
            return 2;
        }
    }
    return 0;
}

/* -------------------------------------------------------------- verify --- */

/* Counts the resources that a program needs. */
static void count(verify_row_t *row, const dcoll_program_t *p)
{
    bool shares = false;
    for (unsigned r = 0; r < p->shape->nranks; r++) {
        const dcoll_schedule_t *s = &p->rank[r];
        unsigned puts = 0;
        row->operations += s->nops;
        for (unsigned i = 0; i < s->nops; i++) {
            const dcoll_op_t *op = &s->ops[i];
            bool put = op->kind == DCOLL_PUT || op->kind == DCOLL_GET;
            bool data = op->kind == DCOLL_NOTIFY && op->tag == DCOLL_DATA;
            puts += put;
            if ((put || data) && row->steps < op->step + 1u)
                row->steps = op->step + 1u;
        }
        row->puts = puts > row->puts ? puts : row->puts;
        if (s->temp_bytes > row->temp_bytes)
            row->temp_bytes = s->temp_bytes;
        if (s->node_bytes > row->node_bytes)
            row->node_bytes = s->node_bytes;
        shares |= s->flags || s->node_bytes;
    }
    row->least_steps = bound_steps(p->shape, shares);
    row->least_blocks =
        p->args.traffic ? NAN : bound_blocks(&p->args, p->shape, shares);
}

static void cost(verify_row_t *row, const dcoll_program_t *p)
{
    /* a barrier's messages are notifications alone */
    bool notes = p->args.collective == DCOLL_BARRIER;
    const dcoll_cost_model_t startup = {.ts = 1, .note = notes};
    const dcoll_cost_model_t byte = {.tau = 1, .striped = p->args.port_begin};
    const dcoll_cost_model_t combining = {.combine = 1};
    row->startups = dcoll_cost(p, &startup);
    if (!row->bytes)
        return;
    row->blocks = dcoll_cost(p, &byte) / (double)row->bytes;
    row->combined = dcoll_cost(p, &combining) / (double)row->bytes;
}

static int verify_depth(verify_row_t *row, const dcoll_shape_t *shape,
                        unsigned depth)
{
    dcoll_args_t args = row->args;
    dcoll_program_t p;
    args.depth = depth;
    int rc = dcoll_program_make(row->algorithm, shape, &args, &p);
    if (rc)
        return rc;
    p.counts = row->counts;
    rc = dcoll_verify(&p, dcoll_proof_starts(&p), row->why, sizeof row->why);
    row->failed = rc == DRAIL_EINVAL;
    if (depth == row->args.depth) {
        count(row, &p);
        cost(row, &p);
    }
    dcoll_program_free(&p);
    return rc == DRAIL_ENOMEM ? rc : 0;
}

/* The depths that run: that of the default, and that of depth 1, but for
 * irregular ones that have one depth only. */
static int verify_row(verify_t *v, verify_row_t *row)
{
    const dcoll_shape_t *shape = &v->result.shape;
    const dcoll_algorithm_t *a = row->algorithm;
    bool irregular = a->collective == DCOLL_ALLTOALLV;
    if (irregular && !row->counts)
        return DRAIL_ENOMEM;
    row->refusal = dcoll_refusal(a, shape, &row->args);
    if (row->refusal)
        return 0;
    int rc = verify_depth(row, shape, row->args.depth);
    if (!rc && !row->failed && !(irregular && a->depth))
        rc = verify_depth(row, shape, 1);
    if (!rc)
        rc = verify_draws(row, shape, (unsigned)v->result.opts->draws,
                          &v->random);
    return rc;
}

/* Rows stay where they are now. */
static void point_to_traffic(verify_result_t *r)
{
    for (unsigned i = 0; i < r->nrows; i++) {
        verify_row_t *row = &r->rows[i];
        if (row->args.collective != DCOLL_ALLTOALLV)
            continue;
        row->counts = verify_counts_equal(r->shape.nranks, &row->traffic);
        row->traffic.counts = row->counts;
        row->args.traffic = &row->traffic;
    }
}

/* The exit status. */
static int verify_rows(verify_t *v)
{
    verify_result_t *r = &v->result;
    unsigned wrong = 0, served = 0;
    progress_t progress;
    int rc = 0;
    progress_init(&progress);
    for (unsigned i = 0; !rc && i < r->nrows; i++) {
        progress_show(&progress, "%s: %s %s, %u of %u", v->table->command,
                      dcoll_collective_name(r->rows[i].args.collective),
                      r->rows[i].algorithm->name, i + 1, r->nrows);
        rc = verify_row(v, &r->rows[i]);
        wrong += r->rows[i].failed;
        served += !r->rows[i].refusal;
    }
    progress_clear(&progress);
    if (rc) {
        fprintf(stderr, "%s: out of memory\n", v->table->command);
        return 1;
    }
    if (wrong)
        fprintf(stderr, "%s: %u of %u schedules are wrong\n", v->table->command,
                wrong, served);
    if (served)
        return wrong != 0;
    char allowed[256];
    snprintf(allowed, sizeof allowed, "one that serves this shape: %s",
             r->rows[0].refusal);
    option_wrong(v->table, "--algorithm", r->rows[0].algorithm->name, allowed);
    return 2;
}

/* --goal writes one schedule. */
static int check_goal(const verify_t *v)
{
    const verify_row_t *row = v->result.rows;
    char rows[24];
    const char *refusal = "one --collective, --algorithm and size";
    dcoll_program_t program;
    if (!v->result.opts->goal.write)
        return 0;
    snprintf(rows, sizeof rows, "%u schedules", v->result.nrows);
    if (v->result.nrows == 1) {
        refusal = dcoll_refusal(row->algorithm, &v->result.shape, &row->args);
        snprintf(rows, sizeof rows, "%.20s", row->algorithm->name);
    }
    if (!refusal && !dcoll_program_make(row->algorithm, &v->result.shape,
                                        &row->args, &program)) {
        refusal = goal_refusal(&program);
        dcoll_program_free(&program);
    }
    if (refusal)
        option_wrong(v->table, "--goal", rows, refusal);
    return refusal ? -1 : 0;
}

static output_writer_t *writer(const options_t *opts)
{
    return opts->goal.write ? verify_goal
           : opts->schedule ? verify_schedules
                            : verify_report;
}

static int run(const bench_test_t *test, const options_t *opts)
{
    verify_t v = {.result = {.opts = opts}, .table = &test->table};
    v.result.seed = v.random = opts->seed ? opts->seed : (uint64_t)time(NULL);
    outputs_t outputs = {0};
    int status = 2;
    if (make_shape(&v))
        goto out;
    if (opts->root >= v.result.shape.nranks) {
        char root[24];
        snprintf(root, sizeof root, "%llu", (unsigned long long)opts->root);
        option_wrong(v.table, "--root", root, "less than the number of ranks");
        goto out;
    }
    if (check_elements(&v))
        goto out;
    status = make_rows(&v);
    if (status)
        goto out;
    status = 2;
    point_to_traffic(&v.result);
    if (check_goal(&v) || outputs_open(&outputs, opts, v.table->command))
        goto out;
    machine_describe(&v.result.machine, NULL);
    status = verify_rows(&v);
    if (status < 2 && outputs_report(&outputs, writer(opts), &v.result))
        status = 1;
out:
    outputs_discard(&outputs);
    for (unsigned i = 0; i < v.result.nrows; i++)
        free(v.result.rows[i].counts);
    free(v.result.rows);
    return status;
}

static const char *const collective_list[] = {
    "gather", "allgather", "alltoall",
    "bcast",  "scatter",   "barrier",
    "reduce", "allreduce", "reduce_scatter_block",
    "scan",   "exscan",    "alltoallv",
    NULL};
static const option_names_t collectives = {collective_list, DCOLL_GATHER,
                                           offsetof(options_t, ncollectives),
                                           DCOLL_ALLTOALLV + 1};

static const option_row_t rows[] = {
    {"--collective", "C,...",
     "gather, allgather, alltoall, bcast, scatter, barrier, reduce, allreduce, "
     "reduce_scatter_block, scan, exscan, alltoallv (default: all)",
     .parse = option_parse_names, .field = offsetof(options_t, collectives),
     .names = &collectives},
    {"--nodes", "N,...", "ranks of each node, instead of --ranks and --ppn",
     .parse = option_parse_numbers, .field = offsetof(options_t, nodes)},
    {"--element", "BYTES",
     "of reductions (default: 8, or less if a size is not of whole ones)",
     .parse = option_parse_count, .field = offsetof(options_t, element),
     .min = 1, .max = 1 << 20},
    {"--draws", "N", "variants besides, drawn for each row (default 3)",
     .parse = option_parse_count, .field = offsetof(options_t, draws),
     .max = 1000000},
    {"--seed", "S", "draws those of a run that has said this number",
     .parse = option_parse_count, .field = offsetof(options_t, seed), .min = 1,
     .max = 1e18},
    {"--schedule", NULL, "show all operations of all ranks instead, as CSV",
     .parse = parse_given, .field = offsetof(options_t, schedule)},
    {"--goal", NULL,
     "write the schedule instead, as GOAL, the format of LogGOPSim",
     .parse = parse_given, .field = offsetof(options_t, goal.write)},
    {"--unit", "U",
     "of --goal: units of time for a byte that is copied or combined "
     "(default 0)",
     .parse = option_parse_number, .field = offsetof(options_t, goal.unit),
     .max = 1e6},
};

const bench_test_t test_verify = {
    .table = {.command = "railbench prove",
              .summary = "Proves schedules correct for any shape, and shows "
                         "what they need and cost. Nothing is sent.",
              .groups = OPTIONS_SHAPE | OPTIONS_ALGORITHM | OPTIONS_BLOCKS |
                        OPTIONS_RANK_PORTS,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "prove",
    .alias = "verify",
    .sizes = "8",
    .run = run,
};

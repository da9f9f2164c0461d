/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"

/* Like the library: each run of consecutive ranks on a host is a node. */
static unsigned hosts_nodes(const options_t *opts, unsigned *begin)
{
    unsigned nodes = 0, last = 0;
    for (unsigned r = 0; r < opts->ranks; r++) {
        unsigned host = drail_launch_host(opts->launch, r);
        if (r == 0 || host != last)
            begin[nodes++] = r;
        last = host;
    }
    begin[nodes] = (unsigned)opts->ranks;
    return nodes;
}

void coll_plan_shape(coll_plan_t *plan, const options_t *opts)
{
    unsigned ranks = (unsigned)opts->ranks;
    unsigned ppn = (unsigned)options_ppn(opts);
    plan->opts = opts;
    plan->shape = (dcoll_shape_t){
        .nranks = ranks,
        .nnodes = opts->by_host
                      ? hosts_nodes(opts, plan->node_begin)
                      : dcoll_shape_nodes(ranks, ppn, plan->node_begin),
        .node_begin = plan->node_begin,
        .ports = opts->ports ? (unsigned)opts->ports : opts->nrails,
    };
}

void coll_plan_add(coll_plan_t *plan, const dcoll_algorithm_t *algorithm,
                   zero_copy_t zero_copy, const setup_t *rail)
{
    if (plan->count < COLL_SETUPS_MAX)
        plan->setups[plan->count++] = (coll_setup_t){
            .algorithm = algorithm, .zero_copy = zero_copy, .rail = *rail};
}

size_t coll_zero_copy_bytes(zero_copy_t zero_copy)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    return zero_copy == ZERO_COPY_ON    ? 0
           : zero_copy == ZERO_COPY_OFF ? SIZE_MAX
                                        : cfg.zero_copy_bytes;
}

const dcoll_reduction_t *coll_plan_reduction(const coll_plan_t *plan)
{
    return dcoll_collective_reduces(plan->collective)
               ? dcoll_reduction(plan->opts->type, plan->opts->op)
               : NULL;
}

const dcoll_algorithm_t *coll_plan_args(const coll_plan_t *plan,
                                        const coll_setup_t *setup, size_t bytes,
                                        dcoll_args_t *args)
{
    const dcoll_reduction_t *reduction = coll_plan_reduction(plan);
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    *args = (dcoll_args_t){
        .collective = plan->collective,
        .bytes = bytes,
        .element = reduction ? reduction->element : 0,
        .commutes = reduction && reduction->commutes,
        .root = (unsigned)plan->opts->root,
        .in_place = plan->opts->in_place,
        .zero_copy = bytes >= coll_zero_copy_bytes(setup->zero_copy),
        .groups = (unsigned)plan->opts->groups,
        .port_begin = plan->opts->rank_ports ? plan->port_begin : NULL,
        .paced = plan->opts->paced,
        .depth = cfg.depth,
        .one_shot = setup->call == CALL_BLOCKING,
    };
    const unequal_t *unequal = unequal_of(&plan->unequal, bytes);
    args->begin = unequal ? unequal->begin : NULL;
    if (plan->collective == DCOLL_ALLTOALLV) {
        args->traffic = &plan->traffic[setup->interface == INTERFACE_ELEMENTS];
        return setup->algorithm;
    }
    if (setup->algorithm)
        return setup->algorithm;
    const dcoll_algorithm_t *a = dcoll_table_select(
        &plan->table, setup->rail.engine, &plan->shape, args);
    dcoll_table_copy_short(&plan->table, &plan->shape, args, a,
                           coll_zero_copy_bytes(setup->zero_copy));
    return a;
}

/* --------------------------------------------------------------- names --- */

const char *coll_setup_algorithm(const coll_setup_t *setup)
{
    return setup->algorithm ? setup->algorithm->name : "auto";
}

const char *coll_setup_call(const coll_setup_t *setup)
{
    return setup->call == CALL_BLOCKING ? "blocking" : "persistent";
}

const char *const interface_names[INTERFACES] = {
    [INTERFACE_COUNTS] = "counts",
    [INTERFACE_ELEMENTS] = "elements",
    [INTERFACE_NEIGHBORS] = "neighbors",
};

const char *coll_setup_interface(const coll_setup_t *setup)
{
    return interface_names[setup->interface];
}

void coll_setup_label(const coll_plan_t *plan, const coll_setup_t *setup,
                      char *text, size_t size)
{
    static const char *const copies[] = {"", " zero-copy", " copies"};
    const struct alltoallv_options *o = &plan->opts->alltoallv;
    bool rails = false, zero_copy = false;
    for (unsigned i = 0; i < plan->count; i++) {
        const coll_setup_t *other = &plan->setups[i];
        rails |= other->rail.engine != setup->rail.engine ||
                 other->rail.policy != setup->rail.policy ||
                 other->rail.team != setup->rail.team;
        zero_copy |= other->zero_copy != setup->zero_copy;
    }
    size_t used =
        (size_t)snprintf(text, size, "%s%s", coll_setup_algorithm(setup),
                         zero_copy ? copies[setup->zero_copy] : "");
    if (o->npatterns > 1)
        used += (size_t)snprintf(text + used, size - used, " %.48s",
                                 o->patterns[setup->pattern]);
    if (o->ninterfaces > 1)
        used += (size_t)snprintf(text + used, size - used, " %s",
                                 coll_setup_interface(setup));
    if (plan->opts->ncalls > 1)
        used += (size_t)snprintf(text + used, size - used, " %s",
                                 coll_setup_call(setup));
    if (rails && used + 1 < size) {
        text[used++] = ' ';
        setup_label(&setup->rail, plan->opts, text + used, size - used);
    }
}

/* ------------------------------------------------------------- buffers --- */

/* A broadcast has only one buffer, which is recv here. Ranks that are in place
 * also have a send buffer; in reductions to all ranks, recv is as long. */
static dcoll_args_t buffers_of(const coll_plan_t *plan)
{
    return (dcoll_args_t){.collective = plan->collective,
                          .root = (unsigned)plan->opts->root};
}

unsigned coll_send_blocks(const coll_plan_t *plan, unsigned rank)
{
    const dcoll_args_t args = buffers_of(plan);
    return plan->collective == DCOLL_BCAST
               ? 0
               : dcoll_send_blocks(&args, plan->shape.nranks, rank);
}

unsigned coll_recv_blocks(const coll_plan_t *plan, unsigned rank)
{
    const dcoll_args_t args = buffers_of(plan);
    if (plan->opts->in_place && dcoll_in_place_anywhere(plan->collective))
        return coll_send_blocks(plan, rank);
    return plan->collective == DCOLL_BCAST
               ? 1
               : dcoll_recv_blocks(&args, plan->shape.nranks, rank);
}

uint64_t coll_received(const coll_plan_t *plan, uint64_t bytes)
{
    unsigned others = plan->shape.nranks - 1;
    const unequal_t *unequal = unequal_of(&plan->unequal, bytes);
    if (unequal &&
        plan->collective != DCOLL_SCATTER) /* the first is shortest */
        return unequal->begin[others + 1] - unequal->begin[1];
    switch (plan->collective) {
    case DCOLL_BARRIER:
        return 0;
    case DCOLL_BCAST:
    case DCOLL_SCATTER:
    case DCOLL_REDUCE:
    case DCOLL_ALLREDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return others ? bytes : 0;
    default:
        return others * bytes;
    }
}

double coll_bus_bytes(const coll_plan_t *plan, uint64_t bytes)
{
    unsigned ranks = plan->shape.nranks;
    const unequal_t *unequal = unequal_of(&plan->unequal, bytes);
    if (unequal)
        return (double)(unequal->begin[ranks] - unequal->begin[1]);
    switch (plan->collective) {
    case DCOLL_ALLTOALLV:
        return 0;
    case DCOLL_SCATTER:
        return (double)((ranks - 1) * bytes);
    case DCOLL_ALLREDUCE: /* all but one slice comes, then all but one result */
        return 2.0 * (double)((ranks - 1) * bytes) / ranks;
    default:
        return (double)coll_received(plan, bytes);
    }
}

static size_t longest(const options_t *opts)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < opts->nsizes; i++)
        if (opts->sizes[i] > bytes)
            bytes = opts->sizes[i];
    return bytes;
}

size_t coll_send_bytes(const coll_plan_t *plan, unsigned rank)
{
    return plan->buffer ? plan->buffer
                        : coll_send_blocks(plan, rank) * longest(plan->opts);
}

size_t coll_recv_bytes(const coll_plan_t *plan, unsigned rank)
{
    return plan->buffer ? plan->buffer
                        : coll_recv_blocks(plan, rank) * longest(plan->opts);
}

/* ------------------------------------------------------- the options --- */

static const char *refusal_of(const coll_plan_t *plan,
                              const coll_setup_t *setup)
{
    const dcoll_algorithm_t *algorithm = setup->algorithm;
    const char *why = NULL;
    for (unsigned i = 0; !why && i < plan->opts->nsizes; i++) {
        dcoll_args_t args;
        coll_plan_args(plan, setup, plan->opts->sizes[i], &args);
        why = dcoll_refusal(algorithm, &plan->shape, &args);
    }
    return why;
}

const char *coll_plan_refusal(const coll_plan_t *plan,
                              const dcoll_algorithm_t *algorithm,
                              zero_copy_t zero_copy)
{
    const struct alltoallv_options *o = &plan->opts->alltoallv;
    coll_setup_t setup = {.algorithm = algorithm, .zero_copy = zero_copy};
    const char *why = NULL;
    if (plan->collective != DCOLL_ALLTOALLV)
        return refusal_of(plan, &setup);
    for (unsigned i = 0; i < o->ninterfaces; i++) {
        setup.interface = o->interfaces[i];
        why = refusal_of(plan, &setup);
        if (!why) /* serves this interface, at least */
            break;
    }
    return why;
}

/* Adds a setup for each kind of call. */
static void add_calls(coll_plan_t *plan, const dcoll_algorithm_t *algorithm,
                      const setup_t *rail)
{
    const options_t *opts = plan->opts;
    unsigned n = 0;
    do {
        unsigned before = plan->count;
        coll_plan_add(plan, algorithm, opts->zero_copy, rail);
        if (plan->count > before)
            plan->setups[before].call = opts->calls[n];
    } while (++n < opts->ncalls);
}

/* Adds its setups; for alltoallv, one for each pattern and interface that the
 * algorithm serves. */
static void add_setups(coll_plan_t *plan, const dcoll_algorithm_t *algorithm,
                       const setup_t *rail)
{
    const struct alltoallv_options *o = &plan->opts->alltoallv;
    if (plan->collective != DCOLL_ALLTOALLV) {
        add_calls(plan, algorithm, rail);
        return;
    }
    for (unsigned n = 0; n < o->npatterns * o->ninterfaces; n++) {
        const coll_setup_t setup = {.algorithm = algorithm,
                                    .rail = *rail,
                                    .pattern = n / o->ninterfaces,
                                    .interface =
                                        o->interfaces[n % o->ninterfaces]};
        if (plan->count < COLL_SETUPS_MAX &&
            (!algorithm || !refusal_of(plan, &setup)))
            plan->setups[plan->count++] = setup;
    }
}

/* Adds its setups for each engine, team, policy and way to wait; engine single
 * uses the first rail only. */
static void add_algorithm(coll_plan_t *plan, const dcoll_algorithm_t *algorithm)
{
    plan_t rails;
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->setups[i].algorithm == algorithm)
            return;
    plan_make(&rails, plan->opts);
    for (unsigned i = 0; i < rails.count; i++)
        if (rails.setups[i].engine != DRAIL_ENGINE_SINGLE ||
            rails.setups[i].rail == 0)
            add_setups(plan, algorithm, &rails.setups[i]);
}

static const dcoll_algorithm_t *const *algorithms_of(dcoll_collective_t what)
{
    return what == DCOLL_ALLTOALLV ? dcoll_algorithms_irregular()
                                   : dcoll_algorithms();
}

static void add_all(coll_plan_t *plan, notes_t *notes)
{
    for (const dcoll_algorithm_t *const *a = algorithms_of(plan->collective);
         *a; a++) {
        if ((*a)->collective != plan->collective)
            continue;
        const char *why = coll_plan_refusal(plan, *a, plan->opts->zero_copy);
        if (why)
            notes_add(notes, "left out: %s: %s", (*a)->name, why);
        else
            add_algorithm(plan, *a);
    }
}

static void list_algorithms(dcoll_collective_t collective, char *text,
                            size_t size)
{
    size_t used = (size_t)snprintf(text, size, "auto, all");
    for (const dcoll_algorithm_t *const *a = algorithms_of(collective);
         *a && used < size; a++)
        if ((*a)->collective == collective)
            used +=
                (size_t)snprintf(text + used, size - used, ", %s", (*a)->name);
}

static int add_named(coll_plan_t *plan, const option_table_t *table,
                     const char *name, notes_t *notes)
{
    char allowed[1024];
    if (!strcmp(name, "auto")) {
        add_algorithm(plan, NULL);
        return 0;
    }
    if (!strcmp(name, "all")) {
        add_all(plan, notes);
        return 0;
    }
    const dcoll_algorithm_t *a = dcoll_algorithm_find(plan->collective, name);
    const char *why =
        a ? coll_plan_refusal(plan, a, plan->opts->zero_copy) : NULL;
    if (a && !why) {
        add_algorithm(plan, a);
        return 0;
    }
    list_algorithms(plan->collective, allowed, sizeof allowed);
    if (why)
        snprintf(allowed, sizeof allowed, "one that serves this shape: %s",
                 why);
    option_wrong(table, "--algorithm", name, allowed);
    return -1;
}

static int wrong_number(const option_table_t *table, const char *option,
                        uint64_t value, uint64_t low, uint64_t high)
{
    char text[32], allowed[64];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    snprintf(allowed, sizeof allowed, "a number from %llu to %llu",
             (unsigned long long)low, (unsigned long long)high);
    option_wrong(table, option, text, allowed);
    return -1;
}

/* Options that only some collectives take. */
static int check_taken(const coll_plan_t *plan, const option_table_t *table)
{
    enum {
        GATHER = 1 << DCOLL_GATHER,
        ALLGATHER = 1 << DCOLL_ALLGATHER,
        ALLTOALL = 1 << DCOLL_ALLTOALL,
        BCAST = 1 << DCOLL_BCAST,
        SCATTER = 1 << DCOLL_SCATTER,
        REDUCE = 1 << DCOLL_REDUCE,
        ALLREDUCE = 1 << DCOLL_ALLREDUCE,
        REDUCE_SCATTER = 1 << DCOLL_REDUCE_SCATTER_BLOCK,
        SCANS = 1 << DCOLL_SCAN | 1 << DCOLL_EXSCAN,
    };
    const options_t *opts = plan->opts;
    const struct {
        bool given;
        const char *option;
        int collectives;
        const char *allowed;
    } rules[] = {
        {opts->root, "--root", GATHER | BCAST | SCATTER | REDUCE,
         "with gather, bcast, scatter and reduce"},
        {opts->groups, "--groups", ALLGATHER, "with allgather"},
        {opts->in_place, "--in-place",
         GATHER | ALLGATHER | ALLTOALL | REDUCE | ALLREDUCE | REDUCE_SCATTER |
             SCANS,
         "with gather, allgather, alltoall and reductions"},
        {opts->unequal, "--unequal",
         GATHER | ALLGATHER | SCATTER | REDUCE_SCATTER,
         "with gather, allgather, scatter and reduce_scatter_block"},
        {opts->zero_copy != ZERO_COPY_AUTO, "--zero-copy",
         GATHER | ALLGATHER | ALLTOALL | BCAST | SCATTER | REDUCE | ALLREDUCE |
             REDUCE_SCATTER | SCANS,
         "with collectives that move data"},
    };
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given && !(rules[i].collectives >> plan->collective & 1)) {
            option_wrong(table, rules[i].option,
                         dcoll_collective_name(plan->collective),
                         rules[i].allowed);
            return -1;
        }
    return 0;
}

static bool calls_block(const options_t *opts)
{
    bool blocking = false;
    for (unsigned i = 0; i < opts->ncalls; i++)
        blocking |= opts->calls[i] == CALL_BLOCKING;
    return blocking;
}

static int check_overlap(const coll_plan_t *plan, const option_table_t *table)
{
    const options_t *opts = plan->opts;
    char tests[24];
    snprintf(tests, sizeof tests, "%llu",
             (unsigned long long)opts->overlap_tests);
    if (opts->overlap_tests && !opts->overlap)
        option_wrong(table, "--overlap-tests", tests, "with --overlap");
    else if (opts->overlap && opts->each)
        option_wrong(table, "--overlap", "--each",
                     "one of the two: each adds calls of its own");
    else if (opts->overlap && calls_block(opts))
        option_wrong(
            table, "--call", "blocking",
            "persistent with --overlap: a rank that blocks can't compute");
    else
        return 0;
    return -1;
}

/* Do the buffers of all ranks fit this host's memory? */
int coll_plan_fits(const coll_plan_t *plan, const option_table_t *table)
{
    const options_t *opts = plan->opts;
    double have =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double blocks = 0;
    if (plan->buffer || opts->no_payload)
        return 0; /* irregular_plan() checks it; hollow: no need */
    for (unsigned r = 0; r < plan->shape.nranks; r++)
        blocks += coll_send_blocks(plan, r) + coll_recv_blocks(plan, r);
    if (calls_block(opts)) /* plain buffers as well as registered ones */
        blocks *= 2;
    for (unsigned i = 0; i < opts->nsizes; i++) {
        char size[24], allowed[96];
        double need = blocks * (double)opts->sizes[i];
        if (need <= have)
            continue;
        snprintf(size, sizeof size, "%llu", (unsigned long long)opts->sizes[i]);
        snprintf(allowed, sizeof allowed,
                 "what fits the memory of %.1f GB: %u ranks need %.1f GB",
                 have / 1e9, plan->shape.nranks, need / 1e9);
        option_wrong(table, "--sizes", size, allowed);
        return -1;
    }
    return 0;
}

int coll_plan_check_elements(const coll_plan_t *plan,
                             const option_table_t *table)
{
    const options_t *opts = plan->opts;
    const dcoll_reduction_t *reduction = coll_plan_reduction(plan);
    char size[24], allowed[64];
    if (!dcoll_collective_reduces(plan->collective))
        return 0;
    if (!reduction) {
        snprintf(allowed, sizeof allowed, "with integers, not with --type %s",
                 options_type(opts));
        option_wrong(table, "--op", options_operator(opts), allowed);
        return -1;
    }
    for (unsigned i = 0; i < opts->nsizes; i++) {
        if (opts->sizes[i] % reduction->element == 0)
            continue;
        snprintf(size, sizeof size, "%llu", (unsigned long long)opts->sizes[i]);
        snprintf(allowed, sizeof allowed,
                 "whole elements of %zu bytes (--type %s)", reduction->element,
                 options_type(opts));
        option_wrong(table, "--sizes", size, allowed);
        return -1;
    }
    return 0;
}

static int check_options(const coll_plan_t *plan, const option_table_t *table)
{
    const options_t *opts = plan->opts;
    unsigned largest = dcoll_shape_ppn(&plan->shape);
    if (opts->root >= opts->ranks)
        return wrong_number(table, "--root", opts->root, 0, opts->ranks - 1);
    if (opts->groups > largest)
        return wrong_number(table, "--groups", opts->groups, 1, largest);
    for (unsigned i = 0; i < opts->nsizes; i++)
        if (plan->collective == DCOLL_BARRIER && opts->sizes[i])
            return wrong_number(table, "--sizes", opts->sizes[i], 0, 0);
    return check_taken(plan, table) || check_overlap(plan, table) ||
                   coll_plan_check_elements(plan, table) ||
                   coll_plan_fits(plan, table)
               ? -1
               : 0;
}

void coll_table_rails(const options_t *opts, char *rails)
{
    *rails = '\0';
    if (opts->simulated)
        dcoll_table_add_rail(rails, opts->cluster.name);
    for (unsigned r = 0; r < opts->nrails; r++)
        dcoll_table_add_rail(rails, opts->rails[r]);
}

static void load_table(coll_plan_t *plan, const option_table_t *table)
{
    char why[256], rails[DCOLL_TABLE_RAILS];
    plan->table_path = plan->opts->table;
    coll_table_rails(plan->opts, rails);
    if (!plan->table_path || !dcoll_table_load(plan->table_path, rails,
                                               &plan->table, why, sizeof why))
        return;
    fprintf(stderr, "%s: warning: %s: '%s' is ignored: %s\n", table->command,
            option_typed(plan->opts, "--selection"), plan->table_path, why);
    dcoll_table_free(&plan->table);
    plan->table_path = NULL;
}

void coll_plan_free(coll_plan_t *plan)
{
    dcoll_table_free(&plan->table);
    unequal_free(&plan->unequal);
}

/* Blocks of different sizes, if they are wanted. */
static int make_unequal(coll_plan_t *plan, const option_table_t *table)
{
    const dcoll_reduction_t *reduction = coll_plan_reduction(plan);
    plan->unequal =
        (unequal_sizes_t){.sizes = plan->opts->sizes,
                          .nsizes = plan->opts->nsizes,
                          .ranks = plan->shape.nranks,
                          .element = reduction ? reduction->element : 1};
    if (plan->opts->unequal && plan->opts->in_place) {
        option_wrong(table, "--unequal", "--in-place", "one of the two");
        return -1;
    }
    if (!plan->opts->unequal || !unequal_make(&plan->unequal))
        return 0;
    fprintf(stderr, "%s: out of memory\n", table->command);
    return -1;
}

int coll_plan_make(coll_plan_t *plan, const options_t *opts,
                   const option_table_t *table, dcoll_collective_t collective,
                   notes_t *notes)
{
    plan->collective = collective;
    coll_plan_shape(plan, opts);
    if (opts->rank_ports)
        plan->shape.ports = options_rank_ports(opts, table, plan->shape.nranks,
                                               plan->port_begin);
    if (!plan->shape.ports)
        return -1;
    load_table(plan, table);
    if (check_options(plan, table) || make_unequal(plan, table))
        return -1;
    for (unsigned i = 0; i < opts->nalgorithms; i++)
        if (add_named(plan, table, opts->algorithms[i], notes))
            return -1;
    if (!opts->nalgorithms)
        add_algorithm(plan, NULL);
    if (plan->count == COLL_SETUPS_MAX)
        notes_add(notes, "left out: all but the first %d configurations",
                  COLL_SETUPS_MAX);
    if (plan->count)
        return 0;
    option_wrong(table, "--algorithm", "all",
                 "one that serves this shape: there is none");
    return -1;
}

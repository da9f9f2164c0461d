/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that several tests have, a row for each. */
#include <limits.h>
#include <stddef.h>

#include "parsers.h"
#include "rows.h"

#define AT(member) offsetof(options_t, member)

#define LENGTH(member) COUNT(((options_t *)0)->member)
#define ALL            UINT_MAX       /* of the groups: every test */
#define BOTH           (UINT_MAX - 1) /* tests with rails and with repeats */

/* In the order of their values. */
static const char *const engines_list[] = {"single", "nonthreaded", "threaded",
                                           "auto", NULL};
static const option_names_t engines = {engines_list, DRAIL_ENGINE_SINGLE,
                                       AT(nengines), LENGTH(engines)};
static const char *const teams_list[] = {"resident", "forkjoin", NULL};
static const option_names_t teams = {teams_list, DRAIL_TEAM_RESIDENT,
                                     AT(nteams), LENGTH(teams)};
static const char *const policies_list[] = {
    "even", "weighted", "adaptive", "roundrobin", "fixed", NULL};
static const option_names_t policies = {policies_list, DRAIL_POLICY_EVEN,
                                        AT(npolicies), LENGTH(policies)};
static const char *const waitings_list[] = {"any", "serial", NULL};
static const option_names_t waitings = {waitings_list, DRAIL_WAITING_ANY,
                                        AT(nwaitings), LENGTH(waitings)};
static const char *const notify_bys_list[] = {"auto", "send", "immed", NULL};
static const option_names_t notify_bys = {notify_bys_list, DRAIL_NOTIFY_BY_AUTO,
                                          AT(nnotify_bys), LENGTH(notify_bys)};
static const char *const collectives_list[] = {
    "gather", "allgather", "alltoall",
    "bcast",  "scatter",   "barrier",
    "reduce", "allreduce", "reduce_scatter_block",
    "scan",   "exscan",    NULL};
static const option_names_t collectives = {
    collectives_list, DCOLL_GATHER, AT(ncollectives), LENGTH(collectives)};
static const char *const units_list[] = {UNIT_NAMES, NULL};
static const option_names_t units = {units_list, UNIT_MBPS, AT(nunits),
                                     LENGTH(units)};
static const char *const formats_list[] = {FORMAT_NAMES, NULL};
static const option_names_t formats = {formats_list, FORMAT_TABLE, 0, 1};
static const char *const zero_copies_list[] = {"auto", "on", "off", NULL};
static const option_names_t zero_copies = {zero_copies_list, ZERO_COPY_AUTO, 0,
                                           1};
static const char *const starts_list[] = {"auto", "time", "barrier", NULL};
static const option_names_t starts = {starts_list, START_AUTO, 0, 1};
static const option_names_t types = {option_types, DCOLL_INT8, 0, 1};
static const option_names_t operators = {option_operators, DCOLL_SUM, 0, 1};

static const option_row_t rail_rows[] = {
    {"--rails", "A,B,...",
     "IA names (default: the embedded shm rails), or sim:NAME for those of a "
     "simulated cluster",
     .parse = option_parse_rails},
    {"--engine", "E,...",
     "what drives the rails: single, nonthreaded, threaded, auto; several are "
     "interleaved in one run (default: the first three; of collectives "
     "nonthreaded)",
     .parse = option_parse_names, .field = AT(engines), .names = &engines},
    {"--team", "T,...",
     "threads of engine threaded: resident or forkjoin (default resident)",
     .parse = option_parse_names, .field = AT(teams), .names = &teams},
    {"--policy", "P,...",
     "how a message is cut: even, weighted, adaptive, roundrobin, fixed "
     "(default even)",
     .parse = option_parse_names, .field = AT(policies), .names = &policies},
    {"--weights", "W,...",
     "rates of the rails for policy weighted (default: nominal rates, else "
     "equal)",
     .parse = option_parse_weights, .max = 1e9},
    {"--threshold", "BYTES", "shorter messages use one rail",
     .parse = option_parse_bytes, .field = AT(threshold)},
    {"--eps", "N", "EPs for each rail and peer (default 1)",
     .parse = option_parse_count, .field = AT(eps), .min = 1,
     .max = DRAIL_MAX_EPS},
    {"--align", "BYTES",
     "borders of stripes are multiples of it (default 0: of cache lines for "
     "long stripes; short messages are cut into equal parts)",
     .parse = option_parse_align, .field = AT(align)},
    {"--no-pin", NULL, "leave threads where the scheduler puts them",
     .parse = option_parse_flag, .field = AT(no_pin)},
};

static const option_row_t iteration_rows[] = {
    {"--iterations", "N",
     "iterations per repeat (default: about 10 ms; simulated 4)",
     .parse = option_parse_count, .field = AT(iterations), .min = 1,
     .max = 1e9},
    {"--warmup", "N",
     "iterations dropped before each size and configuration (default 10, fewer "
     "of long ones, of short collectives more: 2.5 ms; simulated 1)",
     .parse = option_parse_count, .field = AT(warmup), .max = 1e9},
    {"--validate", NULL, "check every byte in a separate pass",
     .parse = option_parse_flag, .field = AT(validate)},
    {"--no-payload", NULL,
     "simulated: no buffer is touched; the time of the bytes passes all the "
     "same",
     .parse = option_parse_flag, .field = AT(no_payload)},
};

static const option_row_t message_rows[] = {
    {"--wait", "W,...",
     "how engines nonthreaded and auto wait: any (events as they come) or "
     "serial (rail after rail) (default any)",
     .parse = option_parse_names, .field = AT(waitings), .names = &waitings},
    {"--notify-by", "N,...",
     "how the target learns that data are there: send (a message after them), "
     "immed (the last write itself), or auto (default auto)",
     .parse = option_parse_names, .field = AT(notify_bys),
     .names = &notify_bys},
};

static const option_row_t pair_rows[] = {
    {"--explain", NULL, "say on stderr which rail carries how much, and why",
     .parse = option_parse_flag, .field = AT(explain)},
    {"--per-rail", NULL, "table: show bytes and time of each rail",
     .parse = option_parse_flag, .field = AT(per_rail)},
    {"--units", "U,...",
     "table: columns among MB/s, Gb/s, Mmsg/s (default MB/s)",
     .parse = option_parse_names, .field = AT(units), .names = &units},
    {"--histogram", "FILE",
     "also write there how often each time was taken, as CSV",
     .parse = option_parse_text, .field = AT(histogram)},
};

static const option_row_t stats_rows[] = {
    {"--rail-stats", NULL,
     "table: show what each rail has carried (always, if one has failed)",
     .parse = option_parse_flag, .field = AT(rail_stats)},
};

static const option_row_t ranks_rows[] = {
    {"--ranks", "N",
     "number of ranks (default: as launched, else 2; of simulated collectives "
     "the cluster's, up to 32)",
     .parse = option_parse_count, .field = AT(ranks), .min = 1,
     .max = RANKS_MAX},
    {"--ppn", "P", "ranks per node (default: all; simulated: the cluster's)",
     .parse = option_parse_count, .field = AT(ppn), .min = 1, .max = RANKS_MAX},
};

static const option_row_t launch_rows[] = {
    {"--rendezvous", "H:P",
     "this process is one rank; all meet at this host and port of rank 0",
     .parse = option_parse_address, .field = AT(rendezvous)},
    {"--rank", "R", "number of this rank at the rendezvous",
     .parse = option_parse_count, .field = AT(rank), .max = 1023},
    {"--connect-time", "S",
     "time for the ranks to meet (default 30; with --server 600, with --code "
     "5; 500ms, 2min)",
     .parse = option_parse_seconds, .field = AT(connect_time), .min = 0.1,
     .max = 3600},
    {"--fork", NULL,
     "fork the ranks, even if a launcher has started this process",
     .parse = option_parse_flag, .field = AT(fork)},
};

static const option_row_t pairing_rows[] = {
    {"--server", NULL,
     "wait here for the other of two ranks, and print the command for its host",
     .parse = option_parse_flag, .field = AT(server)},
    {"--code", "CODE",
     "with HOST, where --server waits: what it has printed; serves once",
     .parse = option_parse_code, .field = AT(code)},
    {"--secret", "FILE",
     "in place of --code: a private file whose first line all ranks share",
     .parse = option_parse_text, .field = AT(secret)},
};

static const option_row_t size_rows[] = {
    {"--sizes", "LO:HI|a,b", "message sizes in bytes, with K, M, G",
     .parse = option_parse_sizes},
};

static const option_row_t collective_rows[] = {
    {"--collective", "C,...",
     "gather, allgather, alltoall, bcast, scatter, barrier, reduce, allreduce, "
     "reduce_scatter_block, scan, exscan (default: all)",
     .parse = option_parse_names, .field = AT(collectives),
     .names = &collectives},
};

static const option_row_t shapes_rows[] = {
    {"--shapes", "N[:P],...",
     "several numbers of ranks, and of ranks per node (default: --ranks, "
     "--ppn)",
     .parse = option_parse_shapes},
};

static const option_row_t shape_rows[] = {
    {"--ports", "K", "ports of multi-port algorithms (default: one per rail)",
     .parse = option_parse_count, .field = AT(ports), .min = 1,
     .max = DRAIL_MAX_RAILS},
};

static const option_row_t rank_ports_rows[] = {
    {"--rank-ports", "K,...",
     "ports of each rank, the last number of all further ranks, instead of "
     "--ports",
     .parse = option_parse_numbers, .field = AT(rank_ports)},
};

static const option_row_t algorithm_rows[] = {
    {"--algorithm", "A,...", "names, all, or auto (default auto)",
     .parse = option_parse_algorithms},
};

static const option_row_t block_rows[] = {
    {"--groups", "G", "groups per node of mc-groups (default: its own)",
     .parse = option_parse_count, .field = AT(groups), .min = 1, .max = 1024},
    {"--root", "R", "root of gather, bcast, scatter and reduce (default 0)",
     .parse = option_parse_count, .field = AT(root), .max = RANKS_MAX - 1},
    {"--in-place", NULL, "the own block of a rank is in its place already",
     .parse = option_parse_flag, .field = AT(in_place)},
};

static const option_row_t reduction_rows[] = {
    {"--type", "T",
     "elements of reductions: int8 to int64, uint8 to uint64, float, double; "
     "sizes are of whole elements (default double; tune, guidelines: float)",
     .parse = option_parse_name, .field = AT(type), .names = &types},
    {"--op", "O",
     "how reductions combine: sum, prod, min, max, land, lor, lxor, band, bor, "
     "bxor (default sum)",
     .parse = option_parse_name, .field = AT(op), .names = &operators},
};

static const option_row_t way_rows[] = {
    {"--paced", NULL,
     "messages of a step complete before those of the next step are posted",
     .parse = option_parse_flag, .field = AT(paced)},
    {"--zero-copy", "Z",
     "put from and to the final memory: auto, on or off (default auto)",
     .parse = option_parse_name, .field = AT(zero_copy), .names = &zero_copies},
};

static const option_row_t team_rows[] = {
    {"--start", "S",
     "start of repeats: time (a common one), barrier, or auto: time if every "
     "rank has a core (default auto)",
     .parse = option_parse_name, .field = AT(start), .names = &starts},
};

static const option_row_t overlap_rows[] = {
    {"--overlap", NULL,
     "also time calls with computation between start and wait",
     .parse = option_parse_flag, .field = AT(overlap)},
    {"--overlap-tests", "N",
     "look N times during the computation whether the call is complete "
     "(default 0)",
     .parse = option_parse_count, .field = AT(overlap_tests), .max = 1e6},
};

static const option_row_t select_rows[] = {
    {"--selection", "FILE", "auto selects by this file of tune",
     .parse = option_parse_text, .field = AT(table)},
};

static const option_row_t repeat_rows[] = {
    {"--repeat", "R", "repeats (default: see --precision, --time-budget)",
     .parse = option_parse_count, .field = AT(repeat), .min = 1, .max = 1000},
    {"--precision", "P",
     "repeat until the 95 % confidence interval of the median is within +- P % "
     "(default 2.5)",
     .parse = option_parse_percent, .field = AT(precision), .min = 0.01,
     .max = 100},
    {"--time-budget", "S",
     "... or until S seconds are spent, after at least 8 repeats (default 60; "
     "500ms, 2min)",
     .parse = option_parse_seconds, .field = AT(time_budget), .min = 0.1,
     .max = 86400},
};

static const option_row_t output_rows[] = {
    {"--format", "F", "table, csv or json (default table)",
     .parse = option_parse_name, .field = AT(format), .names = &formats},
    {"--output", "FILE", "write the result there (default: standard output)",
     .parse = option_parse_text, .field = AT(output)},
    {"--save", "FILE,...",
     "also write it there, in the format of the name: .csv, .json, else a "
     "table",
     .parse = option_parse_saves},
};

/* In the order of --help. */
static const struct list {
    const char *subject;
    const option_row_t *rows;
    size_t count;
    unsigned groups;  /* any of these has the rows, … */
    unsigned without; /* … but for these */
} lists[] = {
#define LIST(rows) rows, COUNT(rows)
    {"What is measured", LIST(collective_rows), OPTIONS_COLLECTIVE, 0},
    {"What is measured", LIST(shapes_rows), OPTIONS_SHAPES, 0},
    {"What is measured", LIST(size_rows),
     OPTIONS_REPEATS | OPTIONS_SHAPE | OPTIONS_SIZES, OPTIONS_ELEMENTS},
    {"What is measured", NULL, 0, ALL, 0}, /* the test's own */
    {"Ranks", LIST(ranks_rows), OPTIONS_RAILS | OPTIONS_SHAPE, 0},
    {"Ranks", LIST(launch_rows), OPTIONS_RAILS, 0},
    {"Two hosts", LIST(pairing_rows), OPTIONS_RAILS, 0},
    {"Rails", LIST(rail_rows), OPTIONS_RAILS, 0},
    {"Rails", LIST(message_rows), OPTIONS_PAIR, 0},
    {"Algorithms", LIST(algorithm_rows), OPTIONS_ALGORITHM, 0},
    {"Algorithms", LIST(shape_rows), OPTIONS_SHAPE, 0},
    {"Algorithms", LIST(rank_ports_rows), OPTIONS_RANK_PORTS, 0},
    {"Algorithms", LIST(block_rows), OPTIONS_BLOCKS, 0},
    {"Algorithms", LIST(reduction_rows), OPTIONS_REDUCE, 0},
    {"Algorithms", LIST(way_rows), OPTIONS_BLOCKS | OPTIONS_WAYS, 0},
    {"Algorithms", LIST(select_rows), OPTIONS_SELECT, 0},
    {"Algorithms", LIST(team_rows), OPTIONS_TEAM, 0},
    {"Algorithms", LIST(overlap_rows), OPTIONS_OVERLAP, 0},
    {"Repeats", LIST(iteration_rows), BOTH, 0},
    {"Repeats", LIST(repeat_rows), OPTIONS_REPEATS | OPTIONS_SAMPLES, 0},
    {"Output", LIST(pair_rows), OPTIONS_PAIR, 0},
    {"Output", LIST(stats_rows), OPTIONS_STATS, 0},
    {"Output", LIST(output_rows), ALL, 0},
#undef LIST
};

static bool has(const option_table_t *table, const struct list *list)
{
    if (list->groups == BOTH)
        return table->groups & OPTIONS_RAILS && table->groups & OPTIONS_REPEATS;
    return list->groups == ALL ||
           (table->groups & list->groups && !(table->groups & list->without));
}

const option_row_t *option_rows_visit(const option_table_t *table,
                                      option_rows_fn_t *visit, void *arg)
{
    const option_row_t *found = NULL;
    for (const struct list *l = lists; !found && l < lists + COUNT(lists); l++)
        if (!l->rows)
            found = visit(l->subject, table->rows, table->nrows, arg);
        else if (has(table, l))
            found = visit(l->subject, l->rows, l->count, arg);
    return found;
}

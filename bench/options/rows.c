/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that several tests have, a row for each. */
#include <stddef.h>

#include "parsers.h"
#include "rows.h"

#define AT(member) offsetof(options_t, member)
#define WHOLE      0 /* the parser fills several members */

static const option_row_t rail_rows[] = {
    {"--rails", "A,B,...",
     "IA names (default: the embedded shm rails), or sim:NAME: those of a "
     "simulated cluster",
     option_parse_rails, WHOLE, 0, 0},
    {"--engine", "E,...",
     "single, nonthreaded, threaded, auto; several are interleaved in one run "
     "(default: the first three; of collectives nonthreaded)",
     option_parse_engines, WHOLE, 0, 0},
    {"--team", "T,...",
     "threads of the threaded engine: resident or forkjoin (default resident)",
     option_parse_teams, WHOLE, 0, 0},
    {"--policy", "P,...",
     "even, weighted, adaptive, roundrobin, fixed (default even)",
     option_parse_policies, WHOLE, 0, 0},
    {"--weights", "W,...",
     "policy weighted: a rate per rail (default: nominal rates, else equal)",
     option_parse_weights, WHOLE, 0, 1e9},
    {"--threshold", "BYTES", "shorter messages go over one rail",
     option_parse_bytes, AT(threshold), 0, 0},
    {"--eps", "N", "EPs for each rail and peer (default 1)", option_parse_count,
     AT(eps), 1, DRAIL_MAX_EPS},
    {"--align", "BYTES",
     "borders of stripes are multiples of it (default 0: cache lines between "
     "long ones, equal parts of short messages)",
     option_parse_align, AT(align), 0, 0},
    {"--no-pin", NULL, "leave threads where the scheduler puts them",
     option_parse_flag, AT(no_pin), 0, 0},
};

static const option_row_t iteration_rows[] = {
    {"--iterations", "N",
     "iterations per repeat (default: about 10 ms; simulated 4)",
     option_parse_count, AT(iterations), 1, 1e9},
    {"--warmup", "N",
     "iterations dropped before each size and configuration (default 10, of "
     "long ones fewer; simulated 1)",
     option_parse_count, AT(warmup), 0, 1e9},
    {"--validate", NULL, "check every byte in a separate pass",
     option_parse_flag, AT(validate), 0, 0},
    {"--no-payload", NULL,
     "simulated: buffers are never touched, the time is that of their bytes",
     option_parse_flag, AT(no_payload), 0, 0},
};

static const option_row_t pair_rows[] = {
    {"--wait", "W,...",
     "engines nonthreaded, auto: for any rail, or rail after rail: any, serial "
     "(default any)",
     option_parse_waitings, WHOLE, 0, 0},
    {"--notify-by", "N,...",
     "what tells that the data are there: send (after them), immed (with the "
     "last of them), or auto (default auto)",
     option_parse_notify_bys, WHOLE, 0, 0},
    {"--explain", NULL, "say on stderr which rails carry what, and why",
     option_parse_flag, AT(explain), 0, 0},
    {"--per-rail", NULL, "table: also bytes and time of each rail",
     option_parse_flag, AT(per_rail), 0, 0},
    {"--units", "U,...",
     "table: columns MB/s, Gb/s, Mmsg/s (messages) (default MB/s)",
     option_parse_units, WHOLE, 0, 0},
    {"--histogram", "FILE",
     "also write how often each time was taken there, as CSV",
     option_parse_text, AT(histogram), 0, 0},
};

static const option_row_t stats_rows[] = {
    {"--rail-stats", NULL,
     "table: what each rail has carried (always, if one has failed)",
     option_parse_flag, AT(rail_stats), 0, 0},
};

static const option_row_t ranks_rows[] = {
    {"--ranks", "N",
     "number of ranks (default: those launched, else 2; simulated, between "
     "more than two: the cluster's, up to 32)",
     option_parse_count, AT(ranks), 1, RANKS_MAX},
    {"--ppn", "P", "ranks per node (default: all; simulated: the cluster's)",
     option_parse_count, AT(ppn), 1, RANKS_MAX},
};

static const option_row_t launch_rows[] = {
    {"--rendezvous", "H:P",
     "one process a rank: they meet at this host and port, rank 0's",
     option_parse_address, AT(rendezvous), 0, 0},
    {"--rank", "R", "... of which this one is", option_parse_count, AT(rank), 0,
     1023},
    {"--connect-time", "S", "... within S seconds (default 30; 500ms, 2min)",
     option_parse_seconds, AT(connect_time), 0.1, 3600},
    {"--fork", NULL, "fork the ranks, even if a launcher has started this",
     option_parse_flag, AT(fork), 0, 0},
};

static const option_row_t size_rows[] = {
    {"--sizes", "LO:HI|a,b", "message sizes in bytes; K, M, G",
     option_parse_sizes, WHOLE, 0, 0},
};

static const option_row_t collective_rows[] = {
    {"--collective", "C,...",
     "gather, allgather, alltoall, bcast, scatter, barrier, reduce, allreduce "
     "(default: all)",
     option_parse_collectives, WHOLE, 0, 0},
};

static const option_row_t shapes_rows[] = {
    {"--shapes", "N[:P],...",
     "ranks and ranks per node, several (default: --ranks, --ppn)",
     option_parse_shapes, WHOLE, 0, 0},
};

static const option_row_t shape_rows[] = {
    {"--ports", "K", "ports of multi-port algorithms (default: one per rail)",
     option_parse_count, AT(ports), 1, DRAIL_MAX_RAILS},
};

static const option_row_t algorithm_rows[] = {
    {"--algorithm", "A,...", "names, all, or auto (default auto)",
     option_parse_algorithms, WHOLE, 0, 0},
};

static const option_row_t block_rows[] = {
    {"--groups", "G", "groups per node of mc-groups (default: its own)",
     option_parse_count, AT(groups), 1, 1024},
    {"--root", "R", "root of gather, bcast, scatter and reduce (default 0)",
     option_parse_count, AT(root), 0, RANKS_MAX - 1},
    {"--in-place", NULL, "a rank's own block is in its place already",
     option_parse_flag, AT(in_place), 0, 0},
};

static const option_row_t reduction_rows[] = {
    {"--type", "T",
     "elements of reductions: int8 to int64, uint8 to uint64, float, double; "
     "sizes are of whole ones (default double; tune, guidelines: float)",
     option_parse_type, AT(type), 0, 0},
    {"--op", "O",
     "how they are combined: sum, prod, min, max, land, lor, lxor, band, bor, "
     "bxor (default sum)",
     option_parse_operator, AT(op), 0, 0},
};

static const option_row_t way_rows[] = {
    {"--paced", NULL,
     "a step's messages are complete before the next ones are posted",
     option_parse_flag, AT(paced), 0, 0},
    {"--zero-copy", "Z",
     "auto, on or off: put from and to the final memory (default auto)",
     option_parse_zero_copy, AT(zero_copy), 0, 0},
};

static const option_row_t team_rows[] = {
    {"--start", "S",
     "time, barrier, or auto: at a common time if every rank has a core "
     "(default auto)",
     option_parse_start, AT(start), 0, 0},
};

static const option_row_t overlap_rows[] = {
    {"--overlap", NULL,
     "also time calls with computation between their start and their wait",
     option_parse_flag, AT(overlap), 0, 0},
    {"--overlap-tests", "N",
     "... which looks N times whether the call is complete (default 0)",
     option_parse_count, AT(overlap_tests), 0, 1e6},
};

static const option_row_t select_rows[] = {
    {"--selection", "FILE", "auto selects by this file of railbench tune",
     option_parse_text, AT(table), 0, 0},
};

static const option_row_t repeat_rows[] = {
    {"--repeat", "R", "repeats (default: see --precision, --time-budget)",
     option_parse_count, AT(repeat), 1, 1000},
    {"--precision", "P",
     "repeat until the 95 % confidence interval of the median is within "
     "+- P % (default 2.5)",
     option_parse_percent, AT(precision), 0.01, 100},
    {"--time-budget", "S",
     "... or S seconds are spent, but for at least 8 repeats (default 60; "
     "500ms, 2min)",
     option_parse_seconds, AT(time_budget), 0.1, 86400},
};

static const option_row_t output_rows[] = {
    {"--format", "F", "table, csv or json (default table)", option_parse_format,
     AT(format), 0, 0},
    {"--output", "FILE", "write the result there (default: standard output)",
     option_parse_text, AT(output), 0, 0},
    {"--save", "FILE,...", "also write it there; format by .csv, .json or else",
     option_parse_saves, WHOLE, 0, 0},
};

const option_row_t *
option_rows_visit(const option_table_t *table,
                  const option_row_t *(*visit)(const option_row_t *rows,
                                               size_t count, void *arg),
                  void *arg)
{
    const struct {
        const option_row_t *rows;
        size_t count;
        bool used;
    } lists[] = {
        {collective_rows, COUNT(collective_rows),
         table->groups & OPTIONS_COLLECTIVE},
        {ranks_rows, COUNT(ranks_rows),
         table->groups & (OPTIONS_RAILS | OPTIONS_SHAPE)},
        {launch_rows, COUNT(launch_rows), table->groups & OPTIONS_RAILS},
        {shapes_rows, COUNT(shapes_rows), table->groups & OPTIONS_SHAPES},
        {shape_rows, COUNT(shape_rows), table->groups & OPTIONS_SHAPE},
        {algorithm_rows, COUNT(algorithm_rows),
         table->groups & OPTIONS_ALGORITHM},
        {block_rows, COUNT(block_rows), table->groups & OPTIONS_BLOCKS},
        {reduction_rows, COUNT(reduction_rows), table->groups & OPTIONS_REDUCE},
        {way_rows, COUNT(way_rows),
         table->groups & (OPTIONS_BLOCKS | OPTIONS_WAYS)},
        {team_rows, COUNT(team_rows), table->groups & OPTIONS_TEAM},
        {overlap_rows, COUNT(overlap_rows), table->groups & OPTIONS_OVERLAP},
        {select_rows, COUNT(select_rows), table->groups & OPTIONS_SELECT},
        {rail_rows, COUNT(rail_rows), table->groups & OPTIONS_RAILS},
        {iteration_rows, COUNT(iteration_rows),
         table->groups & OPTIONS_RAILS && table->groups & OPTIONS_REPEATS},
        {pair_rows, COUNT(pair_rows), table->groups & OPTIONS_PAIR},
        {stats_rows, COUNT(stats_rows), table->groups & OPTIONS_STATS},
        {size_rows, COUNT(size_rows),
         table->groups & (OPTIONS_REPEATS | OPTIONS_SHAPE | OPTIONS_SIZES) &&
             !(table->groups & OPTIONS_ELEMENTS)},
        {repeat_rows, COUNT(repeat_rows),
         table->groups & (OPTIONS_REPEATS | OPTIONS_SAMPLES)},
        {table->rows, table->nrows, true},
        {output_rows, COUNT(output_rows), true},
    };
    const option_row_t *found = NULL;
    for (size_t i = 0; !found && i < COUNT(lists); i++)
        if (lists[i].used)
            found = visit(lists[i].rows, lists[i].count, arg);
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `railbench goal FILE`: checks schedules in the format of LogGOPSim, and
 * predicts their time. Nothing is sent.
 */
#include <math.h>

#include "bench/report/output.h"
#include "bench/report/report.h"
#include "bench/test.h"
#include "goal.h"

typedef struct goal_result {
    const options_t *opts;
    machine_t machine;
    unsigned ranks, ports, steps;
    uint64_t messages, bytes, calculated;
    double time; /* units */
} goal_result_t;

/* LogGP (Alexandrov et al. 1995) by the terms of Hockney's model with ports: a
 * port is busy for the gap, and the rest of a message's way is latency. */
static dcoll_cost_model_t model_of(const struct goal_options *g)
{
    const double gap = fmax(g->gap, g->overhead);
    const double way = g->latency + 2 * g->overhead;
    return (dcoll_cost_model_t){.ts = gap,
                                .tau = g->byte,
                                .copy = 1,
                                .note = way,
                                .latency = fmax(0, way - gap)};
}

static void count(goal_result_t *r, const dcoll_program_t *p)
{
    for (unsigned i = 0; i < r->ranks; i++)
        for (unsigned k = 0; k < p->rank[i].nops; k++) {
            const dcoll_op_t *op = &p->rank[i].ops[k];
            const bool put = op->kind == DCOLL_PUT;
            const bool note = op->kind == DCOLL_NOTIFY;
            r->messages += put || note;
            r->bytes += put ? op->bytes : 0;
            r->calculated += op->kind == DCOLL_COPY ? op->bytes : 0;
            if (put || (note && op->tag == DCOLL_DATA))
                r->steps = op->step >= r->steps ? op->step + 1u : r->steps;
        }
}

/* @return 0, or -1 with the reason. */
static int examine(goal_result_t *r, const goal_t *goal, char *why, size_t size)
{
    dcoll_shape_t shape;
    dcoll_program_t program;
    const dcoll_cost_model_t model = model_of(&r->opts->goal);
    if (goal_program(goal, &shape, &program, why, size))
        return -1;
    r->ranks = shape.nranks;
    r->ports = shape.ports;
    count(r, &program);
    int rc = dcoll_verify(&program, 1, why, size);
    r->time = rc ? rc : dcoll_cost(&program, &model);
    if (!rc && r->time < 0)
        snprintf(why, size, "%s", drail_strerror((int)r->time));
    goal_program_free(&shape, &program);
    return r->time < 0 ? -1 : 0;
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const goal_result_t *r = result;
    (void)i;
    row_cell_count(row, 0, 6, "#ranks", r->ranks);
    row_cell_count(row, 1, 5, "ports", r->ports);
    row_cell_count(row, 1, 10, "messages", r->messages);
    row_cell_count(row, 1, 14, "bytes", r->bytes);
    row_cell_count(row, 1, 5, "steps", r->steps);
    row_cell_count(row, 1, 14, "calc", r->calculated);
    row_cell_number(row, 12, "time", r->time);
    row_text(row, IN_CSV, "test", "goal");
    row_text(row, IN_CSV, "file", r->opts->operands[0]);
    row_count(row, IN_BOTH, "ranks", r->ranks);
    row_count(row, IN_BOTH, "ports", r->ports);
    row_count(row, IN_BOTH, "messages", r->messages);
    row_count(row, IN_BOTH, "bytes", r->bytes);
    row_count(row, IN_BOTH, "steps", r->steps);
    row_count(row, IN_BOTH, "calc", r->calculated);
    row_number(row, IN_BOTH, "time", r->time);
}

static void table(FILE *file, const report_t *of)
{
    const goal_result_t *r = of->result;
    report_title(file, of);
    fprintf(file,
            "# all messages arrive and no rank waits for ever\n"
            "# steps: longest chain of messages; calc: of all ranks; time: "
            "predicted with L=%g, o=%g, g=%g, G=%g units\n",
            r->opts->goal.latency, r->opts->goal.overhead, r->opts->goal.gap,
            r->opts->goal.byte);
    report_rows(file, of, 0);
}

static void json(json_t *j, const report_t *of)
{
    const goal_result_t *r = of->result;
    report_json_command(j, r->opts);
    report_json_rows(j, "results", of, true);
}

static int report(FILE *file, format_t format, const void *result)
{
    const goal_result_t *r = result;
    return report_write(file, format,
                        &(report_t){.result = r,
                                    .test = "goal",
                                    .machine = &r->machine,
                                    .opts = r->opts,
                                    .nrows = 1,
                                    .columns = columns,
                                    .table = table,
                                    .json = json});
}

static int run(const bench_test_t *test, const options_t *opts)
{
    goal_result_t result = {.opts = opts};
    outputs_t outputs = {0};
    goal_t goal;
    char why[512];
    int rc = goal_read(&goal, opts->operands[0], why, sizeof why);
    if (!rc) {
        rc = examine(&result, &goal, why, sizeof why);
        goal_free(&goal);
    }
    if (rc) {
        option_wrong(&test->table, "FILE", opts->operands[0], why);
        return 2;
    }
    if (outputs_open(&outputs, opts, test->table.command))
        return 2;
    machine_describe(&result.machine, NULL);
    int status = outputs_report(&outputs, report, &result) ? 1 : 0;
    outputs_discard(&outputs);
    return status;
}

/* The defaults of LogGOPSim. */
static void defaults(options_t *opts)
{
    opts->goal = (struct goal_options){
        .latency = 2500, .overhead = 1500, .gap = 1000, .byte = 6};
}

#define AT(member) offsetof(options_t, goal.member)

static const option_row_t rows[] = {
    {"--latency", "L", "of a message, in the units of calc (default 2500)",
     .parse = option_parse_number, .field = AT(latency), .max = 1e9},
    {"--overhead", "o", "of a processor for each message (default 1500)",
     .parse = option_parse_number, .field = AT(overhead), .max = 1e9},
    {"--gap", "g", "between two messages of a port (default 1000)",
     .parse = option_parse_number, .field = AT(gap), .max = 1e9},
    {"--byte", "G", "... and for each byte (default 6)",
     .parse = option_parse_number, .field = AT(byte), .max = 1e9},
};

const bench_test_t test_goal = {
    .table = {.command = "railbench goal",
              .summary = "Checks a schedule in GOAL, the format of LogGOPSim, "
                         "and predicts its time. Nothing is sent.",
              .operands = {"FILE"},
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "goal",
    .sizes = "0",
    .defaults = defaults,
    .run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of `railbench prove`, and its schedules. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "bench/report/json.h"
#include "bench/report/report.h"
#include "bench/goal/goal.h"
#include "prove.h"

static const char *verdict(const verify_row_t *row)
{
    return row->refusal ? "refuses" : row->failed ? "WRONG" : "correct";
}

static const char *reason(const verify_row_t *row)
{
    return row->refusal ? row->refusal : row->why;
}

static void number_cell(row_t *row, int width, const char *title, double value)
{
    char text[32];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, "%g", value);
    row_cell(row, 1, width, title, text);
}

static void cells(row_t *row, const verify_row_t *of)
{
    row_cell(row, 0, -20, "#",
             dcoll_collective_name(of->algorithm->collective));
    row_cell(row, 1, -22, "algorithm", of->algorithm->name);
    row_cell_count(row, 1, 10, "bytes", of->bytes);
    row_cell(row, 1, 4, "zero", of->args.zero_copy ? "yes" : "no");
    if (row->pass == ROW_TABLE && of->refusal) {
        row_cell_end(row, " refuses: ");
        row_cell_end(row, of->refusal);
        return;
    }
    row_cell_count(row, 1, 5, "depth", of->args.depth);
    row_cell_count(row, 1, 8, "ops", of->operations);
    row_cell_count(row, 1, 5, "puts", of->puts);
    row_cell_count(row, 1, 5, "steps", of->steps);
    row_cell_count(row, 1, 5, "least", of->least_steps);
    row_cell_count(row, 1, 10, "temp", of->temp_bytes);
    row_cell_count(row, 1, 10, "node", of->node_bytes);
    number_cell(row, 6, "ts", of->startups);
    number_cell(row, 7, "blocks", of->blocks);
    number_cell(row, 7, "least", of->least_blocks);
    number_cell(row, 5, "comb", of->combined);
    row_cell_end(row, "  ");
    row_cell_end(row, verdict(of));
    row_cell_end(row, of->args.commutes ? ", if it commutes" : "");
    row_cell_end(row, of->failed ? ": " : "");
    row_cell_end(row, of->why);
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const verify_result_t *r = result;
    const verify_row_t none = {.algorithm = dcoll_algorithms()[0]};
    const verify_row_t *of = r->nrows ? &r->rows[i] : &none;
    cells(row, of);
    row_text(row, IN_CSV, "test", "verify");
    row_text(row, IN_BOTH, "collective",
             dcoll_collective_name(of->algorithm->collective));
    row_text(row, IN_BOTH, "algorithm", of->algorithm->name);
    row_count(row, IN_CSV, "ranks", r->shape.nranks);
    row_count(row, IN_CSV, "ppn", dcoll_shape_ppn(&r->shape));
    row_count(row, IN_CSV, "nodes", r->shape.nnodes);
    row_count(row, IN_CSV, "ports", r->shape.ports);
    row_count(row, IN_BOTH, "bytes", of->bytes);
    row_count(row, IN_JSON, "element", of->args.element);
    row_flag(row, IN_BOTH, "zero_copy", of->args.zero_copy);
    row_flag(row, IN_CSV, "in_place", of->args.in_place);
    row_count(row, IN_CSV, "root", of->args.root);
    row_count(row, IN_CSV, "groups", of->args.groups);
    row_has(row, !of->refusal);
    row_count(row, IN_BOTH, "depth", of->args.depth);
    row_count(row, IN_BOTH, "operations", of->operations);
    row_count(row, IN_BOTH, "puts", of->puts);
    row_count(row, IN_BOTH, "steps", of->steps);
    row_count(row, IN_BOTH, "temp_bytes", of->temp_bytes);
    row_count(row, IN_BOTH, "node_bytes", of->node_bytes);
    row_number(row, IN_BOTH, "startups", of->startups);
    row_number(row, IN_BOTH, "blocks", of->blocks);
    row_number(row, IN_JSON, "combined", of->combined);
    row_has(row, true);
    row_text(row, IN_BOTH, "verdict", verdict(of));
    row_has(row, row->pass != ROW_JSON || *reason(of));
    row_text(row, IN_BOTH, "reason", reason(of));
    row_count(row, IN_CSV, "element", of->args.element);
    row_has(row, !of->refusal);
    row_number(row, IN_CSV, "combined", of->combined);
    row_flag(row, IN_BOTH, "commutes", of->args.commutes);
    row_count(row, IN_BOTH, "steps_least", of->least_steps);
    row_number(row, IN_BOTH, "blocks_least", of->least_blocks);
}

static void table(FILE *file, const report_t *of)
{
    const verify_result_t *r = of->result;
    report_title(file, of);
    fprintf(file, "# %u ranks, %u ports, %u nodes of", r->shape.nranks,
            r->shape.ports, r->shape.nnodes);
    for (unsigned n = 0; n < r->shape.nnodes; n++)
        fprintf(file, " %u",
                r->shape.node_begin[n + 1] - r->shape.node_begin[n]);
    fprintf(file,
            " ranks; depth as it runs, and 1; as many starts back to back as "
            "prove it\n"
            "# besides, %llu variants of each, drawn from --seed %llu\n",
            (unsigned long long)r->opts->draws, (unsigned long long)r->seed);
    fputs("# ops: of all ranks; puts: most of a rank; temp, node: bytes, most "
          "of a rank and node, per start in flight; ts, blocks, comb: "
          "start-ups, blocks that are moved and combined on the critical "
          "path; least: lower bounds of any schedule, for ranks that share "
          "memory if these do\n",
          file);
    report_rows(file, of, 0);
}

static void json(json_t *j, const report_t *of)
{
    const verify_result_t *r = of->result;
    report_json_command(j, r->opts);
    json_uint(j, "ranks", r->shape.nranks);
    json_uint(j, "ports", r->shape.ports);
    json_row_array(j, "node_begin");
    for (unsigned n = 0; n < r->shape.nnodes; n++)
        json_uint(j, NULL, r->shape.node_begin[n]);
    json_end_array(j);
    json_bool(j, "in_place", r->opts->in_place);
    json_uint(j, "root", r->opts->root);
    json_uint(j, "draws", r->opts->draws);
    json_uint(j, "seed", r->seed);
    report_json_rows(j, "results", of, true);
}

int verify_report(FILE *file, format_t format, const void *result)
{
    const verify_result_t *r = result;
    return report_write(file, format,
                        &(report_t){.result = r,
                                    .test = "verify",
                                    .machine = &r->machine,
                                    .opts = r->opts,
                                    .nrows = r->nrows,
                                    .columns = columns,
                                    .table = table,
                                    .json = json});
}

/* ----------------------------------------------------------- schedules --- */

/* A field, in small letters. */
static void lower(FILE *file, const char *name)
{
    for (; *name; name++)
        fputc(tolower((unsigned char)*name), file);
    fputc(',', file);
}

static void operation(FILE *file, const verify_row_t *row, unsigned rank,
                      unsigned index, const dcoll_op_t *op)
{
    fprintf(file, "%s,%s,%zu,%u,%u,%u,%u,",
            dcoll_collective_name(row->algorithm->collective),
            row->algorithm->name, row->bytes, rank, index, op->phase, op->step);
    lower(file, dcoll_kind_name(op->kind));
    fprintf(file, "%u,%u,%u,%u,%u,", op->peer, op->port, op->flag, op->lag,
            op->every);
    lower(file, dcoll_tag_name(op->tag));
    lower(file, dcoll_space_name(op->src.space));
    fprintf(file, "%zu,", op->src.offset);
    lower(file, dcoll_space_name(op->dst.space));
    fprintf(file, "%zu,%zu,", op->dst.offset, op->bytes);
    if (op->kind == DCOLL_COMBINE) {
        lower(file, dcoll_space_name(op->with.space));
        fprintf(file, "%zu\n", op->with.offset);
    } else {
        fputs(",\n", file);
    }
}

/* It is not refused. 0, or -1 with errno: out of memory. */
static int make(const verify_result_t *r, const verify_row_t *row,
                dcoll_program_t *program)
{
    errno = ENOMEM;
    return dcoll_program_make(row->algorithm, &r->shape, &row->args, program)
               ? -1
               : 0;
}

int verify_schedules(FILE *file, format_t format, const void *result)
{
    const verify_result_t *r = result;
    (void)format;
    fputs("collective,algorithm,block,rank,operation,phase,step,kind,peer,"
          "port,flag,lag,every,tag,src,src_offset,dst,dst_offset,bytes,with,"
          "with_offset\n",
          file);
    for (unsigned i = 0; i < r->nrows; i++) {
        const verify_row_t *row = &r->rows[i];
        dcoll_program_t program;
        if (row->refusal)
            continue;
        if (make(r, row, &program))
            return -1;
        for (unsigned rank = 0; rank < r->shape.nranks; rank++)
            for (unsigned k = 0; k < program.rank[rank].nops; k++)
                operation(file, row, rank, k, &program.rank[rank].ops[k]);
        dcoll_program_free(&program);
    }
    return 0;
}

int verify_goal(FILE *file, format_t format, const void *result)
{
    const verify_result_t *r = result;
    const verify_row_t *row = r->rows;
    dcoll_program_t program;
    (void)format;
    if (make(r, row, &program))
        return -1;
    fprintf(file, "// %s %s, %zu bytes\n",
            dcoll_collective_name(row->algorithm->collective),
            row->algorithm->name, row->bytes);
    const int rc = goal_write(file, &program, r->opts->goal.unit);
    dcoll_program_free(&program);
    errno = ENOMEM;
    return rc;
}

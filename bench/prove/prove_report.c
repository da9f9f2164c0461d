/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of `railbench prove`, and its schedules. */
#include <ctype.h>
#include <math.h>

#include "bench/report/json.h"
#include "bench/report/report.h"
#include "prove.h"

static const char *verdict(const verify_row_t *row)
{
    return row->refusal ? "refuses" : row->failed ? "WRONG" : "correct";
}

static const char *reason(const verify_row_t *row)
{
    return row->refusal ? row->refusal : row->why;
}

/* --------------------------------------------------------------- table --- */

static void table(FILE *file, const verify_result_t *r)
{
    report_title(file, "verify", &r->machine, r->opts);
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
          "path\n",
          file);
    fprintf(file, "%-9s %-22s %10s %4s %5s %8s %5s %5s %10s %10s %6s %7s %5s\n",
            "#", "algorithm", "bytes", "zero", "depth", "ops", "puts", "steps",
            "temp", "node", "ts", "blocks", "comb");
    for (unsigned i = 0; i < r->nrows; i++) {
        const verify_row_t *row = &r->rows[i];
        fprintf(file, "%-9s %-22s %10zu %4s ",
                dcoll_collective_name(row->algorithm->collective),
                row->algorithm->name, row->args.bytes,
                row->args.zero_copy ? "yes" : "no");
        if (row->refusal)
            fprintf(file, "refuses: %s\n", row->refusal);
        else
            fprintf(file, "%5u %8u %5u %5u %10zu %10zu %6g %7g %5g  %s%s%s\n",
                    row->args.depth, row->operations, row->puts, row->steps,
                    row->temp_bytes, row->node_bytes, row->startups,
                    row->blocks, row->combined, verdict(row),
                    row->failed ? ": " : "", row->why);
    }
}

/* ----------------------------------------------------------------- CSV --- */

static void csv(FILE *file, const verify_result_t *r)
{
    report_csv_header(
        file,
        "test,collective,algorithm,ranks,ppn,nodes,ports,bytes,zero_copy,"
        "in_place,root,groups,depth,operations,puts,steps,temp_bytes,node_"
        "bytes,"
        "startups,blocks,verdict,reason,element,combined");
    for (unsigned i = 0; i < r->nrows; i++) {
        const verify_row_t *row = &r->rows[i];
        fprintf(file, "verify,%s,%s,%u,%llu,%u,%u,%zu,%s,%s,%u,%u",
                dcoll_collective_name(row->algorithm->collective),
                row->algorithm->name, r->shape.nranks,
                (unsigned long long)dcoll_shape_ppn(&r->shape), r->shape.nnodes,
                r->shape.ports, row->args.bytes,
                row->args.zero_copy ? "yes" : "no",
                row->args.in_place ? "yes" : "no", row->args.root,
                row->args.groups);
        if (row->refusal)
            fputs(",,,,,,,,", file);
        else
            fprintf(file, ",%u,%u,%u,%u,%zu,%zu,%g,%g", row->args.depth,
                    row->operations, row->puts, row->steps, row->temp_bytes,
                    row->node_bytes, row->startups, row->blocks);
        fprintf(file, ",%s", verdict(row));
        report_csv_text(file, reason(row));
        fprintf(file, ",%zu", row->args.element);
        report_csv_number(file, row->refusal ? NAN : row->combined);
        report_csv_origin(file, &r->machine, r->opts);
    }
}

/* ---------------------------------------------------------------- JSON --- */

static void json_row(json_t *j, const verify_row_t *row)
{
    json_row_object(j, NULL);
    json_string(j, "collective",
                dcoll_collective_name(row->algorithm->collective));
    json_string(j, "algorithm", row->algorithm->name);
    json_uint(j, "bytes", row->args.bytes);
    json_uint(j, "element", row->args.element);
    json_bool(j, "zero_copy", row->args.zero_copy);
    if (!row->refusal) {
        json_uint(j, "depth", row->args.depth);
        json_uint(j, "operations", row->operations);
        json_uint(j, "puts", row->puts);
        json_uint(j, "steps", row->steps);
        json_uint(j, "temp_bytes", row->temp_bytes);
        json_uint(j, "node_bytes", row->node_bytes);
        json_double(j, "startups", row->startups);
        json_double(j, "blocks", row->blocks);
        json_double(j, "combined", row->combined);
    }
    json_string(j, "verdict", verdict(row));
    if (*reason(row))
        json_string(j, "reason", reason(row));
    json_end_object(j);
}

static void json(FILE *file, const verify_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, "verify", &r->machine);
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
    json_array(j, "results");
    for (unsigned i = 0; i < r->nrows; i++)
        json_row(j, &r->rows[i]);
    json_end_array(j);
    json_end_object(j);
}

void verify_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const verify_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
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
            row->algorithm->name, row->args.bytes, rank, index, op->phase,
            op->step);
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

void verify_schedules(FILE *file, format_t format, const void *result)
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
        if (dcoll_program_make(row->algorithm, &r->shape, &row->args, &program))
            continue;
        for (unsigned rank = 0; rank < r->shape.nranks; rank++)
            for (unsigned k = 0; k < program.rank[rank].nops; k++)
                operation(file, row, rank, k, &program.rank[rank].ops[k]);
        dcoll_program_free(&program);
    }
}

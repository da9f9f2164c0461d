/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "goal.h"

/* Messages from one rank to another with one tag, in the order of posting. */
struct flow {
    uint64_t *bytes;
    uint32_t posted, taken;
    bool later; /* credits, which a later start waits for */
};

struct writer {
    FILE *file;
    const dcoll_program_t *program;
    double unit;
    struct flow *flows; /* [(to * nranks + from) * DCOLL_TAGS + tag] */
    unsigned rank, label;
    bool chained, sent;     /* there is an operation before; it is a send */
    uint32_t *puts;         /* labels of this rank's puts */
    unsigned nputs, closed; /* posted; that some COMPLETE has waited for */
};

static struct flow *flow_of(const struct writer *w, unsigned to, unsigned from,
                            dcoll_tag_t tag)
{
    size_t pair = (size_t)to * w->program->shape->nranks + from;
    return &w->flows[pair * DCOLL_TAGS + tag];
}

static const char *refused(const dcoll_op_t *op)
{
    switch (op->kind) {
    case DCOLL_PUT:
        return op->sized ? "sizes of its messages are known at run time only"
                         : NULL;
    case DCOLL_NOTIFY:
    case DCOLL_WAIT:
    case DCOLL_COMPLETE:
    case DCOLL_COPY:
    case DCOLL_COMBINE:
        return NULL;
    case DCOLL_GET:
    case DCOLL_SIGNAL:
    case DCOLL_AWAIT:
        return "ranks of GOAL share no memory";
    default:
        return "sizes of its messages are known at run time only";
    }
}

const char *goal_refusal(const dcoll_program_t *program)
{
    if (program->shape->nranks > GOAL_RANKS)
        return "it has too many ranks";
    for (unsigned r = 0; r < program->shape->nranks; r++) {
        const dcoll_schedule_t *s = &program->rank[r];
        for (unsigned i = 0; i < s->nops; i++)
            if (refused(&s->ops[i]))
                return refused(&s->ops[i]);
    }
    return NULL;
}

/* ---------------------------------------------------- sizes of messages */

static bool posts(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT || op->kind == DCOLL_NOTIFY;
}

static dcoll_tag_t tag_of(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT ? DCOLL_DATA : op->tag;
}

/* Twice: counts, then records. */
static int record(const struct writer *w, bool counts)
{
    const unsigned n = w->program->shape->nranks;
    for (unsigned r = 0; r < n; r++)
        for (unsigned i = 0; i < w->program->rank[r].nops; i++) {
            const dcoll_op_t *op = &w->program->rank[r].ops[i];
            if (op->kind == DCOLL_WAIT && op->lag)
                flow_of(w, r, op->peer, op->tag)->later = true;
            if (!posts(op))
                continue;
            struct flow *f = flow_of(w, op->peer, r, tag_of(op));
            if (!counts)
                f->bytes[f->posted] = op->kind == DCOLL_PUT ? op->bytes : 0;
            f->posted++;
        }
    for (size_t i = 0; counts && i < (size_t)n * n * DCOLL_TAGS; i++) {
        struct flow *f = &w->flows[i];
        f->bytes = f->posted ? calloc(f->posted, sizeof *f->bytes) : NULL;
        if (f->posted && !f->bytes)
            return -1;
        f->posted = 0;
    }
    return 0;
}

/* -------------------------------------------------------------- operations */

/* Its rank has performed the operation before, or only posted it. */
static void chain(struct writer *w, bool send)
{
    if (w->chained)
        fprintf(w->file, "l%u %s l%u\n", w->label,
                w->sent ? "irequires" : "requires", w->label - 1);
    w->chained = true;
    w->sent = send;
}

static void send(struct writer *w, const dcoll_op_t *op)
{
    if (flow_of(w, op->peer, w->rank, tag_of(op))->later)
        return;
    fprintf(w->file, "l%u: send %zub to %u tag %d", ++w->label,
            op->kind == DCOLL_PUT ? op->bytes : 0, op->peer, (int)tag_of(op));
    if (op->port)
        fprintf(w->file, " nic %u", op->port);
    fputc('\n', w->file);
    chain(w, true);
    if (op->kind == DCOLL_PUT)
        w->puts[w->nputs++] = w->label;
}

static void receive(struct writer *w, const dcoll_op_t *op)
{
    struct flow *f = flow_of(w, w->rank, op->peer, op->tag);
    if (op->lag)
        return;
    uint64_t bytes = f->taken < f->posted ? f->bytes[f->taken] : 0;
    f->taken++;
    fprintf(w->file, "l%u: recv %" PRIu64 "b from %u tag %d\n", ++w->label,
            bytes, op->peer, (int)op->tag);
    chain(w, false);
}

static void calculate(struct writer *w, double units)
{
    fprintf(w->file, "l%u: calc %.0f\n", ++w->label, round(units));
    chain(w, false);
}

static void complete(struct writer *w, const dcoll_op_t *op)
{
    const unsigned until = op->puts ? op->puts : w->nputs;
    if (w->closed >= until)
        return;
    calculate(w, 0);
    for (; w->closed < until; w->closed++)
        fprintf(w->file, "l%u requires l%u\n", w->label, w->puts[w->closed]);
}

static void operation(struct writer *w, const dcoll_op_t *op)
{
    if (dcoll_op_rests(op, 0))
        return;
    if (posts(op))
        send(w, op);
    else if (op->kind == DCOLL_WAIT)
        receive(w, op);
    else if (op->kind == DCOLL_COMPLETE)
        complete(w, op);
    else if ((double)op->bytes * w->unit >= 0.5)
        calculate(w, (double)op->bytes * w->unit);
}

static int write_rank(struct writer *w)
{
    const dcoll_schedule_t *s = &w->program->rank[w->rank];
    w->puts = calloc(s->nops + 1u, sizeof *w->puts);
    w->label = w->nputs = w->closed = 0;
    w->chained = false;
    if (!w->puts)
        return -1;
    fprintf(w->file, "\nrank %u {\n", w->rank);
    for (unsigned i = 0; i < s->nops; i++)
        operation(w, &s->ops[i]);
    fputs("}\n", w->file);
    free(w->puts);
    return 0;
}

int goal_write(FILE *file, const dcoll_program_t *program, double unit)
{
    const unsigned n = program->shape->nranks;
    struct writer w = {.file = file, .program = program, .unit = unit};
    w.flows = calloc((size_t)n * n * DCOLL_TAGS, sizeof *w.flows);
    int rc = w.flows ? record(&w, true) : -1;
    if (!rc)
        rc = record(&w, false);
    if (!rc)
        fprintf(file, "num_ranks %u\n", n);
    for (; !rc && w.rank < n; w.rank++)
        rc = write_rank(&w);
    for (size_t i = 0; w.flows && i < (size_t)n * n * DCOLL_TAGS; i++)
        free(w.flows[i].bytes);
    free(w.flows);
    return rc;
}

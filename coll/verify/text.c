/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences of the verifier. */
#include <stdarg.h>
#include <stdio.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

static void operation(const dcoll_op_t *op, char *text, size_t size)
{
    char seldom[32] = "";
    if (op->every)
        snprintf(seldom, sizeof seldom, ", once in %u", op->every);
    switch (op->kind) {
    case DCOLL_PUT:
        snprintf(text, size, "PUT of %zu bytes, %s+%zu to %s+%zu of rank %u",
                 op->bytes, dcoll_space_name(op->src.space), op->src.offset,
                 dcoll_space_name(op->dst.space), op->dst.offset, op->peer);
        break;
    case DCOLL_GET:
        snprintf(text, size, "GET of %zu bytes, %s+%zu of rank %u to %s+%zu",
                 op->bytes, dcoll_space_name(op->src.space), op->src.offset,
                 op->peer, dcoll_space_name(op->dst.space), op->dst.offset);
        break;
    case DCOLL_NOTIFY:
        snprintf(text, size, "NOTIFY %s to rank %u%s", dcoll_tag_name(op->tag),
                 op->peer, seldom);
        break;
    case DCOLL_WAIT:
        snprintf(text, size, "WAIT for %s from rank %u, lag %u%s",
                 dcoll_tag_name(op->tag), op->peer, op->lag, seldom);
        break;
    case DCOLL_COMPLETE:
        snprintf(text, size, "COMPLETE%s", op->puts ? " of the first" : "");
        break;
    case DCOLL_COPY:
        snprintf(text, size, "COPY of %zu bytes, %s+%zu to %s+%zu", op->bytes,
                 dcoll_space_name(op->src.space), op->src.offset,
                 dcoll_space_name(op->dst.space), op->dst.offset);
        break;
    case DCOLL_COMBINE:
        snprintf(text, size,
                 "COMBINE of %zu bytes, %s+%zu with %s+%zu to %s+%zu",
                 op->bytes, dcoll_space_name(op->src.space), op->src.offset,
                 dcoll_space_name(op->with.space), op->with.offset,
                 dcoll_space_name(op->dst.space), op->dst.offset);
        break;
    case DCOLL_SIGNAL:
        snprintf(text, size, "SIGNAL flag %u with %zu bytes%s", op->flag,
                 op->bytes, seldom);
        break;
    case DCOLL_AWAIT:
        snprintf(text, size, "AWAIT flag %u of rank %u, lag %u, %zu bytes%s",
                 op->flag, op->peer, op->lag, op->bytes, seldom);
        break;
    case DCOLL_OFFER:
        snprintf(text, size, "OFFER to %s+%zu", dcoll_space_name(op->dst.space),
                 op->dst.offset);
        break;
    case DCOLL_PACK:
        snprintf(text, size, "PACK to %s+%zu for the node of rank %u",
                 dcoll_space_name(op->dst.space), op->dst.offset, op->peer);
        break;
    case DCOLL_EXPECT:
        snprintf(text, size, "EXPECT from the node of rank %u", op->peer);
        break;
    case DCOLL_PICK:
        snprintf(text, size, "PICK from rank %u", op->peer);
        break;
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
    case DCOLL_DELIVER:
        snprintf(text, size, "%s from %s+%zu to %s+%zu",
                 dcoll_kind_name(op->kind), dcoll_space_name(op->src.space),
                 op->src.offset, dcoll_space_name(op->dst.space),
                 op->dst.offset);
        break;
    }
}

void verify_where(const struct verifier *v, unsigned rank, uint32_t what,
                  char *text, size_t size)
{
    const dcoll_schedule_t *s = schedule_of(v, rank);
    unsigned start = what / (s->nops + USER_OPS);
    unsigned op = what % (s->nops + USER_OPS);
    char kind[96];
    if (op >= s->nops) {
        snprintf(text, size, "start %u, the user of rank %u %s it", start, rank,
                 op - s->nops == USER_FILLS ? "before" : "after");
        return;
    }
    operation(&s->ops[op], kind, sizeof kind);
    snprintf(text, size, "start %u, operation %u of rank %u (%s)", start, op,
             rank, kind);
}

void verify_place(const struct verifier *v, const struct region *region,
                  size_t cell, char *text, size_t size)
{
    size_t offset = region->offset + cell * v->grain;
    if (region->kind == REGION_KEY)
        snprintf(text, size, "the key of rank %zu's RECV on rank %u",
                 region->offset, region->rank);
    else
        snprintf(text, size, "bytes %zu … %zu of rank %u's %s", offset,
                 offset + v->grain - 1, region->rank,
                 region->kind == REGION_LINE
                     ? "line"
                     : dcoll_space_name((dcoll_space_t)region->kind));
}

void verify_fail(struct verifier *v, const char *format, ...)
{
    va_list args;
    if (v->error)
        return;
    v->error = DRAIL_EINVAL;
    va_start(args, format);
    vsnprintf(v->why, v->size, format, args);
    va_end(args);
}

void verify_fail_at(struct verifier *v, unsigned rank, unsigned start,
                    unsigned op, const char *format, ...)
{
    char where[192], text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    verify_where(v, rank, what_of(v, rank, start, op), where, sizeof where);
    verify_fail(v, "%s: %s", where, text);
}

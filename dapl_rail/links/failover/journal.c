/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/journal.h"

#include <stddef.h>
#include <stdlib.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/memory/region.h"

#define FIRST_RECORDS 16u

static unsigned char *records_new(const struct journal *j, uint64_t mask)
{
    return alloc_lines((size_t)(mask + 1) << j->shift);
}

int journal_open(struct link *link)
{
    const drail_t *t = link->rail->owner;
    struct journal *j = &link->journal;
    unsigned rmrs = (t->nrails + 1) & ~1u, lines = 0;
    size_t bytes = offsetof(struct record, rmr) + rmrs * sizeof(uint32_t);
    for (unsigned r = 0; r < t->nrails; r++)
        if (!t->rails[r].info.is_delivering)
            return 0;
    if (t->nrails * t->cfg.eps == 1)
        return 0;
    j->rmrs = (uint8_t)rmrs;
    while ((size_t)CACHE_LINE << lines < bytes)
        lines++;
    j->shift = (uint8_t)((unsigned)__builtin_ctz(CACHE_LINE) + lines);
    j->mask = FIRST_RECORDS - 1;
    j->records = records_new(j, j->mask);
    return j->records ? 0 : DRAIL_ENOMEM;
}

int journal_grow(struct journal *j, const struct queue *q)
{
    uint64_t mask = 2 * j->mask + 1;
    unsigned char *records = records_new(j, mask);
    if (!records)
        return DRAIL_ENOMEM;
    for (uint64_t i = q->retired; i != q->posted; i++)
        memcpy(records + ((i & mask) << j->shift), journal_at(j, i),
               (size_t)1 << j->shift);
    free(j->records);
    j->records = records;
    j->mask = (uint32_t)mask;
    return 0;
}

void journal_close(struct link *link)
{
    free(link->journal.records);
    link->journal.records = NULL;
}

int journal_delivered(const struct link *link, uint64_t received,
                      uint64_t *delivered)
{
    const struct queue *q = &link->queue;
    uint64_t before = q->sent + link->credits.immeds;
    *delivered = q->retired;
    for (uint64_t i = q->retired; i != q->posted; i++)
        before -= takes_receive(journal_at(&link->journal, i)->verb);
    if (received < before)
        return -1;
    uint64_t left = received - before;
    for (uint64_t i = q->retired; left && i != q->posted; i++)
        if (takes_receive(journal_at(&link->journal, i)->verb)) {
            left--;
            *delivered = i + 1;
        }
    return left ? -1 : 0;
}

void journal_leave_out_placed(const struct link *link)
{
    for (uint64_t i = link->queue.retired; i < link->queue.placed; i++) {
        struct record *record = journal_at(&link->journal, i);
        if (record->verb == VERB_WRITE || record->verb == VERB_WRITE_IMMED)
            record->bytes = 0;
    }
}

struct dto journal_dto(const struct link *link, const struct record *r,
                       unsigned rail)
{
    DAT_LMR_CONTEXT lmr = r->verb == VERB_SEND ? link->slots.lmr_context
                          : r->region          ? r->region->lmr_context[rail]
                                               : 0;
    return (struct dto){
        .verb = r->verb,
        .immed = r->immed,
        .local = {.virtual_address = r->local,
                  .segment_length = r->bytes,
                  .lmr_context = lmr},
        .remote = {.virtual_address = r->remote,
                   .segment_length = r->bytes,
                   .rmr_context = r->remotes ? r->rmr[rail] : 0},
    };
}

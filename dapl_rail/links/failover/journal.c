/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/journal.h"

#include <stddef.h>
#include <stdlib.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/memory/region.h"

#define FIRST_RECORDS 16u /* more when so many are under way */

static unsigned char *records_new(const struct link *link, uint64_t mask)
{
    return alloc_lines((size_t)(mask + 1) << link->record_shift);
}

int journal_open(struct link *link)
{
    const drail_t *t = link->rail->owner;
    unsigned rmrs = (t->nrails + 1) & ~1u, lines = 0;
    size_t bytes = offsetof(struct record, rmr) + rmrs * sizeof(uint32_t);
    for (unsigned r = 0; r < t->nrails; r++)
        if (!t->rails[r].info.is_delivering)
            return 0;
    if (t->nrails * t->cfg.eps == 1)
        return 0;
    link->record_rmrs = (uint8_t)rmrs;
    while ((size_t)CACHE_LINE << lines < bytes)
        lines++;
    link->record_shift = (uint8_t)((unsigned)__builtin_ctz(CACHE_LINE) + lines);
    link->journal_mask = FIRST_RECORDS - 1;
    link->journal = records_new(link, link->journal_mask);
    return link->journal ? 0 : DRAIL_ENOMEM;
}

int journal_grow(struct link *link)
{
    uint64_t mask = 2 * link->journal_mask + 1;
    unsigned char *records = records_new(link, mask);
    if (!records)
        return DRAIL_ENOMEM;
    for (uint64_t i = link->retired; i != link->posted; i++)
        memcpy(records + ((i & mask) << link->record_shift),
               journal_at(link, i), (size_t)1 << link->record_shift);
    free(link->journal);
    link->journal = records;
    link->journal_mask = mask;
    return 0;
}

void journal_close(struct link *link)
{
    free(link->journal);
}

int journal_until(const struct link *link, uint64_t received, uint64_t *until)
{
    uint64_t before = link->sent + link->immeds;
    *until = link->retired;
    for (uint64_t i = link->retired; i != link->posted; i++)
        before -= is_told(journal_at(link, i)->verb);
    if (received < before)
        return -1;
    uint64_t left = received - before;
    for (uint64_t i = link->retired; left && i != link->posted; i++)
        if (is_told(journal_at(link, i)->verb)) {
            left--;
            *until = i + 1;
        }
    return left ? -1 : 0;
}

struct dto journal_dto(const struct link *link, const struct record *r,
                       unsigned rail)
{
    DAT_LMR_CONTEXT lmr = r->verb == VERB_SEND ? link->lmr_context
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "notes.h"
#include "bench/pair/result.h"

void notes_add(notes_t *notes, const char *format, ...)
{
    if (notes->count == NOTES_MAX)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(notes->text[notes->count++], sizeof *notes->text, format, args);
    va_end(args);
}

static void add_models(notes_t *notes, const drail_t *rail)
{
    for (unsigned i = 0; i < drail_nrails(rail); i++) {
        const drail_rail_info_t *info = drail_rail_at(rail, i);
        if (fabric_modelled(info->fabric))
            notes_add(notes, "rail %s is modelled: %s", info->name,
                      info->fabric);
    }
}

void notes_add_tails(notes_t *notes, unsigned rows)
{
    if (rows)
        notes_add(notes,
                  "%u row%s p99 below the median: the median is of whole "
                  "repeats, which hold the few interruptions above p99",
                  rows, rows == 1 ? " has" : "s have");
}

/* Notes only the first rail before @p a that shares a port, adapter or bus with
 * it. */
static void add_shared(notes_t *notes, const drail_t *rail, unsigned a)
{
    const char *shared = NULL;
    for (unsigned b = 0; b < a && !shared; b++) {
        shared = drail_rails_shared(rail, b, a);
        if (shared)
            notes_add(notes, "%s and %s: %s", drail_rail_at(rail, b)->name,
                      drail_rail_at(rail, a)->name, shared);
    }
}

unsigned notes_add_rails(notes_t *notes, const drail_t *rail)
{
    add_models(notes, rail);
    unsigned before = notes->count;
    for (unsigned a = 0; a < drail_nrails(rail); a++)
        add_shared(notes, rail, a);
    return notes->count - before;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs of changes (dsm/pages/pack.h) as other ranks' memory may have them:
 * nothing outside pack and space is accessed. What a rank packs itself is
 * carried out as it is meant. */
#include "dsm/pages/pack.h"
#include "dsm/pages/pages.h"
#include "fuzz.h"

enum { PAGE = 256, PAGES = 3, BYTES = PAGES * PAGE };

void pages_announce(ddsm_t *d, size_t page)
{
    (void)d;
    (void)page;
}

void pages_count_write(ddsm_t *d, size_t page)
{
    (void)d;
    (void)page;
}

/* Of exactly these bytes: a sanitizer sees accesses behind it. */
static char *memory(const void *from, size_t bytes)
{
    char *p = malloc(bytes ? bytes : 1);
    must(p != NULL);
    if (bytes)
        memcpy(p, from, bytes);
    return p;
}

static void apply_input(const uint8_t *data, size_t size)
{
    static const char zeros[BYTES];
    char *part = memory(data, size), *store = memory(zeros, BYTES);
    const ddsm_t d = {.store = store, .bytes = BYTES};
    pack_apply((ddsm_t *)&d, part, part + size);
    free(part);
    free(store);
}

/* The input says which bytes have changed. */
static void pack_input(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct page page[PAGES] = {0};
    struct page_cost cost[PAGES] = {0};
    struct pack_part parts[2];
    uint32_t dirty[PAGES] = {0, 1, 2}, grouped[PAGES];
    size_t group[3];
    char twins[BYTES] = {0}, now[BYTES];
    const unsigned few = input_byte(&in);
    const size_t room = input_byte(&in) * (size_t)16;
    char *pack = malloc(room + 1);
    const uint8_t shift = input_byte(&in) % 7;
    ddsm_t d = {
        .store = now,
        .twins = twins,
        .bytes = BYTES,
        .page_shift = 8,
        .size = 2,
        .page = page,
        .cost = cost,
        .dirty = {dirty, PAGES},
        .grouped = grouped,
        .group = group,
        .control = {.pack = pack, .pack_parts = parts, .pack_room = room}};
    must(pack != NULL);
    for (unsigned p = 0; p < PAGES; p++)
        page[p] = (struct page){.home = 1, .element_shift = shift};
    input_take(&in, now, BYTES);
    pack_changes(&d, &d.dirty, few);
    must(parts[1].bytes <= room);
    char *part = memory(pack + parts[1].offset, parts[1].bytes);
    char *home = memory(twins, BYTES);
    const ddsm_t at = {.store = home, .bytes = BYTES};
    must(pack_apply((ddsm_t *)&at, part, part + parts[1].bytes));
    for (unsigned p = 0; p < PAGES; p++)
        must(!memcmp(home + p * PAGE, (page[p].packed ? now : twins) + p * PAGE,
                     PAGE));
    free(part);
    free(home);
    free(pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apply_input(data, size);
    pack_input(data, size);
    return 0;
}

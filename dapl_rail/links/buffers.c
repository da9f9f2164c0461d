/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/buffers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/rail.h"

#define REGION_PIECES 64u /* at most */

struct buffers {
    struct buffers *next;
    void *memory;
    size_t bytes;
    int fd;
    bool kept; /* the provider has not deregistered some piece */
    struct piece pieces[];
};

static int allocate(struct rail *rail, struct buffers *b, size_t bytes)
{
    b->bytes = bytes;
    b->fd = -1;
    int error = memory_map(rail->owner, bytes, &b->memory, &b->fd);
    return error ? rail_fail(rail, DRAIL_ENOMEM,
                             "%s: no memory for %zu bytes: %s", rail->info.name,
                             bytes, strerror(error))
                 : 0;
}

static int enlist(struct rail *rail, struct piece *piece, size_t bytes)
{
    DAT_VLEN size;
    DAT_VADDR start;
    DAT_RMR_CONTEXT rmr;
    DAT_REGION_DESCRIPTION where = {.for_va = piece->start};
    DAT_RETURN status = dat_lmr_create(
        rail->ia, DAT_MEM_TYPE_VIRTUAL, where, bytes, rail->pz,
        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
        DAT_VA_TYPE_VA, &piece->lmr, &piece->lmr_context, &rmr, &size, &start);
    return status == DAT_SUCCESS ? 0 : dat_fail(rail, "dat_lmr_create", status);
}

static void end(struct buffers *b)
{
    if (b->memory && !b->kept) {
        munmap(b->memory, b->bytes);
        if (b->fd >= 0)
            close(b->fd);
    }
    free(b);
}

static int add(struct rail *rail, size_t bytes, unsigned pieces)
{
    struct buffers *b = calloc(1, sizeof *b + pieces * sizeof *b->pieces);
    if (!b)
        return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    int rc = allocate(rail, b, pieces * bytes);
    if (rc) {
        end(b);
        return rc;
    }
    for (unsigned i = pieces; i--;) {
        struct piece *piece = &b->pieces[i];
        *piece = (struct piece){.start = (unsigned char *)b->memory + i * bytes,
                                .of = b,
                                .next = rail->pieces};
        rail->pieces = piece;
    }
    rail->buffers_pieces += pieces;
    b->next = rail->buffers;
    rail->buffers = b;
    return 0;
}

int buffers_take(struct rail *rail, size_t bytes, struct piece **at)
{
    unsigned more = rail->buffers_pieces;
    more = !more ? 1 : more < REGION_PIECES ? more : REGION_PIECES;
    int rc = rail->pieces ? 0 : add(rail, bytes, more);
    if (rc && !rail->pieces && more > 1)
        rc = add(rail, bytes, 1);
    if (!rc)
        rc = enlist(rail, rail->pieces, bytes);
    if (rc)
        return rc;
    *at = rail->pieces;
    rail->pieces = (*at)->next;
    return 0;
}

void buffers_give(struct rail *rail, struct piece *piece)
{
    if (dat_lmr_free(piece->lmr) != DAT_SUCCESS) {
        piece->of->kept = true;
        return;
    }
    piece->next = rail->pieces;
    rail->pieces = piece;
}

void buffers_free(struct rail *rail)
{
    for (struct buffers *next; rail->buffers; rail->buffers = next) {
        next = rail->buffers->next;
        end(rail->buffers);
    }
    rail->pieces = NULL;
    rail->buffers_pieces = 0;
}

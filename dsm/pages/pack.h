/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs: changes that travel home together. A page may differ from its twin in
 * hundreds of pieces: doubles that have been written keep some of their bytes,
 * and only bytes that differ may be written home. An RDMA write for each piece
 * takes much longer than the bytes do.
 *
 * So in a barrier a rank lists the changes of such pages in its memory. Each
 * rank says in its arrival whether it has such a list, the pack. Homes then
 * read their parts, over all rails, and carry them out; all ranks meet before
 * any of them goes on. Outside barriers the rank asks the homes to do so, if
 * they serve packs (pack_server.h). Otherwise each piece is written home alone.
 */
#ifndef DSM_PAGES_PACK_H
#define DSM_PAGES_PACK_H

#include "dsm/base/space.h"

/* Outside barriers, pages with more changed pieces are packed: a pack takes
 * some messages to and fro there. A barrier packs pages with fewer pieces
 * (barrier.c). Pages with more pieces than this stay out of hot.h, whether
 * packs are served or not. */
enum { PACK_PIECES = 64 };

/* Bytes of a rank's pack; 0: it never has one. */
size_t pack_room(const ddsm_t *d);
/* Packs the changes of those pages of @dirty that have more than @few pieces,
 * and whose home is elsewhere. They are announced, and page.packed is set.
 * False: none. */
bool pack_changes(ddsm_t *d, const struct page_list *dirty, unsigned few);
/* Carries out a part of another rank's pack. False: it is wrong. */
bool pack_apply(ddsm_t *d, const char *from, const char *end);

#endif

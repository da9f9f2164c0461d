/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Homes that serve packs (pack.h) outside barriers. A rank that has written
 * pages in many pieces lists the changes in its memory and asks each home. The
 * home reads its part and carries it out, whatever its program does meanwhile:
 * in its progress thread, or where it waits for other ranks itself. Nobody else
 * may use the rails of a rank for long then (ddsm_config_t.serves_packs).
 */
#ifndef DSM_SYNC_PACK_SERVER_H
#define DSM_SYNC_PACK_SERVER_H

#include "dsm/base/space.h"

/* Reads this rank's part of another rank's pack, and carries it out. */
int pack_settle(ddsm_t *d, unsigned rank);
/* Serves what other ranks have asked for until now. */
int pack_serve(ddsm_t *d);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of all ranks, whether they are talked to or not: where they
 * live, and where their rails are asked for connections. Rows of equal size, no
 * longer than the longest name and address need.
 */
#ifndef DRAIL_LINKS_CONNECT_ROSTER_H
#define DRAIL_LINKS_CONNECT_ROSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct roster;

/* One row, as it is entered. */
struct entry {
    uint32_t host;      /* the first rank of the same host */
    uint32_t host_only; /* rails that reach nothing but their host */
    const char *host_name;
    DAT_CONN_QUAL conn_qual[DRAIL_MAX_RAILS];
    const struct sockaddr_storage *address[DRAIL_MAX_RAILS];
};

/* For names of hosts of up to 63 bytes, and any addresses; NULL: out of memory.
 * Freed by free(). */
struct roster *roster_new(unsigned ranks, unsigned nrails);
/* The same, still empty, for such as are no longer than this. */
struct roster *roster_fit(struct roster *r, size_t name_bytes,
                          size_t address_bytes);
/* Bytes of an address, up to its last that is not 0. */
size_t address_length(const struct sockaddr_storage *address);
void roster_enter(struct roster *r, unsigned rank, const struct entry *e);

/* Has any rank a rail that does not leave its host? */
bool roster_has_inside(const struct roster *r);
const char *roster_host_name(const struct roster *r, unsigned rank);
void roster_address(const struct roster *r, unsigned rank, unsigned rail,
                    struct sockaddr_storage *address, DAT_CONN_QUAL *qual);
/* Of two ranks: rails of networks, by which they reach one another anywhere,
 * and those which they use: on one host such that don't leave it, if there are
 * any, else those of networks. */
uint32_t roster_outside(const drail_t *t, unsigned a, unsigned b);
uint32_t roster_between(const drail_t *t, unsigned a, unsigned b);

#endif

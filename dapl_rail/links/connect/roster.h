/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts and addresses of all ranks, connected or not: a table with rows of
 * equal length, no longer than the longest name and address need. */
#ifndef DRAIL_LINKS_CONNECT_ROSTER_H
#define DRAIL_LINKS_CONNECT_ROSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct roster;

/* How one rank can be reached. */
struct entry {
    uint32_t host;      /* the first rank of the same host */
    uint32_t host_only; /* rails that reach only ranks of the same host */
    const char *host_name;
    DAT_CONN_QUAL conn_qual[DRAIL_MAX_RAILS];
    const struct sockaddr_storage *address[DRAIL_MAX_RAILS];
};

/* A roster for host names of up to 63 bytes and any addresses. NULL: out of
 * memory. The caller frees it with free(). */
struct roster *roster_new(unsigned ranks, unsigned nrails);
/* Shrinks an empty roster: names and addresses are no longer than this. Returns
 * the roster in its new place. */
struct roster *roster_fit(struct roster *r, size_t name_bytes,
                          size_t address_bytes);
/* Bytes of an address up to the last one that is not 0. */
size_t address_length(const struct sockaddr_storage *address);
void roster_enter(struct roster *r, unsigned rank, const struct entry *e);

/* Has any rank a rail that reaches only its host? */
bool roster_has_inside(const struct roster *r);
const char *roster_host_name(const struct roster *r, unsigned rank);
void roster_address(const struct roster *r, unsigned rank, unsigned rail,
                    struct sockaddr_storage *address, DAT_CONN_QUAL *qual);
/* Rails by which the two ranks reach each other on any hosts. */
uint32_t roster_outside(const drail_t *t, unsigned a, unsigned b);
/* Rails that the two ranks use: on one host those that reach only it, if there
 * are any; else roster_outside(). */
uint32_t roster_between(const drail_t *t, unsigned a, unsigned b);

#endif

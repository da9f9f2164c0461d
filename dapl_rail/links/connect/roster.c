/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/roster.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/handle.h"

/* A row: this, a DAT_CONN_QUAL and an address by rail, the host's name. */
struct head {
    uint32_t host, host_only;
};

#define NAME_MAX_BYTES 63u

struct roster {
    unsigned ranks, nrails;
    bool inside;
    size_t address_bytes, row_bytes;
    unsigned char rows[];
};

static size_t rail_bytes(const struct roster *r)
{
    return sizeof(DAT_CONN_QUAL) + r->address_bytes;
}

static size_t bytes_of(struct roster *r, size_t name_bytes,
                       size_t address_bytes)
{
    r->address_bytes = address_bytes;
    r->row_bytes =
        sizeof(struct head) + name_bytes + 1 + r->nrails * rail_bytes(r);
    return sizeof *r + r->ranks * r->row_bytes;
}

struct roster *roster_new(unsigned ranks, unsigned nrails)
{
    struct roster like = {.ranks = ranks, .nrails = nrails};
    struct roster *r = malloc(
        bytes_of(&like, NAME_MAX_BYTES, sizeof(struct sockaddr_storage)));
    if (r)
        *r = like;
    return r;
}

struct roster *roster_fit(struct roster *r, size_t name_bytes,
                          size_t address_bytes)
{
    struct roster *smaller = realloc(r, bytes_of(r, name_bytes, address_bytes));
    return smaller ? smaller : r;
}

size_t address_length(const struct sockaddr_storage *address)
{
    const unsigned char *bytes = (const unsigned char *)address;
    size_t n = sizeof *address;
    while (n && !bytes[n - 1])
        n--;
    return n;
}

void roster_enter(struct roster *r, unsigned rank, const struct entry *e)
{
    unsigned char *row = r->rows + rank * r->row_bytes;
    struct head head = {e->host, e->host_only};
    r->inside |= e->host_only != 0;
    memcpy(row, &head, sizeof head);
    row += sizeof head;
    for (unsigned i = 0; i < r->nrails; i++, row += rail_bytes(r)) {
        memcpy(row, &e->conn_qual[i], sizeof e->conn_qual[i]);
        memcpy(row + sizeof e->conn_qual[i], e->address[i], r->address_bytes);
    }
    strcpy((char *)row, e->host_name);
}

bool roster_has_inside(const struct roster *r)
{
    return r->inside;
}

static const unsigned char *row_of(const struct roster *r, unsigned rank)
{
    return r->rows + rank * r->row_bytes;
}

static struct head head_of(const drail_t *t, unsigned rank)
{
    struct head head;
    memcpy(&head, row_of(t->roster, rank), sizeof head);
    return head;
}

const char *roster_host_name(const struct roster *r, unsigned rank)
{
    return (const char *)row_of(r, rank) + sizeof(struct head) +
           r->nrails * rail_bytes(r);
}

void roster_address(const struct roster *r, unsigned rank, unsigned rail,
                    struct sockaddr_storage *address, DAT_CONN_QUAL *qual)
{
    const unsigned char *at =
        row_of(r, rank) + sizeof(struct head) + rail * rail_bytes(r);
    memcpy(qual, at, sizeof *qual);
    memset(address, 0, sizeof *address);
    memcpy(address, at + sizeof *qual, r->address_bytes);
}

uint32_t roster_outside(const drail_t *t, unsigned a, unsigned b)
{
    return all_rails(t) & ~(head_of(t, a).host_only | head_of(t, b).host_only);
}

uint32_t roster_between(const drail_t *t, unsigned a, unsigned b)
{
    struct head x = head_of(t, a), y = head_of(t, b);
    uint32_t inside = x.host == y.host ? x.host_only & y.host_only : 0;
    return inside ? inside : roster_outside(t, a, b);
}

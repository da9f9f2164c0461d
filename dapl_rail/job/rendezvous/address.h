/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of rank 0: their text, and sockets that listen or connect there. */
#ifndef DRAIL_JOB_ADDRESS_H
#define DRAIL_JOB_ADDRESS_H

#include <sys/socket.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/deadline.h"

#define ADDRESS_TEXT 80u /* bytes of an address and its port as text */
#define ADDRESS_MOST 12u /* addresses of one host; more are left out */

struct address {
    struct sockaddr_storage where;
    socklen_t bytes;
};

/* All addresses of one host. */
struct addresses {
    unsigned count;
    struct address list[ADDRESS_MOST];
};

/* From "host:port" or "[IPv6 address]:port"; looks the host up. DRAIL_EINVAL
 * when the text is wrong, or the host is not known. */
int address_find(struct addresses *a, const char *text, drail_error_t *err);
/* This host's addresses with this port; loopback addresses only if there are no
 * others. */
int address_own(struct addresses *a, unsigned port, drail_error_t *err);
/* From numeric addresses as address_text writes them, separated by blanks. */
int address_parse(struct addresses *a, const char *text);
void address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* A socket that listens on the first of these addresses that is this host's, or
 * a DRAIL_E…. If that is an alias of the loopback address, it listens on all
 * IPv4 addresses. */
int address_listen(const struct addresses *a, const char *name,
                   drail_error_t *err);
/* A socket that listens on all addresses of this host, and its port. */
int address_listen_any(unsigned *port, drail_error_t *err);
/* A connection before the deadline, or -1 with errno. */
int address_connect(const struct address *a, struct deadline deadline);

#endif

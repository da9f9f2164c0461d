/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet addresses, as people write them. */
#ifndef DRAIL_JOB_ADDRESS_H
#define DRAIL_JOB_ADDRESS_H

#include <sys/socket.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/deadline.h"

#define ADDRESS_TEXT 80u /* longest text of an address and its port */
#define ADDRESS_MOST 12u /* of one host */

struct address {
    struct sockaddr_storage where;
    socklen_t bytes;
};

/* Those of one place. */
struct addresses {
    unsigned count;
    struct address list[ADDRESS_MOST];
};

/* "host:port" or "[IPv6 address]:port"; the host is looked up. DRAIL_EINVAL
 * when the text is wrong, or the host not known. */
int address_find(struct addresses *a, const char *text, drail_error_t *err);
/* This host's, which others may reach; the loopback's only if there is no
 * other. */
int address_own(struct addresses *a, unsigned port, drail_error_t *err);
/* From text without names, as address_text writes them, between blanks. */
int address_parse(struct addresses *a, const char *text);
void address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* A socket that listens, or a DRAIL_E…. On the first of the addresses that is
 * this host's; on all of its IPv4 ones where that is an alias of the
 * loopback's.
 */
int address_listen(const struct addresses *a, const char *name,
                   drail_error_t *err);
/* ... on all addresses of this host and a port that is free. */
int address_listen_any(unsigned *port, drail_error_t *err);
/* A connection before the time is over, or -1 and errno. */
int address_connect(const struct address *a, struct deadline deadline);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting a connection request. */
#ifndef DRAIL_LINKS_CONNECT_ACCEPT_H
#define DRAIL_LINKS_CONNECT_ACCEPT_H

#include <dat2/udat.h>

struct link;
struct link_hello;

/* dat_cr_accept with the link's EP. The request is consumed, also on failure.
 */
DAT_RETURN request_accept(DAT_CR_HANDLE cr, const struct link *link,
                          struct link_hello *answer);

#endif

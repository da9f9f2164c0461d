/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending and accepting a connection request. */
#ifndef DRAIL_LINKS_CONNECT_CONN_REQUEST_H
#define DRAIL_LINKS_CONNECT_CONN_REQUEST_H

#include <dat2/udat.h>

struct link;
struct link_hello;
struct rail;

/* dat_ep_connect to this rank over the rail. */
DAT_RETURN conn_request_send(DAT_EP_HANDLE ep, const struct rail *rail,
                             unsigned rank, struct link_hello *hello);
/* dat_cr_accept with the link's EP. The request is consumed, also on failure.
 */
DAT_RETURN conn_request_accept(DAT_CR_HANDLE cr, const struct link *link,
                               struct link_hello *answer);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/conn_request.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/links/link.h"

/*
 * Without a timeout of the EP: over libdaplofa, an EP that has timed out does
 * not give its receives back, and its request lives on. The caller gives it up.
 */
DAT_RETURN conn_request_send(DAT_EP_HANDLE ep, const struct rail *rail,
                             unsigned rank, struct link_hello *hello)
{
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    roster_address(rail->owner->roster, rank, rail->index, &address, &qual);
    return dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, qual,
                          DAT_TIMEOUT_INFINITE, sizeof *hello, hello,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/*
 * A provider that lacks resources leaves the request, and its sender waits for
 * an answer: it is rejected. Any other failure may mean that the sender has
 * given up. Then libdaplofa has freed what the request points to, and to reject
 * it would crash.
 */
DAT_RETURN conn_request_accept(DAT_CR_HANDLE cr, const struct link *link,
                               struct link_hello *answer)
{
    DAT_RETURN status =
        dat_cr_accept(cr, link->ep.handle, sizeof *answer, answer);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        dat_cr_reject(cr, 0, NULL);
    return status;
}

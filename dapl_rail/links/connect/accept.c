/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/accept.h"

#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/links/link.h"

/*
 * A provider that lacks resources leaves the request, and its sender waits for
 * an answer: it is rejected. Any other failure may mean that the sender has
 * given up. Then libdaplofa has freed what the request points to, and to reject
 * it would crash.
 */
DAT_RETURN request_accept(DAT_CR_HANDLE cr, const struct link *link,
                          struct link_hello *answer)
{
    DAT_RETURN status =
        dat_cr_accept(cr, link->ep.handle, sizeof *answer, answer);
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        dat_cr_reject(cr, 0, NULL);
    return status;
}

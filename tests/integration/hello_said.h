/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for the provider's dat_ep_connect: the test that includes this may
 * change what a rank says when it connects, and where it goes. */
#ifndef TESTS_HELLO_SAID_H
#define TESTS_HELLO_SAID_H

#include "dapl_rail/links/connect/hello.h"
#include "ranks.h"
#include "tests/stand_in.h"

/* False: the request is lost, which its sender is not told. */
static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual);

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT us,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    struct link_hello hello;
    check((size_t)bytes == sizeof hello);
    memcpy(&hello, data, sizeof hello);
    if (!change_hello(ep, &hello, &qual))
        return DAT_SUCCESS;
    return real(dat_ep_connect)(ep, address, qual, us, bytes, &hello, qos,
                                flags);
}

#endif

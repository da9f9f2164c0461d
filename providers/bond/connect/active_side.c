/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that connects. */
#include "providers/bond/connect/connect.h"
#include "providers/bond/members/members.h"

DAT_RETURN bond_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                        const void *private_data)
{
    struct bond_ia *b = bond_ia(ep->o.ia);
    struct sockaddr_storage to = core_ep_remote(ep);
    struct bond_said said;
    DAT_COUNT bytes = bond_hello_say(b, BOND_FIRST, size, private_data, &said);
    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    pthread_mutex_lock(&b->lock);
    struct bond_conn *c = bond_conn_new(b, BOND_CONNECTING);
    struct bond_link *l =
        c && !bond_threads_start(b) ? bond_conn_attach(c, ep) : NULL;
    if (l) {
        c->active = true;
        ret = dat_ep_connect(l->ep, (DAT_IA_ADDRESS_PTR)&to, ep->remote_qual,
                             timeout_us > UINT32_MAX ? DAT_TIMEOUT_INFINITE
                                                     : (DAT_TIMEOUT)timeout_us,
                             bytes, &said, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG);
    }
    if (ret != DAT_SUCCESS && c) {
        bond_conn_detach(c);
        bond_conn_free(c);
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

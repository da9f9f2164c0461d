/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that listens and accepts. */
#include <stdlib.h>

#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/members/members.h"

DAT_RETURN bond_listen(struct core_sp *sp)
{
    struct bond_ia *b = bond_ia(sp->o.ia);
    struct bond_member *first = &b->member[BOND_FIRST_MEMBER];
    struct bond_listener *s = calloc(1, sizeof *s);
    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    if (!s)
        return ret;
    pthread_mutex_lock(&b->lock);
    s->sp = sp;
    if (!bond_threads_start(b))
        ret = bond_members_listen(b);
    if (ret == DAT_SUCCESS)
        ret = dat_psp_create(first->ia, sp->qual, first->conn,
                             DAT_PSP_CONSUMER_FLAG, &s->psp);
    if (ret == DAT_SUCCESS) {
        s->next = b->listeners;
        b->listeners = sp->tp = s;
    } else {
        free(s);
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

void bond_unlisten(struct core_sp *sp)
{
    struct bond_ia *b = bond_ia(sp->o.ia);
    struct bond_listener *s = sp->tp, **at = &b->listeners;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    dat_psp_free(s->psp);
    free(s);
}

static void refuse(struct bond_ia *b, DAT_CR_HANDLE cr, DAT_COUNT size,
                   const void *data)
{
    struct bond_said said;
    DAT_COUNT bytes = bond_hello_say(b, BOND_FIRST, size, data, &said);
    dat_cr_reject(cr, bytes, &said);
}

static bool offer(struct bond_ia *b, struct core_sp *sp,
                  const DAT_CR_PARAM *param, DAT_CR_HANDLE cr,
                  const struct bond_said *said)
{
    struct sockaddr_storage from = {0};
    struct bond_conn *c = bond_conn_new(b, BOND_OFFERED);
    if (!c)
        return false;
    bond_address_copy(&from, param->remote_ia_address_ptr);
    c->offered = cr;
    if (!core_cr_arrived(sp, c, &from, param->remote_port_qual, said->data,
                         said->hello.size))
        return true;
    bond_conn_free(c);
    return false;
}

/* If the service point is gone, the member's handle may be that of another one.
 */
static struct core_sp *find_sp(const struct bond_ia *b,
                               const DAT_CR_ARRIVAL_EVENT_DATA *d)
{
    struct bond_listener *s = b->listeners;
    while (s &&
           (s->psp != d->sp_handle.psp_handle || s->sp->qual != d->conn_qual))
        s = s->next;
    return s ? s->sp : NULL;
}

void bond_on_request(struct bond_member *m, const DAT_CR_ARRIVAL_EVENT_DATA *d)
{
    struct bond_ia *b = m->b;
    struct core_sp *sp = find_sp(b, d);
    DAT_CR_PARAM param = {0};
    struct bond_said said;
    if (dat_cr_query(d->cr_handle, DAT_CR_FIELD_ALL, &param) ||
        !bond_hello_read(param.private_data, param.private_data_size, &said)) {
        bond_say_no_bond(b);
        refuse(b, d->cr_handle, 0, NULL);
    } else if (said.hello.kind == BOND_JOIN) {
        bond_on_join_request(m, d->cr_handle, &said);
    } else if (said.hello.members != b->hash) {
        bond_say_different(b);
        refuse(b, d->cr_handle, 0, NULL);
    } else if (!sp || !offer(b, sp, &param, d->cr_handle, &said)) {
        refuse(b, d->cr_handle, 0, NULL);
    }
}

DAT_RETURN bond_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                       const void *private_data)
{
    struct bond_conn *c = cr->tp;
    struct bond_ia *b = c->b;
    struct bond_said said;
    DAT_COUNT bytes = bond_hello_say(b, BOND_FIRST, size, private_data, &said);
    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    pthread_mutex_lock(&b->lock);
    struct bond_link *l = bond_conn_attach(c, ep);
    if (l)
        ret = dat_cr_accept(c->offered, l->ep, bytes, &said);
    if (!bond_request_gone(ret)) { /* it can still be rejected */
        bond_conn_detach(c);
        c->state = BOND_OFFERED;
    } else if (ret != DAT_SUCCESS) {
        bond_link_drop(l);
        bond_conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        ret = DAT_SUCCESS;
    }
    pthread_mutex_unlock(&b->lock);
    return ret;
}

void bond_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct bond_conn *c = cr->tp;
    struct bond_ia *b = c->b;
    pthread_mutex_lock(&b->lock);
    refuse(b, c->offered, size, private_data);
    bond_conn_free(c);
    pthread_mutex_unlock(&b->lock);
}

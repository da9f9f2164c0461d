/* SPDX-License-Identifier: BSD-3-Clause */
/* The members: opening and closing them, their abilities, and the service
 * points where links join connections. */
#include <limits.h>
#include <stdio.h>

#include "providers/core/extensions.h"

#include "providers/bond/members/members.h"

#define CONN_EVENTS 4096
#define DTO_EVENTS  1024  /* without links */
#define DTO_ROOM    16384 /* at first */

#define OWN "dapl_rail " /* begins the names of our providers */

/* While a bond opens its members, no bond opens: else a bond that lists itself
 * would open itself for ever. */
static _Thread_local bool opening;

static const char *why_not_open(DAT_RETURN ret)
{
    switch (DAT_GET_TYPE(ret)) {
    case DAT_PROVIDER_NOT_FOUND:
        return "dat.conf has no rail of this name";
    case DAT_INSUFFICIENT_RESOURCES:
        return "the rail does not open: too few resources";
    default:
        return "the rail does not open";
    }
}

static int bad(const struct bond_member *m, const char *why)
{
    return bond_member_bad(m->b->ia->name, m->b->params.names[m->index], why);
}

static int open_events(struct bond_member *m)
{
    return dat_cno_create(m->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &m->cno) ||
           dat_evd_create(m->ia, m->room, m->cno,
                          DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, &m->dto) ||
           dat_evd_create(m->ia, CONN_EVENTS, DAT_HANDLE_NULL,
                          DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG |
                              DAT_EVD_SOFTWARE_FLAG,
                          &m->conn);
}

static unsigned least(unsigned a, DAT_COUNT b)
{
    return b < 0 || (unsigned)b < a ? (unsigned)(b < 0 ? 0 : b) : a;
}

/* The bond can do no more than each of its members. */
static void limit(struct bond_ia *b, const DAT_IA_ATTR *ia,
                  const DAT_PROVIDER_ATTR *provider)
{
    struct core_ability *can = &b->ia->can;
    DAT_COUNT head = (DAT_COUNT)sizeof(struct bond_hello);
    b->send_segments =
        least(b->send_segments, ia->max_iov_segments_per_dto - 1);
    can->max_rdma_iov =
        least(can->max_rdma_iov, ia->max_iov_segments_per_rdma_read);
    can->max_rdma_iov =
        least(can->max_rdma_iov, ia->max_iov_segments_per_rdma_write);
    can->max_rdma_reads =
        least(can->max_rdma_reads, ia->max_rdma_read_per_ep_out);
    can->max_private_data =
        least(can->max_private_data, provider->max_private_data_size - head);
    if (ia->max_rdma_size < can->max_rdma_size)
        can->max_rdma_size = ia->max_rdma_size;
}

static bool reaches_host_only(const DAT_PROVIDER_ATTR *provider)
{
    const char *scope = dapl_provider_attribute(provider, "scope");
    return scope && !strcmp(scope, "host");
}

/* Reads a member's attributes. -1 after one line on stderr. */
static int look_at(struct bond_member *m)
{
    struct bond_ia *b = m->b;
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;
    if (dat_ia_query(m->ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL,
                     &provider))
        return bad(m, "the rail has no attributes");
    m->own = !strncmp(provider.provider_name, OWN, strlen(OWN));
    m->counts = dapl_provider_attribute(&provider, DAPL_COUNTED_WRITES) != NULL;
    m->syncs = dapl_provider_attribute(&provider, DAPL_SYNC_RDMA) != NULL;
    bond_address_copy(&m->address, ia.ia_address_ptr);
    limit(b, &ia, &provider);
    m->room = (DAT_COUNT)least(m->own ? DTO_ROOM : UINT_MAX, ia.max_evd_qlen);
    m->of_host = reaches_host_only(&provider);
    b->of_host = b->of_host || m->of_host;
    b->foreign = b->foreign || !m->own;
    b->syncs = b->syncs && m->syncs;
    if (!b->send_segments)
        return bad(m, "the rail can't gather");
    return 0;
}

/* Is it an IA of the sim provider, whose rails have a clock of their own? */
static bool is_simulated(DAT_IA_HANDLE ia)
{
    DAT_PROVIDER_ATTR provider;
    return !dat_ia_query(ia, NULL, DAT_IA_FIELD_NONE, NULL,
                         DAT_PROVIDER_FIELD_PROVIDER_NAME, &provider) &&
           !strcmp(provider.provider_name, OWN "sim");
}

int bond_member_ia_open(const char *bond, const char *member, DAT_COUNT qlen,
                        DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
    DAT_EVD_HANDLE before = *async;
    if (opening)
        return bond_member_bad(bond, member,
                               "a bond can't be a member of a bond");
    opening = true;
    DAT_RETURN ret = dat_ia_open((DAT_NAME_PTR)member, qlen, async, ia);
    opening = false;
    if (ret != DAT_SUCCESS)
        return bond_member_bad(bond, member, why_not_open(ret));
    if (!is_simulated(*ia))
        return 0;
    dat_ia_close(*ia, DAT_CLOSE_ABRUPT_FLAG);
    *async = before;
    return bond_member_bad(bond, member, "a simulated rail can't be bonded");
}

static int member_open(struct bond_member *m)
{
    struct bond_ia *b = m->b;
    if (bond_member_ia_open(b->ia->name, b->params.names[m->index], 8,
                            &m->async, &m->ia)) {
        m->ia = DAT_HANDLE_NULL;
        return -1;
    }
    if (look_at(m))
        return -1;
    if (open_events(m))
        return bad(m, "the rail gives no event queues");
    return 0;
}

/* libdaplofa keeps the queue pair of an EP whose dat_cr_accept() has failed,
 * and so its EVD. To close the IA would then fail an assertion: it stays open.
 */
static void member_close(struct bond_member *m)
{
    if (!m->own && m->dto && dat_evd_free(m->dto) != DAT_SUCCESS)
        return;
    dat_ia_close(m->ia, DAT_CLOSE_ABRUPT_FLAG);
}

void bond_members_close(struct bond_ia *b)
{
    for (unsigned i = 0; i < b->params.count; i++)
        bond_release_all(&b->member[i]); /* their zones are of all members */
    for (unsigned i = 0; i < b->params.count; i++)
        if (b->member[i].ia)
            member_close(&b->member[i]);
}

int bond_members_open(struct bond_ia *b)
{
    b->send_segments = CORE_MAX_IOV;
    b->syncs = true;
    for (unsigned i = 0; i < b->params.count; i++) {
        struct bond_member *m = &b->member[i];
        *m = (struct bond_member){.b = b, .index = i};
        if (member_open(m)) {
            bond_members_close(b);
            return -1;
        }
    }
    return 0;
}

DAT_RETURN bond_members_listen(struct bond_ia *b)
{
    DAT_RETURN ret = DAT_SUCCESS;
    for (unsigned i = 0; i < b->params.count && ret == DAT_SUCCESS; i++) {
        struct bond_member *m = &b->member[i];
        if (!m->join_psp)
            ret = dat_psp_create_any(m->ia, &m->join_qual, m->conn,
                                     DAT_PSP_CONSUMER_FLAG, &m->join_psp);
    }
    return ret;
}

/* In libdaplofa, dat_evd_resize() of an EVD with EPs never returns. */
bool bond_member_room(struct bond_member *m, DAT_COUNT events)
{
    DAT_COUNT all = DTO_EVENTS + m->events + events;
    if (all > m->room && (!m->own || dat_evd_resize(m->dto, all)))
        return false;
    m->room = all > m->room ? all : m->room;
    m->events += events;
    return true;
}

void bond_member_forget_errors(struct bond_member *m)
{
    DAT_EVENT e;
    while (dat_evd_dequeue(m->async, &e) == DAT_SUCCESS)
        ;
}

int bond_evd_wake(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    return dat_evd_post_se(evd, &event) == DAT_SUCCESS ? 0 : -1;
}

/* One event at a time: the queue must have room for the member's own events. */
void bond_thread_wake(struct bond_ia *b)
{
    if (!atomic_exchange(&b->woken, true) &&
        bond_evd_wake(b->member[BOND_FIRST_MEMBER].conn))
        atomic_store(&b->woken, false);
}

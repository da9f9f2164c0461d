/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of scripts/degrade-any over libfabric: messages of reliable
 * datagram endpoints (FI_EP_RDM). Behind the stream's arguments: PROVIDER
 * ADDRESS RANK HOST:PORT, with the address that the endpoint is to be on, or -
 * where the provider's own variables say that (ofi_mrail).
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "meet.h"
#include "stream.h"

#define API FI_VERSION(1, 11)

typedef struct library {
    stream_t stream;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *mr; /* where the provider wants one */
    fi_addr_t peer;
    struct fi_context2 contexts[STREAM_SLOTS_MAX];
    bool done[STREAM_SLOTS_MAX];
    char error[256];
} library_t;

static void check(long rc, const char *call)
{
    if (rc < 0)
        stream_die(call, fi_strerror((int)-rc));
}

/* ------------------------------------------------------------- stream --- */

static int told(library_t *l, const char *call, long rc)
{
    if (!rc)
        return 1;
    if (rc == -FI_EAGAIN)
        return 0;
    snprintf(l->error, sizeof l->error, "%s: %s", call, fi_strerror((int)-rc));
    return -1;
}

static int told_of_queue(library_t *l)
{
    struct fi_cq_err_entry entry = {0};
    char text[128] = "";
    if (fi_cq_readerr(l->cq, &entry, 0) < 0)
        return told(l, "fi_cq_readerr", -FI_EOTHER);
    snprintf(l->error, sizeof l->error, "%s: %s", fi_strerror(entry.err),
             fi_cq_strerror(l->cq, entry.prov_errno, entry.err_data, text,
                            sizeof text));
    return -1;
}

/* It makes progress, too. */
static int poll_queue(library_t *l)
{
    struct fi_cq_entry entries[16];
    long n = fi_cq_read(l->cq, entries, 16);
    if (n == -FI_EAVAIL)
        return told_of_queue(l);
    if (n == -FI_EAGAIN)
        return 0;
    if (n < 0)
        return told(l, "fi_cq_read", n);
    for (long i = 0; i < n; i++)
        l->done[(struct fi_context2 *)entries[i].op_context - l->contexts] =
            true;
    return 0;
}

/* Where a queue is full, progress makes room. */
static int begun(library_t *l, const char *call, long rc)
{
    int told_rc = told(l, call, rc);
    return told_rc ? told_rc : poll_queue(l);
}

static int fabric_send(void *library, unsigned slot, size_t bytes)
{
    library_t *l = library;
    return begun(l, "fi_send",
                 fi_send(l->ep, stream_slot(&l->stream, slot), bytes,
                         l->mr ? fi_mr_desc(l->mr) : NULL, l->peer,
                         &l->contexts[slot]));
}

static int fabric_receive(void *library, unsigned slot)
{
    library_t *l = library;
    return begun(l, "fi_recv",
                 fi_recv(l->ep, stream_slot(&l->stream, slot), l->stream.stride,
                         l->mr ? fi_mr_desc(l->mr) : NULL, FI_ADDR_UNSPEC,
                         &l->contexts[slot]));
}

static int fabric_test(void *library, unsigned slot)
{
    library_t *l = library;
    if (!l->done[slot] && poll_queue(l) < 0)
        return -1;
    bool done = l->done[slot];
    l->done[slot] = false;
    return done;
}

static const char *fabric_error(void *library)
{
    return ((library_t *)library)->error;
}

static const stream_ops_t ops = {fabric_send, fabric_receive, fabric_test,
                                 fabric_error};

/* -------------------------------------------------------------- start --- */

static void find_provider(library_t *l, const char *name, const char *address)
{
    struct fi_info *hints = fi_allocinfo();
    bool placed = strcmp(address, "-") != 0;
    if (!hints)
        check(-FI_ENOMEM, "fi_allocinfo");
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(name);
    check(fi_getinfo(API, placed ? address : NULL, NULL, placed ? FI_SOURCE : 0,
                     hints, &l->info),
          "fi_getinfo");
    fi_freeinfo(hints);
}

static void open_endpoint(library_t *l)
{
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = 2};
    struct fi_cq_attr cq_attr = {.size = 2 * STREAM_SLOTS_MAX,
                                 .format = FI_CQ_FORMAT_CONTEXT};
    check(fi_fabric(l->info->fabric_attr, &l->fabric, NULL), "fi_fabric");
    check(fi_domain(l->fabric, l->info, &l->domain, NULL), "fi_domain");
    check(fi_endpoint(l->domain, l->info, &l->ep, NULL), "fi_endpoint");
    check(fi_av_open(l->domain, &av_attr, &l->av, NULL), "fi_av_open");
    check(fi_cq_open(l->domain, &cq_attr, &l->cq, NULL), "fi_cq_open");
    check(fi_ep_bind(l->ep, &l->av->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(l->ep, &l->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(l->ep), "fi_enable");
    if (l->info->domain_attr->mr_mode & FI_MR_LOCAL)
        check(fi_mr_reg(l->domain, l->stream.memory,
                        stream_capacity(&l->stream), FI_SEND | FI_RECV, 0, 1, 0,
                        &l->mr, NULL),
              "fi_mr_reg");
}

static void exchange_addresses(library_t *l, const meet_t *meet)
{
    meet_card_t mine = {.length = MEET_ADDRESS_MAX}, other;
    check(fi_getname(&l->ep->fid, mine.address, &mine.length), "fi_getname");
    meet_exchange(meet, &mine, &other, sizeof mine);
    if (fi_av_insert(l->av, other.address, 1, &l->peer, 0, NULL) != 1)
        check(-FI_EADDRNOTAVAIL, "fi_av_insert");
}

static void close_endpoint(library_t *l)
{
    struct fid *fids[] = {&l->ep->fid,     l->mr ? &l->mr->fid : NULL,
                          &l->cq->fid,     &l->av->fid,
                          &l->domain->fid, &l->fabric->fid};
    for (unsigned i = 0; i < sizeof fids / sizeof *fids; i++)
        if (fids[i])
            fi_close(fids[i]);
    fi_freeinfo(l->info);
}

int main(int argc, char **argv)
{
    library_t l = {0};
    stream_parse(&l.stream, argc, argv);
    if (argc != 9)
        stream_die("arguments", "allowed: … PROVIDER ADDRESS RANK HOST:PORT");
    stream_allocate(&l.stream);
    meet_t meet = meet_open(argv[7], argv[8]);
    find_provider(&l, argv[5], argv[6]);
    open_endpoint(&l);
    exchange_addresses(&l, &meet);
    if (meet.rank == 0) {
        uint32_t version = fi_version();
        printf("# libfabric %u.%u, provider %s\n", FI_MAJOR(version),
               FI_MINOR(version), l.info->fabric_attr->prov_name);
        fflush(stdout);
    }
    int status = stream_run(&l.stream, meet.rank, &ops, &l);
    if (status)
        _Exit(status); /* what is left of the endpoint may never end */
    meet_close(&meet);
    close_endpoint(&l);
    free(l.stream.memory);
    return 0;
}

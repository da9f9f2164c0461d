/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of libfabric that an IA opens. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ofi.h"

#define LONGEST (1u << 30) /* bytes of a message or RDMA */

static socklen_t address_size(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                   : sizeof(struct sockaddr_in6);
}

/* Over TCP, the provider can choose keys and addresses: DAT names memory by its
 * address and 32 bits. Adapters choose keys of their own, of as many bits. */
static bool is_tcp(const struct ofi_ia *oia)
{
    return strcmp(oia->params.provider, "verbs") != 0;
}

static struct fi_info *hints_for(const struct ofi_ia *oia)
{
    struct fi_info *h = fi_allocinfo();
    if (!h)
        return NULL;
    socklen_t size = address_size(&oia->ia->address);
    h->ep_attr->type = FI_EP_MSG;
    h->caps = FI_MSG | FI_RMA;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->domain_attr->mr_mode =
        is_tcp(oia)
            ? FI_MR_VIRT_ADDR
            : FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    h->domain_attr->threading = FI_THREAD_SAFE;
    h->fabric_attr->prov_name = strdup(oia->params.provider);
    h->addr_format = oia->ia->address.ss_family == AF_INET ? FI_SOCKADDR_IN
                                                           : FI_SOCKADDR_IN6;
    h->src_addr = malloc(size);
    h->src_addrlen = size;
    if (h->fabric_attr->prov_name && h->src_addr) {
        memcpy(h->src_addr, &oia->ia->address, size);
        return h;
    }
    fi_freeinfo(h);
    return NULL;
}

static int failed(const struct ofi_ia *oia, const char *what, long err)
{
    fprintf(stderr, "dapl ofi: rail %s: %s: %s\n", oia->ia->name, what,
            fi_strerror((int)-err));
    return -1;
}

static int find_info(struct ofi_ia *oia)
{
    struct fi_info *hints = hints_for(oia);
    if (!hints)
        return failed(oia, "fi_getinfo", -FI_ENOMEM);
    int err = fi_getinfo(OFI_API, NULL, NULL, 0, hints, &oia->info);
    fi_freeinfo(hints);
    if (err) {
        char what[128];
        snprintf(what, sizeof what, "libfabric's %s offers nothing on %s",
                 oia->params.provider, oia->device);
        return failed(oia, what, err);
    }
    if (is_tcp(oia)) /* addresses are virtual addresses, not offsets */
        oia->info->domain_attr->mr_mode = FI_MR_VIRT_ADDR;
    oia->local_keys = oia->info->domain_attr->mr_mode & FI_MR_LOCAL;
    oia->talks = is_tcp(oia);
    return 0;
}

struct fi_info *ofi_fabric_info(struct ofi_ia *oia, uint16_t port)
{
    struct fi_info *info = fi_dupinfo(oia->info);
    if (!info)
        return NULL;
    struct sockaddr *a = info->src_addr;
    if (a->sa_family == AF_INET)
        ((struct sockaddr_in *)a)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)a)->sin6_port = htons(port);
    return info;
}

static unsigned least(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* Limits the IA to what this network can do. */
static int limit(struct ofi_ia *oia)
{
    struct core_ability *can = &oia->ia->can;
    const struct fi_info *info = oia->info;
    size_t data = 0, size = sizeof data;
    int err = fi_passive_ep(oia->fabric, oia->info, &oia->rejecter, oia);
    if (err)
        return failed(oia, "fi_passive_ep", err);
    err = fi_getopt(&oia->rejecter->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE,
                    &data, &size);
    if (err || data < sizeof(struct ofi_hello))
        return failed(oia, "FI_OPT_CM_DATA_SIZE", err ? err : -FI_ETOOSMALL);
    can->max_private_data =
        least(data - sizeof(struct ofi_hello), CORE_MAX_PRIVATE_DATA);
    can->max_iov =
        least(least(info->tx_attr->iov_limit, info->rx_attr->iov_limit),
              can->max_iov);
    can->max_rdma_iov = least(info->tx_attr->iov_limit, can->max_rdma_iov);
    if (info->ep_attr->max_msg_size < LONGEST)
        can->max_message_size = can->max_rdma_size =
            info->ep_attr->max_msg_size;
    can->write_immed = can->grows = can->counts = oia->talks;
    return 0;
}

static int wait_fd(struct ofi_ia *oia, struct fid *fid, int *fd)
{
    int err = fi_control(fid, FI_GETWAIT, fd);
    return err ? failed(oia, "FI_GETWAIT", err) : 0;
}

static int open_queues(struct ofi_ia *oia)
{
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr cq = {
        .wait_obj = FI_WAIT_FD, .format = FI_CQ_FORMAT_DATA, .size = 16384};
    int err = fi_eq_open(oia->fabric, &eq, &oia->eq, oia);
    if (err)
        return failed(oia, "fi_eq_open", err);
    err = fi_cq_open(oia->domain, &cq, &oia->cq, oia);
    if (err)
        return failed(oia, "fi_cq_open", err);
    if (wait_fd(oia, &oia->eq->fid, &oia->eq_fd) ||
        wait_fd(oia, &oia->cq->fid, &oia->cq_fd))
        return -1;
    ofi_signal_find(oia);
    return 0;
}

static int open_control(struct ofi_ia *oia)
{
    if (!oia->talks)
        return 0;
    int err =
        fi_mr_reg(oia->domain, &oia->control_word, sizeof oia->control_word,
                  FI_REMOTE_WRITE, 0, OFI_CONTROL_KEY, 0, &oia->control, NULL);
    return err ? failed(oia, "fi_mr_reg", err) : 0;
}

DAT_RETURN ofi_fabric_open(struct ofi_ia *oia)
{
    int err = find_info(oia);
    if (!err &&
        (err = fi_fabric(oia->info->fabric_attr, &oia->fabric, oia)) != 0)
        failed(oia, "fi_fabric", err);
    if (!err && (err = fi_domain(oia->fabric, oia->info, &oia->domain, oia)))
        failed(oia, "fi_domain", err);
    if (!err)
        err = open_queues(oia);
    if (!err)
        err = open_control(oia);
    if (!err)
        err = limit(oia);
    if (!err)
        return DAT_SUCCESS;
    ofi_fabric_close(oia);
    return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
}

void ofi_fabric_close(struct ofi_ia *oia)
{
    struct fid *all[] = {oia->rejecter ? &oia->rejecter->fid : NULL,
                         oia->control ? &oia->control->fid : NULL,
                         oia->cq ? &oia->cq->fid : NULL,
                         oia->eq ? &oia->eq->fid : NULL,
                         oia->domain ? &oia->domain->fid : NULL,
                         oia->fabric ? &oia->fabric->fid : NULL};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            fi_close(all[i]);
    if (oia->info)
        fi_freeinfo(oia->info);
}

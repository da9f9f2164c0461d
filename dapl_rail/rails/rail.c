/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/platform/resources.h"
#include "dapl_rail/rails/fail.h"
#include "dapl_rail/rails/network.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/rails/signal_handlers.h"
#include "providers/core/extensions.h"
#include "providers/core/keep_loaded.h"
#include "providers/embedded/embedded.h"

#define ASYNC_QLEN 64
#define CM_QLEN    256 /* at least, of connection events and requests */

static unsigned not_negative(DAT_COUNT value)
{
    return value < 0 ? 0 : (unsigned)value;
}

static void copy_name(char *to, const char *from)
{
    snprintf(to, DRAIL_NAME_MAX, "%.*s", DRAIL_NAME_MAX - 1, from);
}

static bool offers(const DAT_PROVIDER_ATTR *attr, const char *name)
{
    const char *value = dapl_provider_attribute(attr, name);
    return value && strcasecmp(value, "FALSE") && strcmp(value, "0");
}

/* In MB/s; 0: not given. */
static double rate_of(const DAT_PROVIDER_ATTR *attr, const char *name)
{
    const char *value = dapl_provider_attribute(attr, name);
    double rate = value ? strtod(value, NULL) : 0;
    return rate > 0 ? rate : 0;
}

static size_t address_size(const DAT_SOCK_ADDR *address)
{
    switch (address->sa_family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_UNIX:
        return sizeof(struct sockaddr_un);
    default: /* the size that DAT providers reserve */
        return sizeof(DAT_SOCK_ADDR6);
    }
}

static void address_text(const struct sockaddr_storage *address, char *text)
{
    const void *in = address;
    char buf[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)in)->sin_addr, buf,
                  sizeof buf);
    else if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)in)->sin6_addr, buf,
                  sizeof buf);
    else
        snprintf(buf, sizeof buf, "family %u", address->ss_family);
    copy_name(text, buf);
}

/* "%.49s": the name leaves room for the model. */
static void describe_fabric(struct rail *rail,
                            const DAT_PROVIDER_ATTR *provider,
                            const char *model)
{
    drail_rail_info_t *info = &rail->info;
    const char *scope = dapl_provider_attribute(provider, "scope");
    const char *fabric = dapl_provider_attribute(provider, "fabric");
    if (!fabric)
        fabric = dapl_provider_attribute(provider, "DAT_IB_DEVICE_NAME")
                     ? "verbs"
                     : provider->provider_name;
    snprintf(info->fabric, sizeof info->fabric, "%.49s%s", fabric, model);
    info->host_only = scope && !strcmp(scope, "host");
    network_of(&rail->address, info->network, sizeof info->network);
}

/* Does a completion mean that the data are delivered? DAT promises only that
 * the buffer may be used again. A provider may promise more by an attribute;
 * over an IB transport, which its extensions show, the target has acknowledged.
 */
static bool is_delivering(const DAT_PROVIDER_ATTR *provider)
{
    const char *completion = dapl_provider_attribute(provider, "completion");
    if (completion)
        return !strcmp(completion, "delivered");
    return dapl_provider_attribute(provider, "DAT_IB_DEVICE_NAME") &&
           offers(provider, DAT_IB_ATTR_IMMED_DATA);
}

static void describe(struct rail *rail, const DAT_IA_ATTR *ia,
                     const DAT_PROVIDER_ATTR *provider)
{
    drail_rail_info_t *info = &rail->info;
    copy_name(info->adapter, ia->adapter_name);
    copy_name(info->vendor, ia->vendor_name);
    copy_name(info->provider, provider->provider_name);
    if (ia->ia_address_ptr) {
        memcpy(&rail->address, ia->ia_address_ptr,
               address_size(ia->ia_address_ptr));
        address_text(&rail->address, info->address);
    }
    info->dapl_major = provider->dapl_version_major;
    info->dapl_minor = provider->dapl_version_minor;
    info->max_message = ia->max_message_size;
    info->max_rdma = ia->max_rdma_size;
    info->max_dto = not_negative(ia->max_dto_per_ep);
    info->max_evd_qlen = not_negative(ia->max_evd_qlen);
    info->max_iov = not_negative(ia->max_iov_segments_per_dto);
    info->max_rdma_read_out = not_negative(ia->max_rdma_read_per_ep_out);
    info->max_private_data = not_negative(provider->max_private_data_size);
    info->thread_safe = provider->is_thread_safe == DAT_TRUE;
    info->has_write_immed = offers(provider, DAT_IB_ATTR_IMMED_DATA);
    info->has_atomics = offers(provider, DAT_IB_ATTR_FETCH_AND_ADD) &&
                        offers(provider, DAT_IB_ATTR_CMP_AND_SWAP);
    const char *progress = dapl_provider_attribute(provider, "progress");
    info->is_polled = progress && !strcmp(progress, "polled");
    info->is_delivering = is_delivering(provider);

    info->nominal_MBps = rate_of(provider, "link_rate_MBps");
    info->adapter_MBps = rate_of(provider, "adapter_rate_MBps");
    info->bus_MBps = rate_of(provider, "bus_rate_MBps");
    const char *bus = dapl_provider_attribute(provider, "bus");
    copy_name(info->bus, bus ? bus : "");
    const char *model = dapl_provider_attribute(provider, "link_model");
    const char *copies = dapl_provider_attribute(provider, "copies");
    snprintf(info->copies, sizeof info->copies, "%.159s", copies ? copies : "");
    const char *members = dapl_provider_attribute(provider, "members");
    snprintf(info->members, sizeof info->members, "%.255s",
             members ? members : "");
    describe_fabric(rail, provider, model ? " (link model)" : "");
    snprintf(info->link_model, sizeof info->link_model, "%.255s",
             model ? model : "");
}

static int query(struct rail *rail)
{
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;
    memset(&ia, 0, sizeof ia);
    memset((void *)&provider, 0, sizeof provider);
    DAT_RETURN status = dat_ia_query(rail->ia, NULL, DAT_IA_FIELD_ALL, &ia,
                                     DAT_PROVIDER_FIELD_ALL, &provider);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_ia_query", status);
    describe(rail, &ia, &provider);
    const char *inline_send =
        dapl_provider_attribute(&provider, DAPL_MAX_INLINE_SEND);
    if (inline_send)
        rail->max_inline_send = (uint32_t)strtoul(inline_send, NULL, 10);
    rail->places_receives = offers(&provider, DAPL_PLACES_RECEIVES);
    rail->growing_sends = offers(&provider, DAPL_GROWING_SENDS);
    rail->direct_messages = offers(&provider, DAPL_DIRECT_MESSAGES);
    rail->tries_free = offers(&provider, DAPL_LMR_TRY_FREE);
    const char *atomics = dapl_provider_attribute(&provider, "atomics");
    rail->atomics_of_processor = atomics && !strcmp(atomics, "processor");
    /* elsewhere registered memory takes physical memory at once */
    const char *registration =
        dapl_provider_attribute(&provider, "registration");
    rail->split_receives = registration && !strcmp(registration, "lazy") &&
                           rail->info.max_iov >= 2;
    rail->max_rdma = rail->info.max_rdma ? rail->info.max_rdma : UINT32_MAX;
    if (provider.rdma_write_for_rdma_read_req)
        rail->read_sink_priv = DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    return 0;
}

static int not_found(int rc, const char *name, drail_error_t *err)
{
    const char *why = dapl_embedded_error();
    if (rc != DRAIL_ENORAIL)
        return error_set(err, rc, "rail %s: the registry can't be read: %s",
                         name, drail_strerror(rc));
    return error_set(err, rc, "rail %s: not listed in dat.conf%s%s", name,
                     why ? "; " : "", why ? why : "");
}

static int not_opened(const char *name, DAT_RETURN status, drail_error_t *err)
{
    char text[128], why[160] = "";
    bool lacks = DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES;
    dat_text(status, text, sizeof text);
    if (DAT_GET_TYPE(status) == DAT_PROVIDER_NOT_FOUND)
        strcpy(why, " (its provider library can't be loaded)");
    else if (lacks)
        resources_text(why, sizeof why, false);
    return error_set(err, lacks ? DRAIL_ENOMEM : DRAIL_EOPEN,
                     "rail %s: dat_ia_open: %s%s", name, text, why);
}

int rail_open(struct rail *rail, const char *name, bool extensions,
              drail_error_t *err)
{
    DAT_PROVIDER_INFO listed;
    struct signal_handlers handlers;
    DAT_RETURN status;

    if (strlen(name) >= DRAIL_NAME_MAX)
        return error_set(err, DRAIL_EINVAL,
                         "rail %.*s…: a name has at most %d characters",
                         DRAIL_NAME_MAX - 1, name, DRAIL_NAME_MAX - 1);
    copy_name(rail->info.name, name);
    rail->info.numa_node = -1;
    rail->cpu = -1;
    int rc = rails_find(name, &listed);
    if (rc)
        return not_found(rc, name, err);
    rail->async_evd = DAT_HANDLE_NULL;
    signal_handlers_save(&handlers);
    status = dat_ia_openv(rail->info.name, ASYNC_QLEN, &rail->async_evd,
                          &rail->ia, listed.dapl_version_major,
                          listed.dapl_version_minor, listed.is_thread_safe);
    signal_handlers_restore(&handlers);
    if (status != DAT_SUCCESS) {
        rail->ia = DAT_HANDLE_NULL;
        return not_opened(name, status, err);
    }
    rc = query(rail);
    if (rc) {
        error_set(err, rc, "%s", rail->error.text);
        rail_close(rail);
        return rc;
    }
    rail->atomics = extensions && rail->info.has_atomics;
    rail->write_immed = extensions && rail->info.has_write_immed;
    rail->places_receives &= extensions;
    rail->growing_sends &= extensions;
    if (!extensions)
        rail->max_inline_send = 0;
    return 0;
}

int rail_listen_on(struct rail *rail, DAT_EVD_HANDLE cr_evd,
                   DAT_CONN_QUAL *qual, DAT_PSP_HANDLE *psp)
{
    /* if the consumer must choose a conn qual: tries some high ones */
    enum { FIRST_QUAL = 40000, TRIES = 1000 };
    DAT_RETURN status =
        dat_psp_create_any(rail->ia, qual, cr_evd, DAT_PSP_CONSUMER_FLAG, psp);
    if (DAT_GET_TYPE(status) != DAT_NOT_IMPLEMENTED &&
        DAT_GET_TYPE(status) != DAT_MODEL_NOT_SUPPORTED)
        return status == DAT_SUCCESS
                   ? 0
                   : dat_fail(rail, "dat_psp_create_any", status);
    for (unsigned i = 0; i < TRIES; i++) {
        *qual = FIRST_QUAL + i;
        status =
            dat_psp_create(rail->ia, *qual, cr_evd, DAT_PSP_CONSUMER_FLAG, psp);
        if (DAT_GET_TYPE(status) != DAT_CONN_QUAL_IN_USE)
            break;
    }
    return status == DAT_SUCCESS ? 0 : dat_fail(rail, "dat_psp_create", status);
}

static unsigned evd_qlen(const struct rail *rail, unsigned wanted)
{
    unsigned max = rail->info.max_evd_qlen;
    return max && wanted > max ? max : wanted;
}

int rail_evd_create(struct rail *rail, unsigned qlen, DAT_EVD_FLAGS flags,
                    DAT_EVD_HANDLE *evd)
{
    DAT_RETURN status = dat_evd_create(
        rail->ia, (DAT_COUNT)evd_qlen(rail, qlen), DAT_HANDLE_NULL, flags, evd);
    return status == DAT_SUCCESS ? 0 : dat_fail(rail, "dat_evd_create", status);
}

int rail_listen(struct rail *rail, unsigned qlen)
{
    /* Each link connects and disconnects, and peers may repeat their requests,
     * which only calls that wait take. If the EVD overflows between these, a
     * request is lost; as libdaplofa names the IA then, the rail's links end.
     */
    unsigned events = 2 * rail->owner->job->size * rail->owner->cfg.eps;
    unsigned cm_qlen = events > CM_QLEN ? events : CM_QLEN;
    DAT_RETURN status = dat_pz_create(rail->ia, &rail->pz);
    if (status != DAT_SUCCESS)
        return dat_fail(rail, "dat_pz_create", status);
    provider_keep_loaded(rail->pz);
    rail->dto_qlen = evd_qlen(rail, qlen);
    int rc = rail_evd_create(rail, qlen, DAT_EVD_DTO_FLAG, &rail->dto_evd);
    if (!rc)
        rc = rail_evd_create(rail, cm_qlen, DAT_EVD_CONNECTION_FLAG,
                             &rail->conn_evd);
    if (!rc)
        rc = rail_evd_create(rail, cm_qlen, DAT_EVD_CR_FLAG, &rail->cr_evd);
    return rc ? rc
              : rail_listen_on(rail, rail->cr_evd, &rail->conn_qual,
                               &rail->psp);
}

bool rail_evd_free(DAT_EVD_HANDLE evd)
{
    return !evd || dat_evd_free(evd) == DAT_SUCCESS;
}

void rail_close(struct rail *rail)
{
    if (rail->psp)
        dat_psp_free(rail->psp);
    bool unused = !rail->evds_left;
    unused &= rail_evd_free(rail->cr_evd);
    unused &= rail_evd_free(rail->conn_evd);
    unused &= rail_evd_free(rail->dto_evd);
    if (rail->pz)
        dat_pz_free(rail->pz);
    /* An IA with an EVD in use stays open until the process ends. libdaplofa
     * keeps the queue pair of an EP whose dat_cr_accept() has failed, and so
     * its EVD; to close the IA abruptly would then fail an assertion. */
    if (rail->ia &&
        dat_ia_close(rail->ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS &&
        unused)
        dat_ia_close(rail->ia, DAT_CLOSE_ABRUPT_FLAG);
    rail->psp = rail->cr_evd = rail->conn_evd = rail->dto_evd = rail->pz =
        rail->ia = DAT_HANDLE_NULL;
}

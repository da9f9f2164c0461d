/* SPDX-License-Identifier: BSD-3-Clause */
/* The bond transport as core sees it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "providers/bond/progress.h"
#include "providers/bond/connect/connect.h"
#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"

#define TABLE_BYTES (CORE_MAX_MRS * sizeof(struct bond_entry))
#define CLOSE_LOOKS 2000 /* milliseconds for links to end */

/* The names of all members, with @p between before each but the first. */
static void join_names(const struct bond_params *p, const char *between,
                       char *text)
{
    for (unsigned i = 0; i < p->count; i++)
        text += sprintf(text, "%s%s", i ? between : "", p->names[i]);
}

static void own_attributes(struct core_ia *ia)
{
    struct bond_ia *b = bond_ia(ia);
    strcpy(b->fabric_text, "bond:");
    join_names(&b->params, "+", b->fabric_text + strlen(b->fabric_text));
    join_names(&b->params, " ", b->members_text);
    for (unsigned i = 0; i < b->params.count; i++)
        b->carriers[i] = b->params.names[i];
    ia->carriers = b->carriers;
    snprintf(b->threshold_text, sizeof b->threshold_text, "%zu",
             b->params.threshold);
    core_attribute_add(ia, "fabric", b->fabric_text);
    core_attribute_add(ia, "members", b->members_text);
    core_attribute_add(ia, "scope", b->of_host ? "host" : "network");
    core_attribute_add(ia, "progress", "polled");
    core_attribute_add(ia, "policy", bond_policies[b->params.policy]);
    core_attribute_add(ia, "engine", bond_engines[b->params.engine]);
    core_attribute_add(ia, "threshold", b->threshold_text);
    core_attribute_add(ia, DAT_IB_ATTR_IMMED_DATA, "TRUE");
    core_attribute_add(ia, DAT_IB_ATTR_FETCH_AND_ADD, "TRUE");
    core_attribute_add(ia, DAT_IB_ATTR_CMP_AND_SWAP, "TRUE");
    core_attribute_add(ia, "atomics", "processor");
}

static void own_free(struct bond_ia *b)
{
    if (b->table)
        munmap(b->table, TABLE_BYTES);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* The kernel gives memory only to the entries that are used. */
static int table_open(struct bond_ia *b)
{
    void *at = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    b->table = at == MAP_FAILED ? NULL : at;
    return b->table ? 0 : -1;
}

static DAT_RETURN bond_ia_open(struct core_ia *ia, const char *params)
{
    struct bond_ia *b = calloc(1, sizeof *b);
    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    if (!b)
        return ret;
    ia->tp = b;
    b->ia = ia;
    pthread_mutex_init(&b->lock, NULL);
    if (table_open(b))
        goto fail;
    ret = CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    if (bond_params_parse(ia->name, params, &b->params) || bond_members_open(b))
        goto fail;
    b->hash = bond_members_hash(&b->params);
    memcpy(&ia->address, &b->member[0].address, sizeof b->member[0].address);
    snprintf(ia->adapter, sizeof ia->adapter, "bond");
    b->thread_main = bond_loop;
    b->serve = bond_serve;
    own_attributes(ia);
    return DAT_SUCCESS;
fail:
    own_free(b);
    return ret;
}

/* Waits until the links of EPs that were freed have ended. */
static void end_links(struct bond_ia *b)
{
    static const struct timespec ms = {.tv_nsec = 1000000};
    bool any = true;
    for (unsigned i = 0; any && i < CLOSE_LOOKS; i++) {
        pthread_mutex_lock(&b->lock);
        any = b->conns != NULL;
        pthread_mutex_unlock(&b->lock);
        if (any)
            nanosleep(&ms, NULL);
    }
}

static void bond_ia_close(struct core_ia *ia)
{
    struct bond_ia *b = bond_ia(ia);
    if (!ia->forked)
        end_links(b);
    bond_threads_stop(b);
    bond_members_close(b);
    for (unsigned i = 0; i < b->params.count; i++)
        bond_links_forget(&b->member[i]);
    bond_ranges_forget(b);
    while (b->conns) {
        struct bond_conn *c = b->conns;
        b->conns = c->next;
        free(c);
    }
    own_free(b);
}

/* The child process has none of the threads. Core calls the members' providers
 * for their own part. */
static void bond_forked(struct core_ia *ia)
{
    struct bond_ia *b = bond_ia(ia);
    pthread_mutex_init(&b->lock, NULL);
    atomic_store(&b->wanted, 0);
    for (unsigned i = 0; i < b->params.count; i++)
        b->member[i].threads = 0;
    b->team.threads = 0;
    for (struct bond_conn *c = b->conns; c; c = c->next)
        c->state = BOND_CLOSED;
}

static const struct core_transport transport = {
    .provider = "dapl_rail bond",
    .can = {.max_eps = BOND_MAX_EPS,
            .max_dtos = 4096,
            .default_dtos = 256,
            .max_iov = CORE_MAX_IOV,
            .max_rdma_iov = CORE_MAX_IOV,
            .max_rdma_reads = 256,
            .max_private_data = BOND_PRIVATE_MAX,
            .max_message_size = 1u << 30,
            .max_rdma_size = 1u << 30,
            .srq = true,
            .rmr = true,
            .write_immed = true,
            .atomics = true},
    .calls_ias = true,
    .request_size = sizeof(struct bond_request),
    .request_unset = sizeof((struct bond_request *)NULL)->share,
    .stand_in = bond_single_open,
    .ia_open = bond_ia_open,
    .ia_close = bond_ia_close,
    .forked = bond_forked,
    .mr_publish = bond_mr_publish,
    .mr_withdraw = bond_mr_withdraw,
    .listen = bond_listen,
    .unlisten = bond_unlisten,
    .connect = bond_connect,
    .accept = bond_accept,
    .reject = bond_reject,
    .disconnect = bond_disconnect,
    .ep_release = bond_ep_release,
    .abort = bond_abort,
    .post = bond_post,
    .recv_posted = bond_recv_posted,
    .ia_progress = bond_progress,
    .arm = bond_arm,
    .sleep = bond_sleep,
    .ring = bond_ring,
};

__attribute__((constructor)) static void library_loaded(void)
{
    core_transport_is(&transport);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a link: its EP, its buffers, its end. b->lock is held. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "dapl_rail/platform/memfd.h"

#include "providers/core/extensions.h"

#include "providers/bond/links/links.h"
#include "providers/bond/members/members.h"

#define EVENTS (BOND_SLOTS + 2 * BOND_OPS) /* of a link */
/* The wait for an ended EP's completions; and until it is reset. */
#define FLUSH_NS (1000 * BOND_MS)
#define FORCE_NS (20 * BOND_MS)
/* Between the first attempts to free memory; then twice as long each time. */
#define FREE_NS (10 * BOND_MS)

/* ---------------------------------------------------------------- birth --- */

static DAT_RETURN register_part(struct bond_link *l, void *at, size_t bytes,
                                DAT_MEM_PRIV_FLAGS remote, DAT_LMR_HANDLE *lmr,
                                DAT_LMR_CONTEXT *context,
                                DAT_RMR_CONTEXT *remote_context)
{
    DAT_REGION_DESCRIPTION where = {.for_va = at};
    return dat_lmr_create(
        l->m->ia, DAT_MEM_TYPE_VIRTUAL, where, bytes,
        l->conn->zone->pz[l->m->index],
        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | remote,
        DAT_VA_TYPE_VA, lmr, context, remote_context, NULL, NULL);
}

/* The peer can write the mark, nothing else. */
static int region_register(struct bond_link *l)
{
    DAT_LMR_CONTEXT unused_lmr;
    DAT_RMR_CONTEXT unused_rmr;
    size_t before = offsetof(struct bond_region, entry);
    if (register_part(l, &l->region->mark, sizeof l->region->mark,
                      DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &l->mark_lmr, &unused_lmr,
                      &l->remote_context))
        return -1;
    if (register_part(l, &l->region->entry, sizeof *l->region - before,
                      DAT_MEM_PRIV_NONE_FLAG, &l->lmr, &l->context,
                      &unused_rmr))
        return -1;
    return 0;
}

/* A sealed file. The shm provider finds the file while its descriptor is open;
 * then its peers map the file, and write the mark without a system call. */
static int region_open(struct bond_link *l)
{
    int err = -1, fd = memfd_sealed("dapl-bond-link", sizeof *l->region);
    if (fd < 0)
        return -1;
    void *at = mmap(NULL, sizeof *l->region, PROT_READ | PROT_WRITE, MAP_SHARED,
                    fd, 0);
    if (at != MAP_FAILED) {
        l->region = at;
        err = region_register(l);
    }
    close(fd);
    return err;
}

static int ep_open(struct bond_link *l)
{
    const struct core_ability *can = &l->m->b->ia->can;
    DAT_EP_ATTR attr = {
        .service_type = DAT_SERVICE_TYPE_RC,
        .max_message_size = BOND_SLOT_BYTES,
        .max_rdma_size = can->max_rdma_size,
        .qos = DAT_QOS_BEST_EFFORT,
        .max_recv_dtos = BOND_SLOTS,
        .max_request_dtos = BOND_OPS + 1,
        .max_recv_iov = 1,
        .max_request_iov = (DAT_COUNT)l->m->b->send_segments + 1,
        .max_rdma_read_in = (DAT_COUNT)can->max_rdma_reads,
        .max_rdma_read_out = (DAT_COUNT)can->max_rdma_reads,
        .max_rdma_read_iov = (DAT_COUNT)can->max_rdma_iov,
        .max_rdma_write_iov = (DAT_COUNT)can->max_rdma_iov,
    };
    return dat_ep_create(l->m->ia, l->conn->zone->pz[l->m->index], l->m->dto,
                         l->m->dto, l->m->conn, &attr, &l->ep)
               ? -1
               : 0;
}

int bond_slot_post(struct bond_link *l, struct bond_slot *slot)
{
    DAT_LMR_TRIPLET seg = {.virtual_address = (uintptr_t)slot->at,
                           .segment_length = BOND_SLOT_BYTES,
                           .lmr_context = l->context};
    DAT_DTO_COOKIE cookie = {.as_ptr = &slot->receive};
    if (dat_ep_post_recv(l->ep, 1, &seg, cookie, DAT_COMPLETION_DEFAULT_FLAG))
        return -1;
    l->posted++;
    return 0;
}

static int post_slots(struct bond_link *l)
{
    int err = 0;
    for (unsigned i = 0; i < BOND_SLOTS && !err; i++) {
        struct bond_slot *s = &l->slot[i];
        s->at = (void *)l->region->receive[i];
        s->receive = (struct bond_op){
            .kind = BOND_OP_RECEIVE, .conn = l->conn, .link = l, .place = i};
        err = bond_slot_post(l, s);
    }
    return err;
}

void bond_link_close(struct bond_link *l)
{
    if (l->ep)
        bond_release(l->m, l->ep, l->conn->zone);
    l->ep = DAT_HANDLE_NULL;
}

/* False: a peer of the member may still access the memory. */
static bool memory_free(struct bond_link *l)
{
    if (l->lmr && !bond_lmr_free(l->m, l->lmr))
        return false;
    l->lmr = DAT_HANDLE_NULL;
    if (l->mark_lmr && !bond_lmr_free(l->m, l->mark_lmr))
        return false;
    l->mark_lmr = DAT_HANDLE_NULL;
    if (l->region)
        munmap(l->region, sizeof *l->region);
    return true;
}

void bond_links_free(struct bond_member *m, uint64_t now)
{
    for (struct bond_link **at = &m->unfreed, *l; (l = *at);) {
        if (now < l->free_at) {
            at = &l->next;
        } else if (memory_free(l)) {
            *at = l->next;
            bond_zone_put(m->b, l->zone);
            free(l);
        } else {
            l->free_pause = l->free_pause ? 2 * l->free_pause : FREE_NS;
            l->free_at = busywait_now_ns() + l->free_pause;
            at = &l->next;
        }
    }
}

void bond_links_forget(struct bond_member *m)
{
    for (struct bond_link *l; (l = m->unfreed);) {
        m->unfreed = l->next;
        munmap(l->region, sizeof *l->region);
        free(l);
    }
}

static void link_delete(struct bond_link *l)
{
    bond_link_close(l);
    l->m->events -= EVENTS;
    l->m->requests -= l->requests;
    l->zone = l->conn->zone; /* the memory may outlive the connection */
    l->zone->uses++;
    l->next = l->m->unfreed;
    l->m->unfreed = l;
    bond_links_free(l->m, l->free_at);
}

struct bond_link *bond_link_new(struct bond_conn *c, unsigned member,
                                uint32_t epoch)
{
    struct bond_link *l = calloc(1, sizeof *l);
    struct bond_member *m = &c->b->member[member];
    if (!l || !bond_member_room(m, EVENTS)) {
        free(l);
        return NULL;
    }
    l->conn = c;
    l->m = m;
    l->epoch = epoch;
    l->last = &l->first;
    l->heard = busywait_now_ns();
    if (region_open(l) || ep_open(l) || post_slots(l)) {
        link_delete(l);
        return NULL;
    }
    l->next = m->links;
    m->links = l;
    c->link[member] = l;
    c->path[member].epoch = epoch;
    return l;
}

/* ------------------------------------------------------------------ end --- */

/* A copy of a message that belongs to no link; NULL: out of memory. */
static struct bond_slot *copy_of(const struct bond_slot *slot)
{
    size_t bytes = sizeof *slot->at + slot->at->bytes;
    struct bond_slot *copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return NULL;
    *copy = *slot;
    copy->receive.link = NULL;
    copy->at = (struct bond_header *)(copy + 1);
    memcpy(copy->at, slot->at, bytes);
    return copy;
}

/* Messages that wait for the consumer's receives outlive the link. */
static void keep_slots(struct bond_link *l)
{
    struct bond_conn *c = l->conn;
    for (struct bond_slot **at = &c->waiting; *at; at = &(*at)->next) {
        if ((*at)->receive.link != l)
            continue;
        struct bond_slot *copy = copy_of(*at);
        if (!copy) { /* later messages must not overtake this one */
            bond_give_up(c);
            *at = NULL;
            c->waiting_end = at;
            return;
        }
        if (c->waiting_end == &(*at)->next)
            c->waiting_end = &copy->next;
        *at = copy;
    }
}

static void unlink_it(struct bond_link *l)
{
    struct bond_link **at = &l->m->links;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->conn->link[l->m->index] = NULL;
}

void bond_link_free(struct bond_link *l)
{
    keep_slots(l);
    unlink_it(l);
    link_delete(l);
}

/* A graceful disconnect of libdaplofa flushes at once what is posted. An abrupt
 * one waits for the peer, 240 ms if it does not answer. */
void bond_link_leave(struct bond_link *l)
{
    if (l->state == BOND_LINK_LEAVING)
        return;
    l->state = BOND_LINK_LEAVING;
    if (dat_ep_disconnect(l->ep, l->m->own ? DAT_CLOSE_ABRUPT_FLAG
                                           : DAT_CLOSE_GRACEFUL_FLAG))
        l->ended = true; /* it never began */
    bond_thread_wake(l->conn->b);
}

/* An EP of our own providers comes to rest when its end is reported. The end of
 * a connection of verbs is reported when the peer has answered, but then, or
 * before, all that is posted comes back. */
static bool is_ending(const struct bond_link *l)
{
    return l->state == BOND_LINK_LEAVING && (l->ended || !l->m->own);
}

void bond_link_force(struct bond_link *l, uint64_t now)
{
    if (!is_ending(l))
        return;
    if (!l->ending_from)
        l->ending_from = l->forced_at = now;
    if (l->m->own || !l->posted || now < l->forced_at + FORCE_NS)
        return;
    l->forced_at = now;
    if (dat_ep_reset(l->ep)) /* it is still connected */
        dat_ep_disconnect(l->ep, DAT_CLOSE_ABRUPT_FLAG);
}

bool bond_link_over(const struct bond_link *l, uint64_t now)
{
    return is_ending(l) && (!l->posted || now > l->ending_from + FLUSH_NS);
}

uint64_t bond_link_written(const struct bond_link *l)
{
    uint64_t count = l->region->mark;
    if (l->m->counts)
        dapl_writes_counted(l->ep, &count);
    return count;
}

unsigned bond_any_usable(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (bond_link_usable(c->link[i]))
            return i;
    return BOND_NONE;
}

struct bond_link *bond_any_up(const struct bond_conn *c)
{
    for (unsigned i = 0; i < c->b->params.count; i++)
        if (bond_link_up(c->link[i]))
            return c->link[i];
    return NULL;
}

struct bond_link *bond_link_find(struct bond_member *m, DAT_EP_HANDLE ep)
{
    struct bond_link *l = m->links;
    while (l && l->ep != ep)
        l = l->next;
    return l;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the sim transport: IAs in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct attributes {
    struct sim_ia ia;
    char rate[32], adapter_rate[32], bus_rate[32];
};

/* --------------------------------------------------------------------- IAs */

static void add_rate(struct core_ia *ia, const char *name, char *text,
                     size_t size, double rate)
{
    if (rate <= 0)
        return;
    snprintf(text, size, "%.6g", rate / 1e6);
    core_attribute_add(ia, name, text);
}

static void add_attributes(struct core_ia *ia, struct attributes *a)
{
    const struct sim_platform *p = sim_running();
    const struct sim_adapter *adapter = &p->adapter[a->ia.rail->adapter];
    const struct sim_bus *bus = &p->bus[adapter->bus];
    core_attribute_add(ia, "fabric", "sim");
    core_attribute_add(ia, "completion", "delivered");
    core_attribute_add(ia, DAT_IB_ATTR_FETCH_AND_ADD, "TRUE");
    core_attribute_add(ia, DAT_IB_ATTR_CMP_AND_SWAP, "TRUE");
    core_attribute_add(ia, "atomics", "processor");
    core_attribute_add(ia, DAT_IB_ATTR_IMMED_DATA, "TRUE");
    add_rate(ia, "link_rate_MBps", a->rate, sizeof a->rate,
             a->ia.rail->limit.rate);
    add_rate(ia, "adapter_rate_MBps", a->adapter_rate, sizeof a->adapter_rate,
             adapter->limit.rate);
    add_rate(ia, "bus_rate_MBps", a->bus_rate, sizeof a->bus_rate,
             bus->limit.rate);
    core_attribute_add(ia, "bus", bus->name);
    snprintf(ia->adapter, sizeof ia->adapter, "%s", adapter->name);
}

/* "simN": N; -1: the world has no such rail. */
static int rail_of(const char *name)
{
    const struct sim_platform *p = sim_running();
    unsigned rail;
    char rest;
    if (!p || sim_rank() == SIM_NOBODY ||
        sscanf(name, "sim%u%c", &rail, &rest) != 1 || rail >= p->rails)
        return -1;
    return (int)rail;
}

static DAT_RETURN sim_ia_open(struct core_ia *ia, const char *params)
{
    int rail = rail_of(ia->name);
    (void)params;
    if (rail < 0)
        return CORE_ERROR(DAT_INVALID_STATE, 0);
    struct attributes *a = calloc(1, sizeof *a);
    if (!a)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    unsigned rank = sim_rank();
    a->ia = (struct sim_ia){.ia = ia,
                            .rank = rank,
                            .place = {sim_node_of(rank), (unsigned)rail},
                            .rail = &sim_running()->rail[rail],
                            .elsewhere = sim_notices(rank)};
    ia->tp = &a->ia;
    sim_ia_add(&a->ia);
    add_attributes(ia, a);
    return DAT_SUCCESS;
}

static void sim_ia_close(struct core_ia *ia)
{
    sim_ia_remove(sim_ia(ia));
    free(ia->tp);
}

static void sim_forked(struct core_ia *ia)
{
    (void)ia; /* nothing is shared with the parent */
}

/* All memory belongs to this process. */
static DAT_RETURN sim_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    (void)ia, (void)mr;
    return DAT_SUCCESS;
}

static bool sim_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    (void)ia, (void)mr;
    return true;
}

/* Messages land without the help of pollers. */
static void sim_progress(struct core_ia *ia, bool sure)
{
    (void)ia, (void)sure;
}

/* ----------------------------------------------------------------- waiting */

static int sim_wait_ready(struct core_ia *ia, struct core_waiter *waiter,
                          bool (*ready)(struct core_waiter *w),
                          uint64_t timeout_ns)
{
    struct sim_ia *sia = sim_ia(ia);
    uint64_t now = sim_now();
    uint64_t until =
        timeout_ns > SIM_FOREVER - now ? SIM_FOREVER : now + timeout_ns;
    for (;;) {
        uint64_t notices = sim_notices(sia->rank);
        uint64_t elsewhere = notices - sia->notices;
        if (ready(waiter))
            return 0;
        /* an event of another IA of the rank may be what the caller looks for
         * next */
        if (elsewhere != sia->elsewhere) {
            sia->elsewhere = elsewhere;
            return EINTR;
        }
        if (sim_now() >= until)
            return ETIMEDOUT;
        sim_wait_notice(notices, until);
    }
}

static void sim_idle(struct core_ia *ia)
{
    (void)ia;
    sim_polled();
}

/* Keeps the processor busy for an event when it is taken. A flushed request had
 * no message. */
static void sim_taken(struct core_ia *ia, const DAT_EVENT *event)
{
    const struct sim_message *m = &sim_running()->message;
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    int number = (int)event->event_number, operation = (int)dto->operation;
    (void)ia;
    if (number == DAT_DTO_COMPLETION_EVENT &&
        dto->status != DAT_DTO_ERR_FLUSHED)
        sim_busy(operation == DAT_DTO_RECEIVE ? m->notification
                                              : m->completion);
    else if (number == (int)DAT_IB_DTO_EVENT)
        sim_busy(operation == (int)DAT_IB_DTO_RECV_IMMED ? m->notification
                                                         : m->completion);
}

/* Threads sleep in sim_wait_ready, without bells. */
static void sim_arm(struct core_ia *ia, uint64_t bell)
{
    (void)ia, (void)bell;
}

static int sim_sleep(struct core_ia *ia, uint64_t bell, bool fed,
                     uint64_t timeout_ns)
{
    (void)ia, (void)bell, (void)fed, (void)timeout_ns;
    return 0;
}

static void sim_ring(struct core_ia *ia, uint64_t bells)
{
    (void)bells;
    sim_ia_notify(sim_ia(ia));
}

static const struct core_transport transport = {
    .provider = "dapl_rail sim",
    .can = {.max_eps = 65536,
            .max_dtos = 16384,
            .default_dtos = 256,
            .max_iov = CORE_MAX_IOV,
            .max_rdma_iov = CORE_MAX_IOV,
            .max_rdma_reads = 256,
            .max_private_data = CORE_MAX_PRIVATE_DATA,
            .max_message_size = 1u << 30,
            .max_rdma_size = 1u << 30,
            .rmr = true,
            .rmr_of_ep = true,
            .write_immed = true,
            .atomics = true},
    .max_ias = UINT_MAX, /* of all ranks */
    .request_size = sizeof(struct sim_request),
    .requests_move = true,
    .one_thread = true,
    .ia_open = sim_ia_open,
    .ia_close = sim_ia_close,
    .forked = sim_forked,
    .mr_publish = sim_mr_publish,
    .mr_withdraw = sim_mr_withdraw,
    .listen = sim_listen,
    .unlisten = sim_unlisten,
    .connect = sim_connect,
    .accept = sim_accept,
    .reject = sim_reject,
    .disconnect = sim_disconnect,
    .ep_release = sim_ep_release,
    .post = sim_post,
    .recv_posted = sim_recv_posted,
    .ia_progress = sim_progress,
    .abort = sim_abort,
    .wait = sim_wait_ready,
    .idle = sim_idle,
    .taken = sim_taken,
    .arm = sim_arm,
    .sleep = sim_sleep,
    .ring = sim_ring,
};

__attribute__((constructor)) static void library_loaded(void)
{
    core_transport_is(&transport);
}

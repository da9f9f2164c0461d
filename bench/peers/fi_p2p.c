/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks over libfabric's provider shm, for scripts/compare-p2p: the loops
 * of mpi_p2p.c on reliable datagram endpoints (FI_EP_RDM). The program forks
 * rank 1; the ranks pin themselves to the first two cores that are allowed.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define API        FI_VERSION(1, 11)
#define PROVIDER   "shm"
#define TARGET_KEY 1 /* where the provider leaves the choice to us */

typedef struct queue {
    struct fid_cq *cq;
    uint64_t wanted, completed;
} queue_t;

/* The ranks exchange this before they can talk over the fabric. */
typedef struct card {
    char address[256];
    uint64_t target, key;
    int core;
} card_t;

typedef struct side {
    int rank, socket; /* socket: to the other rank, for the start */
    char *source, *target;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_ep *ep;
    struct fid_mr *source_mr, *target_mr;
    queue_t sends, receives;
    fi_addr_t peer;
    card_t cards[2];
    uint64_t message; /* of the run, the next window's first */
} side_t;

static void check(long rc, const char *call)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "fi_p2p: %s: %s\n", call, fi_strerror((int)-rc));
    exit(1);
}

/* ------------------------------------------------------------ messages --- */

static void poll_queue(queue_t *queue)
{
    struct fi_cq_entry entries[16];
    long n = fi_cq_read(queue->cq, entries, 16);
    if (n > 0)
        queue->completed += (uint64_t)n;
    else if (n != -FI_EAGAIN)
        check(n, "fi_cq_read");
}

/* The provider may make progress only where it is asked: look at both. */
static void await(side_t *side, queue_t *queue)
{
    while (queue->completed < queue->wanted) {
        poll_queue(&side->receives);
        poll_queue(&side->sends);
    }
}

/* Did a post work? If the peer's queue is full: makes progress, says no. */
static int posted(side_t *side, queue_t *queue, long rc, const char *call)
{
    if (rc == -FI_EAGAIN) {
        poll_queue(&side->receives);
        poll_queue(&side->sends);
        return 0;
    }
    check(rc, call);
    queue->wanted++;
    return 1;
}

static void post_send(side_t *side, size_t place, size_t bytes)
{
    while (!posted(side, &side->sends,
                   fi_send(side->ep, side->source + place, bytes,
                           fi_mr_desc(side->source_mr), side->peer, NULL),
                   "fi_send"))
        ;
}

static void post_write(side_t *side, size_t place, size_t bytes)
{
    const card_t *to = &side->cards[1 - side->rank];
    while (!posted(side, &side->sends,
                   fi_write(side->ep, side->source + place, bytes,
                            fi_mr_desc(side->source_mr), side->peer,
                            to->target + place, to->key, NULL),
                   "fi_write"))
        ;
}

static void post_receive(side_t *side, size_t place, size_t bytes)
{
    while (!posted(side, &side->receives,
                   fi_recv(side->ep, side->target + place, bytes,
                           fi_mr_desc(side->target_mr), side->peer, NULL),
                   "fi_recv"))
        ;
}

/* --------------------------------------------------------------- loops --- */

static void ping_pong(side_t *side, const run_t *run)
{
    post_receive(side, 0, run->bytes);
    if (side->rank == 0)
        post_send(side, 0, run->bytes);
    await(side, &side->receives);
    if (side->rank == 1)
        post_send(side, 0, run->bytes);
    await(side, &side->sends);
}

static void send_window(side_t *side, const run_t *run)
{
    for (int i = 0; i < RUN_WINDOW; i++) {
        size_t place = run_place(run, side->message + (uint64_t)i);
        if (side->rank == 0)
            post_send(side, place, run->bytes);
        else
            post_receive(side, place, run->bytes);
    }
    if (side->rank == 0)
        post_receive(side, 0, 1);
    await(side, &side->receives);
    if (side->rank == 1) {
        run_look(run, side->target, side->message);
        post_send(side, 0, 1);
    }
    await(side, &side->sends);
}

/* A message says that the writes before it are complete, and is answered. */
static void put_window(side_t *side, const run_t *run)
{
    for (int i = 0; side->rank == 0 && i < RUN_WINDOW; i++)
        post_write(side, run_place(run, side->message + (uint64_t)i),
                   run->bytes);
    await(side, &side->sends);
    post_receive(side, 0, 1);
    if (side->rank == 0)
        post_send(side, 0, 1);
    await(side, &side->receives);
    if (side->rank == 1) {
        run_look(run, side->target, side->message);
        post_send(side, 0, 1);
    }
    await(side, &side->sends);
}

static void step(side_t *side, const run_t *run)
{
    static void (*const steps[])(side_t *, const run_t *) = {
        [RUN_LAT] = ping_pong,
        [RUN_BW] = send_window,
        [RUN_PUT] = put_window,
    };
    steps[run->what](side, run);
    side->message += RUN_WINDOW;
}

static double measure(side_t *side, const run_t *run)
{
    uint64_t iterations =
        run->what == RUN_LAT ? run->messages : run->messages / RUN_WINDOW;

    side->message = 0;
    for (uint64_t i = run_warmup(iterations); i > 0; i--)
        step(side, run);
    double start = run_now();
    for (uint64_t i = iterations; i > 0; i--)
        step(side, run);
    return run_now() - start;
}

/* --------------------------------------------------------------- start --- */

static void find_provider(side_t *side)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        check(-FI_ENOMEM, "fi_allocinfo");
    hints->caps = FI_MSG | FI_RMA | FI_DIRECTED_RECV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(PROVIDER);
    check(fi_getinfo(API, NULL, NULL, 0, hints, &side->info),
          "fi_getinfo: provider " PROVIDER);
    fi_freeinfo(hints);
}

static struct fid_cq *open_queue(side_t *side, uint64_t flags)
{
    struct fi_cq_attr attr = {.size = 4 * RUN_WINDOW,
                              .format = FI_CQ_FORMAT_CONTEXT};
    struct fid_cq *cq;
    check(fi_cq_open(side->domain, &attr, &cq, NULL), "fi_cq_open");
    check(fi_ep_bind(side->ep, &cq->fid, flags), "fi_ep_bind");
    return cq;
}

static void open_fabric(side_t *side, size_t capacity)
{
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = 2};
    find_provider(side);
    check(fi_fabric(side->info->fabric_attr, &side->fabric, NULL), "fi_fabric");
    check(fi_domain(side->fabric, side->info, &side->domain, NULL),
          "fi_domain");
    check(fi_endpoint(side->domain, side->info, &side->ep, NULL),
          "fi_endpoint");
    check(fi_av_open(side->domain, &av_attr, &side->av, NULL), "fi_av_open");
    check(fi_ep_bind(side->ep, &side->av->fid, 0), "fi_ep_bind");
    side->sends.cq = open_queue(side, FI_TRANSMIT);
    side->receives.cq = open_queue(side, FI_RECV);
    check(fi_enable(side->ep), "fi_enable");
    check(fi_mr_reg(side->domain, side->source, capacity, FI_SEND | FI_WRITE, 0,
                    TARGET_KEY + 1, 0, &side->source_mr, NULL),
          "fi_mr_reg");
    check(fi_mr_reg(side->domain, side->target, capacity,
                    FI_RECV | FI_REMOTE_WRITE, 0, TARGET_KEY, 0,
                    &side->target_mr, NULL),
          "fi_mr_reg");
}

static void exchange_cards(side_t *side)
{
    card_t *mine = &side->cards[side->rank];
    card_t *other = &side->cards[1 - side->rank];
    size_t length = sizeof mine->address;
    int by_address = side->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    check(fi_getname(&side->ep->fid, mine->address, &length), "fi_getname");
    mine->target = by_address ? (uint64_t)(uintptr_t)side->target : 0;
    mine->key = fi_mr_key(side->target_mr);
    mine->core = run_core();
    if (send(side->socket, mine, sizeof *mine, MSG_NOSIGNAL) != sizeof *mine ||
        recv(side->socket, other, sizeof *other, MSG_WAITALL) != sizeof *other)
        check(-FI_ENOTCONN, "the other rank");
    if (fi_av_insert(side->av, other->address, 1, &side->peer, 0, NULL) != 1)
        check(-FI_EADDRNOTAVAIL, "fi_av_insert");
}

static void close_fabric(side_t *side)
{
    struct fid *fids[] = {&side->ep->fid,        &side->source_mr->fid,
                          &side->target_mr->fid, &side->receives.cq->fid,
                          &side->sends.cq->fid,  &side->av->fid,
                          &side->domain->fid,    &side->fabric->fid};
    for (unsigned i = 0; i < sizeof fids / sizeof *fids; i++)
        check(fi_close(fids[i]), "fi_close");
    fi_freeinfo(side->info);
}

static void print_header(const side_t *side)
{
    const int cores[] = {side->cards[0].core, side->cards[1].core};
    char library[64];
    uint32_t version = fi_version();
    snprintf(library, sizeof library, "libfabric %u.%u, provider %s",
             FI_MAJOR(version), FI_MINOR(version), PROVIDER);
    run_print_header(library, cores);
}

int main(int argc, char **argv)
{
    run_t *runs = run_parse_all(argc - 1, argv + 1);
    size_t capacity = run_capacity(runs, argc - 1);
    side_t side = {0};
    int sockets[2], status = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        check(-FI_ENOMEM, "start");
    pid_t child = fork();
    check(child, "fork");
    side.rank = child == 0;
    side.socket = sockets[side.rank];
    close(sockets[1 - side.rank]);
    run_guard();
    run_pin(side.rank);

    /* each rank its own, on its own core's node */
    side.source = run_buffer(capacity);
    side.target = run_buffer(capacity);
    if (!side.source || !side.target)
        check(-FI_ENOMEM, "start");
    open_fabric(&side, capacity);
    exchange_cards(&side);
    if (side.rank == 0)
        print_header(&side);
    for (int i = 0; i < argc - 1; i++) {
        double seconds = measure(&side, &runs[i]);
        if (side.rank == 0)
            run_print(&runs[i], seconds);
    }
    close_fabric(&side);
    if (side.rank == 0)
        waitpid(child, &status, 0);
    free(side.source);
    free(side.target);
    free(runs);
    return status != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Core serves transports that are not like shared memory. The test has a small
 * one: a network that takes the receives and fills them by itself, makes
 * progress per IA, delivers after a while without waking a thread, and refuses
 * requests that it can't carry out. Its two IAs are in this process. It takes
 * ia->lock in its progress, and can be made slow there.
 */
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "providers/core/core.h"

#define ROOM     2  /* receives that the network keeps of an EP */
#define MESSAGE  64 /* bytes of the longest */
#define INBOX    16
#define SECOND   1000000000u
#define DELAY_NS (SECOND / 20)

/* ---------------------------------------------------------- the network --- */

enum kind { REQUEST, ACCEPTED, DATA, GONE };

struct item {
    enum kind kind;
    uint64_t due;
    size_t bytes;
    unsigned char data[MESSAGE];
};

static struct net { /* of an IA with one PSP and one EP */
    bool open;
    struct core_sp *sp;
    struct core_ep *ep;
    struct item inbox[INBOX]; /* in order */
    unsigned items;
    struct core_wqe handed[ROOM];
    unsigned nhanded;
    atomic_bool rung;
    uint64_t longest_sleep;
} nets[2];

static uint64_t delay_ns; /* of what is sent from now on */
static bool refuses;      /* to connect and to accept */
/* progress waits until it is released, at most STUCK_NS */
static atomic_bool sticks, stuck, released, stuck_for_long;
#define STUCK_NS (5ull * SECOND)

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static struct net *net_of(const struct core_object *object)
{
    return object->ia->tp;
}

static struct net *peer_of(const struct net *net)
{
    return &nets[net == nets];
}

static struct item *deliver(struct net *to, enum kind kind)
{
    assert_true(to->items < INBOX);
    struct item *item = &to->inbox[to->items++];
    *item = (struct item){.kind = kind, .due = now_ns() + delay_ns};
    return item;
}

static DAT_RETURN net_open(struct core_ia *ia, const char *params)
{
    struct net *net = &nets[nets[0].open];
    assert_false(net->open);
    *net = (struct net){.open = true};
    ia->tp = net;
    ia->address.ss_family = AF_INET;
    return DAT_SUCCESS;
}

static void net_close(struct core_ia *ia)
{
    *(struct net *)ia->tp = (struct net){.open = false};
}

/* Others can't reach memory here. */
static DAT_RETURN net_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    const int others =
        DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    return mr->priv & others ? CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0)
                             : DAT_SUCCESS;
}

static bool net_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    return true;
}

/* ---- connections */

static DAT_RETURN net_listen(struct core_sp *sp)
{
    net_of(&sp->o)->sp = sp;
    return DAT_SUCCESS;
}

static void net_unlisten(struct core_sp *sp)
{
    net_of(&sp->o)->sp = NULL;
}

static void join(struct core_ep *ep)
{
    net_of(&ep->o)->ep = ep;
    atomic_store(&ep->tp, peer_of(net_of(&ep->o)));
}

static DAT_RETURN net_connect(struct core_ep *ep, uint64_t timeout_us,
                              DAT_COUNT size, const void *private_data)
{
    if (refuses)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    join(ep);
    deliver(ep->tp, REQUEST);
    return DAT_SUCCESS;
}

static DAT_RETURN net_accept(struct core_cr *cr, struct core_ep *ep,
                             DAT_COUNT size, const void *private_data)
{
    if (refuses)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    join(ep);
    assert_int_equal(core_ep_poll(ep), 0);
    core_ep_established(ep, NULL, 0);
    deliver(ep->tp, ACCEPTED);
    return DAT_SUCCESS;
}

static void net_reject(struct core_cr *cr, DAT_COUNT size,
                       const void *private_data)
{
}

static void net_disconnect(struct core_ep *ep, bool graceful)
{
    deliver(ep->tp, GONE);
    core_ep_disconnected(ep, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

static void net_ep_release(struct core_ep *ep)
{
    net_of(&ep->o)->nhanded = 0;
    atomic_store(&ep->tp, NULL);
}

static void net_abort(struct core_ep *ep)
{
    fail();
}

/* ---- data */

static bool keeps; /* requests, until the test ends them by end_request() */

static void end_request(struct core_ep *ep, DAT_DTO_COMPLETION_STATUS status)
{
    core_ep_lock(ep);
    struct core_request *r = core_request_at(ep, atomic_load(&ep->sq_head));
    r->status = status;
    r->done = true;
    core_requests_retire(ep);
    core_ep_unlock(ep);
}

/* Sends alone. */
static DAT_RETURN net_post(struct core_ep *ep, const struct core_dto *dto)
{
    if (dto->op != CORE_SEND)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    if (keeps) {
        core_ep_lock(ep);
        core_request_queue(ep, dto);
        core_ep_unlock(ep);
        return DAT_SUCCESS;
    }
    struct item *item = deliver(ep->tp, DATA);
    item->bytes = dto->total;
    memcpy(item->data, (void *)(uintptr_t)dto->seg[0].virtual_address,
           dto->total);
    core_request_done(ep, dto, DAT_DTO_SUCCESS);
    return DAT_SUCCESS;
}

static DAT_RETURN net_recv_post(struct core_ep *ep, const struct core_wqe *w)
{
    struct net *net = net_of(&ep->o);
    if (net->nhanded == ROOM)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    memcpy(&net->handed[net->nhanded++], w, /* it has room for no more */
           offsetof(struct core_wqe, seg) + w->nseg * sizeof w->seg[0]);
    core_recv_add(ep);
    return DAT_SUCCESS;
}

/* Fills the oldest receive, and then reports it. */
static void fill_receive(struct net *net, const struct item *item)
{
    struct core_wqe filled = net->handed[0];
    assert_true(net->nhanded > 0);
    net->handed[0] = net->handed[1];
    net->nhanded--;
    memcpy((void *)(uintptr_t)filled.seg[0].virtual_address, item->data,
           item->bytes);
    core_ep_lock(net->ep);
    struct core_wqe *w = core_recv_peek(net->ep, NULL);
    assert_non_null(w);
    assert_int_equal(w->cookie.as_64, filled.cookie.as_64);
    core_recv_done(net->ep, w, DAT_DTO_SUCCESS, item->bytes, true, NULL);
    core_ep_unlock(net->ep);
}

static void take(struct core_ia *ia, struct net *net, const struct item *item)
{
    core_ia_lock(ia);
    if (item->kind == REQUEST)
        assert_int_equal(core_cr_arrived(net->sp, NULL, &ia->address, 0, "", 0),
                         0);
    if (item->kind == ACCEPTED) {
        assert_int_equal(core_ep_poll(net->ep), 0);
        core_ep_established(net->ep, NULL, 0);
    }
    if (item->kind == GONE && core_ep_state(net->ep) == DAT_EP_STATE_CONNECTED)
        core_ep_disconnected(net->ep, DAT_CONNECTION_EVENT_DISCONNECTED, NULL,
                             0);
    core_ia_unlock(ia);
    if (item->kind == DATA)
        fill_receive(net, item);
}

static void stick(void)
{
    uint64_t begin = now_ns();
    atomic_store(&stuck, true);
    while (!atomic_load(&released) && now_ns() - begin < STUCK_NS)
        poll_pause();
    if (!atomic_load(&released))
        atomic_store(&stuck_for_long, true);
}

static void net_progress(struct core_ia *ia, bool sure)
{
    struct net *net = ia->tp;
    if (atomic_exchange(&sticks, false))
        stick();
    while (net->items && net->inbox[0].due <= now_ns()) {
        struct item item = net->inbox[0];
        net->items--;
        memmove(net->inbox, net->inbox + 1, net->items * sizeof item);
        take(ia, net, &item);
    }
}

static uint64_t net_next_due(struct core_ia *ia, uint64_t seen)
{
    const struct net *net = ia->tp;
    return net->items ? net->inbox[0].due : UINT64_MAX;
}

/* ---- sleeping: all bells are one */

static void net_arm(struct core_ia *ia, uint64_t bell)
{
    struct net *net = ia->tp;
    atomic_store(&net->rung, false);
}

static int net_sleep(struct core_ia *ia, uint64_t bell, bool fed,
                     uint64_t timeout_ns)
{
    struct net *net = ia->tp;
    uint64_t begin = now_ns();
    if (timeout_ns > net->longest_sleep)
        net->longest_sleep = timeout_ns;
    while (!atomic_load(&net->rung) && now_ns() - begin < timeout_ns)
        poll_pause();
    return 0;
}

static void net_ring(struct core_ia *ia, uint64_t bells)
{
    struct net *net = ia->tp;
    atomic_store(&net->rung, true);
}

static const struct core_transport transport = {
    .provider = "test",
    .can = {.max_eps = 4,
            .max_dtos = 16,
            .default_dtos = 8,
            .max_iov = 1,
            .max_rdma_iov = 1,
            .max_rdma_reads = 1,
            .max_private_data = 0,
            .max_message_size = MESSAGE,
            .max_rdma_size = MESSAGE,
            .rmr = true},
    .ia_open = net_open,
    .ia_close = net_close,
    .mr_publish = net_mr_publish,
    .mr_withdraw = net_mr_withdraw,
    .listen = net_listen,
    .unlisten = net_unlisten,
    .connect = net_connect,
    .accept = net_accept,
    .reject = net_reject,
    .disconnect = net_disconnect,
    .ep_release = net_ep_release,
    .post = net_post,
    .recv_post = net_recv_post,
    .ia_progress = net_progress,
    .ia_next_due = net_next_due,
    .abort = net_abort,
    .arm = net_arm,
    .sleep = net_sleep,
    .ring = net_ring,
};

/* ------------------------------------------------------------ the tests --- */

#define NAME "offers0"

static const DAT_PROVIDER_INFO info = {.ia_name = NAME,
                                       .dapl_version_major = 2,
                                       .dapl_version_minor = 0,
                                       .is_thread_safe = DAT_FALSE};

static const DAT_MEM_PRIV_FLAGS own =
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;

struct scene {
    end_t sender, receiver;
};

static int scene_open_apart(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    end_t *ends[] = {&s->sender, &s->receiver};
    delay_ns = 0;
    for (unsigned i = 0; i < 2; i++) {
        end_open_on(ends[i], NAME, NULL);
        region_create(&ends[i]->mem, MEMORY_MALLOC, 2 * MESSAGE, ends[i]->ia,
                      ends[i]->pz, own);
    }
    *state = s;
    return 0;
}

static int scene_open(void **state)
{
    scene_open_apart(state);
    struct scene *s = *state;
    end_connect_both(&s->sender, &s->receiver);
    return 0;
}

/* libdat2 does without a line of dat.conf until the IA is closed; then it tells
 * that there is none. */
static void close_with_all(end_t *end)
{
    DAT_OK(dat_ep_free(end->ep));
    region_destroy(&end->mem);
    DAT_FAILS(dat_ia_close(end->ia, DAT_CLOSE_ABRUPT_FLAG),
              DAT_PROVIDER_NOT_FOUND);
}

static int scene_close(void **state)
{
    struct scene *s = *state;
    DAT_OK(dat_ep_disconnect(s->sender.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(s->sender.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(s->receiver.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    close_with_all(&s->sender);
    close_with_all(&s->receiver);
    assert_false(nets[0].open || nets[1].open);
    free(s);
    return 0;
}

static DAT_RETURN post_recv(end_t *end, uint64_t number)
{
    DAT_LMR_TRIPLET to = local(&end->mem, number % 2 * MESSAGE, MESSAGE);
    return dat_ep_post_recv(end->ep, 1, &to, cookie(number), 0);
}

static void send_byte(end_t *end, unsigned char byte)
{
    DAT_LMR_TRIPLET from = local(&end->mem, 0, MESSAGE);
    memset(end->mem.data, byte, MESSAGE);
    DAT_OK(dat_ep_post_send(end->ep, 1, &from, cookie(byte), 0));
    EXPECT_DTO(end->request, byte, DAT_DTO_SUCCESS, MESSAGE);
}

/* They are the network's before anything comes; where it has no room the poster
 * is told, and nothing is posted. */
static void receives_are_handed_over(void **state)
{
    struct scene *s = *state;
    for (uint64_t i = 0; i < 6; i += 2) {
        DAT_OK(post_recv(&s->receiver, i));
        DAT_OK(post_recv(&s->receiver, i + 1));
        DAT_FAILS(post_recv(&s->receiver, 99), DAT_INSUFFICIENT_RESOURCES);
        assert_int_equal(nets[1].nhanded, ROOM);
        for (uint64_t n = i; n < i + ROOM; n++) {
            send_byte(&s->sender, (unsigned char)(n + 1));
            EXPECT_DTO(s->receiver.recv, n, DAT_DTO_SUCCESS, MESSAGE);
            assert_int_equal(s->receiver.mem.data[n % 2 * MESSAGE], n + 1);
        }
    }
    /* the end of the connection flushes what nothing came for */
    DAT_OK(post_recv(&s->receiver, 6));
    DAT_OK(dat_ep_disconnect(s->sender.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_DTO(s->receiver.recv, 6, DAT_DTO_ERR_FLUSHED, 0);
}

/* No thread rings: a waiter must not sleep longer than until it is due. */
static void due_by_the_mere_passing_of_time(void **state)
{
    struct scene *s = *state;
    DAT_OK(post_recv(&s->receiver, 1));
    nets[1].longest_sleep = 0;
    delay_ns = DELAY_NS;
    send_byte(&s->sender, 7);
    EXPECT_DTO(s->receiver.recv, 1, DAT_DTO_SUCCESS, MESSAGE);
    assert_true(nets[1].longest_sleep <= DELAY_NS);
}

/* The poster is told, by the call: no event comes, and the connection stays. */
static void requests_are_refused(void **state)
{
    struct scene *s = *state;
    DAT_EVENT event;
    DAT_LMR_TRIPLET here = local(&s->sender.mem, 0, 8);
    DAT_RMR_TRIPLET there = remote(&s->receiver.mem, 0, 8);
    DAT_FAILS(
        dat_ep_post_rdma_write(s->sender.ep, 1, &here, cookie(1), &there, 0),
        DAT_MODEL_NOT_SUPPORTED);
    DAT_FAILS(
        dat_ep_post_rdma_read(s->sender.ep, 1, &here, cookie(1), &there, 0),
        DAT_MODEL_NOT_SUPPORTED);
    assert_int_equal(dat_evd_dequeue(s->sender.request, &event),
                     DAT_QUEUE_EMPTY);
    DAT_OK(post_recv(&s->receiver, 1));
    send_byte(&s->sender, 9);
    EXPECT_DTO(s->receiver.recv, 1, DAT_DTO_SUCCESS, MESSAGE);
}

/* A request that is carried out after one that has failed does not succeed. It
 * does on the next connection of the EP. */
static void requests_behind_a_failed_one_fail(void **state)
{
    struct scene *s = *state;
    end_t *a = &s->sender, *b = &s->receiver;
    DAT_LMR_TRIPLET from = local(&a->mem, 0, 8);
    for (unsigned connection = 0; connection < 2; connection++) {
        keeps = true;
        for (uint64_t n = 1; n <= 4; n++)
            DAT_OK(dat_ep_post_send(a->ep, 1, &from, cookie(n), 0));
        keeps = false;
        end_request(nets[0].ep, DAT_DTO_SUCCESS);
        EXPECT_DTO(a->request, 1, DAT_DTO_SUCCESS, 8);
        end_request(nets[0].ep, DAT_DTO_ERR_REMOTE_ACCESS);
        EXPECT_DTO(a->request, 2, DAT_DTO_ERR_REMOTE_ACCESS, 0);
        end_request(nets[0].ep, DAT_DTO_SUCCESS);
        EXPECT_DTO(a->request, 3, DAT_DTO_ERR_FLUSHED, 0);
        DAT_OK(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
        EXPECT_DTO(a->request, 4, DAT_DTO_ERR_FLUSHED, 0);
        EXPECT_EVENT(a->conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_EVENT(b->conn, DAT_CONNECTION_EVENT_DISCONNECTED);
        DAT_OK(dat_ep_reset(a->ep));
        DAT_OK(dat_ep_reset(b->ep));
        end_connect_both(a, b);
    }
}

/* Ranges that it does not publish leave nothing behind. */
static void memory_is_refused(void **state)
{
    struct scene *s = *state;
    static unsigned char bytes[8];
    DAT_REGION_DESCRIPTION what = {.for_va = bytes};
    DAT_LMR_HANDLE lmr;
    for (unsigned i = 0; i <= CORE_MAX_MRS; i++)
        DAT_FAILS(dat_lmr_create(s->sender.ia, DAT_MEM_TYPE_VIRTUAL, what,
                                 sizeof bytes, s->sender.pz,
                                 own | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                                 DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL),
                  DAT_MODEL_NOT_SUPPORTED);
    DAT_OK(dat_lmr_create(s->sender.ia, DAT_MEM_TYPE_VIRTUAL, what,
                          sizeof bytes, s->sender.pz, own, DAT_VA_TYPE_VA, &lmr,
                          NULL, NULL, NULL, NULL));
    DAT_OK(dat_lmr_free(lmr));
}

/* The transport's limits, and missing features, are those of its IAs. */
static void abilities_are_the_transports(void **state)
{
    struct scene *s = *state;
    DAT_IA_ATTR ia;
    DAT_SRQ_ATTR queue = {.max_recv_dtos = 1, .max_recv_iov = 1};
    DAT_SRQ_HANDLE srq;
    DAT_OK(dat_ia_query(s->sender.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL));
    assert_int_equal(ia.max_message_size, MESSAGE);
    assert_int_equal(ia.max_eps, 4);
    DAT_LMR_TRIPLET from = local(&s->sender.mem, 0, MESSAGE + 1);
    DAT_FAILS(dat_ep_post_send(s->sender.ep, 1, &from, cookie(1), 0),
              DAT_LENGTH_ERROR);
    DAT_FAILS(dat_srq_create(s->sender.ia, s->sender.pz, &queue, &srq),
              DAT_MODEL_NOT_SUPPORTED);
}

/* ---- a wait for a CNO holds no lock while the transport works */

static DAT_CNO_HANDLE cno_of(const end_t *end, DAT_EVD_HANDLE evd)
{
    DAT_CNO_HANDLE cno;
    DAT_OK(dat_cno_create(end->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    DAT_OK(dat_evd_modify_cno(evd, cno));
    return cno;
}

static void cno_end(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
    DAT_OK(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
    DAT_OK(dat_cno_free(cno));
}

static void cno_reports_what_is_due(void **state)
{
    struct scene *s = *state;
    DAT_EVD_HANDLE evd;
    DAT_CNO_HANDLE cno = cno_of(&s->receiver, s->receiver.recv);
    DAT_OK(post_recv(&s->receiver, 1));
    nets[1].longest_sleep = 0;
    delay_ns = DELAY_NS;
    send_byte(&s->sender, 7);
    DAT_OK(dat_cno_wait(cno, WAIT_MS * 1000, &evd));
    assert_ptr_equal(evd, s->receiver.recv);
    EXPECT_DTO(s->receiver.recv, 1, DAT_DTO_SUCCESS, MESSAGE);
    assert_true(nets[1].longest_sleep <= DELAY_NS);
    cno_end(cno, s->receiver.recv);
}

static void *wait_for_nothing(void *cno)
{
    DAT_EVD_HANDLE evd;
    DAT_FAILS(dat_cno_wait(cno, 1000, &evd), DAT_TIMEOUT_EXPIRED);
    return NULL;
}

static void slow_progress_stalls_only_its_waiter(void **state)
{
    struct scene *s = *state;
    pthread_t waiter;
    DAT_PZ_HANDLE pz;
    DAT_CNO_HANDLE cno = cno_of(&s->receiver, s->receiver.recv);
    atomic_store(&stuck, false);
    atomic_store(&released, false);
    atomic_store(&stuck_for_long, false);
    atomic_store(&sticks, true);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_nothing, cno), 0);
    while (!atomic_load(&stuck))
        poll_pause();
    DAT_OK(dat_pz_create(s->receiver.ia, &pz));
    DAT_OK(dat_pz_free(pz));
    atomic_store(&released, true);
    assert_int_equal(pthread_join(waiter, NULL), 0);
    assert_false(atomic_load(&stuck_for_long));
    cno_end(cno, s->receiver.recv);
}

/* ---- calls that fail leave no trace */

static DAT_EP_PARAM ep_now(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param;
    DAT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    return param;
}

static uint32_t address_of(const DAT_EP_PARAM *param)
{
    struct sockaddr_in in;
    memcpy(&in, param->remote_ia_address_ptr, sizeof in);
    return in.sin_addr.s_addr;
}

static void failed_connect(void **state)
{
    struct scene *s = *state;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = INADDR_LOOPBACK};
    refuses = true;
    DAT_FAILS(dat_ep_connect(s->sender.ep, (DAT_IA_ADDRESS_PTR)&to, 77, SECOND,
                             0, NULL, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG),
              DAT_INSUFFICIENT_RESOURCES);
    DAT_EP_PARAM after = ep_now(s->sender.ep);
    assert_int_equal(after.ep_state, DAT_EP_STATE_UNCONNECTED);
    assert_int_equal(after.remote_port_qual, 0);
    assert_int_equal(address_of(&after), 0);
    refuses = false;
    end_connect_both(&s->sender, &s->receiver);
}

/* The EP of an RSP's request stays the request's. */
static void failed_accept(void **state)
{
    struct scene *s = *state;
    end_t *to = &s->receiver;
    DAT_RSP_HANDLE rsp;
    DAT_OK(dat_psp_free(to->psp));
    DAT_OK(dat_rsp_create(to->ia, to->qual, to->ep, to->cr, &rsp));
    DAT_OK(end_connect(&s->sender, to->qual));
    DAT_CR_HANDLE cr = end_asked(to);
    refuses = true;
    DAT_FAILS(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL),
              DAT_INSUFFICIENT_RESOURCES);
    refuses = false;
    assert_int_equal(ep_now(to->ep).ep_state,
                     DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    DAT_FAILS(dat_ep_free(to->ep), DAT_INVALID_STATE);
    DAT_OK(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
    EXPECT_EVENT(to->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(s->sender.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static DAT_RETURN bind_window(const end_t *end, DAT_RMR_HANDLE rmr,
                              size_t bytes, int priv, DAT_RMR_CONTEXT *context)
{
    DAT_LMR_TRIPLET part = local(&end->mem, 0, bytes);
    return dat_rmr_bind(rmr, end->mem.lmr, &part, (DAT_MEM_PRIV_FLAGS)priv,
                        DAT_VA_TYPE_VA, end->ep, cookie(0),
                        DAT_COMPLETION_SUPPRESS_FLAG, context);
}

/* The binding before stays. */
static void failed_bind(void **state)
{
    struct scene *s = *state;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_PARAM after;
    DAT_RMR_CONTEXT first, second = 0;
    DAT_OK(dat_rmr_create(s->sender.pz, &rmr));
    DAT_OK(bind_window(&s->sender, rmr, 8, 0, &first));
    DAT_FAILS(bind_window(&s->sender, rmr, 16, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                          &second),
              DAT_MODEL_NOT_SUPPORTED);
    DAT_OK(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &after));
    assert_int_equal(after.rmr_context, first);
    assert_int_equal(after.lmr_triplet.segment_length, 8);
    assert_int_equal(second, 0);
    DAT_FAILS(dat_lmr_free(s->sender.mem.lmr), DAT_INVALID_STATE);
    DAT_OK(bind_window(&s->sender, rmr, 16, 0, &second));
    assert_int_not_equal(second, first);
    DAT_OK(dat_rmr_free(rmr));
}

static int registered(void **state)
{
    core_transport_is(&transport);
    dat_provider_init(&info, "");
    return 0;
}

static int removed(void **state)
{
    dat_provider_fini(&info);
    return 0;
}

#define WITH_SCENE(test)                                                       \
    cmocka_unit_test_setup_teardown(test, scene_open, scene_close)
#define WITH_ENDS(test)                                                        \
    cmocka_unit_test_setup_teardown(test, scene_open_apart, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(receives_are_handed_over),
        WITH_SCENE(due_by_the_mere_passing_of_time),
        WITH_SCENE(requests_are_refused),
        WITH_SCENE(requests_behind_a_failed_one_fail),
        WITH_SCENE(memory_is_refused),
        WITH_SCENE(abilities_are_the_transports),
        WITH_ENDS(failed_connect),
        WITH_ENDS(failed_accept),
        WITH_SCENE(failed_bind),
        WITH_SCENE(cno_reports_what_is_due),
        WITH_SCENE(slow_progress_stalls_only_its_waiter),
    };
    return cmocka_run_group_tests(tests, registered, removed);
}

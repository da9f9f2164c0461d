/* SPDX-License-Identifier: BSD-3-Clause */
/* Which peers a bond connects with, and what it does before a connection ends.
 */
#include <netinet/in.h>
#include <stdatomic.h>

#include "util.h"

#define BYTES    64
#define ATTEMPTS 100

/* The private data of a link that asks to join (providers/bond/wire.h). */
struct hello {
    uint32_t magic;
    uint8_t kind, size;
    uint16_t members;
    uint32_t to, epoch;
    uint64_t token;
};
#define BOND_MAGIC 0xb04d0004u
#define BOND_JOIN  2u

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-two", "a b"},
    {"libdapl_bond.so", "bond-one", "a"},
};

/* --------------------------------------------- between bond and members --- */

static bool no_eps;
static atomic_bool no_joins;
static _Atomic(DAT_EP_HANDLE) stray;   /* may connect in spite of no_joins */
static DAT_COUNT room;                 /* of the EVD that was resized last */
static DAT_CONN_QUAL join_qual;        /* where links of b join: the latest */
static const char *_Atomic no_accepts; /* by this member */
static _Atomic(DAT_CR_HANDLE) unaccepted; /* the request that it did not accept
                                             last, … */
static atomic_uint answers; /* … and how often that was answered again */

static atomic_bool foreign; /* members look like those of libdaplofa */
static bool simulated;      /* … or like simulated rails */
static struct sockaddr_in joins_to;

STAND_IN DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async,
                                 DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *attr,
                                 DAT_PROVIDER_ATTR_MASK provider_mask,
                                 DAT_PROVIDER_ATTR *provider)
{
    DAT_RETURN ret =
        real(dat_ia_query)(ia, async, ia_mask, attr, provider_mask, provider);
    if (foreign && provider && ret == DAT_SUCCESS)
        strcpy(provider->provider_name, "foreign");
    if (simulated && provider && ret == DAT_SUCCESS)
        strcpy(provider->provider_name, "dapl_rail sim");
    return ret;
}

static bool is_of(DAT_HANDLE handle, const char *ia)
{
    return !strcmp(ia_of(handle), ia);
}

STAND_IN DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                  DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                  DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                                  DAT_EP_HANDLE *ep)
{
    return no_eps ? DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES
                  : real(dat_ep_create)(ia, pz, recv, request, conn, attr, ep);
}

STAND_IN DAT_RETURN dat_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT qlen)
{
    room = qlen;
    return real(dat_evd_resize)(evd, qlen);
}

STAND_IN DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual,
                                       DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                                       DAT_PSP_HANDLE *psp)
{
    DAT_RETURN ret = real(dat_psp_create_any)(ia, qual, evd, flags, psp);
    if (is_of(evd, "b"))
        join_qual = *qual;
    return ret;
}

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR to,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                                   DAT_COUNT size, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    bool fails = no_joins && ep != stray && is_of(ep, "b");
    if (fails)
        memcpy(&joins_to, to, sizeof joins_to);
    return fails ? DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES
                 : real(dat_ep_connect)(ep, to, qual, timeout, size, data, qos,
                                        flags);
}

/* libdaplofa flushes the receives of an EP that never had a connection. */
STAND_IN DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    if (foreign && is_of(ep, "b") &&
        !real(dat_ep_connect)(ep, (DAT_IA_ADDRESS_PTR)&joins_to, 1, WAIT_MS, 0,
                              NULL, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG))
        dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
    return real(dat_ep_free)(ep);
}

STAND_IN DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
                                  DAT_COUNT size, const DAT_PVOID data)
{
    const char *member = no_accepts;
    answers += cr && cr == unaccepted;
    if (!cr || !member || !is_of(cr, member))
        return real(dat_cr_accept)(cr, ep, size, data);
    unaccepted = cr;
    return DAT_CLASS_ERROR | DAT_INTERNAL_ERROR;
}

STAND_IN DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size,
                                  const DAT_PVOID data)
{
    answers += cr && cr == unaccepted;
    return real(dat_cr_reject)(cr, size, data);
}

/* ---------------------------------------------------------------- tests --- */

static void open_both(end_t *active, end_t *passive, const char *ia)
{
    setenv("TEST_IA", ia, 1);
    ends_open(active, passive, MEMORY_MEMFD, BYTES);
}

/* The sender disconnects gracefully, and the peer posts the receive later. Even
 * a message without a completion event arrives. */
static void last_message(const char *ia)
{
    end_t me, peer;
    open_both(&me, &peer, ia);
    end_connect_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, BYTES);
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(1),
                            DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    pause_ms(100);
    seg = local(&peer.mem, 0, BYTES);
    DAT_OK(dat_ep_post_recv(peer.ep, 1, &seg, cookie(2),
                            DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(peer.recv, 2, DAT_DTO_SUCCESS, BYTES);
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&me, &peer);
}

static void last_message_arrives(void **state)
{
    last_message("a");
    last_message("bond-one");
    last_message("bond-two");
}

/* The peer sees a write that has no completion event, and disconnects. The
 * write has arrived: it is not flushed. */
static void last_write(const char *ia)
{
    end_t me, peer;
    DAT_EVENT event;
    open_both(&me, &peer, ia);
    memset(peer.mem.data, 0, 8);
    memset(me.mem.data, 1, 8);
    end_connect_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.mem, 0, 8);
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    while (!atomic_load((_Atomic uint64_t *)peer.mem.data))
        dat_evd_dequeue(me.request, &event);
    DAT_OK(dat_ep_disconnect(peer.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_silence(me.request, 1);
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&me, &peer);
}

static void last_write_arrives(void **state)
{
    last_write("a");
    last_write("bond-two");
}

/* The peer uses the member itself. It gets nothing from the bond. */
static void no_bond(void **state)
{
    end_t me, peer;
    end_open_on(&me, "bond-two", NULL);
    end_open_on(&peer, "a", NULL);
    region_create(&peer.mem, MEMORY_MEMFD, 4096, peer.ia, peer.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET seg = local(&peer.mem, 0, 4096);
    DAT_OK(dat_ep_post_recv(peer.ep, 1, &seg, cookie(1),
                            DAT_COMPLETION_DEFAULT_FLAG));
    DAT_OK(end_connect(&me, peer.qual));
    end_accept(&peer);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DTO(peer.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    ends_close(&me, &peer);
}

/* A bond of one member is that member: its objects are the member's own, and
 * its peer may use the member itself. */
static void single(void **state)
{
    end_t me, peer;
    DAT_CONTEXT context = {.as_64 = 5}, found = {0};
    DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_EP;
    end_open_on(&me, "bond-one", NULL);
    end_open_on(&peer, "a", NULL);
    region_create(&me.mem, MEMORY_MEMFD, BYTES, me.ia, me.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    region_create(&peer.mem, MEMORY_MEMFD, BYTES, peer.ia, peer.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    assert_string_equal(ia_of(me.ep), "a");
    DAT_OK(dat_set_consumer_context(me.ia, context));
    DAT_OK(dat_get_consumer_context(me.ia, &found));
    assert_int_equal(found.as_64, 5);
    DAT_OK(dat_get_handle_type(me.ia, &type));
    assert_int_equal(type, DAT_HANDLE_TYPE_IA);
    assert_string_equal(provider_attribute(me.ia, "fabric"), "shm");
    end_connect_both(&me, &peer);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.mem, 0, 8);
    memset(me.mem.data, 7, 8);
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_SUPPRESS_FLAG));
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(2), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(me.request, 2, DAT_DTO_SUCCESS, 8);
    assert_memory_equal(peer.mem.data, me.mem.data, 8);
    DAT_FAILS(dat_ia_close(me.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
    ends_close(&me, &peer);
}

/* A mistake in the call that opens it is an error, as for its member. */
static void single_mistakes(void **state)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_FAILS(dat_ia_open((DAT_NAME_PTR) "bond-one", 8, NULL, &ia),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ia_open((DAT_NAME_PTR) "bond-one", -1, &async, &ia),
              DAT_INVALID_PARAMETER);
}

/* A simulated rail has a clock of its own. */
static void simulated_members(void **state)
{
    static const char *const bonds[] = {"bond-one", "bond-two"};
    simulated = true;
    for (unsigned i = 0; i < 2; i++) {
        DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_FAILS(dat_ia_open((DAT_NAME_PTR)bonds[i], 8, &async, &ia),
                  DAT_INVALID_PARAMETER);
        assert_null(async);
    }
    simulated = false;
}

/* An attempt that fails for lack of resources keeps no room in an EVD. */
static void no_room_is_lost(void **state)
{
    end_t me;
    end_open_on(&me, "bond-two", NULL);
    no_eps = true;
    for (unsigned i = 0; i < ATTEMPTS; i++)
        DAT_FAILS(end_connect(&me, 1), DAT_INSUFFICIENT_RESOURCES);
    no_eps = false;
    assert_int_equal(room, 0);
    end_close(&me);
}

static DAT_CR_HANDLE open_and_ask(end_t *me, end_t *peer)
{
    open_both(me, peer, "bond-two");
    DAT_OK(end_connect(me, peer->qual));
    return end_asked(peer);
}

/* An accept that fails for lack of resources can be repeated. */
static void accepts_again(void **state)
{
    end_t me, peer;
    DAT_CR_HANDLE cr = open_and_ask(&me, &peer);
    no_eps = true;
    DAT_FAILS(dat_cr_accept(cr, peer.ep, 0, NULL), DAT_INSUFFICIENT_RESOURCES);
    no_eps = false;
    DAT_OK(dat_cr_accept(cr, peer.ep, 0, NULL));
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    ends_close(&me, &peer);
}

/* After an accept that fails otherwise, the member's request is gone. */
static void accepts_too_late(void **state)
{
    end_t me, peer;
    DAT_CR_HANDLE cr = open_and_ask(&me, &peer);
    no_accepts = "a";
    DAT_OK(dat_cr_accept(cr, peer.ep, 0, NULL));
    no_accepts = NULL;
    EXPECT_EVENT(peer.conn, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    assert_int_equal(answers, 0);
    ends_close(&me, &peer);
}

/* The same for a link that joins. */
static void joins_too_late(void **state)
{
    end_t me, peer;
    open_both(&me, &peer, "bond-two");
    unaccepted = DAT_HANDLE_NULL;
    no_accepts = "b";
    end_connect_both(&me, &peer);
    no_accepts = NULL;
    assert_non_null(unaccepted);
    assert_int_equal(answers, 0);
    ends_close(&me, &peer);
}

/* EPs of libdaplofa are freed later than their links: then their receives are
 * flushed. */
static void flushed_late(void **state)
{
    end_t me, peer;
    foreign = true;
    open_both(&me, &peer, "bond-two");
    no_joins = true;
    end_connect_both(&me, &peer);
    pause_ms(400);
    foreign = false;
    no_joins = false;
    ends_close(&me, &peer);
}

/* Only the peer's links join a connection. */
static void stranger(void **state)
{
    end_t me, peer, other;
    open_both(&me, &peer, "bond-two");
    DAT_CONN_QUAL qual = join_qual;
    no_joins = true;
    end_connect_both(&me, &peer);
    end_open_on(&other, "b", NULL);
    stray = other.ep;
    struct hello hello = {.magic = BOND_MAGIC,
                          .kind = BOND_JOIN,
                          .size = 16,
                          .to = 1,
                          .epoch = 1000};
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(other.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    DAT_OK(dat_ep_connect(other.ep, attr.ia_address_ptr, qual, WAIT_MS * 1000,
                          sizeof hello, &hello, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_EVENT(other.conn, DAT_CONNECTION_EVENT_PEER_REJECTED);
    no_joins = false;
    end_close(&other);
    ends_close(&me, &peer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_message_arrives),
        cmocka_unit_test(last_write_arrives),
        cmocka_unit_test(no_bond),
        cmocka_unit_test(single),
        cmocka_unit_test(single_mistakes),
        cmocka_unit_test(simulated_members),
        cmocka_unit_test(no_room_is_lost),
        cmocka_unit_test(accepts_again),
        cmocka_unit_test(accepts_too_late),
        cmocka_unit_test(joins_too_late),
        cmocka_unit_test(flushed_late),
        cmocka_unit_test(stranger),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

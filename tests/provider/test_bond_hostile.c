/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer of a bond lies: it uses a member itself, connects to the bond or lets
 * the bond connect, and sends messages of any content. The bond touches no
 * other memory than the peer may, ends each such connection, and serves other
 * peers. */
#include "dapl_rail/platform/fnv.h"
#include "providers/bond/wire.h"
#include "util.h"

#define BYTES    16384
#define ROUNDS   400
#define MESSAGES 40
#define NUMBER   0x5a /* fills what no peer may touch */
#define SLOTS    64

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-two", "a b"},
};

struct message {
    struct bond_header header;
    union {
        struct bond_intro intro;
        struct bond_ended ended;
        struct bond_answers answers;
        struct bond_atomic atomic;
        unsigned char bytes[BOND_DATA_MAX];
    };
};

struct liar {
    end_t end;
    uint64_t seed;
    uint32_t number; /* of the next numbered message */
    unsigned sent;
    bool listens; /* in this round */
    const struct sockaddr *address;
    const region_t *there; /* of the bond's consumer */
};

/* -------------------------------------------------------------- choices --- */

static uint64_t any(struct liar *l, uint64_t below)
{
    return random_next(&l->seed) % below;
}

/* Mostly the value that fits. */
static uint64_t mostly(struct liar *l, uint64_t fits)
{
    static const uint64_t edges[] = {0,          1,          63,     4095,
                                     0x7fffffff, 0x80000000, 1 << 30};
    if (any(l, 32))
        return fits;
    return any(l, 2) ? edges[any(l, sizeof edges / sizeof *edges)]
                     : random_next(&l->seed);
}

/* ------------------------------------------------------------- messages --- */

static void write_intro(struct liar *l, struct bond_intro *intro)
{
    const region_t *mine = &l->end.mem;
    *intro = (struct bond_intro){
        .id = (uint32_t)mostly(l, 7),
        .count = (uint32_t)mostly(l, 2),
        .table = mostly(l, (uintptr_t)mine->data),
        .mark = mostly(l, (uintptr_t)mine->data),
        .token = mostly(l, 9),
        .mark_context = (DAT_RMR_CONTEXT)mostly(l, mine->rmr_context)};
    for (unsigned i = 0; i < BOND_MAX_MEMBERS; i++) {
        intro->member[i].table = (DAT_RMR_CONTEXT)mostly(l, mine->rmr_context);
        intro->member[i].qual = any(l, 4) ? mostly(l, l->end.qual) : 0;
        bond_address_copy(&intro->member[i].address, l->address);
    }
}

static size_t write_body(struct liar *l, struct message *m)
{
    switch (m->header.kind) {
    case BOND_INTRO:
        write_intro(l, &m->intro);
        return sizeof m->intro;
    case BOND_ENDED:
        m->ended = (struct bond_ended){.member = (uint32_t)mostly(l, any(l, 2)),
                                       .epoch = (uint32_t)mostly(l, any(l, 3)),
                                       .expected = (uint32_t)mostly(l, 1),
                                       .marked = (uint32_t)mostly(l, 1),
                                       .mark = mostly(l, 1)};
        return sizeof m->ended;
    case BOND_ANSWERS:
        m->answers.count = (uint32_t)mostly(l, 1);
        m->answers.refused = (uint8_t)any(l, 3);
        return sizeof m->answers;
    case BOND_ATOMIC:
        m->atomic = (struct bond_atomic){
            .address = mostly(l, (uintptr_t)l->there->data + 8 * any(l, 64)),
            .operand = 1,
            .key = (uint32_t)mostly(l, l->there->rmr_context),
            .swap = (uint8_t)any(l, 256)};
        return sizeof m->atomic;
    default:
        return m->header.kind == BOND_DATA ? any(l, sizeof m->bytes) : 0;
    }
}

/* The first message of a connection is an intro. */
static void say(struct liar *l)
{
    size_t at = SLOTS * BOND_SLOT_BYTES + l->sent % SLOTS * BOND_SLOT_BYTES;
    struct message *m = (void *)(l->end.mem.data + at);
    memset(m, (int)any(l, 256), sizeof *m);
    m->header = (struct bond_header){
        .kind = (uint8_t)(l->sent ? any(l, BOND_BREAK + 2) : BOND_INTRO),
        .flags = (uint8_t)any(l, 16),
        .returned = (uint32_t)mostly(l, 0),
        .delivered = (uint32_t)mostly(l, 0)};
    size_t bytes = write_body(l, m);
    if (m->header.kind <= BOND_ATOMIC)
        m->header.number = (uint32_t)mostly(l, l->number++);
    m->header.bytes = (uint16_t)mostly(l, bytes);
    m->header.total = mostly(l, bytes);
    m->header.offset = mostly(l, 0);
    bytes = bytes ? mostly(l, bytes) % (sizeof m->bytes + 1) : 0;
    DAT_LMR_TRIPLET seg = local(&l->end.mem, at, sizeof m->header + bytes);
    if (!dat_ep_post_send(l->end.ep, 1, &seg, cookie(0),
                          DAT_COMPLETION_SUPPRESS_FLAG))
        l->sent++;
}

/* --------------------------------------------------------------- rounds --- */

static struct bond_hello hello_of(unsigned kind)
{
    uint64_t sum = fnv_add(fnv_add(FNV_EMPTY, "a", 2), "b", 2);
    return (struct bond_hello){
        .magic = BOND_MAGIC,
        .kind = (uint8_t)kind,
        .members = (uint16_t)(sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48)};
}

/* The liar connects. */
static void ask(struct liar *l, end_t *me)
{
    const struct bond_hello hello = hello_of(BOND_FIRST);
    DAT_OK(dat_ep_connect(l->end.ep, (DAT_IA_ADDRESS_PTR)l->address, me->qual,
                          WAIT_MS * 1000, sizeof hello, (DAT_PVOID)&hello,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    DAT_OK(dat_cr_accept(end_asked(me), me->ep, 0, NULL));
}

/* Rejects links that ask to join. Returns another request. */
static DAT_CR_HANDLE other_request(struct liar *l)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(l->end.cr, &event) == DAT_SUCCESS) {
        const DAT_CR_HANDLE cr =
            event.event_data.cr_arrival_event_data.cr_handle;
        struct bond_hello hello = hello_of((unsigned)mostly(l, BOND_GONE));
        DAT_CR_PARAM param;
        DAT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
        if (((const struct bond_hello *)param.private_data)->kind == BOND_FIRST)
            return cr;
        DAT_OK(dat_cr_reject(cr, sizeof hello, &hello));
    }
    return DAT_HANDLE_NULL;
}

/* The bond connects. */
static void answer(struct liar *l, end_t *me)
{
    const struct bond_hello hello = hello_of((unsigned)mostly(l, BOND_FIRST));
    DAT_CR_HANDLE cr;
    DAT_OK(end_connect(me, l->end.qual));
    while (!(cr = other_request(l)))
        ;
    DAT_OK(dat_cr_accept(cr, l->end.ep, sizeof hello, (DAT_PVOID)&hello));
}

static void connect_both(struct liar *l, end_t *me)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        DAT_LMR_TRIPLET seg =
            local(&l->end.mem, i * BOND_SLOT_BYTES, BOND_SLOT_BYTES);
        DAT_OK(dat_ep_post_recv(l->end.ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
    }
    if (l->listens)
        answer(l, me);
    else
        ask(l, me);
    EXPECT_EVENT(l->end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* The bond's consumer uses the connection. */
static void use(const struct liar *l, const end_t *me)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, BYTES / 2);
    DAT_RMR_TRIPLET to = remote(&l->end.mem, 0, BYTES / 2);
    dat_ep_post_send(me->ep, 1, &seg, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
    dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(2), &to,
                           DAT_COMPLETION_DEFAULT_FLAG);
    dat_ep_post_rdma_read(me->ep, 1, &seg, cookie(3), &to,
                          DAT_COMPLETION_DEFAULT_FLAG);
    to.segment_length = seg.segment_length = 8;
    dat_ib_post_fetch_and_add(me->ep, 1, &seg, cookie(4), &to,
                              DAT_COMPLETION_DEFAULT_FLAG);
}

static bool has_ended(end_t *me)
{
    DAT_EVENT event;
    evd_drain(me->recv);
    evd_drain(me->request);
    return dat_evd_dequeue(me->conn, &event) == DAT_SUCCESS &&
           event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED;
}

static void one_round(struct liar *l, end_t *me)
{
    DAT_EP_STATE state;
    l->sent = l->number = 0;
    l->listens = any(l, 2);
    for (unsigned i = 0; i < 4; i++) {
        DAT_LMR_TRIPLET seg = local(&me->mem, BYTES / 4 * i, BYTES / 4);
        DAT_OK(dat_ep_post_recv(me->ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_DEFAULT_FLAG));
    }
    connect_both(l, me);
    for (unsigned i = 0; i < MESSAGES; i++) {
        say(l);
        evd_drain(me->recv);
        evd_drain(me->request);
        other_request(l);
        if (i == MESSAGES / 4)
            use(l, me);
    }
    DAT_OK(dat_ep_disconnect(l->end.ep, DAT_CLOSE_ABRUPT_FLAG));
    for (unsigned ms = 0; !has_ended(me); ms++) {
        assert_true(ms < WAIT_MS);
        poll_pause();
    }
    do {
        other_request(l);
        evd_drain(l->end.conn);
        DAT_OK(dat_ep_get_status(l->end.ep, &state, NULL, NULL));
    } while (state != DAT_EP_STATE_DISCONNECTED);
    DAT_OK(dat_ep_reset(me->ep));
    DAT_OK(dat_ep_reset(l->end.ep));
    evd_drain(me->recv);
    evd_drain(me->request);
    evd_drain(l->end.recv);
    evd_drain(l->end.request);
    evd_drain(l->end.conn);
}

static void expect_untouched(const region_t *mem)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(mem->all[i], NUMBER);
        assert_int_equal(mem->all[GUARD + mem->bytes + i], NUMBER);
    }
}

static void lies(void **state)
{
    end_t me, peer;
    struct liar l = {.seed = 48};
    DAT_IA_ATTR attr;
    setenv("TEST_IA", "bond-two", 1);
    ends_open(&me, &peer, MEMORY_MEMFD, BYTES);
    memset(me.mem.all, NUMBER, GUARD);
    memset(me.mem.all + GUARD + BYTES, NUMBER, GUARD);
    end_open_on(&l.end, "a", NULL);
    region_create(&l.end.mem, MEMORY_MEMFD, 2 * SLOTS * BOND_SLOT_BYTES,
                  l.end.ia, l.end.pz, DAT_MEM_PRIV_ALL_FLAG);
    l.there = &me.mem;
    DAT_OK(dat_ia_query(l.end.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    l.address = attr.ia_address_ptr;
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(&l, &me);
    expect_untouched(&me.mem);
    end_connect_both(&peer, &me);
    DAT_LMR_TRIPLET out = local(&peer.mem, 0, BYTES),
                    in = local(&me.mem, 0, BYTES);
    DAT_OK(dat_ep_post_recv(me.ep, 1, &in, cookie(1),
                            DAT_COMPLETION_DEFAULT_FLAG));
    DAT_OK(dat_ep_post_send(peer.ep, 1, &out, cookie(2),
                            DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(me.recv, 1, DAT_DTO_SUCCESS, BYTES);
    end_close(&l.end);
    ends_close(&me, &peer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What libfabric is given. If it refuses a request, it is given no later one: a
 * later write would arrive without the earlier one. And the first and the last
 * word of a write are pieces of their own. libfabric's objects are the test's.
 */
#include "unit.h"

#if __has_include(<rdma/fabric.h>)
#include "providers/ofi/ofi.h"

#define PLACES 8u

static struct core_transport transport = {.request_size =
                                              sizeof(struct ofi_request)};
static struct core_mr none;
static struct core_ia ia = {.transport = &transport, .mrs = &none};
static struct fi_tx_attr tx = {.inject_size = INT16_MAX};
static struct fi_info info = {.tx_attr = &tx};
static struct ofi_ia oia = {.ia = &ia, .info = &info, .talks = true};
static struct core_ep ep;
static struct fid_ep fid;
static struct ofi_conn conn;
static unsigned given, refused;    /* the number of the one that is refused */
static struct fi_rma_iov piece[4]; /* of the last write */
static size_t pieces;

/* The provider's other parts. */
void ofi_thread_wake(struct ofi_ia *unused)
{
}

void ofi_break_off(struct ofi_conn *c)
{
    atomic_store(&c->failed, true);
}

void ofi_nudge(struct ofi_ia *unused)
{
}

void ofi_thread_watch(struct ofi_conn *unused)
{
}

void ofi_signal_polled(struct ofi_ia *unused)
{
}

void ofi_signal_unmute(struct ofi_ia *unused)
{
}

static ssize_t write_or_refuse(struct fid_ep *unused,
                               const struct fi_msg_rma *msg, uint64_t flags)
{
    pieces = msg->rma_iov_count;
    for (size_t i = 0; i < pieces; i++)
        piece[i] = msg->rma_iov[i];
    return ++given == refused ? -FI_ENOMEM : 0;
}

static struct fi_ops_rma rma = {.writemsg = write_or_refuse};

static void begin(void)
{
    static uint64_t queue[PLACES * 512];
    given = refused = 0;
    fid.rma = &rma;
    ep = (struct core_ep){.o.ia = &ia,
                          .sq = (unsigned char *)queue,
                          .sq_mask = PLACES - 1,
                          .sq_tp = sizeof(struct core_request),
                          .sq_stride = sizeof(struct core_request) +
                                       sizeof(struct ofi_request)};
    assert_true(PLACES * ep.sq_stride <= sizeof queue);
    conn = (struct ofi_conn){.oia = &oia,
                             .ep = &ep,
                             .fid = &fid,
                             .fd = -1,
                             .open = true,
                             .inside = true,
                             .held = OFI_NONE_HELD};
    atomic_store(&ep.tp, &conn);
}

static void post(DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET seg = {.virtual_address = (uintptr_t)&oia,
                           .segment_length = 8};
    struct core_dto dto = {
        .op = CORE_WRITE, .flags = flags, .nseg = 1, .seg = &seg, .total = 8};
    assert_int_equal(ofi_post(&ep, &dto), DAT_SUCCESS);
}

static void posts_later(void **state)
{
    begin();
    refused = 2;
    for (unsigned i = 0; i < 4; i++)
        post(DAT_COMPLETION_DEFAULT_FLAG);
    assert_int_equal(given, refused);
    post(DAT_COMPLETION_SUPPRESS_FLAG); /* libfabric would copy it at once */
    assert_int_equal(given, refused);
}

/* They wait for the IA's thread, which then gives all of them. */
static void has_posted(void **state)
{
    begin();
    refused = 2;
    for (unsigned i = 0; i < 4; i++) {
        DAT_LMR_TRIPLET seg = {.virtual_address = (uintptr_t)&oia,
                               .segment_length = 8};
        core_request_queue(
            &ep, &(struct core_dto){
                     .op = CORE_WRITE, .nseg = 1, .seg = &seg, .total = 8});
    }
    ofi_issue(&conn);
    ofi_issue(&conn);
    assert_int_equal(given, refused);
}

static void expect_pieces(uint64_t at, uint64_t total, const uint64_t bytes[3])
{
    DAT_LMR_TRIPLET seg = {.virtual_address = (uintptr_t)&oia,
                           .segment_length = total};
    struct core_dto dto = {.op = CORE_WRITE,
                           .nseg = 1,
                           .seg = &seg,
                           .total = total,
                           .remote_address = at};
    begin();
    assert_int_equal(ofi_post(&ep, &dto), DAT_SUCCESS);
    for (size_t i = 0; i < pieces; i++) {
        assert_int_equal(piece[i].addr, at);
        assert_int_equal(piece[i].len, bytes[i]);
        at += bytes[i];
    }
    assert_true(pieces == 3 || !bytes[pieces]);
}

/* A copy of more than a word may store its first bytes in any order. */
static void words_apart(void **state)
{
    expect_pieces(4096, 8384, (uint64_t[]){8, 8368, 8});
    expect_pieces(4096, 16, (uint64_t[]){8, 8, 0});
    expect_pieces(4096, 8, (uint64_t[]){8, 0, 0});
    expect_pieces(4100, 12, (uint64_t[]){4, 8, 0});
    expect_pieces(4099, 30, (uint64_t[]){5, 24, 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(posts_later),
                                       cmocka_unit_test(has_posted),
                                       cmocka_unit_test(words_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
    puts("libfabric is not there");
    return 77;
}
#endif

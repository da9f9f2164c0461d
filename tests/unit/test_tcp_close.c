/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection over libfabric ends while others never leave its queue of
 * completions empty: that takes a bounded time, and nothing of it is read
 * later. libfabric's objects are the test's. */
#include "unit.h"
#include "tests/stand_in.h"

#if __has_include(<rdma/fabric.h>)
#include "providers/ofi/ofi.h"

#define DTOS  8
#define FLOOD 1000000u /* entries after which it gives up */

static struct core_ia ia;
static struct ofi_ia oia;
static struct fid_cq cq;
static struct core_ep ep[2];
static struct fid_ep fid[2];
static struct ofi_conn *conn[2];
static unsigned reads, calls; /* entries read, … by so many */
static unsigned left;         /* entries that the closed one has left behind */
static bool nudged;           /* the sleeper must look at the rest */
static bool writes;           /* entries are of counted writes */

/* The provider's other parts. */
void ofi_thread_wake(struct ofi_ia *unused)
{
}

void ofi_break_off(struct ofi_conn *unused)
{
}

void ofi_nudge(struct ofi_ia *unused)
{
    nudged = true;
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

STAND_IN void fi_freeinfo(struct fi_info *unused)
{
}

/* Receives (or writes) of the first one as long as it has left any, then of the
 * second, all the time. */
static ssize_t read_flood(struct fid_cq *unused, void *buffer, size_t count)
{
    struct fi_cq_data_entry *e = buffer;
    assert_true((reads += (unsigned)count) < FLOOD);
    calls++;
    for (size_t i = 0; i < count; i++) {
        struct ofi_conn *c = left ? conn[0] : conn[1];
        left -= left > 0;
        e[i] = (struct fi_cq_data_entry){.op_context = &c->receive,
                                         .flags = FI_RECV};
        if (writes) {
            e[i].flags = FI_REMOTE_WRITE;
            e[i].data = OFI_CONTROL | OFI_COUNTED | c->id;
        }
    }
    return (ssize_t)count;
}

static int close_leaving(struct fid *unused)
{
    left = DTOS;
    return 0;
}

static struct ofi_conn *connect_to(struct core_ep *e, struct fid_ep *f)
{
    static struct fi_ops ops = {.close = close_leaving};
    struct ofi_conn *c = ofi_conn_new(&oia, OFI_CLOSED);
    assert_non_null(c);
    e->attr.max_request_dtos = e->attr.max_recv_dtos = DTOS;
    f->fid.ops = &ops;
    c->ep = e;
    c->fid = f;
    return c;
}

static void close_first(void)
{
    static struct fi_ops_cq ops = {.read = read_flood};
    ia.tp = &oia;
    oia.ia = &ia;
    cq.ops = &ops;
    oia.cq = &cq;
    pthread_mutex_init(&oia.cq_lock, NULL);
    for (unsigned i = 0; i < 2; i++)
        conn[i] = connect_to(&ep[i], &fid[i]);
    reads = calls = 0;
    ofi_conn_free(conn[0]);
    assert_true(reads >= DTOS);
    assert_int_equal(left, 0);
    assert_true(nudged);
}

static void closes_in_a_flood(void **state)
{
    close_first();
    assert_in_range(calls, 1, DTOS / 2); /* many at once */
}

static void closes_in_a_flood_of_writes(void **state)
{
    writes = true;
    close_first();
    assert_true(conn[1]->counted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closes_in_a_flood),
        cmocka_unit_test(closes_in_a_flood_of_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
    puts("libfabric is not there");
    return 77;
}
#endif

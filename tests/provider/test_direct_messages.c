/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct messages (providers/core/extensions.h): short ones without events; and
 * direct writes. */
#include <pthread.h>
#include <time.h>

#include "providers/core/extensions.h"
#include "util.h"

#define BYTES 65536
#define HEAD  24
#define BODY  8192
#define SLOT  (HEAD + BODY)

static const struct dapl_direct *direct;

/* What the consumer does with the message that it is offered, and which one
 * that was. */
static struct {
    bool refuses;
    unsigned calls;
    size_t bytes;
    unsigned char message[SLOT];
} offered;

static bool take_message(void *context, const void *message, size_t bytes)
{
    assert_ptr_equal(context, &offered);
    assert_in_range(bytes, 0, SLOT);
    offered.calls++;
    offered.bytes = bytes;
    if (!offered.refuses)
        memcpy(offered.message, message, bytes);
    return !offered.refuses;
}

static bool take(const end_t *end)
{
    offered.calls = 0;
    return direct->take(end->ep, 1, take_message, &offered);
}

/* Another thread may hold the EP for a moment. */
static bool takes(const end_t *end)
{
    time_t limit = time(NULL) + WAIT_MS / 1000;
    while (!take(end) && time(NULL) <= limit)
        poll_pause();
    return offered.calls && !offered.refuses;
}

static bool direct_send(const end_t *end, size_t body_bytes)
{
    return direct->send(end->ep, end->mem.data, HEAD, end->mem.data + HEAD,
                        body_bytes, cookie(0));
}

/* The peer's receives may become known a moment after the connection. */
static bool sends(const end_t *end, size_t body_bytes)
{
    time_t limit = time(NULL) + WAIT_MS / 1000;
    bool sent;
    while (!(sent = direct_send(end, body_bytes)) && time(NULL) <= limit)
        poll_pause();
    return sent;
}

static void post_recvs(const end_t *end, unsigned n)
{
    DAT_LMR_TRIPLET to = local(&end->mem, 0, SLOT);
    for (unsigned i = 0; i < n; i++)
        DAT_OK(dat_ep_post_recv(end->ep, 1, &to, cookie(i), 0));
}

/* Skips the test where direct messages are not offered. b has so many receives.
 */
static void open_with(end_t *a, end_t *b, unsigned receives, memory_kind_t kind)
{
    memset(&offered, 0, sizeof offered);
    ends_open(a, b, kind, BYTES);
    if (!provider_attribute(a->ia, DAPL_DIRECT_MESSAGES)) {
        DAT_FAILS(dapl_direct(a->ep, &direct), DAT_NOT_IMPLEMENTED);
        ends_close(a, b);
        skip();
    }
    DAT_OK(dapl_direct(a->ep, &direct));
    post_recvs(b, receives);
    end_connect_both(a, b);
    fill(a->mem.data, BYTES, 1);
}

static void open_both(end_t *a, end_t *b, unsigned receives)
{
    open_with(a, b, receives, MEMORY_MALLOC);
}

/* Many more messages than there are receives: each taken one leaves its receive
 * posted. */
static void taken_without_events(void **state)
{
    static const size_t bodies[] = {0,  1,  7,    8,    9,   31,
                                    32, 33, 1000, 4096, BODY};
    end_t a, b;
    open_both(&a, &b, 2);
    assert_false(take(&b));
    for (unsigned i = 0; i < 3000; i++) {
        size_t body = bodies[i % (sizeof bodies / sizeof *bodies)];
        memcpy(a.mem.data, &i, sizeof i);
        assert_true(sends(&a, body));
        assert_true(takes(&b));
        assert_int_equal(offered.calls, 1);
        assert_int_equal(offered.bytes, HEAD + body);
        assert_memory_equal(offered.message, a.mem.data, HEAD + body);
        assert_false(take(&b));
    }
    expect_silence(b.recv, 20);
    expect_silence(a.request, 0);
    ends_close(&a, &b);
}

/* A message that the consumer refuses, and those behind it, come as events; the
 * receives are used up in order. Those behind an event that is not taken are
 * not offered. */
static void refused_and_then_received(void **state)
{
    end_t a, b;
    open_both(&a, &b, 3);
    assert_true(sends(&a, 8));
    assert_true(takes(&b));
    offered.refuses = true;
    for (unsigned i = 0; i < 3; i++)
        assert_true(sends(&a, 8 + i));
    assert_false(take(&b));
    EXPECT_DTO(b.recv, 0, DAT_DTO_SUCCESS, HEAD + 8);
    offered.refuses = false;
    assert_false(take(&b)); /* the wait has found the others, too */
    assert_int_equal(offered.calls, 0);
    EXPECT_DTO(b.recv, 1, DAT_DTO_SUCCESS, HEAD + 9);
    EXPECT_DTO(b.recv, 2, DAT_DTO_SUCCESS, HEAD + 10);
    /* now there is no receive: nothing is promised, and nothing is sent */
    assert_false(direct_send(&a, 8));
    post_recvs(&b, 1);
    assert_true(sends(&a, 8));
    assert_true(takes(&b));
    ends_close(&a, &b);
}

/* An ordinary send that waits for a receive is not overtaken. */
static void behind_another(void **state)
{
    end_t a, b;
    open_both(&a, &b, 0);
    DAT_LMR_TRIPLET from = local(&a.mem, 0, 8);
    DAT_OK(dat_ep_post_send(a.ep, 1, &from, cookie(9), 0));
    assert_false(take(&b)); /* it has no receive */
    assert_int_equal(offered.calls, 0);
    post_recvs(&b, 2);
    assert_false(direct_send(&a, 8)); /* a has not seen the receives */
    assert_true(takes(&b));
    assert_int_equal(offered.bytes, 8);
    EXPECT_DTO(a.request, 9, DAT_DTO_SUCCESS, 8);
    assert_true(sends(&a, 8));
    assert_true(takes(&b));
    assert_int_equal(offered.bytes, HEAD + 8);
    ends_close(&a, &b);
}

/* Longer than the receive: fails as any other message. */
static void too_long(void **state)
{
    end_t a, b;
    open_both(&a, &b, 0);
    DAT_LMR_TRIPLET to = local(&b.mem, 0, HEAD);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &to, cookie(5), 0));
    assert_true(sends(&a, 0));
    assert_true(takes(&b));
    assert_false(direct_send(&a, 1));
    DAT_LMR_TRIPLET from = local(&a.mem, 0, HEAD + 1);
    DAT_OK(dat_ep_post_send(a.ep, 1, &from, cookie(6), 0));
    assert_false(take(&b));
    assert_int_equal(offered.calls, 0);
    EXPECT_DTO(b.recv, 5, DAT_DTO_ERR_LOCAL_LENGTH, HEAD + 1);
    ends_close(&a, &b);
}

static void ended(void **state)
{
    end_t a, b;
    open_both(&a, &b, 2);
    assert_true(sends(&a, 8));
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_false(direct_send(&a, 8));
    assert_false(take(&b));
    assert_int_equal(offered.calls, 0);
    /* what was sent before has arrived */
    EXPECT_DTO(b.recv, 0, DAT_DTO_SUCCESS, HEAD + 8);
    EXPECT_DTO(b.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    ends_close(&a, &b);
}

/* -------------------------------------------------------------- writing */

static bool writes(const end_t *end, size_t bytes, DAT_RMR_TRIPLET to)
{
    return direct->write(end->ep, end->mem.data, bytes, to.rmr_context,
                         to.virtual_address);
}

static void written_to(memory_kind_t kind)
{
    static const size_t lengths[] = {1, 7, 8, 63, 64, 1000, 4096, BYTES};
    end_t a, b;
    open_with(&a, &b, 1, kind);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i], at = (BYTES - n) / 2;
        memset(b.mem.data, 0, BYTES);
        fill(a.mem.data, n, i + 1);
        assert_true(writes(&a, n, remote(&b.mem, at, n)));
        assert_memory_equal(b.mem.data + at, a.mem.data, n);
        for (size_t other = 0; other < BYTES; other++)
            if (other < at || other >= at + n)
                assert_int_equal(b.mem.data[other], 0);
    }
    expect_silence(a.request, 20);
    ends_close(&a, &b);
}

/* Memory of malloc() is not mapped here. */
static void written_at_once(void **state)
{
    written_to(MEMORY_MEMFD);
    written_to(MEMORY_MALLOC);
}

/* What it refuses it has not written, and the connection goes on. */
static void not_written(void **state)
{
    end_t a, b;
    region_t read_only;
    open_with(&a, &b, 1, MEMORY_MEMFD);
    region_create(&read_only, MEMORY_MEMFD, BYTES, b.ia, b.pz,
                  DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_LOCAL_READ_FLAG);
    memset(read_only.data, 0, BYTES);
    memset(b.mem.data, 0, BYTES);
    DAT_RMR_TRIPLET to = remote(&b.mem, 0, 8), beyond = to, unknown = to;
    beyond.virtual_address += BYTES - 7;
    unknown.rmr_context ^= 0x80000000; /* not that of another range */
    assert_false(writes(&a, 8, beyond));
    assert_false(writes(&a, 8, unknown));
    assert_false(writes(&a, 8, remote(&read_only, 0, 8)));
    assert_false(writes(&a, 0, to));
    assert_int_equal(b.mem.data[BYTES - 1], 0);
    assert_int_equal(read_only.data[0], 0);
    assert_true(writes(&a, 8, to));
    assert_memory_equal(b.mem.data, a.mem.data, 8);
    region_destroy(&read_only);
    ends_close(&a, &b);
}

/* A send waits for its receive: it may still fail. */
static void not_written_behind_an_unfinished_send(void **state)
{
    end_t a, b;
    open_with(&a, &b, 0, MEMORY_MEMFD);
    DAT_LMR_TRIPLET from = local(&a.mem, 0, 8);
    memset(b.mem.data, 0, BYTES);
    DAT_OK(dat_ep_post_send(a.ep, 1, &from, cookie(9), 0));
    assert_false(writes(&a, 8, remote(&b.mem, 8, 8)));
    assert_int_equal(b.mem.data[8], 0);
    post_recvs(&b, 1);
    EXPECT_DTO(a.request, 9, DAT_DTO_SUCCESS, 8);
    assert_true(writes(&a, 8, remote(&b.mem, 8, 8)));
    ends_close(&a, &b);
}

static void not_written_when_ended(void **state)
{
    end_t a, b;
    open_with(&a, &b, 1, MEMORY_MEMFD);
    assert_true(writes(&a, 8, remote(&b.mem, 0, 8)));
    memset(b.mem.data, 0, BYTES);
    DAT_OK(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    assert_false(writes(&a, 8, remote(&b.mem, 0, 8)));
    assert_int_equal(b.mem.data[0], 0);
    ends_close(&a, &b);
}

#define MANY 1000

static void *send_many(void *end)
{
    unsigned n = 0;
    while (n < MANY && sends(end, 8))
        n++;
    return n == MANY ? end : NULL;
}

/* One thread sends on the EP while another one takes. */
static void both_ways_at_once(void **state)
{
    end_t a, b;
    pthread_t sender;
    void *sent;
    open_both(&a, &b, 2);
    post_recvs(&a, 2);
    assert_int_equal(pthread_create(&sender, NULL, send_many, &b), 0);
    for (unsigned n = 0; n < MANY; n++) {
        assert_true(sends(&a, 8));
        assert_true(takes(&b));
        assert_true(takes(&a));
    }
    assert_int_equal(pthread_join(sender, &sent), 0);
    assert_non_null(sent);
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_without_events),
        cmocka_unit_test(refused_and_then_received),
        cmocka_unit_test(behind_another),
        cmocka_unit_test(too_long),
        cmocka_unit_test(ended),
        cmocka_unit_test(both_ways_at_once),
        cmocka_unit_test(written_at_once),
        cmocka_unit_test(not_written),
        cmocka_unit_test(not_written_behind_an_unfinished_send),
        cmocka_unit_test(not_written_when_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

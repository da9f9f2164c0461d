/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection: an access that key, range, privileges or PZ do not allow is
 * refused, breaks the connection, and touches no memory. Memory regions. */
#include "peer.h"

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>

#define BYTES 65536
#define IMAGE (BYTES + 2 * GUARD)

typedef struct fixture {
    peer_t peer;
    end_t me;
    unsigned char image[IMAGE], found[IMAGE]; /* of the peer's memory */
    uint64_t mine; /* my memory is filled with noise of this seed */
} fixture_t;

/* Shared by the tests: too large for the stack of some. */
static fixture_t fixture;

static void fill_mine(fixture_t *f, uint64_t seed)
{
    f->mine = seed;
    fill(f->me.mem.all, IMAGE, seed);
}

static fixture_t *open_pair(memory_kind_t kind, DAT_MEM_PRIV_FLAGS privileges)
{
    fixture_t *f = &fixture;
    peer_start(&f->peer,
               &(peer_options_t){PEER_PROCESS, kind, BYTES, privileges});
    end_open_memory(&f->me, kind, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&f->peer, &f->me);
    fill(f->image, IMAGE, 77);
    peer_fill(&f->peer, 77);
    fill_mine(f, 1);
    return f;
}

static void close_pair(fixture_t *f)
{
    peer_close(&f->peer, &f->me);
}

static DAT_MEM_PRIV_FLAGS all_but(int removed)
{
    return (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG & ~removed);
}

/* The connection is broken on both sides, and neither side's memory has
 * changed. */
static void expect_broken_untouched(fixture_t *f)
{
    unsigned char mine[IMAGE];
    fill(mine, IMAGE, f->mine);
    EXPECT_EVENT(f->me.conn, DAT_CONNECTION_EVENT_BROKEN);
    peer_expect_event(&f->peer, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);
    peer_read(&f->peer, f->found);
    assert_memory_equal(f->found, f->image, IMAGE);
    assert_memory_equal(f->me.mem.all, mine, IMAGE);
}

static void expect_refused(fixture_t *f, uint64_t id)
{
    EXPECT_DTO(f->me.request, id, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    expect_broken_untouched(f);
}

static void post_write(fixture_t *f, DAT_RMR_TRIPLET target)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, 100, target.segment_length);
    fill_mine(f, 5);
    DAT_OK(dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(1), &target, 0));
}

static void post_read(fixture_t *f, DAT_RMR_TRIPLET source)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, 100, source.segment_length);
    fill_mine(f, 6);
    DAT_OK(dat_ep_post_rdma_read(f->me.ep, 1, &iov, cookie(1), &source, 0));
}

static void refuse_both(memory_kind_t kind,
                        DAT_RMR_TRIPLET (*bad)(const region_t *region))
{
    for (int write = 0; write < 2; write++) {
        fixture_t *f = open_pair(kind, DAT_MEM_PRIV_ALL_FLAG);
        (write ? post_write : post_read)(f, bad(&f->peer.end.mem));
        expect_refused(f, 1);
        close_pair(f);
    }
}

static DAT_RMR_TRIPLET wrong_key(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.rmr_context ^= 0x10000;
    return t;
}

static DAT_RMR_TRIPLET key_zero(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.rmr_context = 0;
    return t;
}

static DAT_RMR_TRIPLET key_of_ones(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.rmr_context = ~0u;
    return t;
}

static DAT_RMR_TRIPLET one_byte_before(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.virtual_address--;
    return t;
}

static DAT_RMR_TRIPLET one_byte_after(const region_t *r)
{
    return remote(r, BYTES - 63, 64);
}

static DAT_RMR_TRIPLET one_byte_after_all(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 1, BYTES - 128);
    t.virtual_address += 128;
    return t;
}

static DAT_RMR_TRIPLET just_past_the_end(const region_t *r)
{
    return remote(r, BYTES, 1);
}

static DAT_RMR_TRIPLET wraps_around(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.virtual_address = UINT64_MAX - 31;
    return t;
}

static DAT_RMR_TRIPLET address_null(const region_t *r)
{
    DAT_RMR_TRIPLET t = remote(r, 0, 64);
    t.virtual_address = 0;
    return t;
}

static void wrong_ranges_and_keys(void **state)
{
    static DAT_RMR_TRIPLET (*const bad[])(const region_t *) = {
        wrong_key,         key_zero,       key_of_ones,
        one_byte_before,   one_byte_after, one_byte_after_all,
        just_past_the_end, wraps_around,   address_null};
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            refuse_both((memory_kind_t)kind, bad[i]);
}

static void stale_key(void **state)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        for (int used_before = 0; used_before < 2; used_before++) {
            fixture_t *f =
                open_pair((memory_kind_t)kind, DAT_MEM_PRIV_ALL_FLAG);
            if (used_before) { /* the peer may have cached the mapping */
                post_write(f, remote(&f->peer.end.mem, 0, 64));
                memcpy(f->image + GUARD, f->me.mem.data + 100, 64);
                EXPECT_DTO(f->me.request, 1, DAT_DTO_SUCCESS, 64);
            }
            peer_free_lmr(&f->peer);
            post_write(f, remote(&f->peer.end.mem, 0, 64));
            expect_refused(f, 1);
            close_pair(f);
        }
    }
}

static void no_remote_write_privilege(void **state)
{
    fixture_t *f =
        open_pair(MEMORY_MALLOC, all_but(DAT_MEM_PRIV_REMOTE_WRITE_FLAG));
    post_read(f, remote(&f->peer.end.mem, 0, 64)); /* reading is allowed */
    EXPECT_DTO(f->me.request, 1, DAT_DTO_SUCCESS, 64);
    post_write(f, remote(&f->peer.end.mem, 0, 64));
    expect_refused(f, 1);
    close_pair(f);
}

static void no_remote_read_privilege(void **state)
{
    fixture_t *f =
        open_pair(MEMORY_MEMFD, all_but(DAT_MEM_PRIV_REMOTE_READ_FLAG));
    post_read(f, remote(&f->peer.end.mem, 0, 64));
    expect_refused(f, 1);
    close_pair(f);
}

static void no_remote_atomic_privilege(void **state)
{
    fixture_t *f = open_pair(MEMORY_MEMFD, DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET iov = local(&f->me.mem, 0, 8);
    DAT_RMR_TRIPLET target = remote(&f->peer.end.mem, 0, 8);
    DAT_OK(dat_ib_post_fetch_and_add(f->me.ep, 1, &iov, cookie(9), &target, 0));
    DAT_EVENT event = EXPECT_EVENT(f->me.request, DAT_IB_DTO_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->user_cookie.as_64, 9);
    assert_int_equal(dto->status, DAT_DTO_ERR_REMOTE_ACCESS);
    expect_broken_untouched(f);
    close_pair(f);
}

/* Everything posted behind a refused request is flushed, in order. */
static void later_requests_are_flushed(void **state)
{
    fixture_t *f = open_pair(MEMORY_MALLOC, DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET iov = local(&f->me.mem, 0, 64);
    DAT_RMR_TRIPLET good = remote(&f->peer.end.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(f->me.ep, 1, &iov, cookie(7), 0));
    post_write(f, wrong_key(&f->peer.end.mem));
    DAT_RETURN rc =
        dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(2), &good, 0);
    EXPECT_DTO(f->me.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    if (rc == DAT_SUCCESS)
        EXPECT_DTO(f->me.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(f->me.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_EVENT(f->me.conn, DAT_CONNECTION_EVENT_BROKEN);
    peer_read(&f->peer, f->found);
    assert_memory_equal(f->found, f->image, IMAGE);
    close_pair(f);
}

/* The peer's EP and the LMR must be of one PZ. */
static void wrong_remote_pz(void **state)
{
    end_t a, b;
    region_t other;
    DAT_PZ_HANDLE pz;
    unsigned char before[4096];
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&b, NULL);
    DAT_OK(dat_pz_create(b.ia, &pz));
    region_create(&other, MEMORY_MALLOC, 4096, b.ia, pz, DAT_MEM_PRIV_ALL_FLAG);
    memcpy(before, other.data, sizeof before);
    fill(a.mem.data, 4096, 3);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET iov = local(&a.mem, 0, 64);
    DAT_RMR_TRIPLET target = remote(&other, 0, 64);
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_BROKEN);
    assert_memory_equal(other.data, before, sizeof before);
    region_destroy(&other);
    DAT_OK(dat_pz_free(pz));
    ends_close(&a, &b);
}

static bool is_strict;          /* members refuse writes */
static _Thread_local int depth; /* of calls: a bond calls its members */

STAND_IN DAT_RETURN dat_lmr_create(
    DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION what,
    DAT_VLEN bytes, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
    DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *length, DAT_VADDR *base)
{
    if (is_strict && depth)
        privileges &= (unsigned)~DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    depth++;
    DAT_RETURN ret =
        real(dat_lmr_create)(ia, type, what, bytes, pz, privileges, va, lmr,
                             lmr_context, rmr_context, length, base);
    depth--;
    return ret;
}

/* The members of a bond refuse what the bond itself allows. It can't know why
 * it loses them, if they are of TCP: it gives up in the end. */
static void strict_members(void **state)
{
    end_t a, b;
    if (strncmp(IA_NAME, "bond", 4) != 0)
        skip();
    is_strict = true;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    is_strict = false;
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET iov = local(&a.mem, 0, 64);
    DAT_RMR_TRIPLET target = remote(&b.mem, 0, 64);
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(a.request, 1, DAT_DTO_ERR_REMOTE_ACCESS, 0);
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_BROKEN);
    ends_close(&a, &b);
}

/* ------------------------------------------------------- local checks --- */

static void expect_local_refusal(DAT_RETURN rc)
{
    DAT_RETURN_TYPE type = (DAT_RETURN_TYPE)DAT_GET_TYPE(rc);
    if (type != DAT_PRIVILEGES_VIOLATION)
        DAT_FAILS(rc, DAT_PROTECTION_VIOLATION);
}

static void post_all(fixture_t *f, DAT_LMR_TRIPLET iov)
{
    DAT_RMR_TRIPLET target = remote(&f->peer.end.mem, 0, iov.segment_length);
    expect_local_refusal(
        dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(1), &target, 0));
    expect_local_refusal(
        dat_ep_post_rdma_read(f->me.ep, 1, &iov, cookie(1), &target, 0));
    expect_local_refusal(dat_ep_post_send(f->me.ep, 1, &iov, cookie(1), 0));
    expect_local_refusal(dat_ep_post_recv(f->me.ep, 1, &iov, cookie(1), 0));
}

/* A post with a bad local list is refused at once and changes nothing. */
static void bad_local_lists(void **state)
{
    fixture_t *f = open_pair(MEMORY_MALLOC, DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET good = local(&f->me.mem, 0, 64), bad = good;
    bad.lmr_context ^= 0x10000;
    post_all(f, bad);
    bad = good;
    bad.lmr_context = 0;
    post_all(f, bad);
    bad = good;
    bad.virtual_address--;
    post_all(f, bad);
    post_all(f, local(&f->me.mem, BYTES - 63, 64));
    bad = good;
    bad.virtual_address = UINT64_MAX - 10;
    post_all(f, bad);

    region_t other; /* of another PZ */
    DAT_PZ_HANDLE pz;
    DAT_OK(dat_pz_create(f->me.ia, &pz));
    region_create(&other, MEMORY_MALLOC, 4096, f->me.ia, pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    post_all(f, local(&other, 0, 64));
    DAT_LMR_TRIPLET stale = local(&other, 0, 64);
    region_destroy(&other);
    post_all(f, stale);
    DAT_OK(dat_pz_free(pz));

    expect_silence(f->me.request, 10);
    expect_silence(f->me.conn, 10);
    post_write(f, remote(&f->peer.end.mem, 0, 64)); /* and it still works */
    EXPECT_DTO(f->me.request, 1, DAT_DTO_SUCCESS, 64);
    close_pair(f);
}

/* Reading one's own memory is always allowed, as with InfiniBand; writing to it
 * needs the privilege. */
static void local_write_privilege(void **state)
{
    fixture_t *f = open_pair(MEMORY_MALLOC, DAT_MEM_PRIV_ALL_FLAG);
    region_t readable;
    DAT_RMR_TRIPLET target = remote(&f->peer.end.mem, 0, 64);
    region_create(&readable, MEMORY_MALLOC, 4096, f->me.ia, f->me.pz,
                  DAT_MEM_PRIV_LOCAL_READ_FLAG);
    DAT_LMR_TRIPLET iov = local(&readable, 0, 64);
    expect_local_refusal(dat_ep_post_recv(f->me.ep, 1, &iov, cookie(1), 0));
    expect_local_refusal(
        dat_ep_post_rdma_read(f->me.ep, 1, &iov, cookie(1), &target, 0));
    DAT_OK(dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(2), &target, 0));
    EXPECT_DTO(f->me.request, 2, DAT_DTO_SUCCESS, 64);
    region_destroy(&readable);
    close_pair(f);
}

/* ------------------------------------------------------ memory regions --- */

static DAT_RETURN create_lmr(end_t *end, void *address, DAT_VLEN bytes,
                             int privileges, region_t *out)
{
    DAT_REGION_DESCRIPTION what = {.for_va = address};
    DAT_VLEN length;
    DAT_VADDR base;
    return dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, what, bytes, end->pz,
                          (DAT_MEM_PRIV_FLAGS)privileges, DAT_VA_TYPE_VA,
                          &out->lmr, &out->lmr_context, &out->rmr_context,
                          &length, &base);
}

static void lmr_query(void **state)
{
    end_t end;
    DAT_LMR_PARAM p;
    end_open_memory(&end, MEMORY_MALLOC, 10000, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_lmr_query(end.mem.lmr, DAT_LMR_FIELD_ALL, &p));
    assert_int_equal(p.mem_type, DAT_MEM_TYPE_VIRTUAL);
    assert_ptr_equal(p.region_desc.for_va, end.mem.data);
    assert_int_equal(p.length, 10000);
    assert_ptr_equal(p.pz_handle, end.pz);
    assert_int_equal(p.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
    assert_int_equal(p.lmr_context, end.mem.lmr_context);
    assert_int_equal(p.rmr_context, end.mem.rmr_context);
    assert_true(p.registered_size >= 10000);
    end_close(&end);
}

static void lmr_bad_arguments(void **state)
{
    end_t end;
    region_t r;
    char byte[64];
    end_open(&end, NULL);
    DAT_FAILS(create_lmr(&end, byte, 0, DAT_MEM_PRIV_ALL_FLAG, &r),
              DAT_LENGTH_ERROR);
    DAT_FAILS(create_lmr(&end, byte, ~(DAT_VLEN)0, DAT_MEM_PRIV_ALL_FLAG, &r),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(create_lmr(&end, byte, 64, 0x8000, &r), DAT_INVALID_PARAMETER);
    end_close(&end);
}

/* An LMR over an LMR: the same range, its own key and privileges. */
static void lmr_of_an_lmr(void **state)
{
    end_t a, b;
    region_t alias;
    DAT_VLEN length;
    DAT_VADDR base;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    alias = b.mem;
    DAT_REGION_DESCRIPTION what = {.for_lmr_handle = b.mem.lmr};
    DAT_OK(dat_lmr_create(b.ia, DAT_MEM_TYPE_LMR, what, 4096, b.pz,
                          DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &alias.lmr,
                          &alias.lmr_context, &alias.rmr_context, &length,
                          &base));
    end_connect_both(&a, &b);
    fill(a.mem.data, 4096, 8);
    DAT_LMR_TRIPLET iov = local(&a.mem, 0, 4096);
    DAT_RMR_TRIPLET target = remote(&alias, 0, 4096);
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(a.request, 1, DAT_DTO_SUCCESS, 4096);
    assert_memory_equal(b.mem.data, a.mem.data, 4096);
    DAT_OK(dat_lmr_free(alias.lmr));
    ends_close(&a, &b);
}

static void many_lmrs(void **state)
{
    enum { N = 2000 };
    static region_t r[N];
    end_t end;
    static char memory[N];
    end_open(&end, NULL);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            DAT_OK(
                create_lmr(&end, memory + i, 1, DAT_MEM_PRIV_ALL_FLAG, &r[i]));
            assert_true(i == 0 || r[i].rmr_context != r[i - 1].rmr_context);
        }
        for (int i = 0; i < N; i++)
            DAT_OK(dat_lmr_free(r[i].lmr));
    }
    DAT_FAILS(dat_lmr_free(r[0].lmr), DAT_INVALID_HANDLE);
    end_close(&end);
}

/* -------------------------------------------------------------- windows --- */

static DAT_RMR_CONTEXT bind_window(end_t *end, DAT_RMR_HANDLE rmr,
                                   size_t offset, size_t bytes, int privileges)
{
    DAT_LMR_TRIPLET range = local(&end->mem, offset, bytes);
    DAT_RMR_CONTEXT context = 0;
    DAT_OK(dat_rmr_bind(rmr, end->mem.lmr, &range,
                        (DAT_MEM_PRIV_FLAGS)privileges, DAT_VA_TYPE_VA, end->ep,
                        cookie(1000), 0, &context));
    DAT_EVENT event = EXPECT_EVENT(end->request, DAT_RMR_BIND_COMPLETION_EVENT);
    DAT_RMR_BIND_COMPLETION_EVENT_DATA *bound =
        &event.event_data.rmr_completion_event_data;
    assert_ptr_equal(bound->rmr_handle, rmr);
    assert_int_equal(bound->user_cookie.as_64, 1000);
    assert_int_equal(bound->status, DAT_RMR_BIND_SUCCESS);
    return context;
}

static DAT_DTO_COMPLETION_STATUS write_through(end_t *a, end_t *b,
                                               DAT_RMR_CONTEXT context,
                                               size_t offset, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&a->mem, offset, bytes);
    DAT_RMR_TRIPLET target = remote(&b->mem, offset, bytes);
    target.rmr_context = context;
    fill(a->mem.data, a->mem.bytes, context);
    DAT_OK(dat_ep_post_rdma_write(a->ep, 1, &iov, cookie(1), &target, 0));
    DAT_EVENT event = EXPECT_EVENT(a->request, DAT_DTO_COMPLETION_EVENT);
    return event.event_data.dto_completion_event_data.status;
}

static void reconnect(end_t *a, end_t *b)
{
    EXPECT_EVENT(a->conn, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EVENT(b->conn, DAT_CONNECTION_EVENT_BROKEN);
    DAT_OK(dat_ep_reset(a->ep));
    DAT_OK(dat_ep_reset(b->ep));
    end_connect_both(a, b);
}

static void windows(void **state)
{
    end_t a, b;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_PARAM param;
    unsigned char before[4096];
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    DAT_OK(dat_rmr_create(b.pz, &rmr));
    end_connect_both(&a, &b);
    memcpy(before, b.mem.data, 4096);

    DAT_RMR_CONTEXT first =
        bind_window(&b, rmr, 1000, 500, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    DAT_OK(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
    assert_int_equal(param.rmr_context, first);
    assert_int_equal(param.lmr_triplet.segment_length, 500);
    assert_int_equal(write_through(&a, &b, first, 1000, 500), DAT_DTO_SUCCESS);
    assert_memory_equal(b.mem.data + 1000, a.mem.data + 1000, 500);
    memcpy(before + 1000, b.mem.data + 1000, 500);
    assert_int_equal(write_through(&a, &b, first, 999, 2),
                     DAT_DTO_ERR_REMOTE_ACCESS);
    reconnect(&a, &b);
    assert_int_equal(write_through(&a, &b, first, 1499, 2),
                     DAT_DTO_ERR_REMOTE_ACCESS);
    reconnect(&a, &b);

    /* bound elsewhere: the old key is dead */
    DAT_RMR_CONTEXT second =
        bind_window(&b, rmr, 2000, 8, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    assert_int_equal(write_through(&a, &b, first, 1000, 8),
                     DAT_DTO_ERR_REMOTE_ACCESS);
    reconnect(&a, &b);
    assert_int_equal(write_through(&a, &b, second, 2000, 8), DAT_DTO_SUCCESS);
    memcpy(before + 2000, b.mem.data + 2000, 8);

    /* a window without the privilege */
    second = bind_window(&b, rmr, 2000, 8, DAT_MEM_PRIV_REMOTE_READ_FLAG);
    assert_int_equal(write_through(&a, &b, second, 2000, 8),
                     DAT_DTO_ERR_REMOTE_ACCESS);
    reconnect(&a, &b);

    /* no length: unbound */
    bind_window(&b, rmr, 0, 0, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    assert_int_equal(write_through(&a, &b, second, 2000, 8),
                     DAT_DTO_ERR_REMOTE_ACCESS);
    assert_memory_equal(b.mem.data, before, 4096);
    DAT_OK(dat_rmr_free(rmr));
    ends_close(&a, &b);
}

static void refuse_window(end_t *end, DAT_RMR_HANDLE rmr, const region_t *of,
                          int privileges)
{
    DAT_LMR_TRIPLET range = local(of, 0, 64);
    DAT_RMR_CONTEXT context;
    DAT_FAILS(dat_rmr_bind(rmr, of->lmr, &range, (DAT_MEM_PRIV_FLAGS)privileges,
                           DAT_VA_TYPE_VA, end->ep, cookie(1), 0, &context),
              DAT_PRIVILEGES_VIOLATION);
}

/* A window to memory that this process itself may not write. */
static void windows_do_not_add_rights(void **state)
{
    end_t a, b;
    DAT_RMR_HANDLE rmr;
    region_t fixed;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    region_create(&fixed, MEMORY_MALLOC, 4096, b.ia, b.pz,
                  DAT_MEM_PRIV_LOCAL_READ_FLAG);
    DAT_OK(dat_rmr_create(b.pz, &rmr));
    end_connect_both(&a, &b);
    refuse_window(&b, rmr, &fixed, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    refuse_window(&b, rmr, &fixed, (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
    DAT_OK(dat_rmr_free(rmr));
    region_destroy(&fixed);
    ends_close(&a, &b);
}

static void windows_keep_within_their_lmr(void **state)
{
    end_t a, b;
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
    DAT_LMR_TRIPLET range;
    end_open(&a, NULL);
    end_open_memory(&b, MEMORY_MALLOC, 4096,
                    all_but(DAT_MEM_PRIV_REMOTE_WRITE_FLAG));
    DAT_OK(dat_rmr_create(b.pz, &rmr));
    end_connect_both(&a, &b);
    range = local(&b.mem, 0, 4097);
    assert_int_not_equal(
        dat_rmr_bind(rmr, b.mem.lmr, &range, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                     DAT_VA_TYPE_VA, b.ep, cookie(1), 0, &context),
        DAT_SUCCESS);
    DAT_OK(dat_rmr_free(rmr));
    ends_close(&a, &b);
}

static void lmr_under_a_window_stays(void **state)
{
    end_t a, b;
    DAT_RMR_HANDLE rmr;
    end_open(&a, NULL);
    end_open_memory(&b, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_rmr_create(b.pz, &rmr));
    end_connect_both(&a, &b);
    bind_window(&b, rmr, 0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG);
    DAT_FAILS(dat_lmr_free(b.mem.lmr), DAT_INVALID_STATE);
    DAT_OK(dat_rmr_free(rmr));
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_ranges_and_keys),
        cmocka_unit_test(stale_key),
        cmocka_unit_test(no_remote_write_privilege),
        cmocka_unit_test(no_remote_read_privilege),
        cmocka_unit_test(no_remote_atomic_privilege),
        cmocka_unit_test(later_requests_are_flushed),
        cmocka_unit_test(wrong_remote_pz),
        cmocka_unit_test(strict_members),
        cmocka_unit_test(bad_local_lists),
        cmocka_unit_test(local_write_privilege),
        cmocka_unit_test(lmr_query),
        cmocka_unit_test(lmr_bad_arguments),
        cmocka_unit_test(lmr_of_an_lmr),
        cmocka_unit_test(many_lmrs),
        cmocka_unit_test(windows),
        cmocka_unit_test(windows_do_not_add_rights),
        cmocka_unit_test(windows_keep_within_their_lmr),
        cmocka_unit_test(lmr_under_a_window_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

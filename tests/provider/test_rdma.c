/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA write and read: every pairing of memory kinds, both places of the
 * peer, sizes around all thresholds, random alignment, scatter lists. After
 * each operation the whole memory of the target is compared. */
#include "peer.h"

#define BYTES (9 << 20)
#define IMAGE (BYTES + 2 * GUARD)

typedef struct fixture {
    peer_t peer;
    end_t me;
    uint64_t seed;
    uint64_t id;
    unsigned char *image; /* the peer's memory as it should be */
    unsigned char *found; /* and as it is */
} fixture_t;

typedef struct setting {
    peer_place_t place;
    memory_kind_t mine, theirs;
} setting_t;

static void open_pair(fixture_t *f, const setting_t *s)
{
    peer_start(&f->peer, &(peer_options_t){s->place, s->theirs, BYTES,
                                           DAT_MEM_PRIV_ALL_FLAG});
    end_open_memory(&f->me, s->mine, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(&f->peer, &f->me);
    f->seed = 2026;
    f->id = 0;
    f->image = malloc(IMAGE);
    f->found = malloc(IMAGE);
    assert_true(f->image && f->found);
    fill(f->image, IMAGE, 1);
    peer_fill(&f->peer, 1);
    fill(f->me.mem.all, IMAGE, 2);
}

static void close_pair(fixture_t *f)
{
    peer_close(&f->peer, &f->me);
    free(f->image);
    free(f->found);
}

/* A write is at its target when a later send has been received there. */
static void flush_writes(fixture_t *f)
{
    uint64_t id = ++f->id;
    peer_post_recv(&f->peer, 0, 0, id);
    DAT_OK(dat_ep_post_send(f->me.ep, 0, NULL, cookie(id),
                            DAT_COMPLETION_SUPPRESS_FLAG));
    peer_expect_dto(&f->peer, EVD_RECV, id, DAT_DTO_SUCCESS, 0);
}

static void check_target(fixture_t *f)
{
    flush_writes(f);
    peer_read(&f->peer, f->found);
    assert_memory_equal(f->found, f->image, IMAGE);
}

static size_t random_below(fixture_t *f, size_t limit)
{
    return random_next(&f->seed) % limit;
}

static void write_one(fixture_t *f, size_t from, size_t to, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, from, bytes);
    DAT_RMR_TRIPLET target = remote(&f->peer.end.mem, to, bytes);
    uint64_t id = ++f->id;
    DAT_OK(dat_ep_post_rdma_write(f->me.ep, 1, &iov, cookie(id), &target, 0));
    memcpy(f->image + GUARD + to, f->me.mem.data + from, bytes);
    EXPECT_DTO(f->me.request, id, DAT_DTO_SUCCESS, bytes);
}

static void read_one(fixture_t *f, size_t to, size_t from, size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(&f->me.mem, to, bytes);
    DAT_RMR_TRIPLET source = remote(&f->peer.end.mem, from, bytes);
    uint64_t id = ++f->id;
    unsigned char before = f->me.mem.data[to - 1];
    unsigned char after = f->me.mem.data[to + bytes];
    DAT_OK(dat_ep_post_rdma_read(f->me.ep, 1, &iov, cookie(id), &source, 0));
    EXPECT_DTO(f->me.request, id, DAT_DTO_SUCCESS, bytes);
    assert_memory_equal(f->me.mem.data + to, f->image + GUARD + from, bytes);
    assert_int_equal(f->me.mem.data[to - 1], before);
    assert_int_equal(f->me.mem.data[to + bytes], after);
}

static void sizes(const setting_t *s)
{
    static const size_t bytes[] = {
        0,      1,      2,       3,       7,       8,       9,       31,
        32,     63,     64,      65,      127,     128,     129,     255,
        256,    257,    511,     512,     513,     1023,    1025,    2047,
        2049,   4095,   4096,    4097,    8191,    8193,    16384,   16385,
        32767,  32769,  65535,   65536,   65537,   99999,   131072,  262143,
        262145, 524289, 1048575, 1048577, 2097152, 2097153, 4194303, 4194304};
    fixture_t f;
    open_pair(&f, s);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        size_t n = bytes[i], room = BYTES - n - 1;
        write_one(&f, random_below(&f, room), random_below(&f, room), n);
        read_one(&f, 1 + random_below(&f, room - 1), random_below(&f, room), n);
    }
    check_target(&f);
    /* the very first and the very last bytes of the registration */
    write_one(&f, 5, 0, 4097);
    write_one(&f, 7, BYTES - 70000, 70000);
    write_one(&f, 7, BYTES - 1, 1);
    check_target(&f);
    close_pair(&f);
}

static void all_pairings(void (*test)(const setting_t *s))
{
    for (int place = 0; place < PEER_PLACES; place++)
        for (int mine = 0; mine < MEMORY_KINDS; mine++)
            for (int theirs = 0; theirs < MEMORY_KINDS; theirs++)
                test(&(setting_t){(peer_place_t)place, (memory_kind_t)mine,
                                  (memory_kind_t)theirs});
}

static void every_size(void **state)
{
    all_pairings(sizes);
}

/* Lists of 1 to 4 segments, some of them empty. */
static size_t random_list(fixture_t *f, DAT_LMR_TRIPLET *iov, size_t *count)
{
    size_t total = 0;
    *count = 1 + random_below(f, 4);
    for (size_t i = 0; i < *count; i++) {
        size_t n = random_below(f, 5) ? random_below(f, 50000) : 0;
        size_t at = i * (BYTES / 4) + random_below(f, 1000);
        iov[i] = local(&f->me.mem, at, n);
        total += n;
    }
    return total;
}

static void lists(const setting_t *s)
{
    fixture_t f;
    open_pair(&f, s);
    for (int round = 0; round < 40; round++) {
        DAT_LMR_TRIPLET iov[4];
        size_t count, total = random_list(&f, iov, &count);
        size_t at = random_below(&f, BYTES - total);
        DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, at, total);
        unsigned char *image = f.image + GUARD + at;
        uint64_t id = ++f.id;
        if (round % 2) {
            DAT_OK(dat_ep_post_rdma_write(f.me.ep, (DAT_COUNT)count, iov,
                                          cookie(id), &target, 0));
            for (size_t i = 0; i < count; image += iov[i++].segment_length)
                memcpy(image, (void *)(uintptr_t)iov[i].virtual_address,
                       iov[i].segment_length);
            EXPECT_DTO(f.me.request, id, DAT_DTO_SUCCESS, total);
        } else {
            DAT_OK(dat_ep_post_rdma_read(f.me.ep, (DAT_COUNT)count, iov,
                                         cookie(id), &target, 0));
            EXPECT_DTO(f.me.request, id, DAT_DTO_SUCCESS, total);
            for (size_t i = 0; i < count; image += iov[i++].segment_length)
                assert_memory_equal((void *)(uintptr_t)iov[i].virtual_address,
                                    image, iov[i].segment_length);
        }
    }
    check_target(&f);
    close_pair(&f);
}

static void scatter_lists(void **state)
{
    all_pairings(lists);
}

/* Writes that are not waited for, one over the other: the last one counts. */
static void writes_keep_their_order(void **state)
{
    fixture_t f;
    open_pair(&f, &(setting_t){PEER_PROCESS, MEMORY_MEMFD, MEMORY_MEMFD});
    for (int round = 0; round < 200; round++) {
        DAT_LMR_TRIPLET iov;
        size_t n = 1 + random_below(&f, 20000);
        size_t from = random_below(&f, BYTES - n);
        size_t to = random_below(&f, 30000);
        DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, to, n);
        iov = local(&f.me.mem, from, n);
        DAT_OK(dat_ep_post_rdma_write(f.me.ep, 1, &iov, cookie(0), &target,
                                      DAT_COMPLETION_SUPPRESS_FLAG));
        memcpy(f.image + GUARD + to, f.me.mem.data + from, n);
        if (round % 50 == 49)
            flush_writes(&f);
    }
    check_target(&f);
    expect_silence(f.me.request, 10);
    close_pair(&f);
}

/* A list longer than what it is to be written to or read from. */
static void lengths_must_fit(void **state)
{
    fixture_t f;
    DAT_LMR_TRIPLET iov;
    DAT_RMR_TRIPLET target;
    open_pair(&f, &(setting_t){PEER_PROCESS, MEMORY_MALLOC, MEMORY_MALLOC});
    iov = local(&f.me.mem, 0, 100);
    target = remote(&f.peer.end.mem, 0, 99);
    DAT_FAILS(dat_ep_post_rdma_write(f.me.ep, 1, &iov, cookie(1), &target, 0),
              DAT_LENGTH_ERROR);
    target = remote(&f.peer.end.mem, 0, 101);
    DAT_FAILS(dat_ep_post_rdma_read(f.me.ep, 1, &iov, cookie(1), &target, 0),
              DAT_LENGTH_ERROR);
    check_target(&f);
    close_pair(&f);
}

static void bad_arguments(void **state)
{
    fixture_t f;
    DAT_LMR_TRIPLET iov[64];
    DAT_RMR_TRIPLET target;
    DAT_EP_PARAM ep;
    open_pair(&f, &(setting_t){PEER_PROCESS, MEMORY_MALLOC, MEMORY_MALLOC});
    target = remote(&f.peer.end.mem, 0, 8);
    DAT_OK(dat_ep_query(f.me.ep, DAT_EP_FIELD_ALL, &ep));
    for (int i = 0; i < 64; i++)
        iov[i] = local(&f.me.mem, 0, 0);
    DAT_COUNT many = ep.ep_attr.max_rdma_write_iov + 1;
    assert_in_range(many, 2, 64);
    DAT_FAILS(dat_ep_post_rdma_write(f.me.ep, many, iov, cookie(0), &target, 0),
              DAT_INVALID_PARAMETER);
    many = ep.ep_attr.max_rdma_read_iov + 1;
    assert_in_range(many, 2, 64);
    DAT_FAILS(dat_ep_post_rdma_read(f.me.ep, many, iov, cookie(0), &target, 0),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ep_post_rdma_write(f.me.ep, 1, iov, cookie(0), NULL, 0),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ep_post_rdma_write(f.me.ep, 1, NULL, cookie(0), &target, 0),
              DAT_INVALID_PARAMETER);
    check_target(&f);
    close_pair(&f);
}

/* Memory registered after the connection was made. */
static void memory_registered_late(void **state)
{
    fixture_t f;
    region_t late;
    open_pair(&f, &(setting_t){PEER_PROCESS, MEMORY_MEMFD, MEMORY_MEMFD});
    region_create(&late, MEMORY_MEMFD, 100000, f.me.ia, f.me.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    DAT_LMR_TRIPLET iov = local(&late, 1, 99999);
    DAT_RMR_TRIPLET target = remote(&f.peer.end.mem, 3, 99999);
    DAT_OK(dat_ep_post_rdma_write(f.me.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(f.me.request, 1, DAT_DTO_SUCCESS, 99999);
    memcpy(f.image + GUARD + 3, late.data + 1, 99999);
    check_target(&f);
    region_destroy(&late);
    close_pair(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(scatter_lists),
        cmocka_unit_test(writes_keep_their_order),
        cmocka_unit_test(lengths_must_fit),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(memory_registered_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

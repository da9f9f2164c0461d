/* SPDX-License-Identifier: BSD-3-Clause */
/* An initiator maps no more of its peers' memory than is registered, not for
 * longer, and nothing whose pages may vanish. */
#include "peer.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define EACH 8192

/* Mappings of registered memory in this process: by its owner, and by peers. */
static int mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    int n = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "/memfd:test") != NULL;
    fclose(maps);
    return n;
}

typedef struct pair {
    end_t a, b; /* a writes to b's memory */
} pair_t;

static void open_pair(pair_t *p)
{
    end_open_memory(&p->a, MEMORY_MALLOC, EACH, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&p->b, NULL);
    end_connect_both(&p->a, &p->b);
}

static void close_pair(pair_t *p)
{
    ends_close(&p->a, &p->b);
}

static void write_to(pair_t *p, const region_t *target, uint64_t seed)
{
    DAT_LMR_TRIPLET iov = local(&p->a.mem, 0, EACH);
    DAT_RMR_TRIPLET to = remote(target, 0, EACH);
    fill(p->a.mem.data, EACH, seed);
    DAT_OK(dat_ep_post_rdma_write(p->a.ep, 1, &iov, cookie(seed), &to, 0));
    EXPECT_DTO(p->a.request, seed, DAT_DTO_SUCCESS, EACH);
    assert_memory_equal(target->data, p->a.mem.data, EACH);
}

static void register_one(pair_t *p, region_t *region)
{
    region_create(region, MEMORY_MEMFD, EACH, p->b.ia, p->b.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
}

/* Maps one after the other: their number says nothing. */
static void one_after_the_other(void **state)
{
    pair_t p;
    open_pair(&p);
    for (uint64_t i = 0; i < 2000; i++) {
        region_t region;
        register_one(&p, &region);
        write_to(&p, &region, i);
        region_destroy(&region);
    }
    assert_in_range(mappings(), 0, 1);
    close_pair(&p);
}

/* Many at once, and then a few again. */
static void many_at_once(void **state)
{
    enum { N = 300 };
    static region_t region[N];
    pair_t p;
    open_pair(&p);
    for (uint64_t i = 0; i < N; i++) {
        register_one(&p, &region[i]);
        write_to(&p, &region[i], i);
    }
    assert_in_range(mappings(), 2 * N, 2 * N);
    for (int i = 0; i < N; i++)
        region_destroy(&region[i]);
    register_one(&p, &region[0]);
    write_to(&p, &region[0], 1);
    assert_in_range(mappings(), 2, 2);
    region_destroy(&region[0]);
    /* a sleeper keeps nothing */
    expect_silence(p.a.request, 10);
    assert_in_range(mappings(), 0, 0);
    close_pair(&p);
}

/* Several threads meet a range that is new in an old place. */
enum { WRITERS = 2, ROUNDS = 1000 };

typedef struct writing {
    end_t *end;
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE request;
    const DAT_RMR_TRIPLET *target;
    pthread_barrier_t *meet;
    size_t offset;
} writing_t;

static void *write_rounds(void *arg)
{
    const writing_t *w = arg;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(w->meet);
        DAT_LMR_TRIPLET iov = local(&w->end->mem, w->offset, 64);
        DAT_RMR_TRIPLET to = *w->target;
        to.virtual_address += w->offset;
        to.segment_length = 64;
        if (dat_ep_post_rdma_write(w->ep, 1, &iov, cookie(i), &to, 0))
            return "the post failed";
        DAT_EVENT event;
        DAT_COUNT more;
        if (dat_evd_wait(w->request, WAIT_MS * 1000, 1, &event, &more) ||
            event.event_data.dto_completion_event_data.status !=
                DAT_DTO_SUCCESS)
            return "the write failed";
        pthread_barrier_wait(w->meet);
    }
    return NULL;
}

static void met_by_several_threads(void **state)
{
    pair_t p;
    DAT_RMR_TRIPLET target;
    pthread_barrier_t meet;
    pthread_t thread[WRITERS];
    writing_t w[WRITERS];
    DAT_EP_HANDLE there[WRITERS];
    open_pair(&p);
    pthread_barrier_init(&meet, NULL, WRITERS + 1);
    for (int t = 0; t < WRITERS; t++) {
        w[t] = (writing_t){&p.a,    p.a.ep, DAT_HANDLE_NULL,
                           &target, &meet,  (size_t)t * 64};
        DAT_OK(dat_evd_create(p.a.ia, 16, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                              &w[t].request));
        DAT_OK(dat_ep_create(p.a.ia, p.a.pz, p.a.recv, w[t].request, p.a.conn,
                             NULL, &p.a.ep));
        DAT_OK(dat_ep_create(p.b.ia, p.b.pz, p.b.recv, p.b.request, p.b.conn,
                             NULL, &there[t]));
        DAT_EP_HANDLE first = p.b.ep;
        DAT_EP_HANDLE mine = p.a.ep;
        p.b.ep = there[t];
        end_connect_both(&p.a, &p.b);
        p.b.ep = first;
        p.a.ep = w[t].ep;
        w[t].ep = mine;
        assert_int_equal(pthread_create(&thread[t], NULL, write_rounds, &w[t]),
                         0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        region_t region;
        register_one(&p, &region);
        target = remote(&region, 0, EACH);
        fill(p.a.mem.data, WRITERS * 64, (uint64_t)i);
        pthread_barrier_wait(&meet);
        pthread_barrier_wait(&meet);
        assert_memory_equal(region.data, p.a.mem.data, WRITERS * 64);
        region_destroy(&region);
    }
    for (int t = 0; t < WRITERS; t++) {
        void *wrong;
        pthread_join(thread[t], &wrong);
        assert_null(wrong);
        DAT_OK(dat_ep_free(w[t].ep));
        DAT_OK(dat_ep_free(there[t]));
        DAT_OK(dat_evd_free(w[t].request));
    }
    pthread_barrier_destroy(&meet);
    close_pair(&p);
}

/* ---------------------------------------- files that may become shorter --- */

/* Over a file that is not sealed; the region is not to be destroyed by
 * region_destroy. */
static void register_unsealed(pair_t *p, region_t *region)
{
    DAT_REGION_DESCRIPTION what;
    DAT_VLEN length;
    DAT_VADDR address;
    memset(region, 0, sizeof *region);
    region->fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(region->fd >= 0);
    assert_int_equal(ftruncate(region->fd, EACH), 0);
    region->data =
        mmap(NULL, EACH, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
    assert_ptr_not_equal(region->data, MAP_FAILED);
    what.for_va = region->data;
    DAT_OK(dat_lmr_create(p->b.ia, DAT_MEM_TYPE_VIRTUAL, what, EACH, p->b.pz,
                          DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &region->lmr,
                          &region->lmr_context, &region->rmr_context, &length,
                          &address));
}

static void truncated(void *arg)
{
    pair_t p;
    region_t region;
    open_pair(&p);
    register_unsealed(&p, &region);
    write_to(&p, &region, 1); /* it works … */
    assert_in_range(mappings(), 1, 1);
    assert_int_equal(ftruncate(region.fd, 0), 0);
    DAT_LMR_TRIPLET iov = local(&p.a.mem, 0, EACH);
    DAT_RMR_TRIPLET to = remote(&region, 0, EACH);
    DAT_OK(dat_ep_post_rdma_write(p.a.ep, 1, &iov, cookie(2), &to, 0));
    EXPECT_DTO(p.a.request, 2, DAT_DTO_ERR_REMOTE_ACCESS, 0); /* … and ends */
    EXPECT_EVENT(p.a.conn, DAT_CONNECTION_EVENT_BROKEN);
    DAT_OK(dat_lmr_free(region.lmr));
    munmap(region.data, EACH);
    close(region.fd);
    close_pair(&p);
}

/* It must not take the initiator with it. */
static void truncated_file(void **state)
{
    join(spawn(truncated, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_file), /* forks: before any DAT call */
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(met_by_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt=1: private memory that peers map. No store is lost while pages are on
 * their way, neighbours stay right, and the memory is as before afterwards. */
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"
#include "tests/adopted.h"
#include "tests/sanitizers.h"

#define PAGE  4096u
#define BYTES (300 * PAGE)

/* -1: the IA adopts no memory. */
static int adopted(const end_t *end)
{
    const char *count = provider_attribute(end->ia, "adopted");
    return count ? atoi(count) : -1;
}

static char *map_private(size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static void register_at(const end_t *end, region_t *r, void *at, size_t bytes)
{
    *r = (region_t){.data = at, .bytes = bytes};
    region_register(r, end->ia, end->pz, DAT_MEM_PRIV_ALL_FLAG);
}

/* Registers it, and says whether any of it is adopted. */
static bool is_adopted(const end_t *end, void *at, size_t bytes)
{
    region_t r;
    register_at(end, &r, at, bytes);
    size_t found = in_memfd(at, bytes);
    DAT_OK(dat_lmr_free(r.lmr));
    assert_int_equal(in_memfd(at, bytes), 0);
    return found;
}

static uint64_t next_id;

static void transfer(end_t *from, bool write, const region_t *mine,
                     size_t at_mine, const region_t *theirs, size_t at_theirs,
                     size_t bytes)
{
    DAT_LMR_TRIPLET iov = local(mine, at_mine, bytes);
    DAT_RMR_TRIPLET there = remote(theirs, at_theirs, bytes);
    uint64_t id = ++next_id;
    if (write)
        DAT_OK(
            dat_ep_post_rdma_write(from->ep, 1, &iov, cookie(id), &there, 0));
    else
        DAT_OK(dat_ep_post_rdma_read(from->ep, 1, &iov, cookie(id), &there, 0));
    EXPECT_DTO(from->request, id, DAT_DTO_SUCCESS, bytes);
}

static void put(end_t *from, const region_t *to, size_t at, size_t bytes)
{
    transfer(from, true, &from->mem, 0, to, at, bytes);
}

typedef struct fixture {
    end_t a, b; /* a writes to b's memory */
} fixture_t;

static int open_fixture(void **state)
{
    static fixture_t f;
    end_open_memory(&f.a, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    end_open(&f.b, NULL);
    end_connect_both(&f.a, &f.b);
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture_t *f = *state;
    ends_close(&f->a, &f->b);
    return 0;
}

/* ------------------------------------------------------------ contents --- */

/* By another process, at random places and sizes: in the memfd, in the private
 * ends, and across. */
static void peers_read_and_write_all_of_it(void **state)
{
    enum { IMAGE = BYTES + 2 * GUARD };
    peer_t peer;
    end_t me;
    uint64_t seed = 2026;
    peer_open(&peer, &me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MALLOC, BYTES,
                                DAT_MEM_PRIV_ALL_FLAG});
    unsigned char *want = malloc(IMAGE), *got = malloc(IMAGE);
    assert_int_equal(adopted(&me), 1);
    assert_in_range(in_memfd(me.mem.data, BYTES), BYTES - 2 * PAGE, BYTES);
    peer_fill(&peer, 1);
    fill(want, IMAGE, 1);
    for (int i = 0; i < 400; i++) {
        size_t bytes = 1 + random_next(&seed) % (i % 4 ? 64 : 3 * PAGE);
        size_t at = random_next(&seed) % (BYTES - bytes);
        if (i % 3)
            at = i % 3 == 1 ? at % PAGE : BYTES - bytes - at % PAGE;
        fill(me.mem.data + at, bytes, random_next(&seed));
        memcpy(want + GUARD + at, me.mem.data + at, bytes);
        transfer(&me, true, &me.mem, at, &peer.end.mem, at, bytes);
        memset(me.mem.data + at, 0, bytes);
        transfer(&me, false, &me.mem, at, &peer.end.mem, at, bytes);
        assert_memory_equal(me.mem.data + at, want + GUARD + at, bytes);
    }
    peer_read(&peer, got);
    assert_memory_equal(got, want, IMAGE);
    free(want);
    free(got);
    peer_close(&peer, &me);
}

/* ------------------------------------------------- stores meanwhile --- */

typedef struct counter {
    _Alignas(64) _Atomic uint64_t *places; /* every STEP bytes */
    size_t count, offset;
    atomic_bool *stop;
    _Atomic uint64_t rounds;
} counter_t;

#define STEP 512

static void *count_up(void *arg)
{
    counter_t *c = arg;
    while (!atomic_load(c->stop)) {
        for (size_t i = 0; i < c->count; i++) {
            _Atomic uint64_t *place = &c->places[i * STEP / 8 + c->offset];
            uint64_t old = atomic_load_explicit(place, memory_order_relaxed);
            if (old != c->rounds)
                return "a store was lost";
            atomic_store_explicit(place, old + 1, memory_order_relaxed);
        }
        c->rounds++;
    }
    return NULL;
}

typedef struct filler {
    unsigned char *at;
    atomic_bool *stop;
} filler_t;

/* The kernel writes there: read(2) of a pipe. */
static void *read_into(void *arg)
{
    filler_t *f = arg;
    unsigned char sent[64];
    int pipes[2];
    const char *wrong = pipe(pipes) ? "no pipe" : NULL;
    for (uint64_t i = 0; !wrong && !atomic_load(f->stop); i++) {
        fill(sent, sizeof sent, i);
        if (write(pipes[1], sent, sizeof sent) != sizeof sent ||
            read(pipes[0], f->at, sizeof sent) != sizeof sent)
            wrong = "read failed";
        else if (memcmp(f->at, sent, sizeof sent))
            wrong = "read bytes were lost";
    }
    close(pipes[0]);
    close(pipes[1]);
    return (void *)wrong;
}

static void no_store_is_lost(void **state)
{
    enum { COUNTERS = 3, ROUNDS = 150, PAGES = 300, KERNEL = 256 };
    fixture_t *f = *state;
    char *all = map_private(PAGES * PAGE);
    atomic_bool stop = false;
    counter_t c[COUNTERS];
    filler_t filler = {(unsigned char *)all + 100 * PAGE + KERNEL, &stop};
    pthread_t thread[COUNTERS + 1];
    uint64_t seed = 7;
    void *wrong;
    for (size_t t = 0; t < COUNTERS; t++) {
        c[t] = (counter_t){(void *)all, PAGES * PAGE / STEP, t, &stop, 0};
        assert_int_equal(pthread_create(&thread[t], NULL, count_up, &c[t]), 0);
    }
    assert_int_equal(
        pthread_create(&thread[COUNTERS], NULL, read_into, &filler), 0);
    /* on a busy machine, threads begin late */
    for (int i = 0; i < ROUNDS || !atomic_load(&c[COUNTERS - 1].rounds); i++) {
        region_t r;
        size_t from = random_next(&seed) % PAGE & ~7u;
        register_at(&f->b, &r, all + from,
                    (PAGES - 1) * PAGE - random_next(&seed) % (8 * PAGE));
        put(&f->a, &r, (size_t)320 + 8 * PAGE - from, 8);
        assert_memory_equal(all + 8 * PAGE + 320, f->a.mem.data, 8);
        DAT_OK(dat_lmr_free(r.lmr));
    }
    atomic_store(&stop, true);
    for (int t = 0; t <= COUNTERS; t++) {
        pthread_join(thread[t], &wrong);
        assert_ptr_equal(wrong, NULL);
    }
    munmap(all, PAGES * PAGE);
}

/* ----------------------------------------------------- several ranges --- */

/* Pages move back when the last range that overlaps them is freed. */
static void ranges_overlap(void **state)
{
    fixture_t *f = *state;
    char *all = map_private(16 * PAGE);
    region_t whole, inner, beside, small;
    memset(all, 1, 16 * PAGE);
    register_at(&f->b, &whole, all + 2 * PAGE, 8 * PAGE);
    register_at(&f->b, &inner, all + 3 * PAGE + 8, 64);
    register_at(&f->b, &beside, all + 9 * PAGE, 4 * PAGE);
    assert_int_equal(in_memfd(all, 16 * PAGE), 8 * PAGE);
    DAT_OK(dat_lmr_free(whole.lmr));
    assert_int_equal(in_memfd(all, 16 * PAGE), 8 * PAGE);
    put(&f->a, &inner, 0, 64);
    assert_memory_equal(all + 3 * PAGE + 8, f->a.mem.data, 64);
    put(&f->a, &beside, PAGE - 32, 64); /* across the end of adopted memory */
    assert_memory_equal(all + 10 * PAGE - 32, f->a.mem.data, 64);
    DAT_OK(dat_lmr_free(beside.lmr));
    DAT_OK(dat_lmr_free(inner.lmr));
    assert_int_equal(in_memfd(all, 16 * PAGE), 0);
    assert_memory_equal(all + 3 * PAGE + 8, f->a.mem.data, 64);
    assert_memory_equal(all + 10 * PAGE - 32, f->a.mem.data, 64);
    /* peers access the small range by system calls: the pages must not move */
    register_at(&f->b, &small, all + PAGE, 8);
    register_at(&f->b, &whole, all, 8 * PAGE);
    assert_int_equal(in_memfd(all, 16 * PAGE), 0);
    DAT_OK(dat_lmr_free(small.lmr));
    DAT_OK(dat_lmr_free(whole.lmr));
    munmap(all, 16 * PAGE);
}

static void as_many_as_an_ia_has(void **state)
{
    enum { N = 1500 };
    static region_t r[N];
    fixture_t *f = *state;
    char *all = map_private((size_t)2 * N * PAGE);
    for (size_t i = 0; i < N; i++)
        register_at(&f->b, &r[i], all + 2 * i * PAGE, PAGE + 8);
    for (size_t i = 0; i < N; i += 100) {
        put(&f->a, &r[i], PAGE - 8, 16);
        assert_memory_equal(r[i].data + PAGE - 8, f->a.mem.data, 16);
    }
    for (size_t i = 0; i < N; i++)
        DAT_OK(dat_lmr_free(r[i].lmr));
    assert_int_equal(in_memfd(all, (size_t)2 * N * PAGE), 0);
    munmap(all, (size_t)2 * N * PAGE);
}

/* ------------------------------------------------------------ refused --- */

/* A device or the kernel may write a pinned page at any time. */
static void pinned(void **state)
{
    fixture_t *f = *state;
    region_t r;
    char *all = map_private(BYTES);
    struct iovec one = {all + 290 * PAGE, PAGE}; /* in the second piece */
    struct io_uring_params params = {0};
    memset(all, 1, BYTES);
    int ring = (int)syscall(__NR_io_uring_setup, 4, &params);
    if (ring < 0 || syscall(__NR_io_uring_register, ring,
                            IORING_REGISTER_BUFFERS, &one, 1)) {
        print_message("# skipped: the kernel permits no io_uring\n");
        skip();
    }
    register_at(&f->b, &r, all, BYTES);
    assert_int_equal(in_memfd(all, BYTES), 0);
    put(&f->a, &r, PAGE, 64);
    assert_memory_equal(all + PAGE, f->a.mem.data, 64);
    for (size_t i = PAGE + 64; i < BYTES; i++)
        assert_int_equal(all[i], 1);
    DAT_OK(dat_lmr_free(r.lmr));
    close(ring);
    munmap(all, BYTES);
}

static void what_is_not_adopted(void **state)
{
    fixture_t *f = *state;
    char *all = map_private(8 * PAGE);
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    memset(all, 1, 8 * PAGE);
    assert_true(is_adopted(&f->b, all, 8 * PAGE));
    assert_true(is_adopted(&f->b, all + 1, 2 * PAGE));
    assert_false(is_adopted(&f->b, all + 1, 2 * PAGE - 2)); /* no whole page */
    assert_false(is_adopted(&f->b, (void *)(frame & -(uintptr_t)PAGE), PAGE));
    /* sanitizers leave out mlock */
    assert_int_equal(syscall(SYS_mlock, all + PAGE, PAGE), 0);
    assert_false(is_adopted(&f->b, all, 8 * PAGE));
    assert_int_equal(syscall(SYS_munlock, all + PAGE, PAGE), 0);
    assert_int_equal(mprotect(all + 4 * PAGE, PAGE, PROT_READ), 0);
    assert_false(is_adopted(&f->b, all, 8 * PAGE));
    assert_int_equal(munmap(all + 4 * PAGE, PAGE), 0);
    assert_false(is_adopted(&f->b, all, 8 * PAGE));
    assert_true(is_adopted(&f->b, all + 5 * PAGE, 3 * PAGE));
    for (size_t i = 0; i < 8 * PAGE; i++)
        assert_true(i / PAGE == 4 || all[i] == 1);
    munmap(all, 8 * PAGE);
    all = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_false(is_adopted(&f->b, all, 4 * PAGE));
    munmap(all, 4 * PAGE);
}

/* The process may have no more mappings, at each step of moving pages in turn.
 * The content stays, whether or not the step succeeds later. */
static void no_room_for_mappings(void **state)
{
    enum { PAGES = 1 << 18, LEFT = 10 };
    fixture_t *f = *state;
    size_t split = 0;
    if (TSAN) /* it needs mappings itself, and ends the process without */
        skip();
    char *many = mmap(NULL, (size_t)PAGES * PAGE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *all = map_private(300 * PAGE);
    memset(all, 1, 300 * PAGE);
    assert_ptr_not_equal(many, MAP_FAILED);
    while (split < PAGES / 2 &&
           !mprotect(many + 2 * split * PAGE, PAGE, PROT_READ))
        split++;
    bool limited = split < PAGES / 2;
    for (size_t left = 0; left < 2 * LEFT && limited; left++) {
        region_t r;
        register_at(&f->b, &r, all + 9, 299 * PAGE);
        put(&f->a, &r, 2 * PAGE, 64);
        assert_memory_equal(all + 2 * PAGE + 9, f->a.mem.data, 64);
        /* in the second half there is room until the memory is freed */
        if (left >= LEFT)
            while (!mprotect(many + 2 * split * PAGE, PAGE, PROT_READ))
                split++;
        DAT_OK(dat_lmr_free(r.lmr));
        assert_memory_equal(all + 2 * PAGE + 9, f->a.mem.data, 64);
        memset(all + 2 * PAGE + 9, 1, 64);
        for (size_t i = 0; i < 300 * PAGE; i++)
            assert_int_equal(all[i], 1);
        for (size_t n = left < LEFT ? 1 : LEFT; n; n--)
            mprotect(many + 2 * --split * PAGE, PAGE, PROT_NONE);
    }
    munmap(many, (size_t)PAGES * PAGE);
    /* any registration tries again */
    char *other = map_private(PAGE);
    assert_true(is_adopted(&f->b, other, PAGE));
    assert_int_equal(in_memfd(all, 300 * PAGE), 0);
    munmap(other, PAGE);
    assert_false(limited && !is_adopted(&f->b, all, 300 * PAGE));
    munmap(all, 300 * PAGE);
}

/* Giving back needs no descriptor. */
static void no_descriptor_left(void **state)
{
    enum { LIMIT = 256 };
    fixture_t *f = *state;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){LIMIT, before.rlim_max};
    char *all = map_private(8 * PAGE);
    memset(all, 1, 8 * PAGE);
    for (int left = 0; left < 4; left++) {
        region_t r;
        int fd[LIMIT], n = 0;
        register_at(&f->b, &r, all, 8 * PAGE);
        assert_int_equal(in_memfd(all, 8 * PAGE), 8 * PAGE);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        while ((fd[n] = dup(STDERR_FILENO)) >= 0)
            n++;
        for (int i = 0; i < left; i++)
            close(fd[--n]);
        DAT_OK(dat_lmr_free(r.lmr));
        while (n)
            close(fd[--n]);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(in_memfd(all, 8 * PAGE), 0);
        assert_int_equal(all[2 * PAGE], 1);
    }
    munmap(all, 8 * PAGE);
}

/* A thread whose stack is memory of its own registers the part below what it
 * uses of it now. */
static void *register_own_stack(void *arg)
{
    fixture_t *f = arg;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    char *at = (char *)(frame & -(uintptr_t)PAGE) - 16 * PAGE;
    assert_false(is_adopted(&f->b, at, 16 * PAGE));
    return NULL;
}

static void own_stack(void **state)
{
    enum { STACK = 128 * PAGE };
    char *stack = map_private(STACK);
    pthread_t thread;
    pthread_attr_t attr;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, register_own_stack, *state),
                     0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    munmap(stack, STACK);
}

/* ------------------------------------- what the consumer does with it --- */

static void unmapped_while_registered(void **state)
{
    fixture_t *f = *state;
    region_t old, new;
    char *all = map_private(8 * PAGE);
    memset(all, 1, 8 * PAGE);
    register_at(&f->b, &old, all, 8 * PAGE);
    assert_int_equal(munmap(all + 2 * PAGE, 4 * PAGE), 0);
    /* memory of the consumer in the same place must stay */
    assert_ptr_equal(mmap(all + 2 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     all + 2 * PAGE);
    memset(all + 2 * PAGE, 2, 4 * PAGE);
    register_at(&f->b, &new, all + 2 * PAGE, 4 * PAGE);
    put(&f->a, &new, PAGE, 64);
    assert_memory_equal(all + 3 * PAGE, f->a.mem.data, 64);
    DAT_OK(dat_lmr_free(old.lmr));
    DAT_OK(dat_lmr_free(new.lmr));
    assert_int_equal(in_memfd(all, 8 * PAGE), 0);
    assert_memory_equal(all + 3 * PAGE, f->a.mem.data, 64);
    for (size_t i = 0; i < 8 * PAGE; i++)
        assert_true(i / PAGE == 3 || all[i] == 1 + (i / PAGE / 2 % 3 != 0));
    munmap(all, 8 * PAGE);
}

static void enlarged_while_registered(void **state)
{
    fixture_t *f = *state;
    region_t r;
    char *all = map_private(4 * PAGE);
    memset(all, 1, 4 * PAGE);
    register_at(&f->b, &r, all, 4 * PAGE);
    char *moved = mremap(all, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    assert_ptr_not_equal(moved, MAP_FAILED);
    for (size_t i = 0; i < 8 * PAGE; i++)
        assert_int_equal(moved[i], i < 4 * PAGE);
    memset(moved, 2, 8 * PAGE);
    DAT_OK(dat_lmr_free(r.lmr));
    for (size_t i = 0; i < 8 * PAGE; i++)
        assert_int_equal(moved[i], 2);
    munmap(moved, 8 * PAGE);
}

static void *grow_and_shrink(void *arg)
{
    char *block = arg;
    block = realloc(block, 4 * BYTES);
    memset(block + BYTES, 3, 3 * BYTES);
    return realloc(block, BYTES);
}

/* malloc reuses, enlarges and unmaps memory that was registered. */
static void reused_by_malloc(void **state)
{
    fixture_t *f = *state;
    for (size_t size = 2 * PAGE; size <= BYTES; size *= 3) {
        region_t r;
        char *block = malloc(BYTES);
        memset(block, 1, BYTES);
        register_at(&f->b, &r, block, size);
        put(&f->a, &r, size / 2, 64);
        DAT_OK(dat_lmr_free(r.lmr));
        block = grow_and_shrink(block);
        assert_memory_equal(block + size / 2, f->a.mem.data, 64);
        free(block);
        char *clean = calloc(1, BYTES);
        for (size_t i = 0; i < BYTES; i++)
            assert_int_equal(clean[i], 0);
        free(clean);
    }
    /* an allocator may expect zeros after MADV_DONTNEED */
    char *all = map_private(4 * PAGE);
    memset(all, 1, 4 * PAGE);
    assert_true(is_adopted(&f->b, all, 4 * PAGE));
    assert_int_equal(madvise(all, 4 * PAGE, MADV_DONTNEED), 0);
    for (size_t i = 0; i < 4 * PAGE; i++)
        assert_int_equal(all[i], 0);
    munmap(all, 4 * PAGE);
}

static size_t resident(const char *all, size_t pages)
{
    unsigned char in[512];
    size_t n = 0;
    assert_in_range(pages, 0, sizeof in);
    assert_int_equal(mincore((void *)all, pages * PAGE, in), 0);
    for (size_t i = 0; i < pages; i++)
        n += in[i] & 1;
    return n;
}

/* The advice given for it counts afterwards, too; and holes stay holes. */
static void as_before_afterwards(void **state)
{
    enum { PAGES = 400 };
    fixture_t *f = *state;
    region_t r;
    char *all = map_private(PAGES * PAGE);
    assert_int_equal(madvise(all, PAGES * PAGE, MADV_WIPEONFORK), 0);
    assert_int_equal(madvise(all, PAGES * PAGE, MADV_NOHUGEPAGE), 0);
    all[7 * PAGE] = all[299 * PAGE] = 1;
    register_at(&f->b, &r, all, PAGES * PAGE);
    assert_int_equal(in_memfd(all, PAGES * PAGE), PAGES * PAGE);
    assert_int_equal(all[7 * PAGE] + all[299 * PAGE] + all[8 * PAGE], 2);
    assert_in_range(resident(all, PAGES), 1, 8);
    DAT_OK(dat_lmr_free(r.lmr));
    assert_int_equal(all[7 * PAGE] + all[299 * PAGE], 2);
    assert_in_range(resident(all, PAGES), 1, 8);
    pid_t pid = fork();
    if (!pid)
        _exit(all[7 * PAGE] + all[299 * PAGE]); /* wiped */
    join(pid);
    munmap(all, PAGES * PAGE);
}

/* ------------------------------------------------------------ children --- */

static int status_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A child that is forked while memory is registered does not have its whole
 * pages, as with verbs, but has their neighbours. A later child has a copy. */
static void children(void **state)
{
    fixture_t *f = *state;
    region_t r;
    char *all = map_private(8 * PAGE);
    memset(all, 1, 8 * PAGE);
    pid_t holder = fork(); /* shares the pages until they are written */
    if (!holder) {
        sleep(10);
        _exit(0);
    }
    register_at(&f->b, &r, all + PAGE + 8, 4 * PAGE);
    assert_int_equal(in_memfd(all, 8 * PAGE), 3 * PAGE);
    kill(holder, SIGKILL);
    status_of(holder);
    pid_t pid = fork();
    if (!pid) {
        signal(SIGSEGV, SIG_DFL); /* not the handler of a sanitizer */
        all[2 * PAGE] = 2;
        _exit(0);
    }
    assert_true(WIFSIGNALED(status_of(pid)));
    pid = fork();
    if (!pid) {
        all[PAGE + 8] = all[6 * PAGE] = 2;
        _exit(all[PAGE] != 1 || dat_lmr_free(r.lmr) != DAT_SUCCESS);
    }
    assert_int_equal(status_of(pid), 0);
    put(&f->a, &r, PAGE, 64);
    assert_memory_equal(all + 2 * PAGE + 8, f->a.mem.data, 64);
    assert_int_equal(all[PAGE + 8] + all[6 * PAGE], 2);
    DAT_OK(dat_lmr_free(r.lmr));
    pid = fork();
    if (!pid) {
        int failed = memcmp(all + 2 * PAGE + 8, f->a.mem.data, 64);
        memset(all, 3, 8 * PAGE);
        _exit(failed);
    }
    assert_int_equal(status_of(pid), 0);
    assert_int_equal(all[PAGE], 1);
    munmap(all, 8 * PAGE);
}

/* ------------------------------------------------------- not permitted --- */

static void without_userfaultfd(void *arg)
{
    end_t end, other;
    int pipes[2];
    char said[512] = "";
    char *all = map_private(4 * PAGE);
    /* loads the library, whose folder may be for root only */
    end_open_on(&other, "shm1", NULL);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(setgid(65534), 0);
    assert_int_equal(setuid(65534), 0);
    int err = dup(STDERR_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    end_open(&end, NULL);
    dup2(err, STDERR_FILENO);
    close(pipes[1]);
    assert_true(read(pipes[0], said, sizeof said - 1) > 0);
    assert_non_null(strstr(said, "adopt=1 has no effect: userfaultfd is not "
                                 "permitted"));
    assert_int_equal(adopted(&end), -1);
    assert_false(is_adopted(&end, all, 4 * PAGE));
    ends_close(&end, &other);
}

static void not_permitted(void **state)
{
    int allowed = 0;
    FILE *f = fopen("/proc/sys/vm/unprivileged_userfaultfd", "re");
    if (f && fscanf(f, "%d", &allowed) != 1)
        allowed = 0;
    if (f)
        fclose(f);
    if (getuid() || allowed)
        skip();
    join(spawn(without_userfaultfd, NULL));
}

/* A daemon that root starts drops its privileges in this way. */
static void frees_without_privileges(void *arg)
{
    end_t end;
    region_t r;
    char *all = map_private(4 * PAGE);
    memset(all, 1, 4 * PAGE);
    end_open(&end, NULL);
    register_at(&end, &r, all, 4 * PAGE);
    assert_int_equal(in_memfd(all, 4 * PAGE), 4 * PAGE);
    assert_int_equal(setgid(65534), 0);
    assert_int_equal(setuid(65534), 0);
    DAT_OK(dat_lmr_free(r.lmr));
    pid_t pid = fork();
    if (!pid)
        _exit(all[2 * PAGE] != 1);
    assert_int_equal(status_of(pid), 0);
    end_close(&end);
}

static void privileges_dropped(void **state)
{
    if (getuid())
        skip();
    join(spawn(frees_without_privileges, NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_permitted),      /* forks: before any DAT call */
        cmocka_unit_test(privileges_dropped), /* the same */
        cmocka_unit_test(peers_read_and_write_all_of_it),
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_fixture, close_fixture)
        TEST(no_store_is_lost),
        TEST(ranges_overlap),
        TEST(as_many_as_an_ia_has),
        TEST(pinned),
        TEST(no_room_for_mappings),
        TEST(no_descriptor_left),
        TEST(own_stack),
        TEST(what_is_not_adopted),
        TEST(unmapped_while_registered),
        TEST(enlarged_while_registered),
        TEST(reused_by_malloc),
        TEST(as_before_afterwards),
        TEST(children),
    };
    end_t end;
    restart_with_lines(
        argv,
        (const char *const[][3]){{"libdapl_shm.so", "shm0", "adopt=1"},
                                 {"libdapl_shm.so", "shm1", ""}},
        2);
    pid_t pid = fork(); /* no DAT call in this process yet */
    if (!pid) {
        end_open(&end, NULL);
        _exit(adopted(&end) < 0 ? 77 : 0);
    }
    int status = status_of(pid);
    if (WEXITSTATUS(status) == 77) {
        printf("skipped: the kernel does not let this process adopt memory\n");
        remove_rails(NULL);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}

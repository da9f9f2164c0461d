/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory where something else goes on: other threads,
 * signals, children, ranks that are late or have failed, a kernel without room
 * for one more mapping. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "dsm_scene.h"

static ddsm_t *space_of(struct rank *r, const ddsm_config_t *cfg)
{
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    int rc = ddsm_open(r->job, cfg, &d, &err);
    if (rc)
        printf("# rank %u: ddsm_open: %s\n", r->rank, err.text);
    check(rc == 0);
    return d;
}

/* A home's value that another rank has read, and that is as before in the end,
 * is announced all the same. */
static void restored(struct rank *r)
{
    enum { PAGES = 16 };
    ddsm_t *d = space(r, 1 << 20, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, PAGES * 4096, &place);
    for (unsigned i = 0; i < PAGES && r->rank == 0; i++)
        p[4096 * i + 8] = 1;
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < PAGES && r->rank == 0; i++)
        p[4096 * i + 100] = 1;
    barrier_outside(r);
    for (unsigned i = 0; i < PAGES; i++)
        check(p[4096 * i + 8] == 1);
    barrier_outside(r);
    for (unsigned i = 0; i < PAGES && r->rank == 0; i++)
        p[4096 * i + 100] = 0;
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < PAGES; i++)
        check(p[4096 * i + 100] == 0);
    ddsm_close(d);
}

/* Others are told something by a thread that reads while this one waits. */
static void *read_late(void *page)
{
    usleep(50000);
    check(*(volatile unsigned char *)page == 3);
    (*ranks_outside)++;
    return NULL;
}

static void read_meanwhile(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 1};
    unsigned char *p = ddsm_alloc(d, 2 * 4096, &place);
    pthread_t thread;
    double x = 1;
    if (r->rank == 1)
        p[0] = p[4096] = 3;
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < 2; i++) {
        if (r->rank == 0)
            check(!pthread_create(&thread, NULL, read_late, p + 4096 * i));
        while (r->rank == 1 && *ranks_outside < i + 1)
            usleep(1000);
        ok(d,
           i ? ddsm_reduce(d, &x, 1, DDSM_DOUBLE, DDSM_SUM) : ddsm_barrier(d));
        if (r->rank == 0)
            check(!pthread_join(thread, NULL));
    }
    check(x == 2);
    ddsm_close(d);
}

/* Ranks wait for a late rank, for more than the transport's timeout. */
static void late(struct rank *r)
{
    drail_config_t rails;
    ddsm_config_t cfg;
    double x = 1;
    drail_config_init(&rails);
    rails.timeout_ms = 300;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.rails = &rails;
    ddsm_t *d = space_of(r, &cfg);
    usleep(r->rank ? 1000000 : 0);
    ok(d, ddsm_barrier(d));
    usleep(r->rank ? 1000000 : 0);
    ok(d, ddsm_reduce(d, &x, 1, DDSM_DOUBLE, DDSM_SUM));
    check(x == 2);
    ddsm_close(d);
}

/* A rank that stands still has not waited meanwhile. */
static void stopped(struct rank *r)
{
    enum { WAIT_MS = 1000, STOP_MS = 1500 };
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.wait_ms = r->rank ? -1 : WAIT_MS;
    ddsm_t *d = space_of(r, &cfg);
    if (r->rank == 0) {
        *ranks_outside = (unsigned)getpid();
    } else {
        while (!*ranks_outside)
            usleep(1000);
        const pid_t other = (pid_t)*ranks_outside;
        usleep(50000); /* it is in the barrier by then */
        check(!kill(other, SIGSTOP));
        usleep(STOP_MS * 1000);
        check(!kill(other, SIGCONT));
        usleep(50000);
    }
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* A rank's failure ends the others' waits. */
static void given_up(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.wait_ms = r->rank ? -1 : 2000;
    ddsm_t *d = space_of(r, &cfg);
    if (r->rank == 0) {
        check(ddsm_barrier(d) == DRAIL_ETIMEOUT);
        check(ddsm_barrier(d) == DRAIL_ETIMEOUT);
    }
    barrier_outside(r);
    if (r->rank) {
        check(ddsm_lock(d, 1) == 0);
        ddsm_barrier(d); /* may be complete: rank 0 had come to it */
        check(ddsm_barrier(d) == DRAIL_EPEER);
        check(strstr(ddsm_last_error(d), "rank 0 has given up"));
    }
    ddsm_close(d);
    /* its meeting was no other's */
    expect(r, 0, drail_job_barrier(r->job, -1));
}

static void *take_too(void *arg)
{
    ddsm_t *d = arg;
    ddsm_rails_take(d);
    (*ranks_outside)++;
    ddsm_rails_give(d);
    return NULL;
}

/* The thread that has the rails gets nothing else, and nobody the rails. */
static void taken_twice(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    unsigned char *p = ddsm_alloc(d, 4096, NULL);
    double x = 1;
    ddsm_stats_t stats;
    pthread_t thread;
    check(ddsm_rails_take(d));
    check(!ddsm_rails_take(d));
    check(ddsm_prefetch(d, p, 1, false) == DRAIL_EINVAL);
    check(strstr(ddsm_last_error(d), "ddsm_rails_give"));
    check(ddsm_barrier(d) == DRAIL_EINVAL && ddsm_lock(d, 0) == DRAIL_EINVAL);
    check(ddsm_reduce(d, &x, 1, DDSM_DOUBLE, DDSM_SUM) == DRAIL_EINVAL);
    check(!ddsm_alloc(d, 4096, NULL));
    ddsm_stats_reset(d); /* which are nobody else's either */
    ddsm_stats(d, &stats);
    check(stats.fetches == 0);
    check(!pthread_create(&thread, NULL, take_too, d));
    usleep(50000);
    check(*ranks_outside == 0);
    ddsm_rails_give(d);
    check(!pthread_join(thread, NULL) && *ranks_outside == 1);
    ok(d, ddsm_prefetch(d, p, 1, false));
    check(ddsm_rails_take(d));
    ddsm_close(d); /* ... of which it is not given back */
}

/* A thread that is cancelled while it waits for a lock has it first. */
static void *lock_it(void *arg)
{
    ok(arg, ddsm_lock(arg, 0));
    ok(arg, ddsm_unlock(arg, 0));
    return NULL;
}

static void cancelled(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    pthread_t thread;
    ok(d, ddsm_lock(d, 0));
    check(!pthread_create(&thread, NULL, lock_it, d));
    usleep(20000);
    pthread_cancel(thread);
    usleep(20000);
    ok(d, ddsm_unlock(d, 0));
    check(!pthread_join(thread, NULL));
    ok(d, ddsm_lock(d, 0));
    ok(d, ddsm_unlock(d, 0));
    ddsm_close(d);
}

/* A handler that was installed over ours, and calls it. */
static struct sigaction ours;
static volatile unsigned chained;

static void chain_handler(int number, siginfo_t *info, void *context)
{
    if (++chained > 5)
        _exit(3);
    ours.sa_sigaction(number, info, context);
}

/* Another one over that. */
static struct sigaction chain_below;

static void over_handler(int number, siginfo_t *info, void *context)
{
    chain_below.sa_sigaction(number, info, context);
}

/* The end by a fault of nobody's, not a circle of handlers. */
static void check_foreign_fault(void)
{
    volatile char *nothing =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t child = fork();
    if (child == 0) {
        nothing[0] = 1;
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void chained_handlers(struct rank *r)
{
    const struct sigaction over = {.sa_sigaction = over_handler,
                                   .sa_flags = SA_SIGINFO | SA_NODEFER};
    const struct sigaction chain = {.sa_sigaction = chain_handler,
                                    .sa_flags = SA_SIGINFO | SA_NODEFER};
    signal(SIGSEGV, SIG_DFL); /* not a sanitizer's */
    ddsm_t *d = space(r, 1 << 20, 0);
    sigaction(SIGSEGV, &chain, &ours);
    ddsm_close(d);
    d = space(r, 1 << 20, 0);
    volatile char *p = ddsm_alloc(d, 4096, NULL);
    p[0] = 1;
    check(chained == 1);
    check_foreign_fault();
    ddsm_close(d);
    sigaction(SIGSEGV, &over, &chain_below);
    d = space(r, 1 << 20, 0);
    p = ddsm_alloc(d, 4096, NULL);
    p[0] = 1;
    check_foreign_fault();
    ddsm_close(d);
}

/* A child has none of the memory. */
static void forked(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 4096, NULL);
    int status;
    p[0] = 1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        p[0] = 77;
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    check(p[0] == 1);
    ok(d, ddsm_barrier(d));
    check(p[0] == 1);
    ddsm_close(d);
}

/* Takes all but some of the mappings that a process may have. */
static void fill_maps(size_t left)
{
    const size_t most = 70000;
    char *p = mmap(NULL, most * 4096, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(p != MAP_FAILED);
    size_t i = 0;
    while (i < most && !mprotect(p + i * 4096, 4096, PROT_READ))
        i += 2;
    for (size_t back = 0; back < left && i >= 2; back += 2) {
        i -= 2;
        mprotect(p + i * 4096, 4096, PROT_NONE);
    }
    if (i >= most)
        printf("# vm.max_map_count is larger than %zu here\n", most);
}

static void many_ranges(struct rank *r)
{
    enum { PAGES = 1000 };
    ddsm_t *d = space(r, (2 * PAGES + 1) * 4096, 0);
    const ddsm_place_t place = {.homes = DDSM_CYCLIC};
    volatile uint32_t *p = ddsm_alloc(d, 2 * PAGES * 4096, &place);
    ok(d, ddsm_barrier(d));
    fill_maps(300);
    for (unsigned round = 1; round < 4; round++) {
        for (unsigned i = r->rank; i < PAGES; i += r->size)
            p[2 * i * 1024 + round] = i + round;
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < PAGES; i++)
            check(p[2 * i * 1024 + round] == i + round);
        if (round == 2)
            ok(d, ddsm_prefetch(d, (void *)p, 2 * PAGES * 4096, true));
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* Rank 1 reads every second page of rank 0, which has written all of them:
 * these are no longer exclusive, so rank 0 needs many mappings. */
static void many_copies(struct rank *r)
{
    enum { PAGES = 1000 };
    ddsm_t *d = space(r, 2 * PAGES * 4096, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    volatile uint32_t *p = ddsm_alloc(d, 2 * PAGES * 4096, &place);
    for (unsigned i = 0; i < 2 * PAGES && r->rank == 0; i++)
        p[i * 1024] = i;
    ok(d, ddsm_barrier(d));
    fill_maps(300);
    for (unsigned round = 1; round < 4; round++) {
        for (unsigned i = 0; i < PAGES && r->rank == 1; i++)
            check(p[2 * i * 1024] == 2 * i * round);
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < 2 * PAGES && r->rank == 0; i++)
            p[i * 1024] += i;
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* The kernel can use prefetched pages, too. */
static void room_for_prefetch(struct rank *r)
{
    enum { PAGES = 400 };
    int pipes[2];
    ddsm_t *d = space(r, 2 * PAGES * 4096, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 1};
    char *p = ddsm_alloc(d, 2 * PAGES * 4096, &place);
    check(pipe(pipes) == 0);
    for (unsigned i = 0; i < 2 * PAGES && r->rank == 1; i++)
        p[4096 * i] = 1;
    ok(d, ddsm_barrier(d));
    fill_maps(60);
    for (unsigned i = 0; i < PAGES && r->rank == 0; i++) {
        ok(d, ddsm_prefetch(d, p + 2 * i * 4096, 1, true));
        check(write(pipes[1], "x", 1) == 1);
        check(read(pipes[0], p + 2 * i * 4096, 1) == 1);
    }
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < 2 * PAGES; i++)
        check(p[4096 * i] == (i % 2 ? 1 : 'x'));
    ddsm_close(d);
}

/* A rank that closes has time, whatever time others' waits for barriers
 * have. */
static void closes_early(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.wait_ms = 100;
    ddsm_t *d = space_of(r, &cfg);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, 4096, &place);
    if (r->rank == 0)
        p[7] = 8;
    ok(d, ddsm_barrier(d));
    if (r->rank) {
        usleep(400000);
        check(p[7] == 8);
    }
    ddsm_close(d);
    expect(r, 0, drail_job_barrier(r->job, -1));
}

static ddsm_t *space_waiting(struct rank *r, int wait_ms)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.wait_ms = wait_ms;
    return space_of(r, &cfg);
}

/* A rank that gives up waiting for a lock is passed over, wherever the lock
 * is. */
static void left_queue(struct rank *r)
{
    enum { TRIES = 20 }; /* more than places for ranks that have left */
    ddsm_t *d = space_waiting(r, r->rank == 1 ? 5 : -1);
    volatile uint64_t *count = ddsm_alloc(d, 4096, NULL);
    for (unsigned id = 0; id < r->size; id++) {
        if (r->rank == 0)
            ok(d, ddsm_lock(d, id));
        barrier_outside(r);
        for (unsigned i = 0; i < TRIES && r->rank == 1; i++) {
            check(ddsm_lock(d, id) == DRAIL_ETIMEOUT);
            check(strstr(ddsm_last_error(d), "not given back for 5 ms"));
            check(ddsm_unlock(d, id) == DRAIL_EINVAL);
        }
        barrier_outside(r);
        if (r->rank == 0) {
            usleep(20000); /* rank 2 is in the queue, behind those */
            ++count[id];
            ok(d, ddsm_unlock(d, id));
        } else if (r->rank == 2) {
            ok(d, ddsm_lock(d, id));
            check(count[id] == 1);
            ++count[id];
            ok(d, ddsm_unlock(d, id));
        }
        barrier_outside(r);
        if (r->rank == 1) {
            ok(d, ddsm_lock(d, id));
            check(count[id] == 2);
            ok(d, ddsm_unlock(d, id));
        }
        barrier_outside(r);
    }
    ddsm_close(d);
}

/* With one more than there are places for, all hear that the lock is lost. */
static void too_many_leave(struct rank *r)
{
    enum { MOST = 16 };
    const bool waits = r->rank == r->size - 1;
    ddsm_t *d = space_waiting(r, waits ? -1 : 50);
    check(r->size == 1 + MOST + 1 + 1);
    if (r->rank == 0)
        ok(d, ddsm_lock(d, 0));
    barrier_outside(r);
    if (waits) {
        check(ddsm_lock(d, 0) == DRAIL_EPEER);
        check(strstr(ddsm_last_error(d), "has given up: its memory is broken"));
    } else if (r->rank) {
        check(ddsm_lock(d, 0) != 0);
    }
    ddsm_close(d);
}

/* All give up now and then, also when their turn is about to come: nobody has
 * the lock beside another one, and it is never lost. */
static void impatient(struct rank *r)
{
    enum { ROUNDS = 40, TRIES = 5 }; /* of 3 ranks: fewer than may leave */
    ddsm_t *d = space_waiting(r, 1);
    volatile uint64_t *count = ddsm_alloc(d, 4096, NULL);
    uint64_t had = 0, all[3], sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < TRIES; i++) {
            if (ddsm_lock(d, round % 3) == DRAIL_ETIMEOUT)
                continue;
            uint64_t before = count[round % 3];
            dawdle(r);
            count[round % 3] = before + 1;
            had++;
            ok(d, ddsm_unlock(d, round % 3));
        }
        barrier_outside(r);
        if (r->rank == round % 2) /* nobody has it */
            ok(d, ddsm_lock(d, round % 3) || ddsm_unlock(d, round % 3));
        barrier_outside(r);
    }
    expect(r, 0, drail_job_allgather(r->job, &had, sizeof had, all, -1));
    for (unsigned i = 0; i < 3; i++)
        sum += all[i];
    for (unsigned id = 0; id < 3 && r->rank == 2; id++) {
        ok(d, ddsm_lock(d, id));
        sum -= count[id];
        ok(d, ddsm_unlock(d, id));
    }
    check(r->rank != 2 || sum == 0);
    ddsm_close(d);
}

static void place_in_a_page(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t one = {.homes = DDSM_ONE, .rank = 1};
    ddsm_place_t *place = ddsm_alloc(d, sizeof *place, &one);
    if (r->rank == 1)
        *place = (ddsm_place_t){.homes = DDSM_CYCLIC};
    ok(d, ddsm_barrier(d));
    char *p = ddsm_alloc(d, 8192, place);
    check(p);
    ok(d, ddsm_barrier(d));
    p[r->rank] = 1;
    ok(d, ddsm_barrier(d));
    check(p[0] && p[1]);
    ddsm_close(d);
}

/* Threads that go upwards, each in a part of its own. */
static void *go_upwards(void *arg)
{
    const volatile unsigned char *p = arg;
    for (unsigned i = 0; i < 256; i++) {
        check(p[4096 * i] == 0);
        usleep(10); /* they take turns */
    }
    return NULL;
}

static void streams(struct rank *r)
{
    enum { THREADS = 4, PAGES = 256 };
    pthread_t thread[THREADS];
    ddsm_stats_t stats;
    ddsm_t *d = space(r, THREADS * PAGES * 4096, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 1};
    char *p = ddsm_alloc(d, THREADS * PAGES * 4096, &place);
    if (r->rank == 1)
        memset(p, 0, THREADS * PAGES * 4096);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < THREADS && r->rank == 0; i++)
        check(!pthread_create(&thread[i], NULL, go_upwards,
                              p + i * PAGES * 4096));
    for (unsigned i = 0; i < THREADS && r->rank == 0; i++)
        pthread_join(thread[i], NULL);
    ddsm_stats(d, &stats);
    check(r->rank || stats.fetches < 20 * THREADS);
    ddsm_close(d);
}

/* Of the memory of spaces, KB in pieces that the kernel has as one page. */
static unsigned long laid_kb(void)
{
    unsigned long sum = 0, kb;
    bool shared = false;
    char line[512];
    FILE *f = fopen("/proc/self/smaps", "r");
    check(f);
    while (fgets(line, sizeof line, f)) {
        if (strchr(line, '/'))
            shared = strstr(line, "memfd:ddsm");
        else if (shared && sscanf(line, "ShmemPmdMapped: %lu", &kb) == 1)
            sum += kb;
    }
    fclose(f);
    return sum;
}

enum { PIECE = 2 << 20 };

/* Of which one byte is used. */
static char *piece(void)
{
    int fd = memfd_create("trial", MFD_CLOEXEC);
    check(fd >= 0 && !ftruncate(fd, 2 * PIECE));
    char *p = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(p != MAP_FAILED);
    p = mmap((char *)(((uintptr_t)p + PIECE) & -(uintptr_t)PIECE), PIECE,
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    p[0] = 1;
    return p;
}

static bool kernel_lays(void)
{
    enum { COLLAPSE = 25 };
    return !madvise(piece(), PIECE, COLLAPSE);
}

/* Without being asked (shmem_enabled): the last page is there with the first.
 */
static bool kernel_lays_at_once(void)
{
    unsigned char there;
    check(!mincore(piece() + PIECE - 4096, 4096, &there));
    return there & 1;
}

/* Memory of which a quarter is used is laid together, none before. */
static void laid_together(struct rank *r)
{
    enum { QUARTER = 128 };
    ddsm_t *d = space(r, 4 << 20, 0);
    const ddsm_place_t place = {.homes = DDSM_CYCLIC};
    unsigned char *p = ddsm_alloc(d, 4 << 20, &place);
    for (unsigned i = r->rank; i < QUARTER; i += 2)
        p[i * 4096] = 1;
    ok(d, ddsm_barrier(d));
    if (sysconf(_SC_PAGESIZE) == 4096 && r->rank == 0) {
        ok(d, ddsm_prefetch(d, p, (QUARTER - 1) * 4096, false));
        check(laid_kb() == 0 || kernel_lays_at_once());
        ok(d, ddsm_prefetch(d, p, QUARTER * 4096, false));
        if (kernel_lays())
            check(laid_kb() >= 2048);
        else
            printf("# the kernel lays nothing together here\n");
        for (unsigned i = 0; i < QUARTER; i++)
            check(p[i * 4096] == 1);
    }
    ddsm_close(d);
}

static void other_pieces(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    check(ddsm_alloc(d, 4096, NULL));
    ok(d, ddsm_barrier(d));
    check(ddsm_alloc(d, 4096, &(ddsm_place_t){.element = r->rank ? 8 : 4}));
    check(ddsm_barrier(d) == DRAIL_EINVAL);
    check(strstr(ddsm_last_error(d), "ddsm_alloc"));
    ddsm_close(d);
}

/* A page within a call, or a fault. */
static void *page_of_call;

static void on_alarm(int number)
{
    *(volatile char *)page_of_call = 1;
}

static void inside(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    page_of_call =
        ddsm_alloc(d, 4096, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 1});
    ok(d, ddsm_barrier(d));
    pid_t pid = getpid();
    signal(SIGUSR1, on_alarm);
    if (r->rank == 0) {
        check(ddsm_rails_take(d));
        kill(pid, SIGUSR1); /* ends the process, with a sentence */
        ddsm_rails_give(d);
        _exit(0);
    }
    check(ddsm_barrier(d) != 0);
    ddsm_close(d);
}

/* Signals whose handler leaves what the program does, again and again while
 * pages come: each fault is served whole, and none is left in the middle. */
static sigjmp_buf again;
static volatile sig_atomic_t may_leave;

static void leave(int number)
{
    if (may_leave)
        siglongjmp(again, 1);
}

static void left_by_signals(struct rank *r)
{
    enum { PAGES = 256, ROUNDS = 20, LEAST = 50 };
    static const struct itimerval often = {{0, 150}, {0, 150}}, never;
    static volatile unsigned left, page, wrong;
    ddsm_t *d = space(r, PAGES * 4096, 0);
    volatile unsigned *p = ddsm_alloc(
        d, PAGES * 4096, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 1});
    signal(SIGALRM, leave);
    for (volatile unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < PAGES && r->rank == 1; i++)
            p[1024 * i] = round * i;
        ok(d, ddsm_barrier(d));
        page = 0;
        setitimer(ITIMER_REAL, r->rank ? &never : &often, NULL);
        if (sigsetjmp(again, 1))
            left++;
        may_leave = 1;
        for (; page < PAGES; page++)
            if (p[1024 * page] != round * page)
                wrong++;
        may_leave = 0;
        setitimer(ITIMER_REAL, &never, NULL);
        ok(d, ddsm_barrier(d));
    }
    check(wrong == 0 && (r->rank || left >= LEAST));
    ddsm_close(d);
}

/* System calls on the memory behave as ddsm.h says. */
static void system_calls(struct rank *r)
{
    enum { BYTES = 3 * 4096 + 100 };
    static char copy[BYTES];
    int pipes[2], sockets[2];
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 1};
    char *from = ddsm_alloc(d, BYTES, &place);
    char *to = ddsm_alloc(d, BYTES, &place);
    check(!pipe(pipes) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    for (unsigned i = 0; i < BYTES && r->rank == 1; i++)
        from[i] = (char)(i * 7);
    if (r->rank == 1)
        strcpy(to, "/dev/null");
    ok(d, ddsm_barrier(d));
    if (r->rank == 0) {
        /* pages that are not there are no memory to the kernel */
        check(write(pipes[1], from, 1) == -1 && errno == EFAULT);
        check(open(to, O_RDONLY) == -1 && errno == EFAULT);
        ok(d, ddsm_prefetch(d, from, BYTES, false));
        check(write(pipes[1], from, BYTES) == BYTES);
        check(read(pipes[0], copy, BYTES) == BYTES);
        check(send(sockets[0], from, BYTES, 0) == BYTES);
        ok(d, ddsm_prefetch(d, to, 4096, false));
        check(open(to, O_RDONLY) >= 0);
        /* one that is readable is not writable */
        check(recv(sockets[1], to, 4096, MSG_PEEK) == -1 && errno == EFAULT);
        ok(d, ddsm_prefetch(d, to, BYTES, true));
        check(recv(sockets[1], to, BYTES, MSG_WAITALL) == BYTES);
        check(write(pipes[1], copy, BYTES) == BYTES);
        check(read(pipes[0], to, BYTES) == BYTES);
    }
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < BYTES; i++)
        check(to[i] == (char)(i * 7));
    ddsm_close(d);
}

static const struct test tests[] = {
    {"restored", 2, restored, NULL, APART},
    {"read meanwhile", 2, read_meanwhile, NULL, APART},
    {"late", 2, late, NULL, APART},
    {"stopped", 2, stopped, NULL, APART},
    {"given up", 2, given_up, NULL, APART},
    {"taken twice", 1, taken_twice, NULL, APART},
    {"cancelled", 1, cancelled, NULL, APART},
    {"chained handlers", 1, chained_handlers, NULL, APART},
    {"forked", 2, forked, NULL, APART},
    {"children end", 2, children_end, NULL, APART},
    {"many ranges", 2, many_ranges, NULL, APART},
    {"many copies", 2, many_copies, NULL, APART},
    {"room for prefetch", 2, room_for_prefetch, NULL, APART},
    {"closes early", 2, closes_early, NULL, APART},
    {"left queue", 3, left_queue, NULL, APART},
    {"too many leave", 19, too_many_leave, NULL, APART},
    {"impatient", 3, impatient, NULL, APART},
    {"place in a page", 2, place_in_a_page, NULL, APART},
    {"streams", 2, streams, NULL, APART},
    {"laid together", 2, laid_together, NULL, APART},
    {"other pieces", 2, other_pieces, NULL, APART},
    {"left by signals", 2, left_by_signals, NULL, APART},
    {"system calls", 2, system_calls, NULL, APART},
    {"inside", 2, inside, NULL, APART | FAILS},
};

RUN_TESTS(tests)

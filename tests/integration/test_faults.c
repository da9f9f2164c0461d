/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whichever call of DAT or for memory fails in one rank, from opening a
 * transport to closing it: a call of the library returns an error, or all goes
 * on rightly. Nobody waits until his time is out, nothing is left, and the job
 * is as good as before.
 */
#include <dirent.h>

#include "faults.h"

#define BYTES     (256u << 10)
#define EAGER     64u
#define RANKS     2u
#define FILES_MAX 1024
#define TRIES     4
/* What ends by a time of this test's, and not by a word, takes longer */
#define SECONDS_MOST 4

struct outcome {
    int rc;         /* of the first call that failed */
    bool fired;     /* a call of this rank was made to fail */
    unsigned files; /* that were left, … */
    unsigned blocks;
    double seconds;
    char step[80];  /* where it came to its end, … */
    char what[32];  /* … and what was made to fail, … */
    char place[64]; /* … and who called it */
};

struct round {
    struct rank *r;
    drail_mem_t *mem;
    unsigned char *memory; /* half of it for the peer to write */
    drail_key_t keys[RANKS];
    struct outcome *mine;
};

/* Rounds that each rank has come to the end of, well or not; in memory that the
 * ranks share. */
static struct board {
    _Atomic unsigned rounds[RANKS];
    atomic_bool more; /* faults to be tried */
} * board;

static unsigned files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < FILES_MAX; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The first failure counts. */
static bool step(struct round *x, const char *name, int rc)
{
    if (rc && !x->mine->rc) {
        x->mine->rc = rc;
        snprintf(x->mine->step, sizeof x->mine->step, "%s", name);
    }
    return rc == 0;
}
#define STEP(call) step(x, #call, call)

/* What the test itself needs is not made to fail. */
static bool exchange(struct round *x)
{
    struct {
        drail_key_t key;
        int rc;
    } mine = {.rc = x->mine->rc}, all[RANKS];
    faults_pause(true);
    if (x->mem)
        drail_mem_key(x->mem, &mine.key);
    int rc = drail_job_allgather(x->r->job, &mine, sizeof mine, all, -1);
    faults_pause(false);
    for (unsigned i = 0; i < RANKS; i++) {
        x->keys[i] = all[i].key;
        rc = rc ? rc : all[i].rc;
    }
    return !rc;
}

static int put(struct round *x, size_t bytes)
{
    drail_t *t = x->r->t;
    drail_req_t req;
    drail_xfer_t xfer = {x->memory, x->mem, &x->keys[x->r->peer], BYTES, bytes};
    uint32_t id;
    int rc = drail_put(t, x->r->peer, &xfer, DRAIL_NOTIFY, 7, &req);
    rc = rc ? rc : drail_wait(t, &req, -1);
    rc = rc ? rc : drail_notify_wait(t, x->r->peer, &id, -1);
    return rc || (id == 7 && !memcmp(x->memory, x->memory + BYTES, bytes))
               ? rc
               : DRAIL_EINVAL;
}

static int get(struct round *x)
{
    drail_t *t = x->r->t;
    drail_req_t req;
    drail_xfer_t xfer = {x->memory, x->mem, &x->keys[x->r->peer], 0, BYTES};
    int rc = drail_get(t, x->r->peer, &xfer, 0, &req);
    return rc ? rc : drail_wait(t, &req, -1);
}

static int message(struct round *x, bool sends, size_t bytes)
{
    size_t got = 0;
    if (sends)
        return drail_send(x->r->t, x->r->peer, x->memory, bytes, NULL);
    int rc = drail_recv(x->r->t, x->r->peer, x->memory, BYTES, &got, -1);
    return rc || got == bytes ? rc : DRAIL_EINVAL;
}

static int atomic(struct round *x)
{
    uint64_t old;
    return drail_atomic(x->r->t, x->r->peer, DRAIL_FETCH_ADD,
                        &x->keys[x->r->peer], BYTES + BYTES / 2, 1, 0, &old);
}

static void operate(struct round *x)
{
    bool first = x->r->rank == 0;
    memset(x->memory, 1, BYTES);
    if (STEP(put(x, 8)) && STEP(put(x, BYTES / 2)) && STEP(get(x)) &&
        STEP(message(x, first, EAGER)) && STEP(message(x, !first, EAGER)) &&
        STEP(message(x, first, BYTES)) && STEP(message(x, !first, BYTES)) &&
        STEP(atomic(x)))
        STEP(drail_fence(x->r->t, x->r->peer));
}

/* One that closes cuts the other off, which may be in its last call yet. */
static void await_peer(struct rank *r)
{
    double end = seconds() + 10;
    unsigned mine = ++board->rounds[r->rank];
    while (board->rounds[r->peer] < mine && seconds() < end)
        drail_progress(r->t);
}

static void scene(struct round *x, const drail_config_t *cfg)
{
    drail_error_t err = {0};
    void *memory = NULL;
    x->r->t = NULL;
    bool open = STEP(drail_open(x->r->job, cfg, &x->r->t, &err));
    check(open == (x->r->t != NULL));
    if (open)
        STEP(drail_connect(x->r->t, x->r->peer));
    if (!x->mine->rc)
        STEP(drail_mem_alloc(x->r->t, 2 * BYTES, DRAIL_ACCESS_ALL, &memory,
                             &x->mem));
    x->memory = memory;
    if (exchange(x))
        operate(x);
    if (x->mine->rc)
        board->rounds[x->r->rank]++;
    else
        await_peer(x->r);
    if (x->mem)
        drail_mem_release(x->mem);
    drail_close(x->r->t);
    x->r->t = NULL;
}

/* The call that fails is of `victim`, or none does. */
static struct outcome run_round(struct rank *r, const drail_config_t *cfg,
                                enum fault_kind kind, bool victim)
{
    struct outcome mine = {.files = files(), .seconds = seconds()};
    struct round x = {.r = r, .mine = &mine};
    unsigned before = blocks.n;
    faults_on(kind, victim ? fault.caller : 0, victim ? fault.call : 0);
    scene(&x, cfg);
    mine.fired = faults_off();
    mine.seconds = seconds() - mine.seconds;
    mine.files = files() - mine.files;
    mine.blocks = blocks.n - before;
    if (mine.fired) {
        snprintf(mine.what, sizeof mine.what, "%s", atomic_load(&fault.what));
        fault_place(fault.callers[fault.caller].from, mine.place,
                    sizeof mine.place);
    }
    return mine;
}

static void print(const struct rank *r, const struct outcome *o,
                  const char *why)
{
    printf("# rank %u: %s; ", r->rank, why);
    if (o->fired)
        printf("call %u of %s from %s failed; ", fault.call, o->what, o->place);
    printf("%s: %s (%.1f s); left: %d files, %d blocks\n",
           *o->step ? o->step : "all", drail_strerror(o->rc), o->seconds,
           (int)o->files, (int)o->blocks);
    fflush(stdout);
}

static bool is_wrong(const struct outcome *o, bool any_fired)
{
    return o->seconds > SECONDS_MOST || (o->rc && !any_fired);
}

static bool leaves(const struct outcome *o)
{
    return (int)o->files > 0 || (int)o->blocks > 0;
}

/* What stays for good, as there is more of something at a time than before,
 * does not come again. */
static bool try_fault(struct rank *r, const drail_config_t *cfg,
                      enum fault_kind kind, unsigned victim)
{
    struct outcome mine, all[RANKS];
    bool again = true, wrong = false;
    for (unsigned tries = 0; again && tries < TRIES; tries++) {
        mine = run_round(r, cfg, kind, r->rank == victim);
        check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
        again = leaves(&all[0]) || leaves(&all[1]);
        wrong |= is_wrong(&mine, all[victim].fired);
    }
    if (wrong || again || getenv("FAULTS_SHOWN"))
        print(r, &mine, wrong || again ? "wrong" : "well");
    if (leaves(&mine))
        faults_print_left();
    return !wrong && !again;
}

static void faults_of(struct rank *r, enum fault_kind kind, unsigned victim)
{
    drail_config_t cfg;
    unsigned wrong = 0, faults = 0;
    bool more;
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.depth = 4;
    cfg.eager_bytes = 1024;
    cfg.stripe_threshold = 4096;
    cfg.timeout_ms = 8000;
    cfg.connect_timeout_ms = 700;
    board->rounds[r->rank] = 0;
    barrier(r);
    for (unsigned i = 0; i < 2; i++)
        run_round(r, &cfg, kind, false);
    fault.caller = 0;
    fault.call = 1;
    do {
        wrong += !try_fault(r, &cfg, kind, victim);
        faults++;
        barrier(r);
        if (r->rank == victim)
            board->more = faults_next();
        barrier(r);
        more = board->more;
    } while (more);
    if (r->rank == victim)
        printf("# %u faults\n", faults);
    fflush(stdout);
    barrier(r);
    check(!wrong);
}

static void dat_of_first(struct rank *r)
{
    faults_of(r, FAULT_DAT, 0);
}

static void dat_of_second(struct rank *r)
{
    faults_of(r, FAULT_DAT, 1);
}

static void memory_of_first(struct rank *r)
{
    faults_of(r, FAULT_MEMORY, 0);
}

static void memory_of_second(struct rank *r)
{
    faults_of(r, FAULT_MEMORY, 1);
}

/* The frame's transport is not the one that is tried. */
static void away(drail_config_t *cfg)
{
    take_rails(cfg, 1);
}

static const struct test tests[] = {
    {"DAT fails in rank 0", RANKS, dat_of_first, away, APART},
    {"DAT fails in rank 1", RANKS, dat_of_second, away, APART},
    {"no memory in rank 0", RANKS, memory_of_first, away, APART},
    {"no memory in rank 1", RANKS, memory_of_second, away, APART},
};

int main(int argc, char **argv)
{
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(board != MAP_FAILED);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "requests.h"

#define BUCKETS      256u
#define MISSES       2  /* of a shape, before it is prepared */
#define SHAPES       64 /* that are known to have missed */
#define YIELD_AFTER  16 /* looks */
#define NAP_AFTER    4096
#define NAP_NS       50000
#define AGREED_BYTES 64 /* without memory for more */

enum stage {
    STAGE_IDLE,      /* persistent, and inactive */
    STAGE_QUEUED,    /* to begin */
    STAGE_UNDER_WAY, /* by libdcoll */
    STAGE_MOVED,     /* its data have come, or it has failed */
    STAGE_DONE,      /* they are where they belong */
};

struct request {
    struct request *next; /* of its bucket */
    MPI_Request handle;   /* the program's */
    struct layer_comm *c; /* of one that is done: it may be gone */
    MPI_Comm comm;        /* whose handler is told of errors */
    bool persistent, given_up;
    bool skipped; /* a call that this rank does not make: nobody's request */
    _Atomic int stage; /* from under way to moved by any thread */
    TAILQ_ENTRY(request) link, of_comm;
    struct request_work work;
    dcoll_request_t *q;
    int rc;            /* of libdcoll */
    int error;         /* of MPI */
    MPI_Request check; /* verify: the same by the MPI below; or none */
    MPI_Comm apart;    /* … of persistent ones, whose starts have no order */
};

TAILQ_HEAD(request_list, request);

/* Of a non-blocking call that was left for being not prepared. The same on all
 * ranks. */
struct shape {
    bool irregular;
    dcoll_call_t call; /* whatever its buffers */
    int misses;        /* hopeless: it can't be prepared */
};
#define HOPELESS -1

/* Of a communicator. */
struct requests {
    LIST_ENTRY(requests) link;
    struct layer_comm *c;
    pthread_mutex_t lock; /* the team is in use; and for these lists: */
    struct request_list queue, under_way;
    struct request_list persistent; /* as they were made, also given up: until
                                       they are on all ranks */
    unsigned inits;                 /* persistent ones that there have been */
    struct shape shapes[SHAPES];
    unsigned latest; /* shape, which replaces the eldest */
    unsigned wanted; /* shapes that are to be prepared */
};

static struct {
    pthread_mutex_t lock; /* for the list, never within that of a team */
    LIST_HEAD(, requests) comms;
    struct request *buckets[BUCKETS]; /* the program's thread's */
    unsigned number;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ----------------------------------------------------------- by handles --- */

static struct request **bucket_of(MPI_Request handle)
{
    uintptr_t key = (uintptr_t)handle;
    return &all.buckets[(key ^ key >> 8 ^ key >> 16) % BUCKETS];
}

struct request *request_of(MPI_Request handle)
{
    if (!all.number)
        return NULL;
    struct request *r = *bucket_of(handle);
    while (r && r->handle != handle)
        r = r->next;
    return r;
}

static void enter(struct request *r)
{
    struct request **bucket = bucket_of(r->handle);
    r->next = *bucket;
    *bucket = r;
    all.number++;
}

static void leave(struct request *r)
{
    struct request **at = bucket_of(r->handle);
    while (*at && *at != r)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = r->next;
    all.number--;
}

/* ------------------------------------------------------------ progress --- */

static const char *algorithm_of(const struct layer_comm *c)
{
    return dcoll_team_shape(c->team)->nnodes > 1 ? "direct" : NULL;
}

/* Between nodes the others would agree on bounds first. */
static dcoll_alltoallv_t unbounded(const struct request *r)
{
    dcoll_alltoallv_t call = *irregular_call(r->work.irregular);
    call.algorithm = algorithm_of(r->c);
    return call;
}

/* DRAIL_EAGAIN: it has to wait for another one. */
static int begin(struct request *r)
{
    dcoll_team_t *team = r->c->team;
    int rc = dcoll_team_error(team);
    if (rc)
        return rc;
    if (r->skipped) {
        dcoll_team_skip(team);
        return 0;
    }
    if (r->work.irregular) {
        dcoll_alltoallv_t call = unbounded(r);
        rc = dcoll_alltoallv_would_wait(team, &call);
        return rc ? rc : dcoll_alltoallv_begin(team, &call, &r->q);
    }
    rc = dcoll_would_wait(team, ours_call(r->work.ours));
    return rc ? rc : dcoll_begin(team, ours_call(r->work.ours), &r->q);
}

static void moved(struct request *r, int rc)
{
    pulse_less();
    if (r->skipped) {
        free(r);
        return;
    }
    r->rc = rc;
    atomic_store(&r->stage, STAGE_MOVED);
}

/* In their order, which is that of all ranks. */
static void begin_queued(struct requests *s)
{
    struct request *r;
    while ((r = TAILQ_FIRST(&s->queue))) {
        int rc = begin(r);
        if (rc == DRAIL_EAGAIN)
            return;
        TAILQ_REMOVE(&s->queue, r, link);
        if (rc || r->skipped) {
            moved(r, rc);
            continue;
        }
        atomic_store(&r->stage, STAGE_UNDER_WAY);
        TAILQ_INSERT_TAIL(&s->under_way, r, link);
    }
}

static void settle(struct requests *s, struct request *r, int rc)
{
    TAILQ_REMOVE(&s->under_way, r, link);
    moved(r, rc);
}

/* By who has the lock. */
static void advance(struct requests *s)
{
    struct request *r = TAILQ_FIRST(&s->under_way), *next;
    for (; r; r = next) {
        next = TAILQ_NEXT(r, link);
        int rc = dcoll_test(r->q);
        if (rc != DRAIL_EAGAIN)
            settle(s, r, rc);
    }
    begin_queued(s);
}

void requests_advance_all(void)
{
    struct requests *s;
    pthread_mutex_lock(&all.lock);
    LIST_FOREACH(s, &all.comms, link)
    {
        if (pthread_mutex_trylock(&s->lock))
            continue;
        advance(s);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&all.lock);
}

/* For a call that may wait, and that comes behind what is queued. */
static void take_team(struct requests *s)
{
    pthread_mutex_lock(&s->lock);
    begin_queued(s);
    while (!TAILQ_EMPTY(&s->queue)) {
        advance(s);
        layer_progress_below(s->c);
        sched_yield();
    }
}

int team_run(struct layer_comm *c, const dcoll_call_t *call)
{
    if (!c->requests)
        return dcoll_run(c->team, call);
    take_team(c->requests);
    int rc = dcoll_run(c->team, call);
    pthread_mutex_unlock(&c->requests->lock);
    return rc;
}

int team_alltoallv(struct layer_comm *c, const dcoll_alltoallv_t *call)
{
    if (!c->requests)
        return dcoll_alltoallv(c->team, call);
    take_team(c->requests);
    int rc = dcoll_alltoallv(c->team, call);
    pthread_mutex_unlock(&c->requests->lock);
    return rc;
}

void team_skip(struct layer_comm *c)
{
    if (!c->requests) {
        dcoll_team_skip(c->team);
        return;
    }
    take_team(c->requests);
    dcoll_team_skip(c->team);
    pthread_mutex_unlock(&c->requests->lock);
}

void team_give_up(const struct layer_comm *c, const char *why)
{
    if (c->requests)
        pthread_mutex_lock(&c->requests->lock);
    dcoll_team_give_up(c->team, DRAIL_EJOB, why);
    if (c->requests)
        pthread_mutex_unlock(&c->requests->lock);
}

/* -------------------------------------------------------- communicators --- */

/* The others would wait for this rank for ever. */
static void no_memory(const struct layer_comm *c)
{
    fprintf(stderr, "dcoll_mpi: no memory\n");
    PMPI_Abort(c->inner, 1);
}

/* Its own, made at its first call of that kind. */
static struct requests *requests_of(struct layer_comm *c)
{
    struct requests *s = c->requests ? NULL : calloc(1, sizeof *s);
    if (c->requests)
        return c->requests;
    if (!s) {
        no_memory(c);
        return NULL;
    }
    s->c = c;
    pthread_mutex_init(&s->lock, NULL);
    TAILQ_INIT(&s->queue);
    TAILQ_INIT(&s->under_way);
    TAILQ_INIT(&s->persistent);
    pthread_mutex_lock(&all.lock);
    LIST_INSERT_HEAD(&all.comms, s, link);
    pthread_mutex_unlock(&all.lock);
    return c->requests = s;
}

static bool is_shape(const struct shape *shape, const dcoll_call_t *call,
                     bool irregular)
{
    const dcoll_call_t *known = &shape->call;
    /* that of a root is its own */
    bool place =
        call->collective != DCOLL_GATHER &&
        (known->send == DCOLL_IN_PLACE) != (call->send == DCOLL_IN_PLACE);
    if (!shape->misses || shape->irregular != irregular)
        return false;
    return irregular ||
           (known->collective == call->collective &&
            known->bytes == call->bytes && known->root == call->root && !place);
}

static void miss(struct requests *s, const dcoll_call_t *call, bool irregular)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        struct shape *shape = &s->shapes[i];
        if (!is_shape(shape, call, irregular))
            continue;
        if (shape->misses != HOPELESS && ++shape->misses == MISSES)
            s->wanted++;
        return;
    }
    s->latest = (s->latest + 1) % SHAPES;
    if (s->shapes[s->latest].misses >= MISSES)
        s->wanted--;
    s->shapes[s->latest] = (struct shape){irregular, *call, 1};
}

static int would_wait(struct layer_comm *c, const dcoll_call_t *call,
                      bool irregular)
{
    if (!irregular)
        return dcoll_would_wait(c->team, call);
    return dcoll_alltoallv_would_wait(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = algorithm_of(c)});
}

int requests_may_begin(struct layer_comm *c, const struct layer_call *a,
                       int64_t bytes)
{
    struct requests *s = requests_of(c);
    bool irregular = layer_is_irregular(a->collective);
    dcoll_call_t call = {0};
    if (!s)
        return DRAIL_ENOMEM;
    if (!irregular)
        call = ours_shape(c, a, (size_t)bytes);
    pthread_mutex_lock(&s->lock);
    int rc = would_wait(c, &call, irregular);
    pthread_mutex_unlock(&s->lock);
    if (rc == DRAIL_ENOTSUP)
        miss(s, &call, irregular);
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

static int prepare(struct layer_comm *c, const struct shape *shape)
{
    if (!shape->irregular)
        return dcoll_prepare(c->team, &shape->call);
    return dcoll_alltoallv_prepare(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = algorithm_of(c)});
}

void requests_prepare(struct layer_comm *c)
{
    struct requests *s = c->requests;
    for (unsigned i = 0; s && s->wanted && i < SHAPES; i++) {
        struct shape *shape = &s->shapes[i];
        if (shape->misses < MISSES)
            continue;
        take_team(s);
        shape->misses = prepare(c, shape) ? HOPELESS : 0;
        s->wanted--;
        pthread_mutex_unlock(&s->lock);
    }
}

int request_error(const struct layer_comm *c, int rc)
{
    int error = ours_error(c, rc);
    return error == OURS_LEFT ? MPI_ERR_NO_MEM : error;
}

/* ---------------------------------------------------------------- work --- */

void request_work_free(struct request_work *work)
{
    if (work->ours)
        ours_close(work->ours);
    if (work->irregular)
        irregular_close(work->irregular);
    *work = (struct request_work){0};
}

static int fill(struct request *r)
{
    return r->work.ours ? ours_fill(r->c, r->work.ours)
                        : irregular_fill(r->c, r->work.irregular);
}

static int spread(struct request *r)
{
    return r->work.ours ? ours_spread(r->c, r->work.ours)
                        : irregular_spread(r->c, r->work.irregular);
}

static int expect(struct request *r, struct layer_call *below)
{
    return r->work.ours ? ours_expect(r->c, r->work.ours, below)
                        : irregular_expect(r->c, r->work.irregular, below);
}

static void compare(struct request *r)
{
    if (r->work.ours)
        ours_compare(r->c, r->work.ours);
    else
        irregular_compare(r->c, r->work.irregular);
}

/* --------------------------------------------------------------- begin --- */

/* Its handle is a request that never starts. NULL: no memory. */
static struct request *request_new(struct layer_comm *c, MPI_Comm comm,
                                   struct request_work work)
{
    struct request *r = calloc(1, sizeof *r);
    if (!r ||
        PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &r->handle)) {
        free(r);
        return NULL;
    }
    r->c = c;
    r->comm = comm;
    r->work = work;
    r->check = MPI_REQUEST_NULL;
    r->apart = MPI_COMM_NULL;
    return r;
}

static void request_destroy(struct request *r)
{
    request_work_free(&r->work);
    free(r);
}

/* verify: the same by the MPI below. */
static int begin_check(struct request *r)
{
    struct layer_call below;
    int rc = expect(r, &below);
    if (r->persistent)
        below.comm = r->apart;
    return rc ? rc : below_begin(&below, &r->check);
}

static void queue(struct requests *s, struct request *r)
{
    r->stage = STAGE_QUEUED;
    pulse_more();
    pthread_mutex_lock(&s->lock);
    TAILQ_INSERT_TAIL(&s->queue, r, link);
    begin_queued(s);
    pthread_mutex_unlock(&s->lock);
}

int request_begin(struct layer_comm *c, const struct layer_call *a,
                  struct request_work work, MPI_Request *handle)
{
    struct request *r = request_new(c, a->comm, work);
    if (!r) {
        request_work_free(&work);
        return MPI_ERR_NO_MEM;
    }
    int rc = layer.verify ? begin_check(r) : MPI_SUCCESS;
    if (rc) {
        PMPI_Request_free(&r->handle);
        request_destroy(r);
        return rc;
    }
    *handle = r->handle;
    enter(r);
    queue(c->requests, r);
    return MPI_SUCCESS;
}

/* Behind what is queued, for which it may not wait. */
void requests_skip(struct layer_comm *c)
{
    struct request *r = c->requests ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        team_skip(c);
        return;
    }
    r->c = c;
    r->skipped = true;
    queue(c->requests, r);
}

/* ----------------------------------------------------------- persistent --- */

static void free_persistent(struct requests *s, struct request *r)
{
    TAILQ_REMOVE(&s->persistent, r, of_comm);
    if (r->apart != MPI_COMM_NULL)
        PMPI_Comm_free(&r->apart);
    request_destroy(r);
}

/* Who has given one up does not know whether the others have: they tell each
 * other when the next one is made. @said: bit 0 that all can, then one for each
 * that there is. */
static void free_given_up(struct requests *s, const unsigned char *said)
{
    struct request *r = TAILQ_FIRST(&s->persistent), *next;
    for (unsigned i = 1; r; r = next, i++) {
        next = TAILQ_NEXT(r, of_comm);
        if (!(said[i / 8] >> i % 8 & 1))
            continue;
        take_team(s);
        dcoll_free(r->q);
        pthread_mutex_unlock(&s->lock);
        free_persistent(s, r);
    }
}

/* Can all ranks? */
static bool agree(struct requests *s, bool can)
{
    struct layer_comm *c = s->c;
    struct layer_room more = {0};
    unsigned char few[AGREED_BYTES] = {0}, *said = few;
    struct request *r;
    size_t n = 1;
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    n++;
    size_t bytes = (n + 7) / 8;
    if (bytes > sizeof few) {
        said = layer_room(&more, bytes);
        if (!said) {
            no_memory(c);
            return false;
        }
        memset(said, 0, bytes);
    }
    said[0] = can;
    n = 1;
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    {
        said[n / 8] |= (unsigned char)(r->given_up << n % 8);
        n++;
    }
    bool good = !PMPI_Allreduce(MPI_IN_PLACE, said, (int)bytes, MPI_BYTE,
                                MPI_BAND, c->inner);
    if (good)
        free_given_up(s, said);
    good = good && said[0] & 1;
    free(more.data);
    return good;
}

/* 0, DRAIL_ENOTSUP: nobody has any bytes; or an error. */
static int init_irregular(struct request *r)
{
    struct layer_comm *c = r->c;
    unsigned long long most[2];
    irregular_bounds(c, r->work.irregular, &most[0], &most[1]);
    if (PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                       c->inner))
        return DRAIL_EPEER;
    if (!most[1])
        return DRAIL_ENOTSUP;
    dcoll_alltoallv_t call = *irregular_call(r->work.irregular);
    call.max_pair = (size_t)most[0];
    call.max_rank = (size_t)most[1];
    take_team(c->requests);
    int rc = dcoll_alltoallv_init(c->team, &call, &r->q);
    pthread_mutex_unlock(&c->requests->lock);
    return rc;
}

static int init(struct request *r)
{
    struct layer_comm *c = r->c;
    if (r->work.irregular)
        return init_irregular(r);
    take_team(c->requests);
    int rc = dcoll_init(c->team, ours_call(r->work.ours), &r->q);
    pthread_mutex_unlock(&c->requests->lock);
    return rc;
}

int request_init(struct layer_comm *c, const struct layer_call *a,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle)
{
    struct requests *s = requests_of(c);
    struct request *r = can ? request_new(c, a->comm, *work) : NULL;
    int rc = DRAIL_ENOMEM;
    *taken = false;
    if (s && agree(s, r)) {
        s->inits++;
        rc = init(r);
    }
    if (rc && r) {
        PMPI_Request_free(&r->handle);
        free(r);
    }
    if (rc)
        return rc == DRAIL_ENOMEM || rc == DRAIL_ENOTSUP ? MPI_SUCCESS
                                                         : request_error(c, rc);
    *taken = true;
    r->persistent = true;
    *handle = r->handle;
    enter(r);
    TAILQ_INSERT_TAIL(&s->persistent, r, of_comm);
    return layer.verify ? PMPI_Comm_dup(c->inner, &r->apart) : MPI_SUCCESS;
}

/* MPI: what has been started may be changed by nobody. */
int request_start(struct request *r)
{
    struct requests *s = r->c->requests;
    if (!r->persistent || r->stage != STAGE_IDLE)
        return MPI_ERR_REQUEST;
    int rc = fill(r);
    if (!rc && layer.verify)
        rc = begin_check(r);
    if (rc)
        return rc;
    pulse_more();
    pthread_mutex_lock(&s->lock);
    atomic_store(&r->stage, STAGE_UNDER_WAY);
    TAILQ_INSERT_TAIL(&s->under_way, r, link);
    rc = dcoll_start(r->q);
    if (rc)
        settle(s, r, rc);
    pthread_mutex_unlock(&s->lock);
    return MPI_SUCCESS;
}

/* ------------------------------------------------------------- the end --- */

bool requests_are_under_way(void)
{
    return all.number;
}

bool request_is_active(const struct request *r)
{
    return r->stage != STAGE_IDLE;
}

/* What the program's thread has to do when data have come. verify: when those
 * of the MPI below have, too. */
static void complete(struct request *r)
{
    bool checked = r->check != MPI_REQUEST_NULL && !r->rc;
    int done = 1;
    if (checked)
        r->error = PMPI_Test(&r->check, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    if (r->rc)
        r->error = request_error(r->c, r->rc);
    if (!r->error && checked)
        compare(r);
    if (!r->error)
        r->error = spread(r);
    if (!r->persistent)
        request_work_free(&r->work);
    r->stage = STAGE_DONE;
}

bool request_is_done(struct request *r)
{
    int stage = atomic_load(&r->stage);
    if (stage == STAGE_QUEUED || stage == STAGE_UNDER_WAY) {
        pthread_mutex_lock(&r->c->requests->lock);
        advance(r->c->requests);
        pthread_mutex_unlock(&r->c->requests->lock);
    }
    if (r->stage == STAGE_MOVED)
        complete(r);
    return r->stage == STAGE_DONE || r->stage == STAGE_IDLE;
}

void request_pause(struct request *r, unsigned *looks)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    layer_progress_below(r->c);
    if (++*looks > NAP_AFTER)
        nanosleep(&nap, NULL);
    else if (*looks > YIELD_AFTER)
        sched_yield();
}

/* libdcoll waits best, unless another has yet to be begun. */
static void wait_by_team(struct request *r)
{
    struct requests *s = r->c->requests;
    pthread_mutex_lock(&s->lock);
    if (r->stage == STAGE_UNDER_WAY && TAILQ_EMPTY(&s->queue))
        settle(s, r, dcoll_wait(r->q, -1));
    pthread_mutex_unlock(&s->lock);
}

void request_wait(struct request *r)
{
    unsigned looks = 0;
    while (!request_is_done(r)) {
        wait_by_team(r);
        if (!request_is_done(r))
            request_pause(r, &looks);
    }
}

int request_take(struct request *r, MPI_Request *handle)
{
    int error = r->error;
    r->error = MPI_SUCCESS;
    if (error)
        PMPI_Comm_call_errhandler(r->comm, error);
    if (r->persistent) {
        r->stage = STAGE_IDLE;
        return error;
    }
    leave(r);
    PMPI_Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    request_destroy(r);
    return error;
}

int request_give_up(struct request *r, MPI_Request *handle)
{
    int error = MPI_SUCCESS;
    bool persistent = r->persistent;
    request_wait(r);
    if (request_is_active(r))
        error = request_take(r, handle);
    if (!persistent)
        return error;
    leave(r);
    PMPI_Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    pthread_mutex_lock(&r->c->requests->lock);
    dcoll_let_go(r->q);
    pthread_mutex_unlock(&r->c->requests->lock);
    r->given_up = true;
    return error;
}

/* ------------------------------------------------- communicators' ends --- */

/* Of a communicator that is to be freed: errors are told elsewhere. */
static void complete_of(struct layer_comm *c)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct request *r = all.buckets[i]; r; r = r->next) {
            if (r->c != c || r->comm == MPI_COMM_SELF)
                continue;
            if (!r->persistent)
                request_wait(r);
            r->comm = MPI_COMM_SELF;
        }
}

bool requests_are_left(struct layer_comm *c)
{
    int left = 0;
    struct request *r;
    if (!c->requests)
        return false;
    complete_of(c);
    TAILQ_FOREACH(r, &c->requests->persistent, of_comm)
    left |= !r->given_up;
    if (!c->requests->inits)
        return false;
    return PMPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, c->inner) ||
           left;
}

void requests_end(struct layer_comm *c)
{
    struct requests *s = c->requests;
    struct request *r;
    if (!s)
        return;
    pthread_mutex_lock(&all.lock);
    LIST_REMOVE(s, link);
    pthread_mutex_unlock(&all.lock);
    while ((r = TAILQ_FIRST(&s->persistent))) {
        if (!r->given_up) {
            leave(r);
            PMPI_Request_free(&r->handle);
        }
        free_persistent(s, r);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
    c->requests = NULL;
}

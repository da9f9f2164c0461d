/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "bench/limits/cores.h"
#include "bench/limits/topology.h"
#include "pool.h"
#include "session.h"

#define DEFAULT_TIMEOUT (-1)
#define LINE            64 /* bytes */
#define OFF_CACHE       4  /* times the last cache */

/* All threads of the ranks get their own cores if there are enough, else only
 * the main threads. */
pinning_t session_pinning(const options_t *opts, unsigned rank)
{
    unsigned cores = crowd_cores(), threads = crowd_threads(opts);
    unsigned ranks = (unsigned)opts->ranks;
    if (opts->locals) {
        rank = opts->local;
        ranks = opts->locals;
    }
    unsigned step = ranks * threads <= cores ? threads : cores / ranks;
    return (pinning_t){
        .core = -1, .base = rank * (step ? step : 1) % cores, .cores = cores};
}

static bool uses_pool(const options_t *opts)
{
    bool forks = false;
    for (unsigned i = 0; i < opts->nteams; i++)
        forks |= opts->teams[i] == DRAIL_TEAM_FORKJOIN;
    return forks && crowd_threads(opts) > 1;
}

void session_pin(pinning_t *pinning, const options_t *opts)
{
    cores_t cores;
    cores_allowed(&cores);
    if (pinning->base >= cores.count)
        return;
    if (uses_pool(opts))
        pool_pin(&cores, pinning->base, opts->nrails);
    if (!cores_pin(cores.cpu[pinning->base]))
        pinning->core = cores.cpu[pinning->base];
}

void session_config(drail_config_t *cfg, const options_t *opts,
                    const pinning_t *pinning)
{
    drail_config_init(cfg);
    cfg->nrails = opts->nrails;
    for (unsigned r = 0; r < opts->nrails; r++)
        cfg->rails[r] = opts->rails[r];
    if (opts->nweights)
        memcpy(cfg->weights, opts->weights, sizeof cfg->weights);
    if (opts->threshold != THRESHOLD_DEFAULT)
        cfg->stripe_threshold = opts->threshold;
    cfg->eps = (unsigned)opts->eps;
    cfg->stripe_align = opts->align;
    cfg->pin = !opts->no_pin;
    cfg->pin_base = pinning->base;
}

static int failed(const session_t *session, int rc, drail_error_t *err)
{
    err->code = rc;
    snprintf(err->text, sizeof err->text, "%s",
             session->rail ? drail_last_error(session->rail)
                           : drail_strerror(rc));
    return rc;
}

/* Exchanged by both ranks through the job. */
typedef struct card {
    drail_key_t target, source;
    uint64_t room;
    pinning_t pinning;
} card_t;

static int exchange_cards(session_t *s, const pinning_t *pinning)
{
    card_t mine = {.room = s->room, .pinning = *pinning}, both[2];
    drail_mem_key(s->target_mem, &mine.target);
    drail_mem_key(s->source_mem, &mine.source);
    int rc =
        drail_job_allgather(s->job, &mine, sizeof mine, both, DEFAULT_TIMEOUT);
    if (rc)
        return rc;
    s->remote = both[s->peer].target;
    s->readable = both[s->peer].source;
    if (both[s->peer].room < s->room) /* another machine, other caches */
        s->room = both[s->peer].room;
    s->pinning[0] = both[0].pinning;
    s->pinning[1] = both[1].pinning;
    return 0;
}

static bool any_op(const options_t *opts, op_kind_t from, op_kind_t to)
{
    for (unsigned i = 0; i < opts->nops; i++)
        if (opts->ops[i] >= from && opts->ops[i] <= to)
            return true;
    return false;
}

/* Access rights that the run needs. */
static unsigned source_access(const options_t *opts)
{
    return any_op(opts, OP_GET, OP_SEND) ? DRAIL_ACCESS_REMOTE_READ
                                         : DRAIL_ACCESS_LOCAL;
}

static unsigned target_access(const options_t *opts)
{
    return DRAIL_ACCESS_REMOTE_WRITE |
           (any_op(opts, OP_FETCH_ADD, OP_CMP_SWAP) ? DRAIL_ACCESS_REMOTE_ATOMIC
                                                    : 0);
}

/* ------------------------------------------------------------ buffers --- */

/* Payloads begin on cache lines of their own. */
static size_t stride(size_t bytes)
{
    return bytes ? (bytes + LINE - 1) / LINE * LINE : LINE;
}

/* Largest cache of this machine; 0: unknown. */
static uint64_t largest_cache(void)
{
    topology_t topology;
    uint64_t most = 0;
    if (!topology_describe(&topology))
        for (unsigned i = 0; i < topology.count; i++) {
            const topology_object_t *o = &topology.objects[i];
            if (strstr(o->type, "Cache") && o->bytes > most)
                most = o->bytes;
        }
    topology_free(&topology);
    return most;
}

static int find_room(session_t *s, drail_error_t *err)
{
    uint64_t buffers = options_buffers(s->opts);
    s->room = buffers ? stride(s->capacity) : s->capacity;
    if (buffers != BUFFERS_OFF_CACHE) {
        s->room *= buffers ? buffers : 1;
        return 0;
    }
    uint64_t cache = largest_cache();
    if (!cache) {
        err->code = DRAIL_EINVAL;
        snprintf(err->text, sizeof err->text,
                 "--buffers: no cache of this machine is known");
        return DRAIL_EINVAL;
    }
    if (s->opts->read)
        s->room *= options_apart(s->opts);
    s->room += OFF_CACHE * cache;
    return 0;
}

bool session_turns(const session_t *s)
{
    return options_buffers(s->opts);
}

uint64_t session_buffers(const session_t *s, size_t bytes)
{
    uint64_t buffers = options_buffers(s->opts);
    if (!buffers)
        return 1;
    return buffers == BUFFERS_OFF_CACHE ? s->room / stride(bytes) : buffers;
}

size_t session_place(const session_t *s, size_t bytes, uint64_t message)
{
    return message % session_buffers(s, bytes) * stride(bytes);
}

void session_look(session_t *s, size_t bytes, uint64_t message)
{
    if (!s->opts->read)
        return;
    const uint8_t *at = s->target + session_place(s, bytes, message);
    uint64_t sum = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        sum += word;
    }
    for (; i < bytes; i++)
        sum += at[i];
    *(volatile uint64_t *)&s->seen = sum;
}

int session_open(session_t *s, drail_job_t *job, const options_t *opts,
                 drail_error_t *err)
{
    unsigned rank = drail_job_rank(job);
    pinning_t pinning = session_pinning(opts, rank);
    drail_config_t cfg;
    void *source, *target;
    int rc;

    *s = (session_t){.opts = opts, .job = job, .rank = rank, .peer = 1 - rank};
    for (unsigned i = 0; i < opts->nsizes; i++)
        if (opts->sizes[i] > s->capacity)
            s->capacity = opts->sizes[i];

    rc = find_room(s, err);
    if (rc)
        return rc;
    rc = crowd_find(job, opts, &s->crowd);
    if (rc)
        return failed(s, rc, err);
    session_config(&cfg, opts, &pinning);
    rc = drail_open(job, &cfg, &s->rail, err);
    if (rc)
        return rc;
    /* only after drail_open, which reads the allowed cores */
    if (!opts->no_pin)
        session_pin(&pinning, opts);

    size_t room = s->room; /* the peer may have less */
    rc = drail_connect(s->rail, s->peer);
    if (!rc)
        rc = drail_mem_alloc(s->rail, room + 1, source_access(opts), &source,
                             &s->source_mem);
    if (!rc)
        rc = drail_mem_alloc(s->rail, room + 2 * SESSION_GUARD,
                             target_access(opts), &target, &s->target_mem);
    if (!rc)
        rc = exchange_cards(s, &pinning);
    if (rc)
        return failed(s, rc, err);
    /* touch every page before anything is timed */
    s->source = memset(source, 1, room + 1);
    s->target =
        (uint8_t *)memset(target, 0, room + 2 * SESSION_GUARD) + SESSION_GUARD;
    return 0;
}

void session_close(session_t *s)
{
    if (s->source_mem)
        drail_mem_release(s->source_mem);
    if (s->target_mem)
        drail_mem_release(s->target_mem);
    drail_close(s->rail);
}

int session_switch(session_t *s, const setup_t *setup)
{
    /* NULL: the weights of the configuration stay */
    int rc = drail_set_policy(s->rail, setup->policy, NULL, setup->rail);
    if (!rc)
        rc = drail_set_engine(s->rail, setup->engine, setup->team);
    if (!rc)
        rc = drail_set_waiting(s->rail, setup->waiting);
    return rc ? rc : drail_set_notify_by(s->rail, setup->notify_by);
}

drail_xfer_t session_xfer(const session_t *s, size_t bytes)
{
    return (drail_xfer_t){.local = s->source,
                          .local_mem = s->source_mem,
                          .remote = &s->remote,
                          .remote_offset = SESSION_GUARD,
                          .bytes = bytes};
}

drail_xfer_t session_read(const session_t *s, size_t bytes)
{
    return (drail_xfer_t){.local = s->target,
                          .local_mem = s->target_mem,
                          .remote = &s->readable,
                          .bytes = bytes};
}

int session_tell(session_t *s, const void *message, size_t bytes)
{
    return drail_send(s->rail, s->peer, message, bytes, NULL);
}

int session_hear(session_t *s, void *message, size_t bytes)
{
    size_t received = 0;
    int rc = drail_recv(s->rail, s->peer, message, bytes, &received,
                        DEFAULT_TIMEOUT);
    if (!rc && received != bytes)
        rc = DRAIL_ETRUNC;
    return rc;
}

int session_sync(session_t *s)
{
    uint8_t token = 0;
    int rc;
    if (s->rank == 0) {
        rc = session_tell(s, &token, sizeof token);
        return rc ? rc : session_hear(s, &token, sizeof token);
    }
    rc = session_hear(s, &token, sizeof token);
    return rc ? rc : session_tell(s, &token, sizeof token);
}

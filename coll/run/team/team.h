/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team: all ranks of a job, what this rank knows of them, and the requests
 * that they have prepared.
 *
 *   team -> ledger (node memory: the calls that each rank of the node has made)
 *        -> request (schedule, TEMP, node memory, keys of the peers)
 */
#ifndef DCOLL_TEAM_H
#define DCOLL_TEAM_H

#include <sys/queue.h>

#include "coll/dcoll.h"
#include "coll/run/node/copy.h"
#include "coll/run/team/ledger.h"
#include "coll/run/node/pool.h"
#include "coll/run/node/segment.h"
#include "coll/run/shrink/shrunk.h"
#include "coll/select/contest.h"
#include "coll/select/predict.h"
#include "coll/select/table.h"
#include "dapl_rail/platform/platform.h"

/* What each rank tells all others about itself when the team is created. */
struct member {
    struct segment_locator segment; /* of its node's ledgers */
    pid_t pid;
    uint64_t self;     /* address of its random word, … */
    uint64_t word;     /* … and its value: a rank that reads it can read the
                          memory of that rank */
    uint32_t first_id; /* id of the team's first request; rank 0's is used */
    size_t keep_bytes; /* the smallest of all ranks is used */
    uint64_t table;    /* checksum of its selection table */
    unsigned wires;    /* its TCP rails; 0: others reach other hosts, too */
    double wire_MBps;  /* nominal rate of the slowest one; 0: unknown */
    bool host_only;    /* it has a rail that stays within the host */
    bool learns;       /* dcoll_config_t.learn, and it has no table */
    bool watches;      /* ports_left_matter() */
};

/* An RDMA read of the ledger of a rank on another node. */
struct remote_ledger {
    struct ledger *copy; /* the target of the read; registered */
    drail_mem_t *mem;
    drail_req_t req;
    unsigned peer;
    bool under_way;
    unsigned doubted; /* rank + 1 whose call differed at the latest read */
    uint64_t at;      /* the number of that call */
};

/* The latest automatic choice of an algorithm, and what it depended on. */
struct choice {
    const dcoll_algorithm_t *algorithm; /* NULL: no choice yet */
    size_t bytes;
    drail_engine_t engine;
    bool in_place, commutes, zero_copy, one_shot;
};

/* A blocking call whose request needs no registered user memory: a call with
 * the same arguments starts that request at once. */
struct repeat {
    const void *send;
    void *recv;
    size_t bytes;
    unsigned root;
    drail_engine_t engine;
    bool chosen;              /* the algorithm was chosen automatically */
    dcoll_request_t *request; /* NULL: there is none */
    unsigned char *base[2];   /* SEND and RECV, as the request uses them */
};

/* Such calls kept for each collective: programs alternate between a few. */
#define REPEATS 4u

/* A notification's id holds the request's id and its kind: a tag, or one of
 * the following. Ids of requests wrap around. */
#define NOTIFICATION_KINDS (DCOLL_TAGS + 3u)
enum { /* after the tags of schedules */
       NOTE_ENTERED = DCOLL_TAGS,
       NOTE_SHRINK, /* shrink/survivors.h */
       NOTE_GATHER, /* shrink/gather.h */
};
#define REQUEST_IDS     (UINT32_MAX / NOTIFICATION_KINDS)
#define REQUEST_BUCKETS 256u

/* What ranks have told each other of their rails (ports_left.h). */
struct ports_left {
    bool watched;    /* all ranks have rails whose loss matters */
    size_t bytes;    /* of long calls since the ranks last told each other */
    uint32_t *rails; /* by rank */
    unsigned *begin; /* the same as dcoll_args_t.port_begin, for calls … */
    bool differ;     /* … if not all are the same */
};

/* Calls that this rank has skipped (prepare/skip.c). */
struct skips {
    uint64_t made;   /* so far */
    uint64_t shared; /* of these: all ranks have skipped the same calls */
    unsigned rounds; /* completed, of the next one */
    bool seen;       /* the awaited rank has completed as many */
};

struct dcoll_team {
    drail_job_t *job;      /* its ranks are the team's, … */
    struct shrunk *shrunk; /* … if the team is a part of the rails' job; NULL:
                              the rails' job is the team's */
    const struct drail_platform *platform;
    drail_t *rail;
    dcoll_config_t cfg;
    int timeout_ms; /* the transport's */

    /* ranks, nodes, hosts */
    dcoll_shape_t shape;
    unsigned *node_begin;
    unsigned *port_begin; /* of cfg; NULL: all have k */
    unsigned rank, node;
    unsigned first, locals; /* the first rank of my node, and their number */
    bool oversubscribed;    /* see cores_oversubscribed(), contention_found() */
    bool contended;         /* contention_found() by any rank */
    unsigned *core_sharers, ncore_sharers; /* see cores_sharers() */
    bool several_hosts;
    unsigned far_rail; /* the first that reaches other hosts */
    bool readable;     /* all ranks of my node may read each other's memory */
    bool rails_map;    /* all rails map memory of drail_mem_alloc() */
    bool *connected;   /* by rank */
    size_t *begin;     /* of a call with blocks of different sizes, as
                          dcoll_args_t.begin; the request has a copy */
    uint32_t *entered; /* by rank: 1 + the latest request whose entry barrier
                          that rank has reached */
    drail_gathered_t *members, *ledger_keys;
    uint64_t word; /* my member's: others read it here */

    /* the ledgers of my node */
    struct segment ledgers;
    struct ledger *ledger; /* mine */
    drail_mem_t *ledger_mem;
    struct remote_ledger remote_ledger;

    /* requests, and the choice of algorithms */
    dcoll_table_t table; /* from cfg.table, or empty */
    struct prediction prediction;
    bool learns; /* see run/learn.h; if all ranks do */
    struct contests contests;
    struct choice latest[DCOLL_COLLECTIVES];
    struct repeat repeats[DCOLL_COLLECTIVES][REPEATS]; /* latest first */
    unsigned next_id;
    TAILQ_HEAD(, dcoll_request) requests; /* all; latest used first */
    TAILQ_HEAD(, dcoll_request) active;   /* those that have been started */
    LIST_HEAD(, dcoll_request) by_id[REQUEST_BUCKETS];

    /* memory */
    struct pool pool;
    struct node_copier copier;
    LIST_HEAD(, deferred) deferred; /* node/deferred_release.h */

    struct skips skips;
    struct ports_left ports_left;

    uint64_t moves; /* operations performed so far, of all requests */
    uint64_t moved, moved_before; /* calls of ledger_record_bytes(), now and at
                                     the latest ledger_record_wait() */
    bool timed; /* between dcoll_times_begin() and dcoll_times_end() */
    dcoll_times_t times;
    bool hurries;       /* it is being freed, and broken: it does not wait for
                           peers inside its own memory */
    _Atomic int broken; /* the error that broke the team; other threads may read
                           it */
    drail_error_t error;
};

/* Writes the error's sentence and returns code. A broken team keeps the
 * sentence of the error that broke it. */
int team_fail(dcoll_team_t *team, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the transport's error the team's, and returns its code. A peer that has
 * withdrawn its memory counts as lost. */
int team_rail_fail(dcoll_team_t *team, int code);
static inline const struct member *team_member(const dcoll_team_t *team,
                                               unsigned rank)
{
    return drail_gathered_of(team->members, rank);
}

/* The rank of the rails' job that is this rank of the team. */
static inline unsigned team_peer(const dcoll_team_t *team, unsigned rank)
{
    return team->shrunk ? shrunk_peer(team->shrunk, rank) : rank;
}

/* The job of the rails. */
static inline drail_job_t *team_whole_job(const dcoll_team_t *team)
{
    return team->shrunk ? shrunk_whole(team->shrunk) : team->job;
}

/* Connects to a peer unless it is connected. 0, or an error of the team. */
int team_connect(dcoll_team_t *team, unsigned peer);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ownership in short:
 *
 *   team -> ledger (node memory: what each rank of the node has called)
 *        -> request (schedule, TEMP, node memory, keys of the peers)
 *
 * Requests of blocking and non-blocking calls are kept with the team and used
 * again by calls with the same arguments.
 */
#ifndef DCOLL_TEAM_H
#define DCOLL_TEAM_H

#include <sys/queue.h>

#include "coll/dcoll.h"
#include "coll/run/away.h"
#include "coll/run/ledger.h"
#include "coll/run/pool.h"
#include "coll/run/segment.h"
#include "coll/select/table.h"
#include "dapl_rail/platform/platform.h"

/* What a rank tells all others of itself. */
struct member {
    struct segment_card segment;
    pid_t pid;
    uint64_t self;     /* where its word is */
    uint64_t word;     /* by which others see that they read its memory */
    uint32_t first_id; /* rank 0's counts: of the team's first request */
    size_t keep_bytes; /* the smallest counts */
    uint64_t table;    /* checksum of the rows that it would choose by */
};

/* At the ledger of a rank of another node. */
struct look {
    struct ledger *copy; /* registered */
    drail_mem_t *mem;
    drail_req_t req;
    unsigned peer;
    bool under_way;
    unsigned doubted; /* rank + 1 whose call differed when it was looked at */
    uint64_t at;      /* that call */
};

/* What auto has chosen, for calls that are alike in what it depends on. */
struct choice {
    const dcoll_algorithm_t *algorithm; /* NULL: nothing yet */
    size_t bytes;
    drail_engine_t engine;
    bool in_place, zero_copy, one_shot;
};

/* A blocking call with buffers that no rail has to know: made again, it has the
 * same request, which they are bound to. */
struct again {
    const void *send;
    void *recv;
    size_t bytes;
    unsigned root;
    drail_engine_t engine;
    bool chosen;              /* its algorithm, by auto */
    dcoll_request_t *request; /* NULL: there is none */
};

/* Ids of requests go round: a notification's id holds them and its kind, which
 * is a tag, or that of a meeting. */
#define NOTE_KINDS      (DCOLL_TAGS + 1u)
#define REQUEST_IDS     (UINT32_MAX / NOTE_KINDS)
#define REQUEST_BUCKETS 256u

struct dcoll_team {
    drail_job_t *job;
    const struct drail_platform *platform;
    drail_t *rail;
    dcoll_config_t cfg;
    dcoll_table_t table; /* from cfg.table, or empty */
    struct choice latest[DCOLL_COLLECTIVES];
    struct again again[DCOLL_COLLECTIVES]; /* if the latest is one */
    dcoll_shape_t shape;
    unsigned *node_begin;
    unsigned rank, node, first, locals; /* first: rank on my node */
    bool crowded;                       /* see cores_crowded() */
    unsigned *beside, nbeside;          /* see cores_beside() */
    bool spread;                        /* there are ranks on other hosts */
    bool readable; /* all ranks of my node may read each other's memory */
    bool maps;     /* rails map it, where it is drail_mem_alloc's */
    int timeout_ms;
    bool *connected; /* by rank */
    uint32_t *met;   /* by rank: the last request, + 1, that it has come for */
    drail_gathered_t *members, *ledger_keys;
    uint64_t word;          /* of members[rank]: there, others look for it */
    struct segment ledgers; /* one per rank of my node */
    struct ledger *ledger;  /* mine of them */
    drail_mem_t *ledger_mem;
    struct look look;
    TAILQ_HEAD(, dcoll_request) requests; /* of all, latest used first */
    TAILQ_HEAD(, dcoll_request) active;   /* that are under way */
    LIST_HEAD(, dcoll_request) by_id[REQUEST_BUCKETS];
    LIST_HEAD(, leftover) leftovers;
    uint64_t moves;               /* operations performed */
    uint64_t moved, moved_before; /* ledger_move() calls; at the last look */
    struct pool pool;
    struct away away;
    bool timed; /* times are taken */
    dcoll_times_t times;
    unsigned next_id;
    _Atomic int broken; /* error after which nothing works any more; whoever
                           asks for it need not have the team */
    drail_error_t error;
};

/* Writes the sentence, unless the team is broken: then that of what broke it
 * stays. Returns code. */
int team_fail(dcoll_team_t *team, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The transport's error becomes the team's; a peer that lets go of its memory
 * is gone. Returns the code. */
int team_rail_fail(dcoll_team_t *team, int code);
/* What a rank has told of itself. */
static inline const struct member *team_member(const dcoll_team_t *team,
                                               unsigned rank)
{
    return drail_gathered_of(team->members, rank);
}

/* Connects to a peer if that has not been done. */
int team_connect(dcoll_team_t *team, unsigned peer);

#endif

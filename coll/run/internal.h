/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of coll/ share. Ownership in short:
 *
 *   team -> ledger (node memory: what each rank of the node has called)
 *        -> request (schedule, TEMP, node memory, keys of the peers)
 *
 * Requests of blocking and non-blocking calls are kept with the team and used
 * again by calls with the same arguments.
 */
#ifndef DCOLL_INTERNAL_H
#define DCOLL_INTERNAL_H

#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "coll/dcoll.h"
#include "coll/select/table.h"

#define CACHE_LINE 64
#define LEDGER     1024 /* latest calls of a rank that others can look up */

/* ------------------------------------------------------- segment.c --- */

/* Memory that the ranks of a node share: a memfd of the node's first rank,
 * which vanishes with the last process that has it. */
struct segment {
    int fd;
    unsigned char *base;
    size_t bytes;
};

/* How the others find it. */
struct segment_card {
    pid_t pid;
    int fd;
    uint64_t inode;
};

#define SEGMENT_NONE ((struct segment){.fd = -1})

int segment_create(struct segment *s, size_t bytes, struct segment_card *card);
int segment_attach(struct segment *s, size_t bytes,
                   const struct segment_card *card);
void segment_close(struct segment *s);

/* -------------------------------------------------------- ledger.c --- */

/* One call, so that two ranks can see whether they made the same. */
struct call {
    uint32_t what; /* collective, algorithm, in place, init or start: 0 none */
    uint32_t root;
    uint64_t bytes;
};

/* What a rank has called: entry n mod LEDGER is its n-th call, from 0. Read by
 * ranks of the node, and by RDMA from others. */
struct ledger {
    _Atomic uint64_t calls;
    _Atomic int32_t error; /* why it has given up, if not 0 */
    char why[196];
    struct call ring[LEDGER];
} __attribute__((aligned(CACHE_LINE)));

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, bool init);
bool call_same(const struct call *a, const struct call *b);
/* "gather of 8 bytes, root 1, algorithm direct" */
void call_text(const struct call *call, char *text, size_t size);
void ledger_enter(dcoll_team_t *team, const struct call *call);
/* An error breaks the team with its present text, and the others are told when
 * they look, also of one that only this rank has. Returns the code. */
int ledger_settle(dcoll_team_t *team, int code);
/* Has the peer called something else than we, given up, or died? Then the
 * team's error says so: DRAIL_EINVAL, the peer's error, DRAIL_EPEER; else 0.
 * For waits that have lasted a while. */
int ledger_check(dcoll_team_t *team, unsigned peer);
/* Before this rank prepares a request with the others: until those of its node
 * have made as many calls. An error if one differs and is no preparation, which
 * its rank would not join. */
int ledger_meet(dcoll_team_t *team);

/* ---------------------------------------------------------- team.c --- */

/* What a rank tells all others of itself. */
struct member {
    struct segment_card segment;
    pid_t pid;
    drail_key_t ledger;
    uint32_t first_id; /* rank 0's counts: of the team's first request */
};

/* Ids of requests go round: a notification's id holds them and a tag. */
#define REQUEST_IDS (UINT32_MAX / DCOLL_TAGS)

struct dcoll_team {
    drail_job_t *job;
    drail_t *rail;
    dcoll_config_t cfg;
    dcoll_table_t table; /* from cfg.table, or empty */
    dcoll_shape_t shape;
    unsigned *node_begin;
    unsigned rank, node, first, locals; /* first: rank on my node */
    bool crowded; /* more ranks than cores: what we wait for needs our core */
    int timeout_ms;
    bool *connected; /* by rank */
    struct member *members;
    struct segment ledgers; /* one per rank of my node */
    drail_mem_t *ledger_mem;
    struct ledger *copy; /* of a remote rank's, registered */
    drail_mem_t *copy_mem;
    dcoll_request_t *requests; /* list of all */
    unsigned next_id;
    int broken; /* error after which nothing works any more */
    drail_error_t error;
};

/* Writes the sentence; returns code. */
int team_fail(dcoll_team_t *team, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The transport's error becomes the team's. */
int team_rail_fail(dcoll_team_t *team, int code);
/* Connects to a peer if that has not been done. */
int team_connect(dcoll_team_t *team, unsigned peer);

/* ------------------------------------------------------- request.c --- */

/* A flag of a rank. Those with payload have a line for each start of the depth;
 * of others, which only grow, there is one. */
struct line {
    _Atomic uint32_t value; /* number of the latest start + 1 */
    uint32_t reserved;
    unsigned char payload[DCOLL_LINE_BYTES];
} __attribute__((aligned(CACHE_LINE)));

/* The key of a user's buffer that others get from. */
struct shared_key {
    drail_key_t key;
} __attribute__((aligned(CACHE_LINE)));

/* Begin of the node memory of a request. */
struct node_header {
    _Atomic uint32_t sleepers; /* ranks that sleep on one of the lines */
} __attribute__((aligned(CACHE_LINE)));

/* Where the memory of a peer is. */
struct target {
    drail_key_t temp, node, keys;
    uint64_t temp_stride, node_stride; /* from one start's to the next's */
};

enum owner {
    OWNER_CALLER, /* dcoll_init: persistent */
    OWNER_TEAM,   /* of blocking calls */
    OWNER_BEGIN   /* of dcoll_begin */
};

struct dcoll_request {
    dcoll_request_t *next;
    dcoll_team_t *team;
    enum owner owner;
    unsigned ordinal; /* OWNER_BEGIN: which of several equal ones */
    uint32_t id;      /* the same on all ranks */
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    dcoll_schedule_t schedule;
    struct call call;
    unsigned begun; /* OWNER_BEGIN 0: calls of dcoll_begin so far */

    /* memory: of each space, and from one start's to the next's */
    unsigned char *base[4];
    size_t stride[4];
    drail_mem_t *mem[4];
    struct segment node;
    struct node_header *header;
    struct line *lines, *words; /* flags with and without payload */
    uint32_t *seen;             /* latest known value of each word */
    struct shared_key *shared;  /* by rank on my node */
    bool uses_send, uses_recv;  /* the transport reads or writes them */
    struct target *targets;     /* by rank */
    drail_key_t *keys;          /* by rank: RECV of those that said READY */
    drail_mem_t *keys_mem;
    drail_key_t *my_key; /* of RECV, what READY carries; registered, too */

    /* progress */
    bool active;
    uint64_t start; /* number of the present start */
    unsigned pc;
    unsigned transfers, completed; /* of this start */
    drail_req_t *reqs;             /* one per put and get of the schedule */
    int32_t *due;        /* [tag * ranks + peer]: arrived - consumed */
    unsigned *creditors; /* peers whose notifications I wait for with a lag */
    unsigned ncreditors;
    uint64_t waiting_ns; /* since when it has not moved, 0: it has */
    uint64_t looked_ns;  /* ledger_check was made */
    bool asleep;         /* it has waited for long */
    unsigned polls;      /* by dcoll_test */
};

/* Creates a request of the call's shape, without buffers; collective. */
int request_create(dcoll_team_t *team, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner,
                   dcoll_request_t **out);
void request_destroy(dcoll_request_t *q);
/* Sets the user's buffers and registers them if the transport uses them. */
int request_bind(dcoll_request_t *q, const void *send, void *recv);
void request_unbind(dcoll_request_t *q);

/* ------------------------------------------------------ executor.c --- */

int request_begin(dcoll_request_t *q);
/* Performs what can be performed now: 0 complete, DRAIL_EAGAIN, or an error. */
int request_advance(dcoll_request_t *q);
/* The same once, with progress of the team's others. */
int request_poll(dcoll_request_t *q);
/* Until it is complete; timeout_ms as for the transport. */
int request_finish(dcoll_request_t *q, int timeout_ms);
/* Takes what all peers have sent, which gives them their credits back, whatever
 * this rank waits for. An error: DRAIL_EINTR. */
int team_progress(dcoll_team_t *team);
/* A notification that the transport has delivered. */
void team_deliver(dcoll_team_t *team, unsigned peer, uint32_t id);

static inline uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

#endif

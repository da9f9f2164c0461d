/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * dapl_rail: a thin portability layer over genuine uDAPL (DAT 2.0) that opens
 * one IA / EVD / PZ / PSP per rail, one EP (or several) per rail and peer, and
 * moves one message over all rails.
 *
 * Source of the design: J. Cai, A. P. Rendell, P. E. Strazdins, "Non-threaded
 * and Threaded Approaches to MultiRail Communication with uDAPL" (seed 004),
 * sections 4.1 to 4.3.
 *
 * Conventions
 *  - Functions that can fail return 0 or a negative DRAIL_E… code.
 *    drail_strerror() names the code; drail_last_error() adds one sentence.
 *  - All sizes are bytes, all times that callers pass are milliseconds
 *    (negative: the default of the configuration). Time in which the process
 *    stands still, or all of the machine does, does not count in a wait.
 *  - A drail_t belongs to one rank and is used by one thread at a time (the
 *    threaded engine's team is the library's own affair). Handles of
 *    different jobs may be used by different threads at the same time; to all
 *    handles of one job drail_open, drail_close, drail_job_allgather,
 *    drail_job_barrier and what prepares a collective are calls, too.
 *  - A rail that breaks (its connection to a peer, or all of it) is left out
 *    of new messages while others to that peer are up. What was under way is
 *    sent again over these, in the calls of both ends: messages, notifications
 *    and atomics by message come once and in order; data may be written or
 *    read again until their put or get is complete, or its notification has
 *    come. The rail is tried again, several times a second, and comes back. So
 *    does one that is down when the ranks connect: they begin over others. A
 *    rail also breaks when it has work and shows no sign of life for the time
 *    of DRAIL_SILENCE_MS, while the peer answers over another. This needs
 *    two links (EPs) to the peer, and rails all of whose providers say that a
 *    completion means delivery (attribute `completion` = `delivered`, or an IB
 *    transport); else a broken rail ends the connection. So does an error that
 *    is not the rail's: a refused access, or a time that ran out in the middle
 *    of an operation. DRAIL_EPEER: no link to the peer is left, or it is gone;
 *    one that is only stopped is silent (DRAIL_ETIMEOUT).
 *  - There is no mutable global state: many ranks may live in one process.
 */
#ifndef DAPL_RAIL_H
#define DAPL_RAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define DRAIL_VERSION "0.1.0"

/** Most rails that one transport can stripe over. */
#define DRAIL_MAX_RAILS 16
/** Most EPs for each rail and peer. */
#define DRAIL_MAX_EPS 8
/** Most ranks of a job. */
#define DRAIL_MAX_RANKS 16384u
/** Longest IA name, with its terminating zero (libdat2 keeps 256). */
#define DRAIL_NAME_MAX 64
/** Longest name of a simulated cluster, with its terminating NUL. */
#define DRAIL_CLUSTER_MAX 96

/* ------------------------------------------------------------- errors --- */

typedef enum drail_status {
    DRAIL_OK = 0,
    DRAIL_EINVAL = -1,   /**< an argument is out of range or contradictory */
    DRAIL_ENOMEM = -2,   /**< out of memory or of a provider's resources */
    DRAIL_ENORAIL = -3,  /**< no IA of that name in the registry (dat.conf) */
    DRAIL_EOPEN = -4,    /**< the IA is listed but can't be opened */
    DRAIL_EDAT = -5,     /**< a DAT call failed; last_error has its name */
    DRAIL_EPEER = -6,    /**< the peer is gone, or all rails to it broke */
    DRAIL_ETIMEOUT = -7, /**< nothing happened within the time allowed */
    DRAIL_EAGAIN = -8,   /**< not now: no credit or no event yet */
    DRAIL_EACCESS = -9,  /**< remote memory refused the access; over verbs also
                              that of a peer which is being killed */
    DRAIL_ENOTSUP = -10, /**< the provider does not offer this */
    DRAIL_EINTR = -11,   /**< interrupted by drail_interrupt() */
    DRAIL_EJOB = -12,    /**< a rank of the job failed */
    DRAIL_ETRUNC = -13,  /**< a message is longer than the buffer given */
} drail_status_t;

/** A code with a sentence of context; for calls that have no handle yet. */
typedef struct drail_error {
    int code;
    char text[256];
} drail_error_t;

/** Short constant text for a DRAIL_E… code; never NULL. Any thread. */
const char *drail_strerror(int code);

/* --------------------------------------------------------------- rails --- */

/** What the registry and the provider say about a rail (one IA). */
typedef struct drail_rail_info {
    char name[DRAIL_NAME_MAX];     /**< IA name in dat.conf */
    char adapter[DRAIL_NAME_MAX];  /**< IA attribute adapter_name */
    char vendor[DRAIL_NAME_MAX];   /**< IA attribute vendor_name */
    char provider[DRAIL_NAME_MAX]; /**< provider attribute provider_name */
    char address[DRAIL_NAME_MAX];  /**< IA address, printable */
    char fabric[DRAIL_NAME_MAX];   /**< "shm", "verbs", "tcp", …: rails of one
                                        fabric can reach each other; with
                                        " (link model)" when modelled */
    char network[DRAIL_NAME_MAX];  /**< of its address, "10.1.0.0/24"; "" not
                                        known */
    bool host_only;                /**< it reaches ranks of its host only */
    unsigned dapl_major, dapl_minor;
    uint64_t max_message; /**< longest send */
    uint64_t max_rdma;    /**< longest RDMA read or write */
    unsigned max_dto;     /**< DTOs outstanding per EP */
    unsigned max_evd_qlen;
    unsigned max_iov;           /**< segments per DTO */
    unsigned max_rdma_read_out; /**< RDMA reads outstanding per EP */
    unsigned max_private_data;  /**< bytes of connection private data */
    bool thread_safe;
    bool has_write_immed;      /**< RDMA write with immediate data */
    bool has_atomics;          /**< fetch-and-add, compare-and-swap */
    bool is_polled;            /**< data move while calls poll for events; for
                                    who looks at memory alone they come later */
    bool is_delivering;        /**< what is complete is in the target's
                                    memory, not only out of the source's */
    double nominal_MBps;       /**< link rate per direction if the
                                    provider tells it, else 0 */
    double adapter_MBps;       /**< the same of the adapter */
    double bus_MBps;           /**< the same of the host bus */
    char bus[DRAIL_NAME_MAX];  /**< host bus if the provider names it */
    char link_model[256];      /**< parameters of the link model, "" none */
    char copies[160];          /**< which copies bypass the caches, as the
                                    provider says, "" it does not */
    int numa_node;             /**< nearest NUMA node or -1 */
    char cpus[DRAIL_NAME_MAX]; /**< near CPUs as a list, "" unknown */
} drail_rail_info_t;

/**
 * Names of all IAs that the registry lists (dat.conf and the embedded rails).
 * Opens nothing. Any thread.
 * @param names filled with up to max names.
 * @param max names that there is room for.
 * @param count set to the number listed (may exceed max).
 */
int drail_rails_list(char (*names)[DRAIL_NAME_MAX], unsigned max,
                     unsigned *count);
/** A simulated cluster. */
typedef struct drail_cluster {
    char name[DRAIL_CLUSTER_MAX]; /**< "sim:NAME@" and a checksum of all that
                                       its platform file NAME.platform, or
                                       NAME, describes */
    unsigned nodes;
    unsigned ppn; /**< ranks of a node, where nobody asks for others */
} drail_cluster_t;

/** The same of a node of a simulated cluster (drail_job_config_t.simulate):
 *  they can be opened by its ranks alone. @return DRAIL_EINVAL: there is no
 *  such platform, or it is wrong; DRAIL_ENOTSUP: there is no SimGrid. @p err
 *  may be NULL. */
int drail_rails_simulated(const char *platform, char (*names)[DRAIL_NAME_MAX],
                          unsigned max, unsigned *count,
                          drail_cluster_t *cluster, drail_error_t *err);

/**
 * Opens IA @p name, asks its attributes and locality, closes it again.
 * @return 0, DRAIL_ENORAIL, DRAIL_EOPEN, or DRAIL_EINVAL for a name that is
 * too long, with the reason in @p err (may be NULL).
 */
int drail_rail_query(const char *name, drail_rail_info_t *info,
                     drail_error_t *err);

/* -------------------------------------------------------------- stripe --- */

typedef enum drail_policy {
    DRAIL_POLICY_EVEN,       /**< equal parts (seed 004, section 4.3) */
    DRAIL_POLICY_WEIGHTED,   /**< parts in proportion to the rails' rates */
    DRAIL_POLICY_ADAPTIVE,   /**< weights follow what each rail finished;
                                  rails that do not pay at a size are left
                                  out, found by trying now and then */
    DRAIL_POLICY_ROUNDROBIN, /**< whole messages, rails in turn */
    DRAIL_POLICY_FIXED,      /**< whole messages on one given rail */
} drail_policy_t;

/** A part of a message on one rail. */
typedef struct drail_chunk {
    unsigned rail; /**< index of the rail */
    size_t offset; /**< from the start of the message */
    size_t bytes;
} drail_chunk_t;

typedef struct drail_stripe {
    drail_policy_t policy;
    unsigned nrails;       /**< 1 … DRAIL_MAX_RAILS */
    const double *weights; /**< nrails weights ≥ 0, NULL: equal. Rails of
                                weight 0 get nothing */
    size_t threshold;      /**< shorter messages go over one rail */
    size_t align;          /**< inner chunk borders are multiples of it
                                (power of two). 0: of 64 where a chunk has
                                512 bytes or more on average, else 1 */
    unsigned turn;         /**< roundrobin: number of this message;
                                fixed: index of the rail */
} drail_stripe_t;

/**
 * Pure function: how a message of @p bytes is cut. Chunks are in order of
 * offset, cover the message exactly, never overlap, have distinct rails and
 * are non-empty but for a message of 0 bytes (one chunk of 0 bytes).
 * @return number of chunks (1 … nrails), or DRAIL_EINVAL.
 */
int drail_stripe(const drail_stripe_t *stripe, size_t bytes,
                 drail_chunk_t chunks[DRAIL_MAX_RAILS]);

/* ------------------------------------------------------- configuration --- */

typedef enum drail_engine {
    DRAIL_ENGINE_SINGLE,      /**< fixed_rail only, by default the first
                                   (seed 004, fig. 2); to a peer whom it does
                                   not reach, the first that does */
    DRAIL_ENGINE_NONTHREADED, /**< one thread loops over rails (fig. 4) */
    DRAIL_ENGINE_THREADED,    /**< one OpenMP thread per rail (fig. 5) */
    DRAIL_ENGINE_AUTO,        /**< by size, whichever of these (and of sets
                                   of rails) moves messages fastest, found by
                                   trying all with the first messages of a
                                   size, and now and then. The policy cuts them
                                   for these rails; roundrobin and fixed, which
                                   cut nothing, and to peers whom not all rails
                                   reach: as nonthreaded. The default */
} drail_engine_t;

typedef enum drail_team {
    DRAIL_TEAM_RESIDENT, /**< threads live as long as the transport */
    DRAIL_TEAM_FORKJOIN, /**< a parallel region per message (fig. 5) */
} drail_team_t;

typedef enum drail_waiting {
    DRAIL_WAITING_ANY,    /**< takes the rails' events as they come */
    DRAIL_WAITING_SERIAL, /**< the next rail's only when the one before owes
                               nothing more (fig. 4) */
} drail_waiting_t;

/** What tells the target that the data of a rail are there. */
typedef enum drail_notify_by {
    DRAIL_NOTIFY_BY_AUTO,  /**< what is faster, of what the rail offers */
    DRAIL_NOTIFY_BY_SEND,  /**< a send after the RDMA writes */
    DRAIL_NOTIFY_BY_IMMED, /**< the last RDMA write, by immediate data: one
                                DTO less. A send where there are no data, or
                                the notification's id (depth, number and
                                choice of rails) does not fit 32 bits */
} drail_notify_by_t;

typedef struct drail_config {
    const char *rails[DRAIL_MAX_RAILS]; /**< IA names; the callee copies */
    unsigned nrails;
    drail_engine_t engine;
    drail_team_t team;
    drail_policy_t policy;
    drail_waiting_t waiting;         /**< how one thread waits for several
                                          rails */
    drail_notify_by_t notify_by;     /**< DRAIL_ENOTSUP: not every rail
                                          offers it */
    double weights[DRAIL_MAX_RAILS]; /**< weighted: relative rates, all 0:
                                          nominal rates, else equal */
    unsigned fixed_rail;             /**< engine single, policy fixed: index of
                                          the rail */
    size_t stripe_threshold;         /**< shorter messages use one rail */
    size_t stripe_align;             /**< borders between stripes, see
                                          drail_stripe_t.align */
    unsigned eps;                    /**< EPs for each rail and peer, 1 to
                                          DRAIL_MAX_EPS: a striped message's
                                          part on a rail is spread over all of
                                          them, a shorter one takes one in
                                          turn; two-sided messages and atomics
                                          keep to the first */
    size_t eager_bytes;              /**< longer sends use rendezvous */
    unsigned depth;         /**< receives posted, and messages that a peer
                                 may have under way, per EP; less
                                 (see drail_config_of) where there are many
                                 peers: 4096 of them to all, at least 4 to
                                 each, as far as events fit a rail's queue */
    int timeout_ms;         /**< bound of every wait, which begins anew when
                                 bytes of it complete; default 30000 */
    int connect_timeout_ms; /**< default 10000 */
    bool pin;               /**< bind the threads of the resident team near
                                 their rails; the caller's own, and those
                                 of its OpenMP pool (forkjoin), stay where
                                 they are */
    unsigned pin_base;      /**< first core of this rank among those that the
                                 thread that calls drail_open may use. Rail
                                 r's thread takes the r-th after it; the
                                 first is left to the caller, who serves
                                 rail 0. DRAIL_PIN_AUTO: by the rank on its
                                 node */
    char rails_text[256];   /**< names that came from DRAIL_RAILS; rails[]
                                 may point here, so keep the original of a
                                 copied configuration until drail_open */
} drail_config_t;

/** pin_base: ranks of a node take disjoint cores, or start on distinct ones
 *  when there are too few. The default. */
#define DRAIL_PIN_AUTO UINT32_MAX

/**
 * Fills in the defaults, after the environment (DRAIL_…, see
 * drail_setting_get) has been heard. Rails default to shm0,shm1. A malformed
 * variable leaves the default in place and makes drail_open fail with
 * DRAIL_EINVAL and its name.
 */
void drail_config_init(drail_config_t *cfg);

/** One row of the table of settings (railinfo --config). */
typedef struct drail_setting {
    const char *name; /**< environment variable, e.g. DRAIL_TIMEOUT_MS */
    const char *meaning;
    const char *fallback; /**< default value as text */
    char value[128];      /**< present value as text */
} drail_setting_t;

/** @return 0, or DRAIL_EINVAL when @p index is past the last setting. */
int drail_setting_get(unsigned index, drail_setting_t *setting);

/** Names as on the command line ("nonthreaded", "adaptive", "resident"). */
const char *drail_engine_name(drail_engine_t engine);
const char *drail_policy_name(drail_policy_t policy);
const char *drail_team_name(drail_team_t team);
const char *drail_waiting_name(drail_waiting_t waiting);
const char *drail_notify_by_name(drail_notify_by_t by);
int drail_engine_parse(const char *text, drail_engine_t *engine);
int drail_policy_parse(const char *text, drail_policy_t *policy);
int drail_team_parse(const char *text, drail_team_t *team);
int drail_waiting_parse(const char *text, drail_waiting_t *waiting);
int drail_notify_by_parse(const char *text, drail_notify_by_t *by);

/* ----------------------------------------------------------------- job --- */

/** One rank's view of a job: valid in rank_main, or from drail_job_join to
 *  drail_job_leave. Owned by the library. */
typedef struct drail_job drail_job_t;

struct drail_platform; /* how a simulator replaces the machine; internal */

/** A rank's program. @return exit status of the rank (0 … 255). */
typedef int (*drail_rank_main_t)(drail_job_t *job, void *arg);

/** How this process was started; see drail_launch_open. */
typedef struct drail_launch drail_launch_t;

/** Of nranks: as many as a launcher has started, or 2 if there is none. Of
 *  rank: what DRAIL_RANK says. */
#define DRAIL_RANKS_AUTO UINT32_MAX

typedef struct drail_job_config {
    unsigned nranks;       /**< 1 … DRAIL_MAX_RANKS, or DRAIL_RANKS_AUTO (the
                                default) */
    unsigned ppn;          /**< ranks per (emulated) node; 0: nodes are hosts */
    const unsigned *nodes; /**< instead of ppn, node of each rank: any
                               numbers in any order */
    int grace_ms;          /**< after the first rank failed, the others get
                                this long to end by themselves; then forked
                                ones are killed, others' waits end by
                                DRAIL_EINTR. Default 2000 */
    drail_error_t *error;  /**< where to say what went wrong, or NULL */
    const struct drail_platform *platform; /**< NULL: this machine */
    /** Ranks run in virtual time, on the cluster that this platform (a name or
     *  a file) describes; or NULL. There drail_open takes "sim:NAME", as the
     *  only rail, for all of a node's. ppn 0: as many as the platform says. */
    const char *simulate;
    /** With simulate: what collectives move to or from memory of their own is
     *  not moved, and takes the time that it would take. So what they leave in
     *  the caller's buffers is undefined, but these have to be there as ever:
     *  there is no call that leaves them out. Puts, gets and messages move what
     *  they always do; irregular collectives are DRAIL_ENOTSUP. Without
     *  simulate DRAIL_EINVAL. */
    bool hollow;
    bool fork; /**< fork the ranks, whatever has started this process */
    /** "host:port" or "[IPv6 address]:port": there rank 0, which must run on
     *  that host, waits for the others. NULL: what DRAIL_RENDEZVOUS says, which
     *  also gives nranks (DRAIL_RANKS) if they are not given here. */
    const char *rendezvous;
    unsigned rank; /**< at the rendezvous; default DRAIL_RANKS_AUTO */
    /** File of the secret of a rendezvous, in its first line: 16 to 256
     *  characters. It must be private (mode 0600). NULL: what
     *  DRAIL_SECRET_FILE names, or else DRAIL_SECRET is. */
    const char *secret_file;
    int connect_ms; /**< how long the ranks of a launched job wait for one
                         another at its beginning. Default 30000 */
    /** Of drail_launch_open, for several jobs in turn. NULL: each
     *  drail_job_run finds out by itself, under PMI-2 once only. */
    drail_launch_t *launch;
} drail_job_config_t;

void drail_job_config_init(drail_job_config_t *cfg);

/**
 * Runs a job: the program does not know how its ranks are started. In this
 * order, they are
 *  - those that meet at a rendezvous, when one is given: each process is one
 *    rank and says which (cfg->rank, nranks, or DRAIL_RANK, DRAIL_RANKS,
 *    DRAIL_RENDEZVOUS). All must know the same secret;
 *  - those of a launcher that speaks PMIx (mpirun, prterun, srun --mpi=pmix)
 *    or PMI-2 (srun --mpi=pmi2);
 *  - else processes that this one forks.
 *
 * Launched ranks run @p rank_main once in the calling process and then wait
 * for the ends of all others. Nodes are hosts, unless ppn or nodes are given.
 * A signal ends all ranks' waits, as does the failure of one rank after
 * grace_ms. Rank 0 serves the others in a thread of its own, by a star of TCP
 * connections: fine for some hundreds of ranks. Whoever listens on the network
 * can read what ranks tell one another there, but not be one of them.
 *
 * Forked ranks run @p rank_main in a process each, and the caller waits for
 * all. They end with the caller, also when it is killed by SIGKILL. SIGINT and
 * SIGTERM to the caller are passed on as SIGTERM to the ranks, each of which
 * finds drail_job_interrupted() true and its waits ended by DRAIL_EINTR.
 * The threads of the caller's OpenMP pool may have been ended.
 *
 * The caller must not have DAT objects open. The transport may be opened
 * only within rank_main. Meanwhile the process's soft limit of open files may
 * be higher.
 * @return 0 when all ranks returned 0; DRAIL_EJOB when a rank failed (error
 * says which and how: exit status or signal, or that another thread of
 * the caller's has waited for it); DRAIL_EPEER when a launched rank 0 is gone;
 * DRAIL_EINTR after a signal; DRAIL_EINVAL, DRAIL_ETIMEOUT when the ranks do
 * not fit together or are not there in time.
 */
int drail_job_run(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                  void *arg);

/**
 * Finds out how this process was started, as drail_job_run does, and meets the
 * other ranks, for a program that must know who it is before it runs a job, or
 * runs several in turn (all ranks the same). drail_launch_close accepts NULL,
 * and waits for no other rank but where a launcher wants all to end together:
 * then until all have called it, or one has ended. A job that failed is the
 * last one of its launch.
 * @param cfg of which rendezvous, rank, nranks, secret_file, connect_ms,
 * grace_ms, error and fork count.
 * @param launch set on success only.
 * @return 0; as drail_job_run.
 */
int drail_launch_open(const drail_job_config_t *cfg, drail_launch_t **launch);
void drail_launch_close(drail_launch_t *launch);
/** Ranks that have been launched; 0: none, drail_job_run will fork. */
unsigned drail_launch_size(const drail_launch_t *launch);
/** Which of them this process is; 0 if none have been. */
unsigned drail_launch_rank(const drail_launch_t *launch);
/** Host of @p rank; hosts are numbered in the order of their first ranks, and
 *  processes that can't share memory count as on different ones. */
unsigned drail_launch_host(const drail_launch_t *launch, unsigned rank);

/**
 * An all-gather of the caller's: contributes @p bytes (1 … 64 KiB) of @p mine,
 * fills @p all with those of all ranks by rank. All ranks call it in the same
 * order with the same size, one at a time. It should give up after @p
 * timeout_ms. @return 0; a negative DRAIL_E… code; or another value, which
 * counts as DRAIL_EPEER. After a failure it is not called again.
 */
typedef int (*drail_allgather_t)(void *context, const void *mine, size_t bytes,
                                 void *all, int timeout_ms);

/** A place in a job that somebody else (MPI, PMIx, ssh) has started. */
typedef struct drail_job_join {
    unsigned rank, size;   /**< size 1 … DRAIL_MAX_RANKS */
    const unsigned *nodes; /**< node of each rank: any numbers in any order,
                                the same on all ranks; NULL: all on one */
    drail_allgather_t allgather;
    void *context;                         /**< first argument of allgather */
    const struct drail_platform *platform; /**< NULL: this machine */
} drail_job_join_t;

/**
 * Joins a job; all ranks call it together (it makes an all-gather). Raises the
 * process's soft limit of open files where so many peers need it. Signals are
 * the caller's affair: see drail_job_interrupt.
 * @param how copied, with what it points to but for the context.
 * @param job set on success only.
 * @param err may be NULL.
 * @return 0; DRAIL_EINVAL also when the ranks do not fit together; what
 * allgather returned.
 */
int drail_job_join(const drail_job_join_t *how, drail_job_t **job,
                   drail_error_t *err);
/** Frees a job of drail_job_join, after drail_close of what was opened with
 *  it. No other rank is waited for. Accepts NULL. */
void drail_job_leave(drail_job_t *job);

unsigned drail_job_rank(const drail_job_t *job);
unsigned drail_job_size(const drail_job_t *job);
/** Number of nodes. They are numbered in the order of their first ranks. */
unsigned drail_job_nodes(const drail_job_t *job);
/** Node of @p rank; UINT_MAX if the job has no such rank. */
unsigned drail_job_node(const drail_job_t *job, unsigned rank);
/** Index of @p rank among the ranks of its node, which are in order; or
 *  UINT_MAX. */
unsigned drail_job_local_rank(const drail_job_t *job, unsigned rank);
/** Number of ranks on the node of @p rank; or 0. */
unsigned drail_job_local_size(const drail_job_t *job, unsigned rank);
/** Most ranks that any node has. */
unsigned drail_job_ppn(const drail_job_t *job);
/** Has SIGINT/SIGTERM reached this job, or drail_job_interrupt been called?
 *  Any thread. */
bool drail_job_interrupted(const drail_job_t *job);
/** Makes every present and future wait of this rank end with DRAIL_EINTR, but
 *  for an all-gather of the caller's. Any thread, and signal handlers. */
void drail_job_interrupt(drail_job_t *job);

/**
 * Out-of-band all-gather of @p bytes (same on all ranks, at most 64 KiB);
 * @p all has room for size * bytes. For set-up, not for speed. What is open of
 * the job in this rank goes on meanwhile, as in its own calls: to all of these
 * handles it is a call, for one thread at a time. An all-gather of the caller's
 * (drail_job_join) knows nothing of them: a peer who has lost a rail then waits
 * for who is in here.
 * @return 0, DRAIL_EPEER when a rank died, DRAIL_ETIMEOUT, DRAIL_EINTR.
 */
int drail_job_allgather(drail_job_t *job, const void *mine, size_t bytes,
                        void *all, int timeout_ms);
int drail_job_barrier(drail_job_t *job, int timeout_ms);

/** The result of an all-gather in memory of the job's: ranks of one process
 *  (simulated ones) share it, so that it is there once and not for each. */
typedef struct drail_gathered drail_gathered_t;

/** Before the all-gather, which then fails for want of memory in no rank while
 *  others wait: @p bytes of each rank, at most 64 KiB.
 *  @return 0, DRAIL_ENOMEM, DRAIL_EINVAL. */
int drail_gathered_new(drail_job_t *job, size_t bytes, drail_gathered_t **out);
/** As drail_job_allgather; also DRAIL_ENOMEM, which all ranks get. What an
 *  earlier one of @p g brought is gone. */
int drail_gathered_exchange(drail_gathered_t *g, const void *mine,
                            int timeout_ms);
/** What @p rank brought; after success. Nobody writes to it; valid until the
 *  next exchange of @p g, or until it is freed. */
const void *drail_gathered_of(const drail_gathered_t *g, unsigned rank);
/** Also after drail_job_leave; before rank_main returns. Accepts NULL. */
void drail_gathered_free(drail_gathered_t *g);

/** The caller computes what would take so many nanoseconds on a node of the
 *  job: where time is simulated they pass, as computation itself takes none
 *  there; elsewhere nothing happens. Any thread of the rank. */
void drail_job_compute(const drail_job_t *job, uint64_t ns);
/** Is time simulated? Then all ranks are those of one process, and only one of
 *  them runs at a time, in one thread: who waits is to let time pass in calls
 *  on the job, rather than to sleep, and threads of his own can't help him. */
bool drail_job_is_simulated(const drail_job_t *job);
/** Why the last all-gather failed, if it is known: which rank is gone, say.
 *  Else "". Valid while the job is. */
const char *drail_job_last_error(const drail_job_t *job);

/* ----------------------------------------------------------- transport --- */

/** The transport of one rank: its open rails and connected peers. */
typedef struct drail drail_t;

/**
 * Opens the rails of @p cfg: per rail one IA, PZ, PSP and its EVDs. All
 * ranks of the job call it together (it exchanges addresses), and where one
 * fails, all do. Rank 0 opens first; where it fails, the others don't try and
 * get DRAIL_EPEER.
 *
 * Rails match by fabric (drail_rail_info_t), several on one fabric by network,
 * then by name, then in their order: those of every rank are numbered as their
 * counterparts in rank 0 are, with weights and fixed_rail. Ranks of one host
 * (of one name, boot and namespaces) reach each other by rails that don't leave
 * it, if there are any and the peer is found there, all others by the rest.
 * Engine auto and policy adaptive compare ways to another host where there is
 * one.
 *
 * @return DRAIL_EINVAL in all ranks, with the same sentence, where a rail has
 * no counterpart, or a setting that must be the same differs: DRAIL_DEPTH,
 * DRAIL_EAGER_BYTES, DRAIL_EXTENSIONS, DRAIL_EPS.
 * @param job of the ranks.
 * @param cfg copied.
 * @param out set on success only.
 * @param err may be NULL.
 */
int drail_open(drail_job_t *job, const drail_config_t *cfg, drail_t **out,
               drail_error_t *err);
/** Waits until what has been sent and put is delivered, for as long as that
 * goes on, and the timeout; then disconnects gracefully and frees everything,
 * also memory handles that have not been released, with what drail_mem_alloc
 * made. An IA with an EVD that the provider does not let go of (verbs, after a
 * connect that was given up) stays open until the process ends. A forked child
 * has no part in its parent's connections: its operations fail, and this frees
 * what it has of them. Accepts NULL. @return 0; DRAIL_ETIMEOUT or DRAIL_EINTR:
 * something may not have been delivered. All is freed in any case. */
int drail_close(drail_t *rail);

/** The sentence that goes with the last failed call on this handle. */
const char *drail_last_error(const drail_t *rail);

/**
 * Connects to rank @p peer over every rail that reaches it and is up, within the
 * connect timeout. A rail that has not come up a second after the first one is
 * left to later. Need not be called: the first operation to a peer connects, within
 * the same time (drail_notify_wait, drail_recv, drail_batch_answer: within
 * theirs, which then begins; one that does not wait returns DRAIL_EAGAIN until
 * it is done). The
 * peer must make any call that waits meanwhile, this one or an operation, or
 * calls that don't wait again and again. Connecting to oneself is an error.
 * After a failure it can be tried again. One side may fail when the other has
 * succeeded already: then the connection of the latter ends, its operations
 * return DRAIL_EPEER.
 *
 * Returns 0 at once where the peer is connected. Where that connection has
 * ended, or the peer asks for another, both sides' calls make a new one: what
 * was under way ends with DRAIL_EPEER, and what had come and was not taken is
 * lost; memory and keys stay as they are. An end that is not known here yet
 * shows in the next operations, which return DRAIL_EPEER until both sides call
 * this: they connect only where there has been no connection.
 *
 * @return DRAIL_EPEER also where no rail reaches the peer. With DRAIL_ETIMEOUT
 * the sentence says what is missing, by rail.
 */
int drail_connect(drail_t *rail, unsigned peer);

/** Makes every present and future wait of this handle end with DRAIL_EINTR.
 *  Any thread, and signal handlers. */
void drail_interrupt(drail_t *rail);

unsigned drail_nrails(const drail_t *rail);
const drail_rail_info_t *drail_rail_at(const drail_t *rail, unsigned index);
const drail_config_t *drail_config_of(const drail_t *rail);

/**
 * Changes engine, team, policy, … between messages (nothing may be under
 * way): so that benchmarks can interleave what they compare on the same
 * connections and memory. Each rank chooses for itself: only the initiator
 * cares, of waiting whoever waits. Engine auto forgets what it has measured
 * when it is to use another team than the last time.
 */
int drail_set_engine(drail_t *rail, drail_engine_t engine, drail_team_t team);
int drail_set_policy(drail_t *rail, drail_policy_t policy,
                     const double *weights, unsigned fixed_rail);
int drail_set_waiting(drail_t *rail, drail_waiting_t waiting);
int drail_set_notify_by(drail_t *rail, drail_notify_by_t by);

/* -------------------------------------------------------------- memory --- */

/** Registered memory: one LMR per rail over one region (seed 004, fig. 3). */
typedef struct drail_mem drail_mem_t;

typedef enum drail_access {
    DRAIL_ACCESS_LOCAL = 0, /**< source or target of own operations */
    DRAIL_ACCESS_REMOTE_READ = 1,
    DRAIL_ACCESS_REMOTE_WRITE = 2,
    DRAIL_ACCESS_REMOTE_ATOMIC = 4,
    DRAIL_ACCESS_ALL = 7,
    /** Caller's memory that stays mapped until drail_close: then the
     *  registration may be kept in the cache after its release. Without it the
     *  last release deregisters at once, as another mapping could take the
     *  address. */
    DRAIL_ACCESS_KEEP = 8,
    /** Only a source: of own puts and sends, and with REMOTE_READ of peers'
     *  reads. Then the memory need not be writable (PROT_READ). Not with
     *  REMOTE_WRITE or REMOTE_ATOMIC, nor for drail_mem_alloc. */
    DRAIL_ACCESS_READ_ONLY = 16,
} drail_access_t;

/** What a peer needs to reach registered memory. Plain data: send it. */
typedef struct drail_key {
    uint64_t address;
    uint64_t bytes;
    uint32_t nrails;
    uint32_t rmr_context[DRAIL_MAX_RAILS];
} drail_key_t;

/**
 * Allocates page-aligned zeroed memory that providers of one host can map
 * (memfd), and registers it. @p address and @p mem are set on success.
 */
int drail_mem_alloc(drail_t *rail, size_t bytes, unsigned access,
                    void **address, drail_mem_t **mem);
/**
 * Registers memory of the caller's. A registration cache behind it shares live
 * registrations, and those that were made with DRAIL_ACCESS_KEEP also after
 * their release: for local access one without remote access that covers the
 * range, for remote access one of the same range and access, so that a key
 * grants no more, and nothing once it is released (but for what the cache
 * keeps). Release the handle before the memory is unmapped. @p bytes > 0.
 * Where a provider carries out RDMA reads as writes of the peer (iWARP), the
 * keys of all memory without DRAIL_ACCESS_READ_ONLY also let peers write.
 */
int drail_mem_register(drail_t *rail, void *address, size_t bytes,
                       unsigned access, drail_mem_t **mem);
/**
 * A handle of a part of @p mem, with the same access, that shares its
 * registration: costs next to nothing, and each of the two may be released
 * first. The key names the part only, which our calls see to; the adapter
 * would let a peer who ignores that reach all of @p mem.
 */
int drail_mem_view(drail_mem_t *mem, void *address, size_t bytes,
                   drail_mem_t **view);
/**
 * A handle, as drail_mem_view makes them, of a range of which only the address
 * is known. Until it is released, too, the memory stays mapped. @return NULL if
 * it is not within memory of drail_mem_alloc that is still held and has at
 * least that access (its DRAIL_ACCESS_ALL), or if there is no memory for a
 * handle.
 */
drail_mem_t *drail_mem_find(drail_t *rail, const void *address, size_t bytes,
                            unsigned access);
/**
 * Releases a handle; with the last one of a registration also this, and the
 * memory if drail_mem_alloc made it. @return 0, or DRAIL_EDAT when the
 * provider did not let go, as a peer is inside: then the handle is still there,
 * good for nothing else, and the memory must be there, too. Call again, or
 * leave it to drail_close.
 */
int drail_mem_release(drail_mem_t *mem);
/** What peers need to reach @p mem; of local memory a key that every call
 *  refuses. */
void drail_mem_key(const drail_mem_t *mem, drail_key_t *key);

/** Registration cache: hits, misses, evictions, regions kept. */
typedef struct drail_cache_stats {
    uint64_t hits, misses, evictions;
    unsigned kept;
} drail_cache_stats_t;
void drail_cache_stats(const drail_t *rail, drail_cache_stats_t *stats);

/* ---------------------------------------------------------- operations --- */

/** Caller's storage for a non-blocking operation: keep it in place until
 *  drail_test/drail_wait say that it is done. No allocation per message. */
typedef struct drail_req {
    uint64_t opaque[8];
} drail_req_t;

/** A contiguous transfer between local registered and remote memory. */
typedef struct drail_xfer {
    void *local; /**< within local_mem */
    drail_mem_t *local_mem;
    const drail_key_t *remote; /**< key received from the peer */
    uint64_t remote_offset;    /**< from key.address */
    size_t bytes;              /**< 0 is allowed */
} drail_xfer_t;

typedef enum drail_flags {
    DRAIL_NOTIFY = 1,    /**< deliver a notification after the data */
    DRAIL_ALL_RAILS = 2, /**< the notification travels over every rail, also
                              over those without a stripe of the data */
    DRAIL_NOWAIT = 4,    /**< with DRAIL_NOTIFY, and of drail_get:
                              DRAIL_EAGAIN, and nothing is started, if the peer
                              has no credit left or a queue of DTOs has no
                              room */
    DRAIL_EAGER = 8,     /**< with DRAIL_NOTIFY: where data move only while
                              the target polls (is_polled), up to 16 KB may
                              travel with the notification, uncut. They are
                              there when it is delivered, not before; the put
                              is complete at once, its source free, and a
                              fence does not wait for it */
} drail_flags_t;
/** Flag of drail_put and drail_get: a message too short to be striped goes over
 *  this rail; where that does not reach the peer, over those that do, in turn.
 *  Engine single takes its own all the same. */
#define DRAIL_ON_RAIL(rail) (((unsigned)(rail) + 1) << 8)

/**
 * RDMA write striped over the rails. With DRAIL_NOTIFY the peer's
 * drail_notify_wait() returns @p id after all stripes are visible there.
 * @p req may be NULL: complete by drail_fence().
 *
 * One with DRAIL_EAGER may come later than what is put, got or done by an
 * atomic in the same place after it, also after a wait or a fence, until the
 * peer says that it has taken the notification. If its rail breaks it goes over
 * another one in later calls of this rank. The peer looks at its key: one that
 * does not grant it ends the connection, by DRAIL_EDAT there and DRAIL_EPEER
 * here.
 *
 * @return 0 (started), or an error; when the peer has no credit left the
 * call makes progress until it has, bounded by the timeout. After an error
 * nothing of it is under way; one in its middle ends the connection.
 */
int drail_put(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req);
/** RDMA read striped over the rails. @p flags: DRAIL_NOWAIT, DRAIL_ON_RAIL().
 */
int drail_get(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, drail_req_t *req);
/** A notification without data (a put of 0 bytes). */
int drail_notify(drail_t *rail, unsigned peer, unsigned flags, uint32_t id);
/**
 * Waits for the next notification of @p peer. Notifications of one peer
 * arrive in the order of its puts. @p id may be NULL.
 * timeout_ms 0: DRAIL_EAGAIN when there is none; < 0: the configuration's,
 * which begins anew with each part of a long put that has come.
 */
int drail_notify_wait(drail_t *rail, unsigned peer, uint32_t *id,
                      int timeout_ms);
/**
 * A number that grows while long operations go on, for callers that bound their
 * waits themselves. For this rank: with its own operations that complete,
 * whatever the peer. For another rank: with parts of that rank's puts with
 * notifications to this rank, and of its reads of this rank's messages. Makes no
 * progress.
 */
uint64_t drail_moved(const drail_t *rail, unsigned rank);
/** The next notification of @p peer if it has come; DRAIL_EAGAIN: it has not.
 *  Makes no progress, and does not connect: who has many peers calls
 *  drail_progress() once, and then this for each of whom drail_notify_any()
 *  says that there is one. */
int drail_notify_test(drail_t *rail, unsigned peer, uint32_t *id);
/** The first rank from @p from on of whom a notification has come that is not
 *  taken yet; DRAIL_EAGAIN: there is none. Makes no progress. Takes a time for
 *  what has come, not for how many ranks there are. */
int drail_notify_any(drail_t *rail, unsigned from, unsigned *peer);
/** Lets everything go on that can, of all peers, without waiting. 0, or what
 *  a rail has failed with. */
int drail_progress(drail_t *rail);

/** Calls on a job that wait for other ranks (drail_job_barrier, drail_open, …)
 *  let all its transports go on meanwhile. A transport that other threads use
 *  at the same time has a guard: then only between its functions, in which
 *  the caller takes and gives back what keeps his threads apart. */
typedef struct drail_guard {
    bool (*enter)(void *context); /**< does not wait; false: not now */
    void (*leave)(void *context);
    void *context;
} drail_guard_t;
/** Before other threads use it.
 *  @param rail open.
 *  @param guard copied; NULL: there is none. */
void drail_set_guard(drail_t *rail, const drail_guard_t *guard);

/** Two-sided message; eager up to eager_bytes, else rendezvous by striped
 *  RDMA read (then @p mem, if not NULL, spares the registration). Messages
 *  between two ranks arrive in order. Blocking until the buffer may be used
 *  again.
 *
 *  An eager one needs a credit of the peer's, as notifications do: half of the
 *  depth is there without a call of the peer's, and more comes when it takes
 *  what was sent. Two ranks that both send more before they receive wait for
 *  each other until the time is out (DRAIL_ETIMEOUT).
 *
 *  A rendezvous that the peer has not read in time (DRAIL_ETIMEOUT,
 *  DRAIL_EINTR) is withdrawn: the peer does not receive it. If it has begun to
 *  read it, it receives all of it as it was, or the connection ends; so it does
 *  with @p mem, or where the memory is registered otherwise, too. */
int drail_send(drail_t *rail, unsigned peer, const void *buffer, size_t bytes,
               drail_mem_t *mem);
/** Receives the next message of @p peer; DRAIL_ETRUNC (message dropped,
 *  *received = its length) when it exceeds @p capacity. When the time runs out
 *  while a rendezvous is being read (DRAIL_ETIMEOUT; DRAIL_EAGAIN if it was 0),
 *  the reading goes on: call again with the same buffer, which must stay in
 *  place until then or until drail_close(). Another one is DRAIL_EINVAL. */
int drail_recv(drail_t *rail, unsigned peer, void *buffer, size_t capacity,
               size_t *received, int timeout_ms);

typedef enum drail_atomic { DRAIL_FETCH_ADD, DRAIL_CMP_SWAP } drail_atomic_t;
/**
 * 64-bit atomic on remote memory (8-byte aligned), always over the first rail
 * that all ranks share, so that atomics of all ranks agree; blocking; the old
 * value goes to *old. @p peer may be this rank, with a key of its own memory:
 * where that rail's adapter does them, and does not say that its atomics are
 * the processor's (attribute `atomics`), the first such call connects the rail
 * to itself, within the time for connecting. Uses the IB extensions where
 * offered, else, or where no rail reaches every rank, a message to the target,
 * which serves it inside its own calls. It refuses one of a rank of its host
 * that could not be connected inside it (DRAIL_ENOTSUP) while there are
 * connections inside, whose atomics would not know of this one. After
 * DRAIL_ETIMEOUT it may still be carried out; the next atomic by message to the
 * same target waits for that first. With the extensions, while that rail is
 * broken: DRAIL_EPEER; of one that was under way, the sentence says that nobody
 * knows whether it has been carried out.
 */
int drail_atomic(drail_t *rail, unsigned peer, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t remote_offset,
                 uint64_t operand, uint64_t compare, uint64_t *old);

/** Does this rank serve the atomics of others on its memory inside its calls?
 *  If so, they wait until it makes one. True where no rail reaches every rank,
 *  or the first that does offers no atomics (also by DRAIL_EXTENSIONS=0). */
bool drail_serves_atomics(const drail_t *rail);

/** Makes progress; has @p req completed? 0 done, DRAIL_EAGAIN not yet, else
 *  the error it ended with. After DRAIL_ETIMEOUT it is still under way.
 *  drail_wait: timeout_ms < 0: the configuration's, which begins anew when bytes
 *  complete; else the call returns within timeout_ms. */
int drail_test(drail_t *rail, drail_req_t *req);
int drail_wait(drail_t *rail, drail_req_t *req, int timeout_ms);
/** @p req may be freed or used again: nothing writes to it any more. If its
 *  transfer is under way it goes on, and its memory must stay registered until
 *  drail_fence(). */
void drail_forget(drail_t *rail, drail_req_t *req);
/** Waits until all puts with data and all gets to @p peer are complete; sends
 *  and mere notifications are delivered by drail_close() at the latest. */
int drail_fence(drail_t *rail, unsigned peer);

/* ---------------------------------------------------------- statistics --- */

/** Of a rail's links: its EPs to this rank's peers. */
typedef enum drail_rail_state {
    DRAIL_RAIL_UP,         /**< all are up */
    DRAIL_RAIL_CONNECTING, /**< one is connected anew; until then, its messages
                                go over another rail */
    DRAIL_RAIL_DETOUR,     /**< messages of one go over another rail */
    DRAIL_RAIL_LOST,       /**< one is lost: both ends find out what has come */
    DRAIL_RAIL_ENDED,      /**< one has ended with all others to that peer: it
                                is gone, or all rails to it are */
    DRAIL_RAIL_DOWN,       /**< one has ended, others to that peer have not */
} drail_rail_state_t;

typedef struct drail_rail_stats {
    uint64_t put_bytes, get_bytes, send_bytes;
    uint64_t puts, gets, sends, recvs;
    uint64_t busy_ns;     /**< adaptive: time with RDMA of this rail under
                               way */
    double weight;        /**< present share of a long message, sum 1;
                               adaptive, auto: of those striped last */
    double measured_MBps; /**< rate that the adaptive policy has seen in the
                               messages striped last, or 0 */
    bool up;              /**< state is DRAIL_RAIL_UP */
    drail_rail_state_t state;
    uint64_t failures;      /**< times that a link of this rail was lost, and
                                 what it did went on over another: not by the
                                 end of a peer. Both ends of a link count it. */
    uint64_t retries;       /**< its DTOs that were posted again */
    uint64_t carried;       /**< its DTOs that went over another link, … */
    uint64_t carried_bytes; /**< … and their bytes */
    uint64_t lost_ns;       /**< from such losses to going on over another, of
                                 all links */
    uint64_t down_ns;       /**< time in which the rail had a lost link, however
                                 many there were at once */
} drail_rail_stats_t;

/** "up", "connecting", "detour", "lost", "ended", "down" */
const char *drail_rail_state_name(drail_rail_state_t state);

void drail_rail_stats(const drail_t *rail, unsigned index,
                      drail_rail_stats_t *stats);

/**
 * Says in one line which rails would carry a message of @p bytes now, how
 * much each, and why, after engine, policy and what has been measured.
 * @param rail open.
 * @param bytes of the message.
 * @param text filled with at most @p size bytes, zero included.
 * @param size bytes of text.
 */
void drail_explain(drail_t *rail, size_t bytes, char *text, size_t size);

/**
 * Do two rails share a port, an adapter or a bus? Decided from the IAs'
 * addresses and adapter names, and the names of buses. @return NULL, or a
 * sentence that says what they share.
 */
const char *drail_rails_shared(const drail_t *rail, unsigned a, unsigned b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

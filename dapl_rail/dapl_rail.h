/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * dapl_rail: a thin portability layer over genuine uDAPL (DAT 2.0). It opens
 * one IA, EVD, PZ and PSP per rail, connects one EP or several per rail and
 * peer, and moves one message over all rails.
 *
 * Source of the design: J. Cai, A. P. Rendell, P. E. Strazdins, "Non-threaded
 * and Threaded Approaches to MultiRail Communication with uDAPL", 2009, called
 * "Cai et al." below; sections 4.1 to 4.3.
 *
 * A first program: drail_job_run() calls your function in each rank. There,
 * drail_open() opens the rails, drail_mem_alloc() allocates memory that peers
 * can reach, drail_job_allgather() exchanges keys, drail_put() with
 * DRAIL_NOTIFY writes to a peer, and drail_notify_wait() waits for its data.
 *
 * Rules. The comments below refer to them by number.
 *
 * 1. Errors. A function that can fail returns 0 or a negative DRAIL_E… code.
 *    drail_strerror() gives the code's text. drail_last_error() gives one
 *    sentence about the last failed call on a drail_t, drail_job_last_error()
 *    on a job; calls without a handle write it to a drail_error_t. Handles and
 *    values that a call returns by pointer are set on success only, unless its
 *    comment says otherwise. Any `drail_error_t *err` may be NULL.
 * 2. Units. Sizes are bytes and times are milliseconds, unless a name ends in
 *    another unit. A negative timeout means drail_config_t.timeout_ms; in calls
 *    on a job, the environment's DRAIL_TIMEOUT_MS, or 30000.
 * 3. Waiting. Every wait ends after its timeout, by DRAIL_ETIMEOUT. Time in
 *    which the process or the whole machine is stopped does not count. The
 *    configuration's timeout starts again whenever bytes of the operation
 *    complete; a timeout that the caller passes does not. A call of
 *    drail_interrupt() or drail_job_interrupt(), or a signal to the job, ends
 *    waits by DRAIL_EINTR.
 * 4. Threads. One thread at a time may use a drail_t, with its drail_mem_t and
 *    drail_req_t; threads may take turns. Handles of different jobs are
 *    independent. These calls use every open drail_t of their job, so that no
 *    other thread may use one meanwhile: drail_open(), drail_close(),
 *    drail_job_allgather(), drail_job_barrier(), drail_gathered_exchange(), and
 *    preparing a collective of dcoll.h. drail_set_guard() relaxes this.
 *    Functions marked "Any thread" may be called by any thread at any time.
 * 5. Progress. Connections, messages, notifications and the repair of broken
 *    rails need calls of both ranks: no thread of the library does them in the
 *    background. A call that waits makes progress on all rails with all peers;
 *    drail_progress() and drail_test() make one step. So while a rank waits for
 *    a peer, the peer must be in a call that waits, or call functions that make
 *    progress again and again. Where drail_rail_info_t.is_polled is set, this
 *    also holds for the data of RDMA: they arrive only while the target is
 *    inside calls. drail_job_allgather() and the other calls of rule 4 make
 *    progress on all open drail_t of the job.
 * 6. Lifetime. Buffers, registered memory and drail_req_t of an operation stay
 *    in place until the operation is complete. Release a drail_mem_t before its
 *    memory is unmapped. Call drail_close() before drail_job_leave(), and
 *    before rank_main returns. A process that ends without it loses what has
 *    not left it: over TCP, short messages of the last few milliseconds.
 *    Configurations are copied by the call.
 * 7. Order. Messages from one rank to another are received in the order of
 *    their sends, and notifications in the order of their puts. A notification
 *    is delivered after all data of its put are visible. Otherwise puts, gets
 *    and atomics are not ordered.
 * 8. Broken rails. If a link (an EP to a peer) breaks, new messages to that
 *    peer go over its other links. The library also sends the broken link's
 *    unfinished requests again over those, inside the calls of both ranks:
 *    messages, notifications and atomics by message arrive once and in order.
 *    Data of a put or get may be written again until the operation is complete
 *    or notified. The rail is tried again several times a second, and used
 *    again when it works. A rail also counts as broken if it has work and shows
 *    no sign of life for DRAIL_SILENCE_MS while the peer answers over another
 *    rail. All this needs two links to the peer, and providers whose
 *    completions mean delivery (drail_rail_info_t.is_delivering). Without them
 *    a broken rail ends the connection, as does an error that is not the
 *    rail's: a refused access, or a timeout in the middle of an operation.
 * 9. Lost connections. When a connection has ended, because the peer is gone or
 *    no link to it is left, operations with that peer return DRAIL_EPEER until
 *    both ranks call drail_connect(). In the rank where an error has ended it,
 *    they return that error instead: DRAIL_EACCESS, DRAIL_EDAT or DRAIL_ENOMEM.
 *    A peer that is only stopped is silent: calls end by DRAIL_ETIMEOUT.
 * 10. State. There are no mutable globals: many ranks may live in one process.
 *    A child that the program forks must not use a drail_t of its parent, but
 *    may close it.
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

#define DRAIL_VERSION "0.2.0"

/** Most rails that one transport can use. */
#define DRAIL_MAX_RAILS 16
/** Most EPs for each rail and peer. */
#define DRAIL_MAX_EPS 8
/** Most ranks of a job. */
#define DRAIL_MAX_RANKS 16384u
/** Bytes of an IA name, with its final zero. */
#define DRAIL_NAME_MAX 64
/** Bytes of the name of a simulated cluster, with its final zero. */
#define DRAIL_CLUSTER_MAX 96

/* ------------------------------------------------------------- errors --- */

typedef enum drail_status {
    DRAIL_OK = 0,
    DRAIL_EINVAL = -1,   /**< an argument is out of range or contradictory */
    DRAIL_ENOMEM = -2,   /**< out of memory or of a provider's resources */
    DRAIL_ENORAIL = -3,  /**< no IA of that name in the registry (dat.conf) */
    DRAIL_EOPEN = -4,    /**< the IA is listed but can't be opened */
    DRAIL_EDAT = -5,     /**< a DAT call failed; the sentence names it */
    DRAIL_EPEER = -6,    /**< the connection to the peer has ended: rule 9 */
    DRAIL_ETIMEOUT = -7, /**< the timeout has passed: rule 3 */
    DRAIL_EAGAIN = -8,   /**< not now: call again later */
    DRAIL_EACCESS = -9,  /**< the target refused the access to its memory. Over
                              verbs also if the peer is being killed */
    DRAIL_ENOTSUP = -10, /**< the provider does not offer this */
    DRAIL_EINTR = -11,   /**< interrupted: rule 3 */
    DRAIL_EJOB = -12,    /**< a rank of the job failed */
    DRAIL_ETRUNC = -13,  /**< a message is longer than the buffer */
} drail_status_t;

/** A code with its sentence, from calls without a handle. */
typedef struct drail_error {
    int code;
    char text[256];
} drail_error_t;

/** The text of a DRAIL_E… code, constant; never NULL. Any thread. */
const char *drail_strerror(int code);

/* --------------------------------------------------------------- rails --- */

/** What the registry and the provider say about a rail (one IA). */
typedef struct drail_rail_info {
    char name[DRAIL_NAME_MAX];     /**< IA name in dat.conf */
    char adapter[DRAIL_NAME_MAX];  /**< IA attribute adapter_name */
    char vendor[DRAIL_NAME_MAX];   /**< IA attribute vendor_name */
    char provider[DRAIL_NAME_MAX]; /**< provider attribute provider_name */
    char address[DRAIL_NAME_MAX];  /**< IA address, printable */
    char fabric[DRAIL_NAME_MAX];   /**< "shm", "verbs", "tcp", …: rails of the
                                        same fabric can reach each other. Ends
                                        in " (link model)" if it is modelled */
    char network[DRAIL_NAME_MAX];  /**< of its address, "10.1.0.0/24"; "" not
                                        known */
    bool host_only;                /**< it reaches only ranks of its host */
    unsigned dapl_major, dapl_minor;
    uint64_t max_message;       /**< bytes of the longest send */
    uint64_t max_rdma;          /**< bytes of the longest RDMA read or write */
    unsigned max_dto;           /**< DTOs outstanding per EP */
    unsigned max_evd_qlen;      /**< events that an EVD holds */
    unsigned max_iov;           /**< segments per DTO */
    unsigned max_rdma_read_out; /**< RDMA reads outstanding per EP */
    unsigned max_private_data;  /**< bytes of connection private data */
    bool thread_safe;           /**< as the provider says */
    bool has_write_immed;       /**< RDMA write with immediate data */
    bool has_atomics;           /**< fetch-and-add, compare-and-swap */
    bool is_polled;             /**< data arrive only while the target is inside
                                     library calls: rule 5. Polling memory alone
                                     sees them late */
    bool is_delivering;         /**< a completed operation is in the target's
                                     memory, not only out of the source's */
    double nominal_MBps;        /**< link rate per direction; 0: not known */
    double adapter_MBps;        /**< the same of the adapter */
    double bus_MBps;            /**< the same of the host bus */
    char bus[DRAIL_NAME_MAX];   /**< host bus; "" not known */
    char link_model[256];       /**< parameters of the link model; "" none */
    char copies[160];           /**< which copies bypass the caches, as the
                                     provider says; "" it does not say */
    char members[256];          /**< names of the rails of a bond, with spaces
                                     between them; "" it is no bond */
    int numa_node;              /**< nearest NUMA node, or -1 */
    char cpus[DRAIL_NAME_MAX];  /**< near CPUs as a list; "" not known */
} drail_rail_info_t;

/**
 * Lists the IA names of the registry: dat.conf and the embedded rails. Opens no
 * IA. Any thread.
 * @param names filled with the first @p max names; may be NULL if max is 0.
 * @param max number of names that fit.
 * @param count set to the number of all names; may exceed max.
 * @return 0, DRAIL_EINVAL, DRAIL_ENOMEM, DRAIL_EDAT.
 */
int drail_rails_list(char (*names)[DRAIL_NAME_MAX], unsigned max,
                     unsigned *count);

/** A simulated cluster. */
typedef struct drail_cluster {
    char name[DRAIL_CLUSTER_MAX]; /**< "sim:NAME@" and a checksum of all that
                                       its platform file describes */
    unsigned nodes;
    unsigned ppn; /**< ranks per node, unless the job says otherwise */
} drail_cluster_t;

/**
 * Lists the rails of a node of a simulated cluster, which only ranks of that
 * cluster can open (drail_job_config_t.simulate). Any thread.
 * @param platform name of a platform, or of its file.
 * @param names, max, count as for drail_rails_list().
 * @param cluster set on success.
 * @param err may be NULL.
 * @return 0; DRAIL_EINVAL: there is no such platform, or it is wrong;
 * DRAIL_ENOTSUP: SimGrid is not installed.
 */
int drail_rails_simulated(const char *platform, char (*names)[DRAIL_NAME_MAX],
                          unsigned max, unsigned *count,
                          drail_cluster_t *cluster, drail_error_t *err);

/**
 * Opens IA @p name, reads its attributes and locality, and closes it. Any
 * thread.
 * @return 0; DRAIL_ENORAIL; DRAIL_EOPEN; DRAIL_EDAT; DRAIL_ENOMEM;
 * DRAIL_EINVAL: the name is too long.
 */
int drail_rail_query(const char *name, drail_rail_info_t *info,
                     drail_error_t *err);

/* -------------------------------------------------------------- stripe --- */

typedef enum drail_policy {
    DRAIL_POLICY_EVEN,       /**< equal parts (Cai et al., section 4.3) */
    DRAIL_POLICY_WEIGHTED,   /**< parts in proportion to drail_config_t.weights
                                  or nominal rates */
    DRAIL_POLICY_ADAPTIVE,   /**< parts in proportion to measured rates. Rails
                                  that do not pay at a size are left out, found
                                  by trying now and then */
    DRAIL_POLICY_ROUNDROBIN, /**< whole messages, over each rail in turn */
    DRAIL_POLICY_FIXED,      /**< whole messages, over fixed_rail */
} drail_policy_t;

/** A part of a message on one rail. */
typedef struct drail_chunk {
    unsigned rail; /**< index of the rail */
    size_t offset; /**< from the start of the message */
    size_t bytes;
} drail_chunk_t;

typedef struct drail_stripe {
    drail_policy_t policy;
    unsigned nrails;       /**< 1 to DRAIL_MAX_RAILS */
    const double *weights; /**< nrails weights of 0 or more, not all 0; NULL:
                              all equal. Policies even, weighted and adaptive
                              all cut by them. A rail of weight 0 gets nothing,
                              unless policy fixed names it */
    size_t threshold;      /**< shorter messages go over one rail, one of the
                                largest weight */
    size_t align;          /**< inner borders of chunks are multiples of it, a
                                power of two. 0: of 64 if the chunks have 512
                                bytes or more on average, else of 1 */
    unsigned turn;         /**< roundrobin: number of this message, from 0;
                                fixed: index of the rail */
} drail_stripe_t;

/**
 * Cuts a message of @p bytes into chunks. A pure function. The chunks are in
 * order of offset, cover the message exactly, do not overlap, and have distinct
 * rails. None is empty, except that a message of 0 bytes has one chunk of 0
 * bytes. Any thread.
 * @return number of chunks (1 to nrails), or DRAIL_EINVAL.
 */
int drail_stripe(const drail_stripe_t *stripe, size_t bytes,
                 drail_chunk_t chunks[DRAIL_MAX_RAILS]);

/* ------------------------------------------------------- configuration --- */

typedef enum drail_engine {
    DRAIL_ENGINE_SINGLE,      /**< fixed_rail only (Cai et al., fig. 2). To a
                                   peer that it does not reach: the first rail
                                   that does */
    DRAIL_ENGINE_NONTHREADED, /**< one thread loops over the rails (fig. 4) */
    DRAIL_ENGINE_THREADED,    /**< one OpenMP thread per rail (fig. 5) */
    DRAIL_ENGINE_AUTO,        /**< the default: for each size, the fastest of
                                   these and of sets of rails. The first
                                   messages of a size try all, later ones now
                                   and then. With policy roundrobin or fixed,
                                   or to a peer that not all rails reach: as
                                   nonthreaded */
} drail_engine_t;

/** Threads of engine threaded. */
typedef enum drail_team {
    DRAIL_TEAM_RESIDENT, /**< live as long as the transport */
    DRAIL_TEAM_FORKJOIN, /**< a parallel region per message (fig. 5). With
                              engine threaded, operations return DRAIL_ENOTSUP
                              where OpenMP gives too few threads, as inside a
                              parallel region of the caller */
} drail_team_t;

/** How one thread waits for several rails. */
typedef enum drail_waiting {
    DRAIL_WAITING_ANY,    /**< takes events of all rails as they come */
    DRAIL_WAITING_SERIAL, /**< rail after rail: goes on when a rail has
                             delivered all events that it owes (fig. 4) */
} drail_waiting_t;

/** How a notification travels. */
typedef enum drail_notify_by {
    DRAIL_NOTIFY_BY_AUTO,  /**< the fastest way that the rail offers */
    DRAIL_NOTIFY_BY_SEND,  /**< as a send after the RDMA writes */
    DRAIL_NOTIFY_BY_IMMED, /**< as immediate data of the last RDMA write, which
                                saves a DTO. As a send if there are no data, or
                                the notification's id, with the number and
                              choice of rails, does not fit 32 bits */
} drail_notify_by_t;

typedef struct drail_config {
    const char *rails[DRAIL_MAX_RAILS]; /**< IA names, all different */
    unsigned nrails;
    drail_engine_t engine;
    drail_team_t team;
    drail_policy_t policy;
    drail_waiting_t waiting;
    drail_notify_by_t notify_by;     /**< DRAIL_NOTIFY_BY_IMMED: DRAIL_ENOTSUP
                                          unless every rail offers it */
    double weights[DRAIL_MAX_RAILS]; /**< policy weighted: relative rates. All
                                        0: nominal rates if all are known, else
                                          equal */
    unsigned fixed_rail;             /**< engine single, policy fixed: index of
                                          the rail. Always less than nrails */
    size_t stripe_threshold;         /**< shorter messages use one rail: if
                                          several are under way and all rails
                                          that reach the peer are polled, each
                                          the rail that ends first */
    size_t stripe_align;             /**< as drail_stripe_t.align */
    unsigned eps;                    /**< EPs for each rail and peer, 1 to
                                          DRAIL_MAX_EPS. The parts of a striped
                                          message use all of them, a shorter
                                          message the next in turn; two-sided
                                          messages and atomics use the first */
    size_t eager_bytes;              /**< drail_send() of more bytes uses
                                          rendezvous; 0 to 1 MiB.
                                          DRAIL_EAGER_AUTO: 4 KiB, over shared
                                          memory 8 KiB, over rails that are
                                          polled 16 KiB. Somewhat longer
                                          ones may go in pieces: drail_send() */
    unsigned depth;                  /**< receives posted, and messages that a
                                          peer may have under way, per EP; 4 to
                                          4096. drail_open() lowers it if there
                                          are many peers: to 4096 receives of a
                                          rail in all, and to the events that
                                          the rail's queue holds, but not below
                                          4. See drail_config_of() */
    int timeout_ms;                  /**< of every wait, 1 or more; default
                                          30000 */
    int connect_timeout_ms;          /**< of connecting, 1 or more; default
                                          10000 */
    bool pin;                        /**< bind the threads of the resident team
                                          near their rails. The caller's threads
                                          and its OpenMP pool are not bound */
    unsigned pin_base;               /**< index of this rank's first core among
                                          those that the thread which calls
                                          drail_open() may use. Rail r's thread
                                          takes the r-th core after it. The
                                          first is left to the caller, which
                                          drives rail 0. DRAIL_PIN_AUTO: by the
                                          rank's place on its node */
    char rails_text[256];            /**< internal: rails[] may point here. A
                                          copied configuration needs the
                                          original until drail_open() returns */
} drail_config_t;

/** pin_base, the default: the ranks of a node take disjoint cores; if there are
 * too few, they start on distinct ones. */
#define DRAIL_PIN_AUTO UINT32_MAX

/** eager_bytes, the default: 4 KiB, over rails that are polled 16 KiB. */
#define DRAIL_EAGER_AUTO SIZE_MAX

/**
 * Sets all fields to their defaults, or to the values of environment variables
 * (drail_setting_get()). The default rails are shm0 and shm1. If a variable is
 * malformed its default stays, and drail_open() fails with DRAIL_EINVAL and the
 * variable's name. Any thread.
 */
void drail_config_init(drail_config_t *cfg);

/** A setting, as `railinfo --config` lists them. */
typedef struct drail_setting {
    const char *name; /**< environment variable, such as DRAIL_TIMEOUT_MS */
    const char *meaning;
    const char *fallback; /**< default value as text */
    char value[128];      /**< present value as text; if it is malformed,
                               followed by " (invalid: …)" */
} drail_setting_t;

/** Fills in setting number @p index, from 0. Any thread. @return 0, or
 * DRAIL_EINVAL: there is no such setting. */
int drail_setting_get(unsigned index, drail_setting_t *setting);

/** The name of a value, as on command lines ("nonthreaded", "adaptive",
 * "resident"), or "unknown"; constant. Any thread. */
const char *drail_engine_name(drail_engine_t engine);
const char *drail_policy_name(drail_policy_t policy);
const char *drail_team_name(drail_team_t team);
const char *drail_waiting_name(drail_waiting_t waiting);
const char *drail_notify_by_name(drail_notify_by_t by);
/** The value of a name. Any thread. @return 0, or DRAIL_EINVAL. */
int drail_engine_parse(const char *text, drail_engine_t *engine);
int drail_policy_parse(const char *text, drail_policy_t *policy);
int drail_team_parse(const char *text, drail_team_t *team);
int drail_waiting_parse(const char *text, drail_waiting_t *waiting);
int drail_notify_by_parse(const char *text, drail_notify_by_t *by);

/* ----------------------------------------------------------------- job --- */

/** A rank's view of its job. Valid until rank_main returns, or until
 * drail_job_leave(). Owned by the library. */
typedef struct drail_job drail_job_t;

struct drail_platform; /* how a simulator replaces the machine; internal */

/** A rank's program. @return exit status of the rank, 0 to 255. */
typedef int (*drail_rank_main_t)(drail_job_t *job, void *arg);

/** How this process was started; see drail_launch_open(). */
typedef struct drail_launch drail_launch_t;

/** For nranks: as many as were launched, or 2 if none were. For rank: the value
 * of DRAIL_RANK. */
#define DRAIL_RANKS_AUTO UINT32_MAX

typedef struct drail_job_config {
    unsigned nranks;       /**< 1 to DRAIL_MAX_RANKS, or DRAIL_RANKS_AUTO (the
                                default) */
    unsigned ppn;          /**< ranks per node: nodes are then blocks of ranks.
                                0: nodes are hosts */
    const unsigned *nodes; /**< the node of each rank, instead of ppn: any
                                numbers in any order; or NULL */
    int grace_ms;          /**< time for the other ranks to end by themselves
                                after the first has failed. Then forked ranks
                                are killed, and the waits of launched ranks end
                                by DRAIL_EINTR. Default 2000 */
    drail_error_t *error;  /**< gets the sentence of a failure; or NULL */
    const struct drail_platform *platform; /**< NULL: this machine */
    /** A platform (name or file): the ranks run in virtual time on the cluster
     * that it describes. They may open "sim:NAME" as their only rail: it stands
     * for all rails of a node. ppn 0: as the platform says. NULL: real time. */
    const char *simulate;
    /** Only with simulate, else DRAIL_EINVAL: collectives take their time but
     * move no payload. The caller's buffers must exist as always; what
     * collectives leave in them is undefined. Puts, gets and messages move
     * their data; irregular collectives return DRAIL_ENOTSUP. */
    bool hollow;
    bool fork; /**< fork the ranks even if this process was launched */
    /** Where rank 0 waits for the other ranks: "host:port" or "[IPv6
     * address]:port"; rank 0 must run on that host. NULL: DRAIL_RENDEZVOUS; if
     * that is not set either, there is no rendezvous. It needs rank and nranks,
     * here or as DRAIL_RANK and DRAIL_RANKS. */
    const char *rendezvous;
    unsigned rank; /**< at the rendezvous; default DRAIL_RANKS_AUTO */
    /** File whose first line is the secret of the rendezvous: 16 to 256
     * characters. It must be private (mode 0600). NULL: the file that
     * DRAIL_SECRET_FILE names, else the secret is DRAIL_SECRET. */
    const char *secret_file;
    int connect_ms; /**< how long launched ranks wait for each other when the
                       job begins. Default 30000 */
    /** From drail_launch_open(), to run several jobs in turn. NULL: each
     * drail_job_run() opens and closes its own; under PMI-2 that works once. */
    drail_launch_t *launch;
} drail_job_config_t;

/** Sets all fields to their defaults. Any thread. */
void drail_job_config_init(drail_job_config_t *cfg);

/**
 * Runs @p rank_main in each rank of a job. The ranks are, in this order:
 *  - simulated, if cfg->simulate is set;
 *  - launched, each of them one process that calls this function: they meet at
 *    a rendezvous and know a common secret (cfg->rendezvous), or a launcher
 *    that speaks PMIx (mpirun, prterun, srun --mpi=pmix) or PMI-2 (srun
 *    --mpi=pmi2) has started them;
 *  - forked by this process.
 *
 * Launched: rank_main runs once, in the calling process, and the call then
 * waits until all other ranks have ended. SIGINT or SIGTERM to any rank ends
 * the waits of all ranks (rule 3). A thread of rank 0 serves the others over a
 * star of TCP connections: fine for some hundreds of ranks. These connections
 * are not encrypted: the network can read them, but can't join them.
 *
 * Forked: rank_main runs in one child process per rank, and the call waits for
 * all of them. The children are killed when the caller ends, even by SIGKILL.
 * SIGINT and SIGTERM to the caller reach the ranks as SIGTERM and end their
 * waits. The threads of the caller's OpenMP pool may be gone afterwards.
 *
 * The caller must not have DAT objects open; a drail_t can be opened only in
 * rank_main. While the job runs, the process's soft limit of open files may be
 * raised.
 * @param cfg see above.
 * @param rank_main the program of each rank.
 * @param arg passed to rank_main.
 * @return 0: all ranks returned 0; DRAIL_EJOB: a rank failed, and the sentence
 * names the rank and its exit status or signal; DRAIL_EPEER: launched rank 0 is
 * gone; DRAIL_EINTR: after a signal; DRAIL_EINVAL: a wrong configuration, or
 * the ranks do not fit together; DRAIL_EACCESS: launched rank 0 has another
 * secret; DRAIL_ETIMEOUT: not all ranks came within connect_ms; DRAIL_ENOMEM;
 * DRAIL_ENOTSUP: simulate without SimGrid.
 */
int drail_job_run(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                  void *arg);

/**
 * Finds out how this process was started, and connects it to the other ranks if
 * it was launched. Use it to know the rank before a job runs, or to run several
 * jobs in turn, in all ranks alike. After a job that failed no other can run.
 * @param cfg its rendezvous, rank, nranks, secret_file, connect_ms, grace_ms,
 * error and fork are used.
 * @param launch owned by the caller until drail_launch_close().
 * @return 0; else as drail_job_run().
 */
int drail_launch_open(const drail_job_config_t *cfg, drail_launch_t **launch);
/** Frees @p launch; NULL does nothing. Under a launcher, and if no job has
 * failed, it first waits until all ranks have called it, or one has ended. */
void drail_launch_close(drail_launch_t *launch);
/** Number of launched ranks; 0: none, so drail_job_run() will fork. */
unsigned drail_launch_size(const drail_launch_t *launch);
/** The rank of this process; 0 if it was not launched. */
unsigned drail_launch_rank(const drail_launch_t *launch);
/** The host of @p rank; UINT_MAX: there is no such rank. Hosts are numbered in
 * the order of their first ranks. Processes that can't share memory count as on
 * different hosts. */
unsigned drail_launch_host(const drail_launch_t *launch, unsigned rank);

/**
 * An all-gather that the caller of drail_job_join() provides. All ranks call it
 * in the same order with the same size, one call at a time.
 * @param context as in drail_job_join_t.
 * @param mine this rank's contribution.
 * @param bytes of each contribution: 1 to 64 KiB.
 * @param all to be filled with the contributions of all ranks, by rank.
 * @param timeout_ms after which it should give up.
 * @return 0, or a negative DRAIL_E… code; any other value counts as
 * DRAIL_EPEER. After a failure it is not called again.
 */
typedef int (*drail_allgather_t)(void *context, const void *mine, size_t bytes,
                                 void *all, int timeout_ms);

/** A place in a job whose ranks the caller has started (by MPI, PMIx, ssh). */
typedef struct drail_job_join {
    unsigned rank, size;   /**< size 1 to DRAIL_MAX_RANKS */
    const unsigned *nodes; /**< node of each rank: any numbers in any order,
                                the same in all ranks; NULL: one node */
    drail_allgather_t allgather;
    void *context;                         /**< passed to allgather */
    const struct drail_platform *platform; /**< NULL: this machine */
} drail_job_join_t;

/**
 * Makes a job of ranks that the caller has started. All ranks call it together:
 * it calls the all-gather. May raise the process's soft limit of open files.
 * The caller handles signals: see drail_job_interrupt().
 * @param how copied, as is nodes; context must stay until drail_job_leave().
 * @param job owned by the caller until drail_job_leave().
 * @param err may be NULL.
 * @return 0; DRAIL_EINVAL, also when the ranks do not fit together;
 * DRAIL_ENOMEM; what allgather returned.
 */
int drail_job_join(const drail_job_join_t *how, drail_job_t **job,
                   drail_error_t *err);
/** Frees a job of drail_job_join(), after drail_close() of all that was opened
 * with it. Waits for no other rank. NULL does nothing. */
void drail_job_leave(drail_job_t *job);

/** This rank; the number of ranks. Any thread, as all up to drail_job_ppn(). */
unsigned drail_job_rank(const drail_job_t *job);
unsigned drail_job_size(const drail_job_t *job);
/** Number of nodes. Nodes are numbered in the order of their first ranks. */
unsigned drail_job_nodes(const drail_job_t *job);
/** The node of @p rank; UINT_MAX: there is no such rank. */
unsigned drail_job_node(const drail_job_t *job, unsigned rank);
/** The index of @p rank among the ranks of its node, in order of rank;
 * UINT_MAX: there is no such rank. */
unsigned drail_job_local_rank(const drail_job_t *job, unsigned rank);
/** The number of ranks on the node of @p rank; 0: there is no such rank. */
unsigned drail_job_local_size(const drail_job_t *job, unsigned rank);
/** The largest number of ranks on a node. */
unsigned drail_job_ppn(const drail_job_t *job);

/** True if SIGINT or SIGTERM has reached this job, or drail_job_interrupt() was
 * called; in a launched job also if it has ended because of another rank. Any
 * thread. */
bool drail_job_interrupted(const drail_job_t *job);
/** Ends all present and future waits of this rank by DRAIL_EINTR; a running
 * all-gather of the caller's own (drail_job_join()) goes on. Any thread, and
 * signal handlers. */
void drail_job_interrupt(drail_job_t *job);

/**
 * Gathers the contributions of all ranks in all ranks, outside the rails: for
 * set-up, not for speed. All ranks call it together. The open drail_t of the
 * job make progress meanwhile (rules 4 and 5); not in an all-gather of the
 * caller's own, so that peers with a broken rail wait for it to end.
 * @param job of this rank.
 * @param mine this rank's contribution.
 * @param bytes of each contribution: at most 64 KiB, the same in all ranks. 0:
 * as drail_job_barrier().
 * @param all room for drail_job_size() times @p bytes, filled by rank.
 * @param timeout_ms see rules 2 and 3.
 * @return 0; DRAIL_EINVAL; DRAIL_EPEER, DRAIL_EJOB: a rank has ended;
 * DRAIL_ETIMEOUT; DRAIL_EINTR; DRAIL_ENOMEM: only in a simulated job; or what
 * an all-gather of the caller's own returned. After a failure all later
 * all-gathers of the job fail, too. There are two exceptions, both
 * DRAIL_EINVAL: an argument of this rank is wrong, and the rank has not taken
 * part; or the ranks of a job that the library has started passed different
 * sizes.
 */
int drail_job_allgather(drail_job_t *job, const void *mine, size_t bytes,
                        void *all, int timeout_ms);
/** Waits until all ranks have called it; otherwise as drail_job_allgather(). */
int drail_job_barrier(drail_job_t *job, int timeout_ms);

/** The result of an all-gather. Simulated ranks share one copy of it, so that
 * large results of many ranks fit into memory. */
typedef struct drail_gathered drail_gathered_t;

/**
 * Allocates a result, before the all-gather: so no rank runs out of memory
 * while others wait for it.
 * @param job of this rank.
 * @param bytes of each contribution: 1 to 64 KiB.
 * @param out owned by the caller until drail_gathered_free().
 * @return 0, DRAIL_EINVAL, DRAIL_ENOMEM.
 */
int drail_gathered_new(drail_job_t *job, size_t bytes, drail_gathered_t **out);
/** As drail_job_allgather(), with the result in @p g, whose earlier result is
 * gone. Also DRAIL_ENOMEM, which all ranks return. */
int drail_gathered_exchange(drail_gathered_t *g, const void *mine,
                            int timeout_ms);
/** The contribution of @p rank, after a successful exchange. Read only; valid
 * until the next exchange or drail_gathered_free(). */
const void *drail_gathered_of(const drail_gathered_t *g, unsigned rank);
/** Frees a result, before or after drail_job_leave(), but before rank_main
 * returns. NULL does nothing. */
void drail_gathered_free(drail_gathered_t *g);

/** Tells the simulator that the caller computes for @p ns nanoseconds: they
 * pass in virtual time, where real computation takes none. On a real machine it
 * does nothing. Any thread of the rank. */
void drail_job_compute(const drail_job_t *job, uint64_t ns);
/** True if the job is simulated. Then all ranks are in one process, and one
 * runs at a time, in one thread: a rank that waits must do so in calls on its
 * job, not by sleeping, and threads of its own can't run. */
bool drail_job_is_simulated(const drail_job_t *job);
/** The sentence of the last all-gather that failed, such as which rank is gone;
 * "" if the reason is not known. Valid as long as the job. */
const char *drail_job_last_error(const drail_job_t *job);

/* ----------------------------------------------------------- transport --- */

/** The transport of one rank: its open rails, peers and registered memory. */
typedef struct drail drail_t;

/**
 * Opens the rails of @p cfg in all ranks, and exchanges their addresses. All
 * ranks call it together; if it fails in one, it fails in all. Rank 0 opens its
 * rails first: if it can't, the other ranks do not try and return DRAIL_EPEER.
 *
 * Each rank may list its rails in any order: they are matched with rank 0's by
 * fabric, then network, then name, then order, and numbered as in rank 0;
 * weights and fixed_rail follow. Ranks of one host (same name, boot and
 * namespaces) use rails that are host_only with each other, if there are any
 * and a connection shows that they reach; for all other peers the other rails
 * are used. Engine auto and policy adaptive learn from messages to peers on
 * other hosts, if there are any.
 * @param job of this rank.
 * @param cfg copied.
 * @param out owned by the caller until drail_close().
 * @param err may be NULL.
 * @return 0; DRAIL_EINVAL: a wrong configuration or environment variable, or,
 * in all ranks with the same sentence: a rail has no counterpart, or ranks
 * differ in DRAIL_DEPTH, DRAIL_EAGER_BYTES, DRAIL_EPS or DRAIL_EXTENSIONS;
 * DRAIL_EPEER, DRAIL_EJOB: another rank failed; DRAIL_ENORAIL, DRAIL_EOPEN,
 * DRAIL_EDAT: a rail of this rank; DRAIL_ENOTSUP: notify_by; DRAIL_ENOMEM;
 * DRAIL_ETIMEOUT; DRAIL_EINTR.
 */
int drail_open(drail_job_t *job, const drail_config_t *cfg, drail_t **out,
               drail_error_t *err);

/**
 * Delivers what was sent and put, disconnects, and frees everything, also
 * memory handles and memory of drail_mem_alloc() that were not released. Waits
 * as long as bytes complete, and then for timeout_ms. Waits for no call of the
 * peers, but they must make progress for the delivery (rule 5). An IA whose
 * provider does not free it stays open until the process ends (verbs, after a
 * connection attempt that was given up). In a forked child it frees the child's
 * copy only. NULL does nothing.
 * @return 0: all is delivered, except what was for peers whose connection has
 * ended; DRAIL_ETIMEOUT, DRAIL_EINTR: something may not have been delivered. In
 * any case @p rail is gone.
 */
int drail_close(drail_t *rail);

/** The sentence of the last failed call on @p rail; valid until the next call.
 * DRAIL_EAGAIN has no sentence. "" for NULL. */
const char *drail_last_error(const drail_t *rail);

/**
 * Connects to rank @p peer over all rails that reach it, within
 * connect_timeout_ms. It returns when all of them are up, or a second after the
 * first (half of connect_timeout_ms, if that is less): the others join later
 * (rule 8). Meanwhile the peer must be in a call that makes progress (rule 5),
 * not necessarily this one.
 *
 * It need not be called: the first operation with a peer connects, within
 * connect_timeout_ms. drail_notify_wait() and drail_recv() connect within their
 * own timeout, and then wait for as long again; calls that do not wait return
 * DRAIL_EAGAIN until the connection is there.
 *
 * If the peer is connected it returns 0 at once. If that connection has ended,
 * or the peer asks for a new one, the two calls make a new one. Operations
 * under way then end by DRAIL_EPEER; messages and notifications that came and
 * were not taken are lost; memory and keys stay valid. If this rank has not
 * noticed the end yet, the call returns 0 and the next operations return
 * DRAIL_EPEER: then call it again. Operations alone do not connect again.
 * @return 0; DRAIL_EPEER: the peer has ended or lacks resources for the
 * connection, or no rail reaches it;
 * DRAIL_ETIMEOUT: the sentence names what is missing on each rail;
 * DRAIL_EINVAL: @p peer is this rank, or no rank; DRAIL_EINTR; DRAIL_ENOMEM;
 * DRAIL_EDAT. After a failure it can be called again. It may fail in one rank
 * after it has succeeded in the other, whose operations then return
 * DRAIL_EPEER.
 */
int drail_connect(drail_t *rail, unsigned peer);
/** Makes one step of drail_connect(): call it again while it returns
 * DRAIL_EAGAIN, in between with drail_progress(). It waits only to free lost
 * links, for at most a second. @return DRAIL_EAGAIN; or as
 * drail_connect(), but connect_timeout_ms does not count: DRAIL_ETIMEOUT comes
 * from a provider that has given up. */
int drail_connect_test(drail_t *rail, unsigned peer);

/** Ends all present and future waits of this handle by DRAIL_EINTR. Any thread,
 * and signal handlers. */
void drail_interrupt(drail_t *rail);

/** Number of rails. */
unsigned drail_nrails(const drail_t *rail);
/** Describes a rail; valid until drail_close(). NULL: there is no such rail. */
const drail_rail_info_t *drail_rail_at(const drail_t *rail, unsigned index);
/** The configuration in use, which drail_open() may have lowered and reordered;
 * valid until drail_close(). */
const drail_config_t *drail_config_of(const drail_t *rail);

/**
 * Change engine and team, policy and its parameters, waiting, or notify_by.
 * Nothing may be under way. So benchmarks can interleave what they compare over
 * the same connections and memory. Each rank decides for itself: engine, policy
 * and notify_by concern the initiator, waiting the rank that waits. When engine
 * auto gets another team, it forgets what it has measured. The weights are as
 * drail_stripe_t.weights, and copied; NULL leaves the present ones. fixed_rail
 * is the index of the rail for engine single and policy fixed; it must be less
 * than drail_nrails() with all others, too.
 * @return 0; DRAIL_EINVAL, or DRAIL_ENOTSUP for notify_by: nothing has changed.
 */
int drail_set_engine(drail_t *rail, drail_engine_t engine, drail_team_t team);
int drail_set_policy(drail_t *rail, drail_policy_t policy,
                     const double *weights, unsigned fixed_rail);
int drail_set_waiting(drail_t *rail, drail_waiting_t waiting);
int drail_set_notify_by(drail_t *rail, drail_notify_by_t by);

/** What a call that waits does before its thread sleeps. */
typedef enum drail_polling {
    DRAIL_POLLING_OFF,      /**< nothing */
    DRAIL_POLLING_ON,       /**< poll the rails, for up to DRAIL_SPIN_US */
    DRAIL_POLLING_YIELDING, /**< yield the core after each poll, for up to 300
                                 µs; beside a program that does not yield, or
                                 if DRAIL_SPIN_US is 0: as OFF */
} drail_polling_t;

/**
 * Do this rank's waits poll the rails before they sleep? They do at first. If
 * ranks share a core, polling keeps the core from the rank that the caller
 * waits for. Concerns later calls.
 * @return what held before.
 */
drail_polling_t drail_set_polling(drail_t *rail, drail_polling_t polling);

/* -------------------------------------------------------------- memory --- */

/** A handle of registered memory: one LMR per rail over one region (Cai et al.,
 * fig. 3). It belongs to its drail_t: rule 4. */
typedef struct drail_mem drail_mem_t;

typedef enum drail_access {
    DRAIL_ACCESS_LOCAL = 0, /**< only for operations of this rank */
    DRAIL_ACCESS_REMOTE_READ = 1,
    DRAIL_ACCESS_REMOTE_WRITE = 2,
    DRAIL_ACCESS_REMOTE_ATOMIC = 4,
    DRAIL_ACCESS_ALL = 7,
    /** The caller promises that the memory stays mapped until drail_close().
     * Then the registration may be kept after its release, and serve again.
     * Without the promise the last release deregisters at once, as another
     * mapping could take the address. drail_mem_alloc() ignores the flag. */
    DRAIL_ACCESS_KEEP = 8,
    /** Only a source: of this rank's puts and sends, and with REMOTE_READ of
     * peers' reads. The memory need not be writable (PROT_READ). Not with
     * REMOTE_WRITE or REMOTE_ATOMIC, nor for drail_mem_alloc(). */
    DRAIL_ACCESS_READ_ONLY = 16,
} drail_access_t;

/** What a peer needs to reach registered memory. Plain data: send it to peers
 * as it is. */
typedef struct drail_key {
    uint64_t address;
    uint64_t bytes;
    uint32_t nrails;
    uint32_t rmr_context[DRAIL_MAX_RAILS];
} drail_key_t;

/**
 * Allocates zeroed, page-aligned memory that other processes of the host can
 * map (memfd), and registers it.
 * @param rail open.
 * @param bytes more than 0.
 * @param access DRAIL_ACCESS_… flags.
 * @param address set to the memory, which drail_mem_release() frees.
 * @param mem owned by the caller until drail_mem_release().
 * @return 0, DRAIL_EINVAL, DRAIL_ENOMEM, DRAIL_EDAT.
 */
int drail_mem_alloc(drail_t *rail, size_t bytes, unsigned access,
                    void **address, drail_mem_t **mem);
/**
 * Registers memory of the caller. Registrations are shared: for local access
 * with any local registration that covers the range; for remote access only
 * with one of the same range and access, so that a key grants no more than was
 * asked for, and nothing after its release (unless DRAIL_ACCESS_KEEP keeps it).
 * With providers that carry out RDMA reads as writes of the peer (iWARP), keys
 * of all memory without DRAIL_ACCESS_READ_ONLY also let peers write.
 * @param rail open.
 * @param address start of the memory, which stays mapped until the release.
 * @param bytes more than 0.
 * @param access, mem as for drail_mem_alloc().
 * @return as for drail_mem_alloc().
 */
int drail_mem_register(drail_t *rail, void *address, size_t bytes,
                       unsigned access, drail_mem_t **mem);
/**
 * Makes a handle of a part of @p mem, with the same access. Cheap: both share
 * the registration, and either may be released first. The calls of this library
 * keep peers within the part; a peer that ignores them could reach all of mem.
 * @param mem a handle that covers the part.
 * @param address start of the part.
 * @param bytes of the part; more than 0.
 * @param view owned by the caller until drail_mem_release().
 * @return 0; DRAIL_EINVAL: the part is not within @p mem; DRAIL_ENOMEM.
 */
int drail_mem_view(drail_mem_t *mem, void *address, size_t bytes,
                   drail_mem_t **view);
/**
 * Makes a handle, as drail_mem_view() does, of a range of which only the
 * address is known. The memory stays mapped until this handle, too, is
 * released.
 * @param rail open.
 * @param address start of the range.
 * @param bytes of the range.
 * @param access what the handle must allow.
 * @return NULL: no handle of memory of drail_mem_alloc() that is still held
 * covers the range and allows that access; or out of memory.
 */
drail_mem_t *drail_mem_find(drail_t *rail, const void *address, size_t bytes,
                            unsigned access);
/**
 * Releases a handle. The last handle of a registration also ends it, and frees
 * memory of drail_mem_alloc().
 * If a peer may be inside the memory, a provider may wait for it, up to a
 * second on each rail.
 * @return 0; DRAIL_EINVAL for NULL; DRAIL_EDAT: the provider refuses while a
 * peer is inside the memory. Then the memory must stay; the handle can only be
 * released again, or drail_close() does it.
 */
int drail_mem_release(drail_mem_t *mem);
/** The same, but waits for no peer. (On a rail whose provider lacks the
 * attribute lmr_try_free, it waits as drail_mem_release() does.) After
 * DRAIL_EDAT no peer begins to access the memory, and the call has asked the
 * peers that may be inside. Call drail_progress() and this function in turn: it
 * returns 0 when all have answered. */
int drail_mem_try_release(drail_mem_t *mem);
/** Writes what peers need to reach @p mem. Every call refuses the key of memory
 * without remote access. */
void drail_mem_key(const drail_mem_t *mem, drail_key_t *key);

/** Counts since drail_open(). */
typedef struct drail_cache_stats {
    uint64_t hits, misses; /**< registrations that were shared, and made */
    uint64_t evictions;
    unsigned kept; /**< now, without a handle: DRAIL_ACCESS_KEEP */
} drail_cache_stats_t;
/** Writes the statistics of the registration cache. */
void drail_cache_stats(const drail_t *rail, drail_cache_stats_t *stats);

/* ---------------------------------------------------------- operations --- */

/** Storage of a non-blocking operation, of the caller: it stays in place until
 * drail_test() or drail_wait() says that the operation is complete, or
 * drail_forget(). Nothing is allocated per message. */
typedef struct drail_req {
    uint64_t opaque[8];
} drail_req_t;

/** A contiguous transfer between local registered memory and remote memory. */
typedef struct drail_xfer {
    void *local;               /**< within local_mem */
    drail_mem_t *local_mem;    /**< a handle of this drail_t */
    const drail_key_t *remote; /**< the peer's, from drail_mem_key() there */
    uint64_t remote_offset;    /**< bytes from the start of the remote memory */
    size_t bytes;              /**< 0: the other fields are not used */
} drail_xfer_t;

typedef enum drail_flags {
    DRAIL_NOTIFY = 1,    /**< deliver a notification after the data */
    DRAIL_ALL_RAILS = 2, /**< the notification travels over every rail, also
                            over those that carry no data of the message */
    DRAIL_NOWAIT = 4,    /**< if the peer is not connected yet, return
                              DRAIL_EAGAIN and start nothing. The same, with
                              DRAIL_NOTIFY or for drail_get(), if there is no
                              credit of the peer or no room in a queue */
    DRAIL_EAGER = 8, /**< with DRAIL_NOTIFY, over rails that are polled (rule
                          5): up to 16 KiB for each rail may travel with the
                          notification. From half of the stripe threshold on,
                          and 4 KiB, such puts are striped, unless the caller
                          names a rail or the policy has no parts. With policy
                          adaptive, up to 16 KiB in all. See drail_put() */
} drail_flags_t;
/** Flag of drail_put() and drail_get(): a message shorter than
 * drail_config_t.stripe_threshold uses this rail. If the rail does not reach
 * the peer, those that do take turns. Engine single ignores it. */
#define DRAIL_ON_RAIL(rail) (((unsigned)(rail) + 1) << 8)

/**
 * Starts an RDMA write, striped over the rails. With DRAIL_NOTIFY the peer gets
 * a notification when all data are visible there: rule 7.
 *
 * With DRAIL_EAGER, and if the data travel with the notification: the put is
 * complete at once and its source free; the data appear when the notification
 * is delivered, not earlier; drail_fence() does not wait for them. Until the
 * peer has taken the notification and said so, later puts, gets and atomics of
 * the same memory may overtake the data. If the key does not grant the write,
 * the target ends the connection, by DRAIL_EDAT there and DRAIL_EPEER here.
 *
 * A put with a notification needs a credit of the peer: cfg.depth limits how
 * many the peer has not yet taken. Without a credit, or without room in a
 * queue, the call makes progress until there is one, within timeout_ms, unless
 * DRAIL_NOWAIT is set.
 * @param rail open.
 * @param peer another rank.
 * @param xfer need not outlive the call; its memory must: rule 6.
 * @param flags of drail_flags_t, and DRAIL_ON_RAIL().
 * @param id value of the notification.
 * @param req started; or NULL: the put is complete after drail_fence().
 * @return 0: started; DRAIL_EINVAL; DRAIL_EAGAIN: only with DRAIL_NOWAIT;
 * DRAIL_ETIMEOUT: no connection, credit or room in time; DRAIL_EPEER;
 * DRAIL_EINTR; DRAIL_EDAT; DRAIL_ENOMEM. After an error nothing of it is under
 * way; if it had begun, the connection has ended.
 */
int drail_put(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req);
/**
 * Starts an RDMA read, striped over the rails; otherwise as drail_put(). Of the
 * flags it takes DRAIL_NOWAIT and DRAIL_ON_RAIL().
 */
int drail_get(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, drail_req_t *req);
/** Sends a notification without data: a put of 0 bytes with DRAIL_NOTIFY. */
int drail_notify(drail_t *rail, unsigned peer, unsigned flags, uint32_t id);
/**
 * Takes the next notification of @p peer, and waits for it: rules 3, 7.
 * @param rail open.
 * @param peer another rank.
 * @param id set to the id of its put; may be NULL.
 * @param timeout_ms 0: do not wait.
 * @return 0; DRAIL_EAGAIN: none, and timeout_ms is 0; DRAIL_ETIMEOUT;
 * DRAIL_EPEER; DRAIL_EINTR; DRAIL_EINVAL.
 */
int drail_notify_wait(drail_t *rail, unsigned peer, uint32_t *id,
                      int timeout_ms);
/**
 * A number that grows while long operations go on, for callers that bound their
 * waits themselves. For this rank it grows when its own operations complete,
 * with any peer; for another rank, when parts of that rank's notified puts to
 * this rank arrive, or that rank reads messages of this rank. Makes no
 * progress.
 */
uint64_t drail_moved(const drail_t *rail, unsigned rank);
/** Takes the next notification of @p peer if it has arrived. Makes no progress
 * and does not connect. With many peers: call drail_progress() once, then this
 * for each peer that drail_notify_any() names. @return 0, DRAIL_EAGAIN: none;
 * DRAIL_EPEER; DRAIL_EINVAL. */
int drail_notify_test(drail_t *rail, unsigned peer, uint32_t *id);
/** Finds a peer with a notification that was not taken: the first rank from @p
 * from on. Makes no progress. Its time depends on how many notifications there
 * are, not on how many ranks. @return 0; DRAIL_EAGAIN: there is none;
 * DRAIL_EINVAL. */
int drail_notify_any(drail_t *rail, unsigned from, unsigned *peer);
/**
 * Makes a step of progress with all peers, without waiting: rule 5.
 * @return 0, or the error of a rail.
 */
int drail_progress(drail_t *rail);

/** A lock of a drail_t that several threads use in turn: calls on the job (rule
 * 4) make progress on it only between enter and leave. */
typedef struct drail_guard {
    bool (*enter)(void *context); /**< tries to lock, without waiting; false:
                                     the drail_t is in use */
    void (*leave)(void *context); /**< unlocks */
    void *context;                /**< passed to both; stays the caller's */
} drail_guard_t;
/** Sets the guard of a drail_t, copied; NULL: none. Before other threads use
 * the drail_t. */
void drail_set_guard(drail_t *rail, const drail_guard_t *guard);

/**
 * Sends a message to drail_recv() of @p peer, and waits until the buffer may be
 * used again. Rule 7.
 *
 * Up to eager_bytes the message is copied and needs a credit of the peer, as
 * notifications do. Without any call of the peer, at least half of cfg.depth
 * messages and notifications can be sent; the peer gives more when it takes
 * them. So if two ranks both send many messages before they receive, both end
 * by DRAIL_ETIMEOUT. After DRAIL_ETIMEOUT or DRAIL_EINTR the message has not
 * been sent.
 *
 * With DRAIL_EAGER_AUTO, a somewhat longer message is copied, too, and goes in
 * pieces, each of which needs a credit:
 *  - over rails that are polled (rule 5), with a cfg.depth of 16 or more, up to
 *    64 KiB in pieces of 16 KiB. With several rails, the first such send after
 *    a drail_recv() from that peer does not: it uses rendezvous.
 *  - over shared memory, with a cfg.depth of 64 or more, up to 128 KiB in
 *    pieces of 8 KiB, unless @p mem is given.
 *
 * A longer message (rendezvous) waits until the peer has read it by striped
 * RDMA. After DRAIL_ETIMEOUT or DRAIL_EINTR in this wait:
 *  - If @p mem was given, or the memory has another registration, the
 *    connection has ended, even if the peer had not begun to read.
 *  - Else, if the peer had not begun, it will not receive the message, and the
 *    connection stays.
 *  - Else the peer receives all of the message unchanged, or the connection
 *    ends.
 * @param rail open.
 * @param peer another rank.
 * @param buffer the message.
 * @param bytes may be 0.
 * @param mem handle of the buffer with DRAIL_ACCESS_REMOTE_READ, for
 * rendezvous; NULL: the call registers the buffer.
 * @return 0, also if the peer's buffer is too short: its call returns
 * DRAIL_ETRUNC; DRAIL_EINVAL; DRAIL_ETIMEOUT; DRAIL_EINTR; DRAIL_EPEER;
 * DRAIL_ENOMEM, DRAIL_EDAT: here, or in the peer that reads.
 */
int drail_send(drail_t *rail, unsigned peer, const void *buffer, size_t bytes,
               drail_mem_t *mem);
/**
 * Receives the next message of @p peer: rules 3, 7.
 *
 * If the call ends by DRAIL_ETIMEOUT or DRAIL_EINTR, or by DRAIL_EAGAIN if @p
 * timeout_ms is 0, while the message is being read (rendezvous, or in pieces),
 * the reading goes on. Call it again with the same buffer, which must stay in
 * place until then, or until drail_close(). Another buffer is DRAIL_EINVAL.
 * @param rail open.
 * @param peer another rank.
 * @param buffer for the message.
 * @param capacity bytes of @p buffer.
 * @param received set to the length of the message, also for DRAIL_ETRUNC and
 * while the message is being read; may be NULL.
 * @param timeout_ms 0: do not wait.
 * @return 0; DRAIL_ETRUNC: the message is longer than the buffer, and is gone;
 * DRAIL_EAGAIN; DRAIL_ETIMEOUT; DRAIL_EINTR; DRAIL_EPEER; DRAIL_EINVAL;
 * DRAIL_ENOMEM, DRAIL_EDAT: the buffer can't be registered (rendezvous), and
 * the message is gone.
 */
int drail_recv(drail_t *rail, unsigned peer, void *buffer, size_t capacity,
               size_t *received, int timeout_ms);

typedef enum drail_atomic { DRAIL_FETCH_ADD, DRAIL_CMP_SWAP } drail_atomic_t;
/**
 * Carries out an atomic operation on 8 bytes of remote memory, and waits for
 * its result. All atomics of all ranks use the first rail that all ranks share,
 * so that they are atomic with each other. They use the IB extension if that
 * rail offers it, else a message to the target, which serves it inside its own
 * calls; see drail_serves_atomics().
 *
 * @p peer may be this rank, with a key of its own memory. If the rail's adapter
 * does atomics, and its attribute `atomics` does not say that they are atomic
 * with the processor's, the first such call connects the rail to itself, within
 * connect_timeout_ms.
 * @param rail open.
 * @param peer any rank.
 * @param op DRAIL_FETCH_ADD or DRAIL_CMP_SWAP.
 * @param remote key with DRAIL_ACCESS_REMOTE_ATOMIC.
 * @param remote_offset bytes; the address must be a multiple of 8.
 * @param operand added (DRAIL_FETCH_ADD), or written if the old value equals @p
 * compare (DRAIL_CMP_SWAP).
 * @param compare for DRAIL_CMP_SWAP.
 * @param old set to the value before; may be NULL.
 * @return 0; DRAIL_EINVAL; DRAIL_EACCESS: the key does not allow it;
 * DRAIL_ENOTSUP: this rank and others reach the target by different kinds of
 * rails, whose atomics do not know of each other; DRAIL_EPEER, with the
 * extension also while the rail is broken: the sentence says if nobody knows
 * whether the atomic was carried out; DRAIL_ETIMEOUT: it may still be carried
 * out, and the next atomic by message to this target waits for that first;
 * DRAIL_EINTR: as DRAIL_ETIMEOUT; DRAIL_EDAT; DRAIL_ENOMEM.
 */
int drail_atomic(drail_t *rail, unsigned peer, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t remote_offset,
                 uint64_t operand, uint64_t compare, uint64_t *old);

/** True if atomics of other ranks on this rank's memory need its calls (rule
 * 5): no rail reaches every rank, or the first that does offers no atomics, or
 * DRAIL_EXTENSIONS is 0. */
bool drail_serves_atomics(const drail_t *rail);

/**
 * Make progress (drail_test) or wait (drail_wait) until an operation of
 * drail_put() or drail_get() is complete: rules 3, 5. With timeout_ms 0
 * drail_wait() is the same as drail_test().
 * @return 0: complete; DRAIL_EAGAIN: not yet; DRAIL_ETIMEOUT, DRAIL_EINTR: not
 * yet, and still under way; else the error with which it has ended.
 */
int drail_test(drail_t *rail, drail_req_t *req);
int drail_wait(drail_t *rail, drail_req_t *req, int timeout_ms);
/** Gives up @p req, which may be freed or used again. A transfer under way goes
 * on, and its memory must stay registered until drail_fence(). */
void drail_forget(drail_t *rail, drail_req_t *req);
/**
 * Waits until all puts with data and all gets to @p peer are complete. It does
 * not wait for messages, notifications and eager puts: drail_close() does.
 * @return 0, or the error of rules 3 and 9.
 */
int drail_fence(drail_t *rail, unsigned peer);

/* ---------------------------------------------------------- statistics --- */

/** The state of a rail: the worst of its links to this rank's peers. */
typedef enum drail_rail_state {
    DRAIL_RAIL_UP,         /**< no link is lost or has ended; also if none has
                                been up yet */
    DRAIL_RAIL_CONNECTING, /**< a link is being connected again; its messages go
                                over others */
    DRAIL_RAIL_DETOUR,     /**< messages of a link go over others */
    DRAIL_RAIL_LOST,  /**< a link is lost; both ends find out what arrived */
    DRAIL_RAIL_ENDED, /**< a link has ended, with all others to its peer */
    DRAIL_RAIL_DOWN,  /**< a link has ended, others to its peer have not */
} drail_rail_state_t;

/** Counts since drail_open(). */
typedef struct drail_rail_stats {
    uint64_t put_bytes, get_bytes, send_bytes;
    uint64_t puts, gets, sends, recvs;
    uint64_t busy_ns;     /**< policy adaptive: time with RDMA under way */
    double weight;        /**< present share of a long message; the sum over all
                               rails is 1. Adaptive, auto: at the size that was
                               striped last */
    double measured_MBps; /**< rate that policy adaptive, or engine auto over
                               TCP, has measured at that size; or 0 */
    bool up;              /**< state is DRAIL_RAIL_UP */
    drail_rail_state_t state;
    uint64_t failures; /**< links lost whose messages went on over others;
                            both ends count */
    uint64_t retries;  /**< DTOs of this rail that were posted again, … */
    uint64_t carried;  /**< … or went over another link, … */
    uint64_t carried_bytes; /**< … with so many bytes */
    uint64_t lost_ns;  /**< from each loss until messages went on, in all */
    uint64_t down_ns;  /**< time in which at least one link was lost */
    unsigned links;    /**< to this rank's peers, without those that connect for
                            the first time, … */
    unsigned links_up; /**< … and those that are up now */
} drail_rail_stats_t;

/** "up", "connecting", "detour", "lost", "ended", "down", or "unknown". */
const char *drail_rail_state_name(drail_rail_state_t state);

/** Writes the statistics of rail @p index; zeros: there is no such rail. */
void drail_rail_stats(const drail_t *rail, unsigned index,
                      drail_rail_stats_t *stats);

/**
 * Says in one line which rails would carry a message now, how much each, and
 * why: by engine, policy, and what has been measured.
 * @param rail open.
 * @param bytes of the message.
 * @param text becomes the line.
 * @param size bytes of @p text; longer lines are cut.
 */
void drail_explain(drail_t *rail, size_t bytes, char *text, size_t size);

/** Says whether rails @p a and @p b share a port, an adapter or a bus, by the
 * IAs' addresses and the names of adapters and buses. @return a constant
 * sentence, or NULL: not known to share any. */
const char *drail_rails_shared(const drail_t *rail, unsigned a, unsigned b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of railbench: values of all options; tables of options,
 * common ones and those of a test.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/stats/sampling.h"
#include "coll/dcoll.h"
#include "sizes.h"

typedef enum format {
    FORMAT_TABLE,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_HISTOGRAM /**< CSV of all times, of --histogram */
} format_t;

/** Units of a bandwidth, or of a rate of messages, in tables. */
typedef enum unit { UNIT_MBPS, UNIT_GBPS, UNIT_MMSGS, UNITS } unit_t;
#define UNIT_NAMES "MB/s", "Gb/s", "Mmsg/s"

/** Most files of --save. */
#define SAVES_MAX 8
/** Most operands of a test. */
#define OPERANDS_MAX 2
/** Most shapes of --shapes. */
#define SHAPES_MAX 16
#define RANKS_MAX  DRAIL_MAX_RANKS
/** Most names of --pattern, and bytes of one. */
#define PATTERNS_MAX     8
#define PATTERN_NAME_MAX 256
/** Most names of --algorithm. */
#define ALGORITHMS_MAX 32

typedef enum zero_copy {
    ZERO_COPY_AUTO,
    ZERO_COPY_ON,
    ZERO_COPY_OFF
} zero_copy_t;

/** How the repetitions of a collective start. */
typedef enum start_mode {
    START_AUTO,    /**< at a time if every rank has a core, else a barrier */
    START_TIME,    /**< all ranks wait for the same time */
    START_BARRIER, /**< after a barrier */
} start_mode_t;

/** What moves the messages between two ranks. */
typedef enum op_kind {
    OP_PUT,       /**< RDMA writes of rank 0's */
    OP_GET,       /**< RDMA reads of rank 0's */
    OP_SEND,      /**< two-sided: sends of rank 0's, receives of rank 1's */
    OP_FETCH_ADD, /**< atomics of rank 0's, of 8 bytes */
    OP_CMP_SWAP,
    OP_KINDS
} op_kind_t;
#define OP_NAMES "put", "get", "send", "fetch-add", "cmp-swap"

/** Parts of the test of shared memory. */
typedef enum dsm_kind {
    DSM_FETCH,
    DSM_RANGE,
    DSM_DIFF,
    DSM_LOCK,
    DSM_BARRIER,
    DSM_JACOBI,
    DSM_LU,
    DSM_SORT,
    DSM_NBODY,
    DSM_PARTS
} dsm_kind_t;

/** How an irregular all-to-all tells where its elements go. */
typedef enum interface {
    INTERFACE_COUNTS,
    INTERFACE_ELEMENTS,  /**< each says it */
    INTERFACE_NEIGHBORS, /**< by lists of the ranks that get some */
    INTERFACES
} interface_t;

/** How a collective is called. */
typedef enum call {
    CALL_PERSISTENT, /**< a request on registered memory, started again */
    CALL_BLOCKING,   /**< a blocking call on memory like that of malloc */
} call_t;

typedef struct options {
    char rails[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    unsigned nrails;
    drail_engine_t engines[4];
    unsigned nengines;
    drail_team_t teams[2];
    unsigned nteams;
    drail_policy_t policies[5];
    unsigned npolicies;
    drail_waiting_t waitings[2]; /**< of nonthreaded and auto */
    unsigned nwaitings;
    drail_notify_by_t notify_bys[3];
    unsigned nnotify_bys;
    op_kind_t ops[3];
    unsigned nops;
    bool notified; /**< ping-pong: nobody polls for a message's end */
    double weights[DRAIL_MAX_RAILS];
    unsigned nweights;  /**< 0: none given */
    uint64_t threshold; /**< THRESHOLD_DEFAULT: that of the library */
    uint64_t eps;       /**< EPs for each rail and peer */
    uint64_t align;     /**< borders of stripes, 0: as the library does */
    uint64_t sizes[SIZES_MAX];
    unsigned nsizes;
    uint64_t ranks;          /**< 0 until main has settled it */
    uint64_t ppn;            /**< 0: all on one node */
    bool by_host;            /**< nodes are launched ranks' hosts, with at most
                                  ppn each */
    uint64_t rank;           /**< at the rendezvous, RANK_DEFAULT: not given */
    const char *rendezvous;  /**< NULL: not given */
    bool server;             /**< waits for a client, see launch/pairing.h */
    const char *host, *code; /**< of a client: where its server is, and what
                                  that has printed; NULL: not given */
    struct table_copy {
        char *text;
        size_t size;
    } * copy; /**< where rank 0 leaves its table for the client; NULL: nowhere
               */
    const char *secret;      /**< file of the rendezvous's secret, NULL: by
                                  code or environment */
    const char *simulated;   /**< platform whose rails these are, or NULL */
    drail_cluster_t cluster; /**< ... that it describes */
    double connect_time;     /**< seconds for the ranks to meet */
    bool fork;               /**< whatever has started this process */
    drail_launch_t *launch;  /**< NULL: this test runs no job */
    bool follows;            /**< another process is rank 0, and reports */
    unsigned local, locals;  /**< this process among the ranks of its host that
                                  have been launched; locals 0: none have */
    cpu_set_t allowed;       /**< cores of one that has been, until it pins */
    uint64_t batch;          /**< RDMA writes per batch */
    uint64_t window;         /**< messages under way, 0: batch after batch */
    uint64_t buffers;        /**< that messages take in turn, 0: not given, or
                                  BUFFERS_OFF_CACHE */
    bool read;               /**< who gets messages reads each byte */
    bool consume;            /**< a ping-pong's messages are copied out */
    uint64_t iterations;     /**< batches per repeat, 0: chosen by time */
    uint64_t warmup;         /**< batches dropped before each size, or
                                  WARMUP_DEFAULT */
    uint64_t repeat;    /**< number of repeats, 0: by precision and budget */
    double precision;   /**< wanted half width of the CI over the median */
    double time_budget; /**< seconds for the whole run */
    struct series_options {
        unsigned index, count; /**< count 0: this is the only measurement */
        double seconds;  /**< an even share of the command's time_budget */
        uint64_t end_ns; /**< when all of that is over, by clock_ns() */
    } series;            /**< one of several measurements that share the time */
    bool no_payload;     /**< buffers are never touched (simulated rails) */
    bool validate, no_pin, per_rail, explain, rail_stats;
    char algorithms[ALGORITHMS_MAX][DRAIL_NAME_MAX];
    unsigned nalgorithms; /**< 0: auto */
    dcoll_collective_t collectives[DCOLL_ALLTOALLV + 1];
    unsigned ncollectives; /**< 0: all */
    uint64_t ports;        /**< 0: one per rail */
    uint64_t groups;       /**< of mc-groups, 0: its default */
    uint64_t root;
    bool in_place;
    bool unequal;      /**< blocks of different sizes (coll/unequal.h) */
    dcoll_type_t type; /**< of reductions */
    dcoll_operator_t op;
    bool paced; /**< a step of messages after the other */
    zero_copy_t zero_copy;
    start_mode_t start;
    call_t calls[2];        /**< of collectives of equal blocks */
    unsigned ncalls;        /**< 0: persistent ones */
    bool each;              /**< single ones after a common start, too */
    bool overlap;           /**< non-blocking ones with computation, too */
    uint64_t overlap_tests; /**< looks at each of these meanwhile */
    struct shape {
        uint64_t ranks, ppn; /**< ppn 0: all on one node */
    } shapes[SHAPES_MAX];
    unsigned nshapes;       /**< 0: only ranks and ppn above */
    const char *table;      /**< of railbench tune, NULL: the built-in one */
    bool schedule;          /**< verify: show the operations */
    uint64_t draws;         /**< verify: variants that are drawn for each row */
    uint64_t seed;          /**< verify: from where, 0: from the clock */
    const char *nodes;      /**< verify: ranks of each node, NULL: by ppn */
    const char *rank_ports; /**< verify: ports of each rank, the last one of all
                                 further ranks; NULL: all have as many */
    uint64_t element;       /**< verify: bytes, of reductions; 0: by the size */
    struct goal_options {
        bool write;  /**< verify: the schedule as GOAL */
        double unit; /**< ... units of time for a byte that is copied */
        double latency, overhead, gap, byte; /**< LogGP, in units of time */
    } goal;
    struct degrade_options {
        uint64_t time_ns;     /**< of each run */
        uint64_t interval_ms; /**< over which rates are taken */
        uint64_t window;      /**< messages under way */
        const char *events;   /**< NULL: the usual ones */
        const char *on_event; /**< command, NULL: cables */
    } degrade;
    struct alltoallv_options {
        char patterns[PATTERNS_MAX][PATTERN_NAME_MAX];
        unsigned npatterns; /**< 0: all but files */
        uint64_t element;   /**< bytes */
        uint64_t rest;   /**< elements: "a small number" of Liu et al. 2002 */
        double exponent; /**< of zipf */
        uint64_t seed;   /**< of what is drawn */
        interface_t interfaces[INTERFACES];
        unsigned ninterfaces;
        bool persistent;
        bool bounded; /**< blocking calls state their bounds */
        /* of the model, microseconds (a byte), < 0: measured */
        double ts, tm, tc, td;
        double contention; /**< its factor f_nc */
    } alltoallv;
    struct apps_options {
        uint64_t draw; /**< seed of the random problem */
        double rate;   /**< operations per second of a simulated rank */
        uint64_t bodies, steps;
        uint64_t rebalance; /**< steps between two deals of the bodies */
        double theta;       /**< opening angle */
        uint64_t keys;
        uint64_t bits, digit; /**< of a key, and of what a pass sorts by */
    } apps;
    struct dsm_options {
        dsm_kind_t parts[DSM_PARTS];
        unsigned nparts;               /**< 0: all */
        uint64_t page;                 /**< bytes, 0: the system's */
        uint64_t pages;                /**< that are fetched, or written */
        uint64_t ahead;                /**< ddsm_config_t.ahead */
        uint64_t rows, columns, steps; /**< of jacobi; steps of nbody, too */
        uint64_t order, keys, bodies;  /**< of lu, sort and nbody */
        double rate; /**< operations per second of a simulated rank */
    } dsm;
    format_t format;
    unit_t units[UNITS]; /**< columns of tables */
    unsigned nunits;
    const char *histogram;  /**< file for all single times, NULL: none */
    const char *output;     /**< NULL: standard output */
    char *saves[SAVES_MAX]; /**< further files, owned (options_free) */
    unsigned nsaves;
    const char *operands[OPERANDS_MAX];
    int argc; /**< the exact command, for the report */
    char **argv;
} options_t;

#define THRESHOLD_DEFAULT      UINT64_MAX
#define RANKS_DEFAULT          2
#define RANK_DEFAULT           UINT64_MAX
#define WARMUP_DEFAULT         UINT64_MAX
#define BUFFERS_OFF_CACHE      UINT64_MAX
#define BUFFERS_OFF_CACHE_NAME "off-cache"

/* Defaults on simulated rails; ranks: most of them. */
#define SIMULATED_RANKS      32
#define SIMULATED_ITERATIONS 4
#define SIMULATED_WARMUP     1

struct option_row;
struct option_table;

/** Reads @p text into @p field of the options. @return 0, or -1 with what is
 *  allowed in @p allowed. */
typedef int option_parser_t(const struct option_row *row, const char *text,
                            void *field, char *allowed, size_t size);

/** Names that an option takes, whose values count from @p first on. */
typedef struct option_names {
    const char *const *list; /**< ends with NULL */
    int first;
    size_t count; /**< of a list of some: offset of their number in options_t */
    unsigned most; /**< ... and how many there may be */
} option_names_t;

/** One row of an option table. */
typedef struct option_row {
    const char *name;  /**< "--batch" */
    const char *value; /**< name of its value in the help, NULL: takes none */
    const char *help;
    option_parser_t *parse;
    size_t field; /**< offset in options_t */
    double min, max;
    const option_names_t *names; /**< that its value is of; NULL: any */
} option_row_t;

option_parser_t option_parse_count, option_parse_number, option_parse_flag;
/** A time, for a double: seconds; microseconds. */
option_parser_t option_parse_seconds, option_parse_us;
/** What the user has called the option @p name: that, or an alias. */
const char *option_typed(const options_t *opts, const char *name);
/** The row of what @p arg, with or without a value, names; NULL: none. */
const struct option_row *option_find(const struct option_table *table,
                                     const char *arg);
/** Has the user named it? */
bool option_given(const options_t *opts, const char *name);
/** Takes the next element of a comma-separated list; false at its end. An
 *  element that doesn't fit is cut, and so is unknown to the caller. */
bool option_next(const char **text, char *element, size_t size);

/** Fills in the defaults. @p sizes as for --sizes. */
void options_init(options_t *opts, const char *sizes);

/** Default of --engine of collectives, whose ranks share the cores: no threads.
 */
void options_one_engine(options_t *opts);

/** Groups of common options. */
typedef enum option_groups {
    OPTIONS_RAILS = 1,       /**< rails, ranks, and how messages use them */
    OPTIONS_REPEATS = 2,     /**< sizes, and how often each is measured */
    OPTIONS_SHAPE = 4,       /**< ranks, nodes, ports, sizes: of schedules */
    OPTIONS_COLLECTIVE = 8,  /**< --collective */
    OPTIONS_ALGORITHM = 16,  /**< algorithms and what they take */
    OPTIONS_TEAM = 32,       /**< how collectives start */
    OPTIONS_PAIR = 64,       /**< what to tell of single rails */
    OPTIONS_SHAPES = 128,    /**< several shapes */
    OPTIONS_SELECT = 256,    /**< by what auto selects */
    OPTIONS_SIZES = 512,     /**< sizes alone */
    OPTIONS_STATS = 1024,    /**< what to tell of the rails in the end */
    OPTIONS_BLOCKS = 2048,   /**< what algorithms for equal blocks take */
    OPTIONS_ELEMENTS = 4096, /**< no sizes: the test has its own */
    OPTIONS_HOLLOW = 8192,   /**< --no-payload: nobody looks at the bytes */
    OPTIONS_WAYS = 16384,    /**< ... and how their messages follow */
    OPTIONS_OVERLAP = 32768, /**< non-blocking calls beside computation */
    OPTIONS_SAMPLES = 65536, /**< how many repeats, without all the rest */
    OPTIONS_REDUCE = 131072, /**< what is reduced, and how */
    OPTIONS_RANK_PORTS = 262144, /**< --rank-ports */
} option_groups_t;

/** What a test takes: the options on output, which all tests have, groups of
 *  common options, options of its own, operands. */
typedef struct option_table {
    const char *command; /**< "railbench bw", for messages and help */
    const char *summary; /**< one line on what it measures */
    unsigned groups;
    const char *operands[OPERANDS_MAX]; /**< their names; all are needed */
    const option_row_t *rows;
    unsigned nrows;
} option_table_t;

typedef enum parsed {
    PARSED_OK,
    PARSED_HELP,  /**< help or version was printed: exit 0 */
    PARSED_WRONG, /**< one line went to stderr: exit 2 */
} parsed_t;

/** Parses @p nargs arguments (those after the test's name). */
parsed_t options_parse(options_t *opts, const option_table_t *table, int nargs,
                       char **args);

/** One line to stderr that names the option, its value and what is allowed. */
void option_wrong(const option_table_t *table, const char *option,
                  const char *value, const char *allowed);

/** Releases what the parser allocated. */
void options_free(options_t *opts);

/** Most ranks of a node: all, if nobody says less. */
uint64_t options_ppn(const options_t *opts);

/** dcoll_args_t.port_begin as --rank-ports says. @return the most ports of a
 *  rank, or 0 when one line went to stderr. */
unsigned options_rank_ports(const options_t *opts, const option_table_t *table,
                            unsigned nranks, unsigned *begin);

/** Batches dropped before each size, if they don't take too long. */
uint64_t options_warmup(const options_t *opts);
/** Buffers by which no message is written over before it can be read. */
uint64_t options_apart(const options_t *opts);
/** Buffers that messages take in turn, BUFFERS_OFF_CACHE, or 0: nothing was
 *  said of them; messages that are read lie apart. */
uint64_t options_buffers(const options_t *opts);
/** As --type and --op take them. */
const char *options_type(const options_t *opts);
const char *options_operator(const options_t *opts);
/** By which rule repeats are taken. */
sampling_t options_sampling(const options_t *opts);

/** Format by the ending of a file's name: .csv, .json, else the table. */
format_t format_of(const char *path);

#endif

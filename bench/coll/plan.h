/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The setups that one run of a collective compares: algorithms, and how their
 * messages use the rails. All setups are interleaved.
 */
#ifndef BENCH_COLL_PLAN_H
#define BENCH_COLL_PLAN_H

#include "coll/dcoll.h"
#include "coll/select/table.h"
#include "bench/coll/unequal.h"
#include "bench/counts/counts.h"
#include "bench/report/notes.h"
#include "bench/options/plan.h"

#define COLL_SETUPS_MAX 256

typedef struct coll_setup {
    const dcoll_algorithm_t *algorithm; /**< NULL: auto */
    zero_copy_t zero_copy;
    setup_t rail;
    call_t call;
    unsigned pattern; /**< with counts: of opts->alltoallv.patterns */
    interface_t interface;
} coll_setup_t;

typedef struct coll_plan {
    const options_t *opts;
    dcoll_collective_t collective;
    dcoll_shape_t shape;
    unsigned node_begin[RANKS_MAX + 1];
    unsigned port_begin[RANKS_MAX + 1]; /**< with --rank-ports */
    coll_setup_t setups[COLL_SETUPS_MAX];
    unsigned count;
    unequal_sizes_t unequal;
    const char *table_path; /**< NULL: auto selects by the built-in table */
    dcoll_table_t table;
    const counts_t *patterns;   /**< with counts: of each of the options' */
    dcoll_traffic_t traffic[2]; /**< ... the bounds of all of it, of
                                     calls with labels and without */
    uint64_t *counts; /**< ... zeros for the former's `counts`: the calls will
                           gather counts. NULL: they will not. Owned by the
                           caller */
    size_t buffer;    /**< ... and the bytes that a rank sends, or receives */
} coll_plan_t;

/** Checks the options and makes the plan, of which, with counts, the patterns'
 *  bounds are there already. @p notes gets what `all` leaves out.
 *  A table that can't be used is told on stderr and left out.
 *  @return 0, or -1 when one line went to stderr. coll_plan_free in either
 *  case. */
int coll_plan_make(coll_plan_t *plan, const options_t *opts,
                   const option_table_t *table, dcoll_collective_t collective,
                   notes_t *notes);

void coll_plan_free(coll_plan_t *plan);

/** The rails that a table is for: DCOLL_TABLE_RAILS bytes. */
void coll_table_rails(const options_t *opts, char *rails);

/** Only ranks, nodes and ports. */
void coll_plan_shape(coll_plan_t *plan, const options_t *opts);
/** A setup more, unless the plan is full. */
void coll_plan_add(coll_plan_t *plan, const dcoll_algorithm_t *algorithm,
                   zero_copy_t zero_copy, const setup_t *rail);

/** Do the buffers of all sizes fit the memory of this host? @return 0, or -1
 *  when one line went to stderr. */
int coll_plan_fits(const coll_plan_t *plan, const option_table_t *table);

/** What a reduction does, NULL: it is none. */
const dcoll_reduction_t *coll_plan_reduction(const coll_plan_t *plan);
/** Is there such a reduction, and are all sizes of whole elements? @return 0,
 *  or -1 when one line went to stderr. */
int coll_plan_check_elements(const coll_plan_t *plan,
                             const option_table_t *table);

/** Why the algorithm can't serve one of the sizes, or NULL. */
const char *coll_plan_refusal(const coll_plan_t *plan,
                              const dcoll_algorithm_t *algorithm,
                              zero_copy_t zero_copy);

/** The arguments of a setup, and the algorithm that serves it; NULL: with
 *  counts, only a call tells what auto takes. */
const dcoll_algorithm_t *coll_plan_args(const coll_plan_t *plan,
                                        const coll_setup_t *setup, size_t bytes,
                                        dcoll_args_t *args);

/** From how many bytes on `--zero-copy` does without copies. */
size_t coll_zero_copy_bytes(zero_copy_t zero_copy);

/** "auto", or the name of the algorithm. */
const char *coll_setup_algorithm(const coll_setup_t *setup);
/** "persistent" or "blocking". */
const char *coll_setup_call(const coll_setup_t *setup);
/** What --interface calls them. */
extern const char *const interface_names[INTERFACES];
/** With counts: one of these names. */
const char *coll_setup_interface(const coll_setup_t *setup);
/** Short name for people, e.g. "bruck nonthreaded zero-copy": only what
 *  differs between the setups of the plan. */
void coll_setup_label(const coll_plan_t *plan, const coll_setup_t *setup,
                      char *text, size_t size);

/** Blocks of a rank's buffers, and the bytes that a rank receives from
 *  others, or all of them do if only the root receives; of a reduction, those
 *  of its result. */
unsigned coll_send_blocks(const coll_plan_t *plan, unsigned rank);
unsigned coll_recv_blocks(const coll_plan_t *plan, unsigned rank);
uint64_t coll_received(const coll_plan_t *plan, uint64_t bytes);
/** Bytes whose rate nccl-tests calls bus bandwidth: what the busiest rank sends
 *  to others or receives from them at least. 0: none. */
double coll_bus_bytes(const coll_plan_t *plan, uint64_t bytes);
/** Bytes of a rank's buffers for the longest of the sizes. */
size_t coll_send_bytes(const coll_plan_t *plan, unsigned rank);
size_t coll_recv_bytes(const coll_plan_t *plan, unsigned rank);

#endif

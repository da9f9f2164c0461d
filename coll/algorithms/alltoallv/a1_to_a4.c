/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The irregular all-to-alls of Liu et al. 2002, each in three forms: blocking,
 * non-blocking (-n1), and non-blocking with two send buffers (-n2).
 *
 * A1 (section 3.1.1): one stage. Each rank sorts its elements by destination
 * and sends, in step i, to the rank i after it.
 * A2 (section 3.1.2; Ranka, Bader): two stages. The elements for each
 * destination go in equal slices to all ranks, and from there to their
 * destination.
 * A3 (section 3.1.3): two stages in a square array. The elements of (i1, j1)
 * for (i2, j2) go to (i1, j2) and then, with those of the other ranks of row
 * i1, to their destination.
 * mesh: A3 for any number of ranks, which the paper does not have; the array
 * and its pseudo-nodes are those of A4.
 * A4 (section 3.2): four stages for any number of ranks. Elements are
 * distributed evenly along rows and columns, and collected along both.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

#define FORM(id, id_name, id_summary, id_memory, id_depth, refuse, of,         \
             id_form)                                                          \
    const dcoll_algorithm_t id = {                                             \
        .name = id_name,                                                       \
        .collective = DCOLL_ALLTOALLV,                                         \
        .summary = id_summary,                                                 \
        .memory = id_memory,                                                   \
        .depth = id_depth,                                                     \
        .refuses = refuse,                                                     \
        .stages = &of,                                                         \
        .form = id_form,                                                       \
    };

#define FORMS(id, name, idea, paper, memory, refuse, of)                       \
    FORM(alltoallv_##id, name, idea paper, memory, 1, refuse, of, STAGES_B)    \
    FORM(alltoallv_##id##_n1, name "-n1", idea ", non-blocking" paper, memory, \
         1, refuse, of, STAGES_N1)                                             \
    FORM(alltoallv_##id##_n2, name "-n2",                                      \
         idea ", non-blocking, two send buffers" paper,                        \
         memory "; twice, and for each stage", 2, refuse, of, STAGES_N2)

FORMS(a1, "a1", "one stage", " (Liu et al. 2002, 3.1.1)",
      "TEMP: N messages to send, N received", stages_refuse, stages_a1)
FORMS(a2, "a2", "two stages, of slices dealt evenly",
      " (Liu et al. 2002, 3.1.2)", "TEMP: N messages to send, N received",
      stages_refuse, stages_a2)
FORMS(a3, "a3", "rows, then columns, of a square array",
      " (Liu et al. 2002, 3.1.3)",
      "TEMP: sqrt(N) messages to send, sqrt(N) received",
      stages_refuse_unsquare, stages_a3)
FORMS(mesh, "mesh", "rows, then columns, of any array",
      " (Liu et al. 2002, 3.1.3)",
      "TEMP: about sqrt(N) messages to send, sqrt(N) received", stages_refuse,
      stages_a3)
FORMS(a4, "a4", "distributed along rows and columns, collected along both",
      " (Liu et al. 2002, 3.2)",
      "TEMP: about sqrt(N) messages to send, sqrt(N) received", stages_refuse,
      stages_a4)

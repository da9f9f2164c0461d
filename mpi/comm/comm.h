/* SPDX-License-Identifier: BSD-3-Clause */
/* What the layer keeps for a communicator. */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include "mpi/choose/trials.h"
#include "mpi/layer.h"

#define MOST_RANKS    1024        /* of drail_job_join */
#define BUFFER_LEAST  (256 << 10) /* bytes, of send and recv from the start */
#define BUFFER_KEPT   (64 << 20)  /* bytes, of each buffer between calls */
#define LAYER_CLASSES 32          /* of block sizes: powers of two */

/* It grows, and is never initialised. */
struct buffer {
    void *data;
    size_t bytes;
};

/* The latest call of a collective, if libdcoll made it on the program's own
 * buffers: the same call again needs no checks. Contents: zeros. */
struct repeated_call {
    struct layer_call call;
    int64_t bytes; /* of a block */
    dcoll_call_t dcoll;
    bool is_set;
};

/* In the communicator's topology. */
struct neighbors {
    int *ranks, n; /* MPI_PROC_NULL: there is none in this direction */
};

/* Blocks of the latest call, in bytes, by rank. */
struct counted {
    size_t *counts;
    int root;
};

struct layer_comm {
    struct layer_comm *next; /* in free.c, the latest first */
    MPI_Comm inner;          /* the layer's own, of the same ranks; or null */
    int rank, size;
    drail_job_t *job;
    drail_t *rail;
    dcoll_team_t *team; /* NULL: the MPI below makes all calls, … */
    char why[256];      /* … for this reason */
    bool refused;       /* a rank could not make the team */
    bool deferred;      /* no team yet: break_even.c decides when */
    unsigned calls;     /* so far, while deferred */
    double gain;        /* seconds that a team might have saved in them */
    struct trials (*trials)[LAYER_CLASSES]; /* of each collective */
    struct repeated_call repeated[LAYER_COLLECTIVES];
    struct buffer send, recv, expected, counts;
    size_t *gathered;          /* bytes of each rank's block in the latest
                                  MPI_Allgatherv by libdcoll, … */
    struct counted counted[2]; /* … MPI_Scatterv and MPI_Gatherv */
    void *told;                /* by each rank, of its block (counted.c) */
    /* Bytes that send and recv have on all ranks, and that a rank could not
     * get. 0: not known */
    size_t reserved, refused_bytes;
    struct request_queue *queue; /* of calls that do not block; NULL: none */
    struct layer_comm *request_team; /* its team serves them instead; NULL:
                                        there is none. See request_team.c */
    bool wants_request_team;         /* as there have been such calls */
    bool lacks_request_team;         /* it could not be made */
    double saved; /* seconds, in blocking calls that libdcoll made */
    double spent; /* seconds, for teams, trials and preparation */
    bool has_topology;
    bool has_twins; /* a rank is twice the neighbour of another one: in a
                       dimension that wraps, or by an edge that occurs twice.
                       The same on all ranks */
    struct neighbors sources, destinations;
    bool freed;        /* by the program */
    bool ending;       /* this rank makes no more calls on it */
    MPI_Request ended; /* complete: no rank does */
};

/* ---- comm.c ---- */

/* That of @comm; made in its first call, by all of its ranks. NULL: no memory,
 * or no communicator. */
struct layer_comm *layer_comm_get(MPI_Comm comm);
/* NULL if there is none yet. */
struct layer_comm *layer_comm_find(MPI_Comm comm);
/* Called by MPI when the attribute is deleted. */
int layer_comm_forget(MPI_Comm comm, int key, void *value, void *extra);
/* The program frees @comm. */
void layer_comm_free(MPI_Comm comm);
/* DCOLL_MPI=stats: rank 0 says why the MPI below serves it. */
void layer_comm_tell_why(const struct layer_comm *c);

/* Has at least so many bytes afterwards. NULL: no memory. */
void *buffer_reserve(struct buffer *buffer, size_t bytes);
/* Gives back what exceeds BUFFER_KEPT. */
void layer_comm_trim(struct layer_comm *c);

/* ---- topology.c ---- */

/* Finds the neighbours. All ranks call it. An MPI error of this rank. */
int topology_open(struct layer_comm *c, MPI_Comm comm);
void topology_close(struct layer_comm *c);

/* ---- team.c ---- */

/* Makes the team that was deferred. All ranks call it. On failure c->why says
 * why, on all ranks. */
void layer_comm_make_team(struct layer_comm *c, MPI_Comm comm);
/* Has this rank fewer teams than it may have at a time? */
bool layer_comm_may_have_team(void);
void layer_comm_close_team(struct layer_comm *c);
/* libdcoll calls it while it waits: the MPI below makes progress, as peers may
 * need this rank's messages. @c: a struct layer_comm. */
void layer_progress_below(void *c);

/* ---- request_team.c ---- */

/* The one whose team serves requests. NULL: it has not been made yet. */
struct layer_comm *request_team(struct layer_comm *c);
/* This rank makes a call that does not block: it needs one. All ranks do. */
void request_team_want(struct layer_comm *c);
/* In a collective call that may block, by all ranks: makes it, if it is needed.
 */
void request_team_make(struct layer_comm *c);
/* As layer_comm_discard. */
void request_team_discard(struct layer_comm *twin);

/* ---- free.c ---- */

/* A new one: it will be ended. */
void layer_comm_enlist(struct layer_comm *c);
/* Frees one that no other rank needs. Waits for no other rank. */
void layer_comm_discard(struct layer_comm *c);

/* The program has freed it. Waits for no other rank. */
void layer_comm_end(struct layer_comm *c);
/* Ends those that all ranks have freed. */
void layer_comm_end_freed(void);
/* In MPI_Finalize: all, and waits for the other ranks. */
void layer_comm_end_all(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by which the ranks of a team agree, and what errors of libdcoll mean
 * for the program. */
#include <pthread.h>
#include <stdio.h>

#include "mpi/requests/queue.h"
#include "mpi/run/run.h"

/* One code for each kind of errors, as MPI has few: its text is that of the
 * latest. */
enum { DIED, IS_REVOKED, OTHER, KINDS };
static struct {
    int code;
    bool is_made;
} failures[KINDS];

static void make_errors(void)
{
    int class[KINDS] = {CLASS_DIED, CLASS_REVOKED, MPI_ERR_OTHER};
    bool made = !pmpi.Add_error_class(&class[OTHER]);
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind != OTHER && !pmpix.Comm_shrink)
            class[kind] = class[OTHER];
        failures[kind].is_made =
            made && !pmpi.Add_error_code(class[kind], &failures[kind].code);
    }
}

int team_error_code(const struct layer_comm *c, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (rc == DRAIL_ENOMEM && !dcoll_team_error(c->team))
        return LEFT_TO_MPI; /* on all ranks, before the call has begun */
    pthread_once(&once, make_errors);
    const int kind = rc == DRAIL_EPEER ? DIED
                     : rc == REVOKED   ? IS_REVOKED
                                       : OTHER;
    if (!failures[kind].is_made)
        return MPI_ERR_OTHER;
    if (c->queue) /* the progress thread may write the text */
        queue_lock(c->queue);
    snprintf(text, sizeof text, "dcoll_mpi: %s (%s)", dcoll_last_error(c->team),
             drail_strerror(rc));
    if (c->queue)
        queue_unlock(c->queue);
    pmpi.Add_error_string(failures[kind].code, text);
    return failures[kind].code;
}

int team_call_missed(const struct layer_comm *c, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    pmpi.Error_string(rc, text, &length);
    team_give_up(c, text);
    return rc;
}

bool team_is_lost(const struct layer_comm *c)
{
    int error = dcoll_team_error(c->team);
    return error == DRAIL_EPEER || error == DRAIL_EINVAL || error == REVOKED;
}

int team_call(struct layer_comm *c, const dcoll_call_t *call)
{
    int rc = team_run(c, call);
    if (rc && rc != DRAIL_ENOMEM && !dcoll_team_error(c->team))
        team_skip(c);
    return rc;
}

bool team_allgather(struct layer_comm *c, const void *mine, size_t bytes,
                    void *all)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes};
    return !team_call(c, &call);
}

int team_allreduce(struct layer_comm *c, const void *mine, void *all,
                   size_t bytes, dcoll_type_t type, dcoll_operator_t op)
{
    const dcoll_call_t call = {.collective = DCOLL_ALLREDUCE,
                               .send = mine,
                               .recv = all,
                               .bytes = bytes,
                               .reduction = dcoll_reduction(type, op)};
    return team_call(c, &call);
}

bool team_all_can(struct layer_comm *c, bool can)
{
    int32_t mine = can, all = 0;
    return !team_allreduce(c, &mine, &all, sizeof all, DCOLL_INT32,
                           DCOLL_MIN) &&
           all;
}

/* Only a rank itself knows whether it packs, so all ranks reserve. Pages that
 * are not used take addresses only. */
bool team_has_buffers(struct layer_comm *c, size_t bytes)
{
    size_t size = c->reserved ? c->reserved : BUFFER_LEAST;
    if (bytes <= size)
        return true;
    while (size < bytes)
        size *= 2;
    if (c->refused_bytes && size >= c->refused_bytes)
        return false;
    bool can = buffer_reserve(&c->send, size) && buffer_reserve(&c->recv, size);
    can = team_all_can(c, can);
    *(can ? &c->reserved : &c->refused_bytes) = size;
    return can;
}

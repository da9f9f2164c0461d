/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-2 (srun --mpi=pmi2) over the socket that PMI_FD names. No library is
 * needed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/launch/pmi2_wire.h"
#include "dapl_rail/job/socket.h"

#define KEY       "dapl_rail_root"
#define ANSWER_MS 10000 /* for answers that need no other rank */

struct pmi2 {
    struct kvs kvs;
    int fd;
    char text[PMI2_HEAD + PMI2_MOST + 1];
};

static int lost(int rc, const char *what, drail_error_t *err)
{
    if (rc == DRAIL_ETIMEOUT)
        return error_set(err, rc, "PMI-2: %s: no answer in time", what);
    return error_set(err, DRAIL_EJOB, "PMI-2: %s: %s", what,
                     rc ? "the launcher has ended the connection"
                        : "the launcher's answer is another one");
}

/* Sends x->text, and receives the answer into it. Any other answer than this
 * one, with rc=0, is an error. */
static int ask(struct pmi2 *x, size_t bytes, const char *answer,
               struct deadline deadline, drail_error_t *err)
{
    struct timed_socket s = {.fd = x->fd, .deadline = deadline};
    char name[64];
    int rc = bytes ? socket_send(&s, x->text, bytes) : DRAIL_EPEER;
    if (!rc)
        rc = socket_recv(&s, x->text, PMI2_HEAD);
    if (rc)
        return lost(rc, answer, err);
    size_t length = pmi2_length(x->text);
    if (length)
        rc = socket_recv(&s, x->text, length);
    x->text[rc ? 0 : length] = '\0';
    if (!pmi2_value(x->text, "cmd", name, sizeof name) ||
        strcmp(name, answer) || pmi2_number(x->text, "rc"))
        return lost(rc, answer, err);
    return 0;
}

/* The first line is of PMI-1: it names the version. */
static int agree_on_version(struct pmi2 *x, drail_error_t *err)
{
    static const char mine[] = "cmd=init pmi_version=2 pmi_subversion=0\n";
    struct timed_socket s = {.fd = x->fd, .deadline = deadline_in(ANSWER_MS)};
    size_t n = 0;
    int rc = socket_send(&s, mine, sizeof mine - 1);
    do {
        if (!rc)
            rc = socket_recv(&s, x->text + n, 1);
    } while (!rc && x->text[n] != '\n' && ++n < PMI2_MOST);
    x->text[n] = '\0';
    if (rc == DRAIL_EPEER) /* finalize has closed it */
        return error_set(err, DRAIL_EJOB,
                         "PMI-2: the launcher has ended the connection: a "
                         "process can't come back to a job that it has left; "
                         "several jobs in turn share one drail_launch_open");
    if (rc || !strstr(x->text, "cmd=response_to_init") ||
        !strstr(x->text, "rc=0"))
        return lost(rc, "init", err);
    return 0;
}

static int begin(struct pmi2 *x, drail_error_t *err)
{
    int rc = agree_on_version(x, err);
    if (rc)
        return rc;
    size_t n =
        pmi2_write(x->text, "fullinit", "pmijobid", getenv("PMI_JOBID"),
                   "pmirank", getenv("PMI_RANK"), "threaded", "FALSE", NULL);
    rc = ask(x, n, "fullinit-response", deadline_in(ANSWER_MS), err);
    if (rc)
        return rc;
    long mine = pmi2_number(x->text, "rank");
    long size = pmi2_number(x->text, "size");
    if (mine < 0 || size < 1)
        return lost(0, "fullinit", err);
    x->kvs.rank = (unsigned)mine;
    x->kvs.size = (unsigned)size;
    return 0;
}

static int fence(struct pmi2 *x, int timeout_ms, drail_error_t *err)
{
    return ask(x, pmi2_write(x->text, "kvs-fence", NULL), "kvs-fence-response",
               deadline_in(timeout_ms), err);
}

static int get(struct pmi2 *x, char line[KVS_LINE], drail_error_t *err)
{
    size_t n = pmi2_write(x->text, "kvs-get", "jobid", getenv("PMI_JOBID"),
                          "srcid", "0", "key", KEY, NULL);
    int rc = ask(x, n, "kvs-get-response", deadline_in(ANSWER_MS), err);
    if (!rc && !pmi2_value(x->text, "value", line, KVS_LINE))
        rc = lost(0, "kvs-get", err);
    return rc;
}

static int broadcast(struct kvs *kvs, char line[KVS_LINE], int timeout_ms,
                     drail_error_t *err)
{
    struct pmi2 *x = (struct pmi2 *)kvs;
    int rc = 0;
    if (kvs->rank == 0)
        rc = ask(
            x, pmi2_write(x->text, "kvs-put", "key", KEY, "value", line, NULL),
            "kvs-put-response", deadline_in(ANSWER_MS), err);
    if (!rc)
        rc = fence(x, timeout_ms, err);
    return rc ? rc : get(x, line, err);
}

/* Without finalize, the launcher takes the process for a failed one. */
static void leave(struct kvs *kvs, bool failed)
{
    struct pmi2 *x = (struct pmi2 *)kvs;
    if (!failed)
        ask(x, pmi2_write(x->text, "finalize", NULL), "finalize-response",
            deadline_in(ANSWER_MS), NULL);
    free(x);
}

/* It agrees to version 2, but its proxy ends at fullinit, the first command of
 * that version: it knows those of PMI-1 only. What this process printed then
 * would be lost. */
static bool is_intel_hydra(void)
{
    return getenv("I_MPI_HYDRA_UUID") && !getenv("PMI_JOBID"); /* srun's */
}

int pmi2_open(struct kvs **kvs, drail_error_t *err)
{
    const char *text = getenv("PMI_FD");
    if (is_intel_hydra())
        return error_set(err, DRAIL_EJOB,
                         "Intel MPI's mpiexec knows no command of PMI-2; use "
                         "mpiexec of MPICH, mpirun of Open MPI, srun, or a "
                         "rendezvous (DRAIL_RENDEZVOUS)");
    char *end;
    long fd = text ? strtol(text, &end, 10) : -1;
    if (fd < 0 || fd > INT_MAX || end == text || *end ||
        fcntl((int)fd, F_GETFD) < 0)
        return error_set(err, DRAIL_EINVAL,
                         "PMI_FD: '%.32s' is wrong; allowed: the descriptor "
                         "of a launcher's socket",
                         text ? text : "");
    struct pmi2 *x = calloc(1, sizeof *x);
    if (!x)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    x->fd = (int)fd;
    x->kvs = (struct kvs){.broadcast = broadcast, .close = leave};
    int rc = begin(x, err);
    if (rc)
        free(x);
    else
        *kvs = &x->kvs;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Who this process is in the job, and where its rank 0 is. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/launch/launch.h"
#include "dapl_rail/job/socket.h"

/* ------------------------------------------------------------ rendezvous */

/* A number, by the configuration or else the environment. */
static int number(unsigned given, const char *name, unsigned max,
                  unsigned *value, drail_error_t *err)
{
    const char *text = getenv(name);
    *value = given;
    if (given != DRAIL_RANKS_AUTO)
        return 0;
    if (!text)
        return error_set(err, DRAIL_EINVAL,
                         "a rendezvous needs this process's rank and the "
                         "number of ranks; %s is not set",
                         name);
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || *end || n > max)
        return error_set(err, DRAIL_EINVAL,
                         "%s: '%.32s' is wrong; allowed: a number up to %u",
                         name, text, max);
    *value = (unsigned)n;
    return 0;
}

static int check_place(const struct meeting *m, drail_error_t *err)
{
    if (m->size >= 1 && m->size <= DRAIL_MAX_RANKS && m->rank < m->size)
        return 0;
    return error_set(err, DRAIL_EINVAL,
                     "rank %u of %u: allowed are 1 to %u ranks, counted from 0",
                     m->rank, m->size, DRAIL_MAX_RANKS);
}

static int by_rendezvous(struct meeting *m, const char *where,
                         const drail_job_config_t *cfg)
{
    int rc = number(cfg->rank, "DRAIL_RANK", DRAIL_MAX_RANKS - 1, &m->rank,
                    cfg->error);
    if (!rc)
        rc = number(cfg->nranks, "DRAIL_RANKS", DRAIL_MAX_RANKS, &m->size,
                    cfg->error);
    if (!rc)
        rc = check_place(m, cfg->error);
    if (!rc)
        rc = secret_find(&m->secret, cfg->secret_file, cfg->error);
    if (!rc)
        rc = address_find(&m->where, where, cfg->error);
    if (!rc && m->rank == 0) {
        m->listener = address_listen(&m->where, where, cfg->error);
        rc = m->listener < 0 ? m->listener : 0;
    }
    return rc;
}

/* -------------------------------------------------------------- launcher */

/* Rank 0: "secret address address …", as many as there is room for. */
static int write_line(struct meeting *m, char line[BOARD_LINE],
                      drail_error_t *err)
{
    unsigned port = 0;
    int rc = secret_make(&m->secret, err);
    if (rc)
        return rc;
    m->listener = address_listen_any(&port, err);
    rc = m->listener < 0 ? m->listener : address_own(&m->where, port, err);
    size_t used = (size_t)snprintf(line, BOARD_LINE, "%s", m->secret.text);
    for (unsigned i = 0; !rc && i < m->where.count; i++) {
        char text[ADDRESS_TEXT];
        address_text(&m->where.list[i], text);
        if (used + strlen(text) + 2 <= BOARD_LINE)
            used += (size_t)sprintf(line + used, " %s", text);
    }
    return rc;
}

static int read_line(struct meeting *m, const char *line, drail_error_t *err)
{
    size_t length = strcspn(line, " ");
    if (secret_set(&m->secret, line, length) || !line[length] ||
        address_parse(&m->where, line + length + 1))
        return error_set(err, DRAIL_EJOB,
                         "the launcher passed on something else than rank 0's "
                         "address");
    return 0;
}

static int by_board(struct meeting *m, const drail_job_config_t *cfg)
{
    char line[BOARD_LINE] = "";
    int rc, shared;
    m->rank = m->board->rank;
    m->size = m->board->size;
    rc = check_place(m, cfg->error);
    if (!rc && cfg->nranks != DRAIL_RANKS_AUTO && cfg->nranks != m->size)
        rc = error_set(cfg->error, DRAIL_EINVAL,
                       "%u ranks are asked for, and %u were launched",
                       cfg->nranks, m->size);
    if (!rc && m->rank == 0)
        rc = write_line(m, line, cfg->error);
    if (rc)
        return rc;
    shared = m->board->share(m->board, line, cfg->connect_ms, cfg->error);
    if (shared)
        return shared;
    return m->rank ? read_line(m, line, cfg->error) : 0;
}

void meeting_leave(struct meeting *m)
{
    if (m->listener >= 0)
        close(m->listener);
    if (m->board)
        m->board->close(m->board, true);
}

int meeting_find(struct meeting *m, const drail_job_config_t *cfg)
{
    const char *where =
        cfg->rendezvous ? cfg->rendezvous : getenv("DRAIL_RENDEZVOUS");
    int rc = 0;
    *m = (struct meeting){.listener = -1};
    if (cfg->fork)
        return 0;
    if (where)
        rc = by_rendezvous(m, where, cfg);
    else if (getenv("PMIX_NAMESPACE"))
        rc = pmix_open(&m->board, cfg->error);
    else if (getenv("PMI_FD"))
        rc = pmi2_open(&m->board, cfg->error);
    if (m->board)
        rc = by_board(m, cfg);
    if (rc)
        meeting_leave(m);
    return rc;
}

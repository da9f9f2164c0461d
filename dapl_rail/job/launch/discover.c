/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/launch/discover.h"
#include "dapl_rail/job/socket.h"

/* ------------------------------------------------------------ rendezvous */

/* Takes the number of the configuration, or else of the environment. */
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

static int from_rendezvous(struct discovery *d, const char *where,
                           const drail_job_config_t *cfg)
{
    int rc = number(cfg->rank, "DRAIL_RANK", DRAIL_MAX_RANKS - 1, &d->rank,
                    cfg->error);
    if (!rc)
        rc = number(cfg->nranks, "DRAIL_RANKS", DRAIL_MAX_RANKS, &d->size,
                    cfg->error);
    if (!rc)
        rc = job_place_check(d->rank, d->size, cfg->error);
    if (!rc)
        rc = secret_find(&d->secret, cfg->secret_file, cfg->error);
    if (!rc)
        rc = address_find(&d->where, where, cfg->error);
    if (!rc && d->rank == 0) {
        d->listener = address_listen(&d->where, where, cfg->error);
        rc = d->listener < 0 ? d->listener : 0;
    }
    return rc;
}

/* -------------------------------------------------------------- launcher */

/* Rank 0 listens, and writes "secret address address …", with as many addresses
 * as there is room for. */
static int write_contact(struct discovery *d, char line[KVS_LINE],
                         drail_error_t *err)
{
    unsigned port = 0;
    int rc = secret_make(&d->secret, err);
    if (rc)
        return rc;
    d->listener = address_listen_any(&port, err);
    rc = d->listener < 0 ? d->listener : address_own(&d->where, port, err);
    size_t used = (size_t)snprintf(line, KVS_LINE, "%s", d->secret.text);
    for (unsigned i = 0; !rc && i < d->where.count; i++) {
        char text[ADDRESS_TEXT];
        address_text(&d->where.list[i], text);
        if (used + strlen(text) + 2 <= KVS_LINE)
            used += (size_t)sprintf(line + used, " %s", text);
    }
    return rc;
}

static int read_contact(struct discovery *d, const char *line,
                        drail_error_t *err)
{
    size_t length = strcspn(line, " ");
    if (secret_set(&d->secret, line, length) || !line[length] ||
        address_parse(&d->where, line + length + 1))
        return error_set(err, DRAIL_EJOB,
                         "the launcher passed on something else than rank 0's "
                         "address");
    return 0;
}

static int from_kvs(struct discovery *d, const drail_job_config_t *cfg)
{
    char line[KVS_LINE] = "";
    int rc, shared;
    d->rank = d->kvs->rank;
    d->size = d->kvs->size;
    rc = job_place_check(d->rank, d->size, cfg->error);
    if (!rc && cfg->nranks != DRAIL_RANKS_AUTO && cfg->nranks != d->size)
        rc = error_set(cfg->error, DRAIL_EINVAL,
                       "%u ranks are asked for, and %u were launched",
                       cfg->nranks, d->size);
    if (!rc && d->rank == 0)
        rc = write_contact(d, line, cfg->error);
    if (rc)
        return rc;
    shared = d->kvs->broadcast(d->kvs, line, cfg->connect_ms, cfg->error);
    if (shared)
        return shared;
    return d->rank ? read_contact(d, line, cfg->error) : 0;
}

void discovery_release(struct discovery *d)
{
    if (d->listener >= 0)
        close(d->listener);
    if (d->kvs)
        d->kvs->close(d->kvs, true);
}

int discover(struct discovery *d, const drail_job_config_t *cfg)
{
    const char *where =
        cfg->rendezvous ? cfg->rendezvous : getenv("DRAIL_RENDEZVOUS");
    int rc = 0;
    *d = (struct discovery){.listener = -1};
    if (cfg->fork)
        return 0;
    if (where)
        rc = from_rendezvous(d, where, cfg);
    else if (getenv("PMIX_NAMESPACE"))
        rc = pmix_open(&d->kvs, cfg->error);
    else if (getenv("PMI_FD"))
        rc = pmi2_open(&d->kvs, cfg->error);
    if (d->kvs)
        rc = from_kvs(d, cfg);
    if (rc)
        discovery_release(d);
    return rc;
}

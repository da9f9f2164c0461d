/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx (mpirun, prterun, srun --mpi=pmix). Its library is loaded only when a
 * launcher offers PMIx, so programs run without it. Structures are filled in by
 * hand: the functions that fill them differ between versions of the library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pmix.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/socket.h"

#define LIBRARY  "libpmix.so.2"
#define KEY      "dapl_rail.root"
#define LEAVE_MS 5000 /* the last fence */

struct calls {
    __typeof__(PMIx_Init) *init;
    __typeof__(PMIx_Finalize) *finalize;
    __typeof__(PMIx_Put) *put;
    __typeof__(PMIx_Commit) *commit;
    __typeof__(PMIx_Fence_nb) *fence;
    __typeof__(PMIx_Get) *get;
    __typeof__(PMIx_Error_string) *text;
};

struct pmix {
    struct kvs kvs;
    void *library;
    struct calls calls;
    pmix_proc_t self, all;
};

/* ----------------------------------------------------------- the library */

static int load(struct pmix *x, drail_error_t *err)
{
    const struct {
        const char *name;
        void *call;
    } list[] = {
        {"PMIx_Init", &x->calls.init},
        {"PMIx_Finalize", &x->calls.finalize},
        {"PMIx_Put", &x->calls.put},
        {"PMIx_Commit", &x->calls.commit},
        {"PMIx_Fence_nb", &x->calls.fence},
        {"PMIx_Get", &x->calls.get},
        {"PMIx_Error_string", &x->calls.text},
    };
    x->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!x->library)
        return error_set(err, DRAIL_EJOB,
                         "the launcher speaks PMIx: %s (Debian: libpmix2)",
                         dlerror());
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
        void *call = dlsym(x->library, list[i].name);
        if (!call)
            return error_set(err, DRAIL_EJOB, "%s", dlerror());
        memcpy(list[i].call, &call, sizeof call);
    }
    return 0;
}

static int failed(const struct pmix *x, const char *call, pmix_status_t status,
                  drail_error_t *err)
{
    bool late = status == PMIX_ERR_TIMEOUT;
    return error_set(err, late ? DRAIL_ETIMEOUT : DRAIL_EJOB, "%s: %s", call,
                     late ? "not all ranks have come in time"
                          : x->calls.text(status));
}

/* ---------------------------------------------------------------- a fence */

/* Shared with the library's thread; the last of the two frees it. */
struct fence {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool ended, left; /* the library; this thread */
    pmix_status_t status;
};

static void fence_free(struct fence *f)
{
    pthread_cond_destroy(&f->done);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static void fence_ended(pmix_status_t status, void *arg)
{
    struct fence *f = arg;
    pthread_mutex_lock(&f->lock);
    bool left = f->left;
    f->status = status;
    f->ended = true;
    pthread_cond_signal(&f->done);
    pthread_mutex_unlock(&f->lock);
    if (left)
        fence_free(f);
}

static struct timespec timespec_in(int ms)
{
    uint64_t ns = deadline_in(ms).at_ns;
    return (struct timespec){.tv_sec = (time_t)(ns / (1000 * MS)),
                             .tv_nsec = (long)(ns % (1000 * MS))};
}

static pmix_status_t fence_wait(struct fence *f, struct deadline deadline)
{
    int ms;
    pthread_mutex_lock(&f->lock);
    while (!f->ended && (ms = deadline_ms(&deadline, TURN_MS))) {
        struct timespec at = timespec_in(ms);
        pthread_cond_clockwait(&f->done, &f->lock, CLOCK_MONOTONIC, &at);
    }
    bool ended = f->ended;
    pmix_status_t status = ended ? f->status : PMIX_ERR_TIMEOUT;
    f->left = true;
    pthread_mutex_unlock(&f->lock);
    if (ended)
        fence_free(f);
    return status;
}

static void set_info(pmix_info_t *info, const char *key, pmix_data_type_t type)
{
    memset(info, 0, sizeof *info);
    snprintf(info->key, sizeof info->key, "%s", key);
    info->value.type = type;
}

static pmix_status_t fence(struct pmix *x, int timeout_ms)
{
    pmix_info_t info[2];
    struct fence *f = calloc(1, sizeof *f);
    if (!f)
        return PMIX_ERR_NOMEM;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->done, NULL);
    set_info(&info[0], PMIX_COLLECT_DATA, PMIX_BOOL);
    info[0].value.data.flag = true;
    /* servers may ignore it: fence_wait() has its own deadline */
    set_info(&info[1], PMIX_TIMEOUT, PMIX_INT);
    info[1].value.data.integer = timeout_ms / 1000 + 1;
    pmix_status_t status = x->calls.fence(&x->all, 1, info, 2, fence_ended, f);
    if (status == PMIX_SUCCESS)
        return fence_wait(f, deadline_in(timeout_ms));
    fence_free(f);
    return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
}

/* ----------------------------------------------------- the key-value space */

static int get(struct pmix *x, const pmix_proc_t *of, const char *key,
               pmix_data_type_t type, pmix_value_t **value, drail_error_t *err)
{
    pmix_status_t status = x->calls.get(of, key, NULL, 0, value);
    if (status != PMIX_SUCCESS)
        return failed(x, key, status, err);
    if ((*value)->type != type ||
        (type == PMIX_STRING && !(*value)->data.string))
        return error_set(err, DRAIL_EJOB, "PMIx: %s has another type", key);
    return 0;
}

static void release(pmix_value_t *value)
{
    if (value && value->type == PMIX_STRING)
        free(value->data.string);
    free(value);
}

static int put(struct pmix *x, char *line, drail_error_t *err)
{
    pmix_value_t value = {.type = PMIX_STRING, .data.string = line};
    pmix_status_t status = x->calls.put(PMIX_GLOBAL, KEY, &value);
    if (status == PMIX_SUCCESS)
        status = x->calls.commit();
    return status == PMIX_SUCCESS ? 0 : failed(x, "PMIx_Put", status, err);
}

static int broadcast(struct kvs *kvs, char line[KVS_LINE], int timeout_ms,
                     drail_error_t *err)
{
    struct pmix *x = (struct pmix *)kvs;
    pmix_proc_t root = x->self;
    pmix_value_t *value = NULL;
    root.rank = 0;
    int rc = kvs->rank == 0 ? put(x, line, err) : 0;
    if (rc)
        return rc;
    pmix_status_t status = fence(x, timeout_ms);
    if (status != PMIX_SUCCESS)
        return failed(x, "PMIx_Fence", status, err);
    rc = get(x, &root, KEY, PMIX_STRING, &value, err);
    if (!rc)
        snprintf(line, KVS_LINE, "%s", value->data.string);
    release(value);
    return rc;
}

/* After a failure other ranks may be gone, and PMIx_Finalize would wait for
 * them. The launcher learns of it from the exit status. */
static void leave(struct kvs *kvs, bool unwell)
{
    struct pmix *x = (struct pmix *)kvs;
    /* without this fence some servers hang at the end */
    if (!unwell && fence(x, LEAVE_MS) == PMIX_SUCCESS)
        x->calls.finalize(NULL, 0);
    free(x); /* its thread still runs in the library */
}

static int find_place(struct pmix *x, drail_error_t *err)
{
    pmix_value_t *size = NULL;
    x->all = x->self;
    x->all.rank = PMIX_RANK_WILDCARD;
    int rc = get(x, &x->all, PMIX_JOB_SIZE, PMIX_UINT32, &size, err);
    if (!rc) {
        x->kvs.rank = x->self.rank;
        x->kvs.size = size->data.uint32;
    }
    release(size);
    return rc;
}

/* The library's thread inherits this mask: signals are for the caller's
 * threads. */
static pmix_status_t begin(struct pmix *x)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pmix_status_t status = x->calls.init(&x->self, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

int pmix_open(struct kvs **kvs, drail_error_t *err)
{
    struct pmix *x = calloc(1, sizeof *x);
    if (!x)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    x->kvs = (struct kvs){.broadcast = broadcast, .close = leave};
    int rc = load(x, err);
    pmix_status_t status = rc ? PMIX_ERROR : begin(x);
    if (!rc && status != PMIX_SUCCESS)
        rc = failed(x, "PMIx_Init", status, err);
    if (!rc)
        rc = find_place(x, err);
    if (rc)
        free(x);
    else
        *kvs = &x->kvs;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by their handles: a hash table. A thread of the program uses only
 * requests that no other one completes, but looks for them beside others. */
#include "mpi/requests/queue.h"

#define BUCKETS 256u

static struct {
    pthread_mutex_t lock;
    struct request *buckets[BUCKETS];
    atomic_uint number;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* MPI_Wait and its kind look for each request, also those of the MPI below. */
static void lock(void)
{
    if (layer.threads)
        pthread_mutex_lock(&all.lock);
}

static void unlock(void)
{
    if (layer.threads)
        pthread_mutex_unlock(&all.lock);
}

static struct request **bucket_of(MPI_Request handle)
{
    uintptr_t key = (uintptr_t)handle;
    return &all.buckets[(key ^ key >> 8 ^ key >> 16) % BUCKETS];
}

struct request *request_of(MPI_Request handle)
{
    if (!all.number)
        return NULL;
    lock();
    struct request *r = *bucket_of(handle);
    while (r && r->handle != handle)
        r = r->next;
    unlock();
    return r;
}

bool requests_exist(void)
{
    return all.number;
}

void handle_map_add(struct request *r)
{
    struct request **bucket = bucket_of(r->handle);
    lock();
    r->next = *bucket;
    *bucket = r;
    all.number++;
    unlock();
}

void handle_map_remove(struct request *r)
{
    struct request **at = bucket_of(r->handle);
    lock();
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at) {
        *at = r->next;
        all.number--;
        r->given_up = true; /* last: others may then destroy it */
    }
    unlock();
}

/* Calls visit for each request of a communicator: how many there are. */
static unsigned visit_all(const struct layer_comm *c,
                          void (*visit)(struct request *r))
{
    unsigned found = 0;
    lock();
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct request *r = all.buckets[i]; r; r = r->next)
            if (r->c == c) {
                found++;
                visit(r);
            }
    unlock();
    return found;
}

static void detach(struct request *r)
{
    r->comm = MPI_COMM_SELF;
}

void handle_map_detach(const struct layer_comm *c)
{
    visit_all(c, detach);
}

static void only_count(struct request *r)
{
    (void)r;
}

bool handle_map_has(const struct layer_comm *c)
{
    return visit_all(c, only_count);
}

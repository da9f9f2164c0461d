/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by their handles: a hash table, for the program's thread only. */
#include "mpi/requests/queue.h"

#define BUCKETS 256u

static struct {
    struct request *buckets[BUCKETS];
    unsigned number;
} all;

static struct request **bucket_of(MPI_Request handle)
{
    uintptr_t key = (uintptr_t)handle;
    return &all.buckets[(key ^ key >> 8 ^ key >> 16) % BUCKETS];
}

struct request *request_of(MPI_Request handle)
{
    if (!all.number)
        return NULL;
    struct request *r = *bucket_of(handle);
    while (r && r->handle != handle)
        r = r->next;
    return r;
}

bool requests_exist(void)
{
    return all.number;
}

void handle_map_add(struct request *r)
{
    struct request **bucket = bucket_of(r->handle);
    r->next = *bucket;
    *bucket = r;
    all.number++;
}

void handle_map_remove(struct request *r)
{
    struct request **at = bucket_of(r->handle);
    while (*at && *at != r)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = r->next;
    all.number--;
}

struct request *handle_map_next(const struct layer_comm *c,
                                const struct request *after)
{
    unsigned i = after ? (unsigned)(bucket_of(after->handle) - all.buckets) : 0;
    struct request *r = after ? after->next : all.buckets[0];
    while (i < BUCKETS) {
        for (; r; r = r->next)
            if (r->c == c)
                return r;
        if (++i < BUCKETS)
            r = all.buckets[i];
    }
    return NULL;
}

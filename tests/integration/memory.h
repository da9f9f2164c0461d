/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of two ranks that each may reach. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <sys/mman.h>

#include "ranks.h"

struct memory {
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[2]; /* by rank */
};

static inline void memory_open(struct rank *r, struct memory *m, size_t bytes)
{
    expect(r, 0,
           drail_mem_alloc(r->t, bytes, DRAIL_ACCESS_ALL, (void **)&m->bytes,
                           &m->mem));
    exchange_keys(r, m->mem, m->keys);
}

static inline void memory_close(struct rank *r, struct memory *m)
{
    barrier(r);
    expect(r, 0, drail_mem_release(m->mem));
}

/* Two pages, registered as a whole, with a view of the first. */
static inline unsigned char *memory_two_pages(struct rank *r, size_t page,
                                              drail_mem_t **whole,
                                              drail_mem_t **first)
{
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(pages != MAP_FAILED);
    expect(r, 0,
           drail_mem_register(r->t, pages, 2 * page, DRAIL_ACCESS_ALL, whole));
    expect(r, 0, drail_mem_view(*whole, pages, page, first));
    return pages;
}

/* From its begin to that of the peer's. */
static inline drail_xfer_t memory_xfer(const struct rank *r,
                                       const struct memory *m, size_t bytes)
{
    return (drail_xfer_t){.local = m->bytes,
                          .local_mem = m->mem,
                          .remote = &m->keys[r->peer],
                          .bytes = bytes};
}

/* A put or get of so much, complete. */
static inline void memory_put(struct rank *r, const struct memory *m,
                              size_t bytes)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, bytes);
    expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
}

static inline void memory_get(struct rank *r, const struct memory *m,
                              size_t bytes)
{
    drail_req_t req;
    drail_xfer_t x = memory_xfer(r, m, bytes);
    expect(r, 0, drail_get(r->t, r->peer, &x, 0, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
}

#endif

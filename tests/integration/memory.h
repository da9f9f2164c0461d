/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of two ranks that each may reach. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

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

/* From its begin to that of the peer's. */
static inline drail_xfer_t memory_xfer(const struct rank *r,
                                       const struct memory *m, size_t bytes)
{
    return (drail_xfer_t){.local = m->bytes,
                          .local_mem = m->mem,
                          .remote = &m->keys[r->peer],
                          .bytes = bytes};
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that was released is given back, also by ranks that wrote to it: a
 * loop of allocating, putting and releasing does not fill the machine. */
#include "ranks.h"

#define BYTES  ((size_t)1 << 18)
#define ROUNDS 1500

/* Bytes of shared memory that this process holds. */
static size_t resident(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    size_t kilobytes = 0;
    check(status != NULL);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "RssShmem: %zu kB", &kilobytes) == 1)
            break;
    fclose(status);
    return kilobytes * 1024;
}

/* Rank 0 puts into memory that rank 1 allocates anew each time. */
static void put_once(struct rank *r, unsigned round)
{
    drail_key_t keys[2];
    drail_mem_t *mem;
    void *memory;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, &memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        drail_req_t req;
        drail_xfer_t put = {.local = memory,
                            .local_mem = mem,
                            .remote = &keys[1],
                            .bytes = BYTES};
        memset(memory, (int)round, BYTES);
        expect(r, 0, drail_put(r->t, 1, &put, DRAIL_NOTIFY, round, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
    } else {
        uint32_t id;
        expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        check(id == round);
        check(((unsigned char *)memory)[BYTES - 1] == (unsigned char)round);
    }
    expect(r, 0, drail_mem_release(mem));
}

static void loop(struct rank *r)
{
    put_once(r, 0);
    size_t before = resident();
    for (unsigned i = 1; i <= ROUNDS; i++)
        put_once(r, i);
    size_t after = resident();
    printf("# rank %u: %zu KB before, %zu KB after\n", r->rank, before >> 10,
           after >> 10);
    check(after < before + 16 * BYTES);
}

static const struct test tests[] = {
    {.name = "what was released is not kept", .nranks = 2, .run = loop},
};

RUN_TESTS(tests)

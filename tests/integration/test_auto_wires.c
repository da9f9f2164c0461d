/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine auto over TCP: long messages do not try one rail of two that are
 * alike. */
#include "memory.h"
#include "over_tcp.h"

enum { BYTES = 32 << 20, PUTS = 30, FEW = 4 };

static void use_two(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b");
}

/* Before both rates are known, and where the machine has held up one of them, a
 * message may take one rail. */
static void long_messages(struct rank *r)
{
    struct memory b;
    unsigned alone = 0;
    memory_open(r, &b, BYTES);
    for (unsigned n = 0; r->rank == 0 && n < PUTS; n++) {
        const uint64_t a = rail_stats(r, 0).put_bytes;
        const uint64_t c = rail_stats(r, 1).put_bytes;
        memory_put(r, &b, BYTES);
        alone +=
            rail_stats(r, 0).put_bytes == a || rail_stats(r, 1).put_bytes == c;
    }
    printf("# %u of %u over one rail\n", alone, PUTS);
    check(alone <= FEW);
    memory_close(r, &b);
}

static const struct test tests[] = {
    {"long messages over wires", 2, long_messages, use_two, 0},
};

RUN_TESTS_OVER_TCP(tests)

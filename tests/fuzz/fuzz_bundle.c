/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles of an irregular all-to-all as peers write them: dealt to buckets, or
 * delivered. What is refused has written nothing to the user's memory; what is
 * not, is whole. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/bundle.h"
#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/irregular/deal.h"
#include "fuzz.h"

enum { RANKS = 5, ME = 2, FAN = 3, STRIDE = 160, ROOM = 7, HOLE = 0xa5 };

static const size_t expected[RANKS] = {1, 2, 0, 1, 3};
static const size_t displs[RANKS] = {6, 0, 9, 5, 2};

/* Memory of exactly what may be read and written. */
struct bench {
    dcoll_team_t team;
    dcoll_request_t q;
    dcoll_deal_t deals[2]; /* the first opens the buckets */
    size_t found[RANKS], received;
};

static void copy(const struct drail_platform *p, void *to, const void *from,
                 size_t bytes)
{
    (void)p;
    memcpy(to, from, bytes);
}

static const struct drail_platform platform = {.copy = copy};

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    must(p != NULL);
    return memset(p, HOLE, bytes);
}

/* The first byte chooses the form of elements, the second the use of them. */
static void bench_open(struct bench *b, struct input *in)
{
    uint8_t look = input_byte(in), more = input_byte(in);
    size_t element = sizeof(uint32_t) + (look >> 1) % 23;
    *b = (struct bench){
        .team = {.shape = {.nranks = RANKS}, .rank = ME, .platform = &platform},
        .q = {.algorithm = &alltoallv_a4,
              .args = {.depth = 1},
              .traffic = {.element = element,
                          .max_rank = 2 * ROOM,
                          .labelled = look & 1},
              .elements = {.element = element,
                           .room = ROOM,
                           .destination = element - sizeof(uint32_t)}}};
    b->q.team = &b->team;
    b->deals[0] = b->deals[1] =
        (dcoll_deal_t){.fan = FAN,
                       .stride = STRIDE,
                       .period = more & 1 ? RANKS : FAN,
                       .divisor = more & 2 ? FAN : 1,
                       .most = more & 16 ? 2 : UINT64_MAX};
    b->deals[0].opens = true;
    b->q.schedule.deals = b->deals;
    b->q.elements.recv = memory(ROOM * element);
    b->q.elements.found = b->found;
    b->q.elements.received = &b->received;
    if (look & 1 && more & 4) {
        b->q.elements.recv_counts = expected;
        b->q.elements.recv_displs = more & 8 ? displs : NULL;
    }
    b->q.base[DCOLL_TEMP] = memory(FAN * STRIDE);
    b->q.base[DCOLL_NODE] = memory(FAN * STRIDE);
    must(dealing_open(&b->q.dealing, RANKS) == 0);
    input_take(in, b->q.base[DCOLL_TEMP], FAN * STRIDE);
}

static void bench_close(struct bench *b)
{
    dealing_close(&b->q.dealing);
    free(b->q.elements.recv);
    free(b->q.base[DCOLL_TEMP]);
    free(b->q.base[DCOLL_NODE]);
}

static const struct bundle_head *head_of(const struct bench *b,
                                         dcoll_space_t space, unsigned i)
{
    return (const struct bundle_head *)(b->q.base[space] + i * STRIDE);
}

/* Buckets are bundles that can be dealt on. */
static void check_buckets(struct bench *b)
{
    for (unsigned i = 0; i < FAN; i++) {
        const struct bundle_head *head = head_of(b, DCOLL_NODE, i);
        must(head->bytes <= STRIDE - bundle_marks(RANKS));
        must(bundle_length((const unsigned char *)head, STRIDE) ==
             (head->lost ? STRIDE : head->bytes));
    }
}

/* All that came. What is refused says why. */
static void deal_all(struct bench *b, dcoll_kind_t kind)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < FAN; i++) {
        const dcoll_op_t op = {.kind = kind,
                               .src = {DCOLL_TEMP, i * STRIDE},
                               .dst = {DCOLL_NODE, 0},
                               .bytes = STRIDE,
                               .deal = i ? 1 : 0};
        rc = deal_elements(&b->q, &op);
    }
    must(rc == b->team.error.code);
    b->team.error.code = 0;
    check_buckets(b);
}

static bool untouched(const struct bench *b)
{
    for (size_t i = 0; i < ROOM * b->q.traffic.element; i++)
        if (b->q.elements.recv[i] != HOLE)
            return false;
    return true;
}

static void deliver_all(struct bench *b)
{
    const dcoll_op_t op = {.kind = DCOLL_DELIVER, .src = {DCOLL_TEMP, 0}};
    int rc = deliver_elements(&b->q, &op);
    if (rc || b->q.dealing.start_error) {
        must(untouched(b));
        return;
    }
    must(b->received <= ROOM);
    for (unsigned i = 0; b->q.elements.recv_counts && i < RANKS; i++)
        must(b->found[i] == expected[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench b;
    struct input in = {data, size};
    bench_open(&b, &in);
    deal_all(&b, DCOLL_COLLECT);
    deal_all(&b, DCOLL_DISTRIBUTE);
    deliver_all(&b);
    bench_close(&b);
    return 0;
}

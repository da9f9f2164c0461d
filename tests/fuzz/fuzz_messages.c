/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer that has gone mad: over a real connection it sends messages that may
 * be anything, while this rank goes on as usual. The input is a list of steps.
 */
#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "pair.h"

enum { ME, MAD };
#define DEPTH 8
#define EAGER 128
#define BYTES 1024
#define STEPS 48

static struct pair *pair;
static unsigned char *memory[2];
static drail_mem_t *mem[2];
static drail_key_t key[2];
static drail_req_t requests[STEPS];

static void open_once(void)
{
    drail_config_t cfg;
    if (pair)
        return;
    setenv("DRAIL_EXTENSIONS", "1", 1);
    drail_config_init(&cfg);
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    cfg.stripe_threshold = 64;
    cfg.eager_bytes = EAGER;
    cfg.depth = DEPTH;
    cfg.eps = 2;
    cfg.timeout_ms = 3; /* of what the mad one does not answer */
    cfg.pin = false;
    pair = pair_open(&cfg);
    for (unsigned i = 0; i < 2; i++) {
        must(!drail_mem_alloc(pair->t[i], BYTES, DRAIL_ACCESS_ALL,
                              (void **)&memory[i], &mem[i]));
        drail_mem_key(mem[i], &key[i]);
    }
}

/* Gives up the connection of the last input at both ends. */
static void disconnect(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct peer *peer = pair->t[i]->peers[1 - i];
        struct link *link;
        unsigned at = 0;
        while ((link = peer_next(peer, UINT32_MAX, &at)))
            link_down(link, DRAIL_EPEER, "the next input");
    }
}

/* ------------------------------------------------------------- the mad one */

/* A message may follow in the same slot. */
static size_t another(unsigned char *end, struct input *in)
{
    size_t gap = -(uintptr_t)end % GROWING_ALIGN;
    uint8_t bytes = input_byte(in);
    if (bytes % 2)
        return 0;
    memcpy(end + gap, &(struct wire){.type = WIRE_EAGER, .bytes = bytes / 2},
           sizeof(struct wire));
    return gap + sizeof(struct wire) + bytes / 2;
}

/* The usual form of such a message, for the input to change. */
static size_t usual(unsigned char *message, struct input *in, uint32_t seq)
{
    struct wire *wire = (struct wire *)message;
    unsigned char *body = message + sizeof *wire;
    *wire = (struct wire){.type = input_byte(in) % (WIRE_TYPES + 1),
                          .parts = 1,
                          .id = 1,
                          .seq = seq,
                          .rails = input_byte(in)};
    switch (wire->type) {
    case WIRE_EAGER:
        wire->bytes = input_byte(in) % (EAGER + 1);
        return sizeof *wire + wire->bytes + another(body + wire->bytes, in);
    case WIRE_PIECE:
        wire->id = input_byte(in) % 2 * EAGER;
        wire->bytes = 2 * EAGER;
        return sizeof *wire + EAGER;
    case WIRE_RENDEZVOUS:
        wire->bytes = BYTES;
        memcpy(body, &key[MAD], sizeof key[MAD]);
        return sizeof *wire + sizeof key[MAD];
    case WIRE_PUT:
        *(struct wire_put *)body = (struct wire_put){
            .rmr_context = key[ME].rmr_context[0], .address = key[ME].address};
        return sizeof *wire + sizeof(struct wire_put) +
               input_byte(in) % (EAGER + 1);
    case WIRE_ATOMIC:
    case WIRE_ATOMIC_REPLY:
        *(struct wire_atomic *)body =
            (struct wire_atomic){.op = DRAIL_FETCH_ADD,
                                 .id = 1,
                                 .rmr_context = key[ME].rmr_context[0],
                                 .address = key[ME].address};
        return sizeof *wire + sizeof(struct wire_atomic);
    default:
        return sizeof *wire;
    }
}

static struct link *any_link(struct input *in)
{
    unsigned pick = input_byte(in);
    return peer_link(pair->t[MAD]->peers[ME], pick % 2, pick / 2 % 2);
}

static void send_anything(struct input *in, uint32_t seq)
{
    struct link *link = any_link(in);
    unsigned char *at =
        link->slots.buffers + link->slots.count * link->slots.slot_bytes;
    size_t bytes = usual(at, in, seq);
    if (bytes > link->slots.slot_bytes)
        bytes = link->slots.slot_bytes;
    for (unsigned changes = input_byte(in) % 4; changes; changes--) {
        unsigned offset = input_byte(in) % (sizeof(struct wire) + 64);
        at[offset] = input_byte(in);
    }
    uint8_t shorter = input_byte(in);
    if (shorter % 4 == 1)
        bytes = shorter % link->slots.slot_bytes;
    DAT_LMR_TRIPLET iov = {.virtual_address = (uintptr_t)at,
                           .segment_length = (DAT_SEG_LENGTH)bytes,
                           .lmr_context = link->slots.lmr_context};
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | COOKIE_SUPPRESSED};
    dat_ep_post_send(link->ep.handle, 1, &iov, cookie,
                     DAT_COMPLETION_SUPPRESS_FLAG);
}

static void note_anything(struct input *in)
{
    struct link *link = any_link(in);
    uint32_t immed;
    DAT_LMR_TRIPLET iov = {.virtual_address = (uintptr_t)link->slots.buffers,
                           .segment_length = 0,
                           .lmr_context = link->slots.lmr_context};
    DAT_RMR_TRIPLET to = {.virtual_address = key[ME].address,
                          .rmr_context = key[ME].rmr_context[0]};
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | COOKIE_SUPPRESSED};
    input_take(in, &immed, sizeof immed);
    dat_ib_post_rdma_write_immed(link->ep.handle, 1, &iov, cookie, &to, immed,
                                 DAT_COMPLETION_SUPPRESS_FLAG);
}

/* ---------------------------------------------------------------- this one */

static void receive(struct input *in)
{
    static unsigned char buffer[BYTES + 1];
    size_t got = 0, capacity = 4 * (size_t)input_byte(in);
    buffer[capacity] = 0xee;
    int rc = drail_recv(pair->t[ME], MAD, buffer, capacity, &got, 0);
    must(rc <= 0 && (rc || got <= capacity));
    must(buffer[capacity] == 0xee);
}

static void one_step(struct input *in, unsigned step)
{
    static unsigned char buffer[BYTES];
    drail_t *t = pair->t[ME];
    drail_xfer_t xfer = {.local = memory[ME],
                         .local_mem = mem[ME],
                         .remote = &key[MAD],
                         .bytes = 8 + step};
    uint64_t old;
    uint32_t id;
    switch (input_byte(in) % 12) {
    case 0:
        drail_notify_wait(t, MAD, &id, 0);
        break;
    case 1:
        receive(in);
        break;
    case 2:
        drail_send(t, MAD, buffer, input_byte(in) % (EAGER + 1), NULL);
        break;
    case 3:
        drail_send(t, MAD, memory[ME], BYTES, mem[ME]);
        break;
    case 4:
        drail_put(t, MAD, &xfer, DRAIL_NOTIFY | DRAIL_NOWAIT, step,
                  &requests[step]);
        break;
    case 5:
        drail_atomic(t, MAD, DRAIL_FETCH_ADD, &key[MAD], 0, 1, 0, &old);
        break;
    case 6: /* the mad one has its sane moments, too */
        drail_notify_wait(pair->t[MAD], ME, &id, 0);
        break;
    case 7:
        note_anything(in);
        break;
    default:
        send_anything(in, step);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    open_once();
    pair_both(pair, pair_connect_rank);
    memset(memory[ME], 0, BYTES);
    for (unsigned step = 0; in.left && step < STEPS; step++)
        one_step(&in, step);
    for (unsigned i = 0; i < 4; i++) {
        drail_notify_wait(pair->t[ME], MAD, NULL, 0);
        receive(&in);
    }
    disconnect();
    return 0;
}

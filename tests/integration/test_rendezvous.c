/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are announced and read: when one side's time runs out, what is
 * under way can be waited for again, and the next message is not harmed.
 */
#include "conf.h"
#include "ranks.h"

#define BYTES (1u << 20)

static const char rails[] =
    RAIL("slow0", "rate=4 latency=2") RAIL("slow1", "rate=4 latency=2");

static unsigned char *buffer_of(unsigned char value)
{
    unsigned char *buffer = malloc(BYTES);
    check(buffer != NULL);
    memset(buffer, value, BYTES);
    return buffer;
}

static bool all(const unsigned char *buffer, unsigned char value)
{
    for (size_t i = 0; i < BYTES; i++)
        if (buffer[i] != value)
            return false;
    return true;
}

/* The receiver's time runs out in the middle, again and again. */
static void receiver_impatient(struct rank *r)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0) {
        for (unsigned n = 0; n < 3; n++)
            expect(r, 0, drail_send(r->t, 1, buffer, BYTES, NULL));
    } else {
        size_t got = 0;
        unsigned timeouts = 0;
        for (unsigned n = 0; n < 3; n++) {
            int rc;
            memset(buffer, 0, BYTES);
            while ((rc = drail_recv(r->t, 0, buffer, BYTES, &got, 20)) ==
                   DRAIL_ETIMEOUT)
                timeouts++;
            expect(r, 0, rc);
            check(got == BYTES && all(buffer, 7));
        }
        check(timeouts >= 3);
        while (drail_recv(r->t, 0, buffer, BYTES, &got, 0) != DRAIL_EAGAIN)
            check(false);
    }
    free(buffer);
}

static bool reading(const struct rank *r)
{
    return rail_stats(r, 0).gets > 0;
}

/* A message under way keeps its buffer: another buffer is refused. */
static void other_buffer(struct rank *r)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0) {
        expect(r, 0, drail_send(r->t, 1, buffer, BYTES, NULL));
    } else {
        unsigned char *other = buffer_of(1);
        int rc;
        do
            rc = drail_recv(r->t, 0, buffer, BYTES, NULL, 0);
        while (rc == DRAIL_EAGAIN && !reading(r));
        expect(r, DRAIL_EAGAIN, rc);
        expect(r, DRAIL_EINVAL, drail_recv(r->t, 0, other, BYTES, NULL, 0));
        expect(r, DRAIL_EINVAL,
               drail_recv(r->t, 0, buffer, BYTES - 1, NULL, 0));
        expect(r, 0, drail_recv(r->t, 0, buffer, BYTES, NULL, -1));
        check(all(buffer, 7) && all(other, 1));
        free(other);
    }
    free(buffer);
}

/* The receiver leaves in the middle of a message. */
static void receiver_leaves(struct rank *r)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0)
        expect(r, DRAIL_EPEER, drail_send(r->t, 1, buffer, BYTES, NULL));
    else
        expect(r, DRAIL_ETIMEOUT, drail_recv(r->t, 0, buffer, BYTES, NULL, 20));
    if (r->rank == 1) { /* nothing is written to it any more */
        drail_close(r->t);
        r->t = NULL;
    }
    free(buffer);
}

/* The sender's time runs out before the receiver comes: the message is
 * withdrawn, the next ones are received. */
static void sender_impatient(struct rank *r)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0) {
        for (unsigned n = 0; n < 2; n++)
            expect(r, DRAIL_ETIMEOUT, drail_send(r->t, 1, buffer, BYTES, NULL));
        memset(buffer, 8, BYTES);
        /* comes after the word that they are withdrawn */
        expect(r, 0, drail_notify(r->t, 1, DRAIL_ALL_RAILS, 0));
    } else {
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, 5000));
    }
    for (unsigned n = 0; n < 3; n++)
        if (r->rank == 0) {
            int rc = drail_send(r->t, 1, buffer, n ? 10 : BYTES / 64, NULL);
            expect(r, 0, rc);
        } else {
            size_t got;
            expect(r, 0, drail_recv(r->t, 0, buffer, BYTES, &got, -1));
            check(got == (n ? 10 : BYTES / 64) && buffer[0] == 8);
        }
    free(buffer);
}

/* The registration of a withdrawn message stays where it is shared, or the
 * caller's own: then the connection goes, so that nobody reads what the buffer
 * holds next. */
static void sender_keeps(struct rank *r, unsigned access, bool gives)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0) {
        drail_mem_t *mem;
        expect(r, 0, drail_mem_register(r->t, buffer, BYTES, access, &mem));
        expect(r, DRAIL_ETIMEOUT,
               drail_send(r->t, 1, buffer, BYTES, gives ? mem : NULL));
        expect(r, DRAIL_EPEER, drail_notify(r->t, 1, 0, 0));
        expect(r, 0, drail_mem_release(mem));
    } else {
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, 5000));
    }
    free(buffer);
}

static void sender_shares(struct rank *r)
{
    sender_keeps(r, DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_READ_ONLY, false);
}

static void sender_gives(struct rank *r)
{
    sender_keeps(r, DRAIL_ACCESS_ALL, true);
}

/* A buffer too short, or none, does not hold up the sender. */
static void refused(struct rank *r)
{
    unsigned char *buffer = buffer_of(r->rank ? 0 : 7);
    if (r->rank == 0) {
        for (unsigned n = 0; n < 3; n++)
            expect(r, 0, drail_send(r->t, 1, buffer, BYTES / 16, NULL));
    } else {
        size_t got = 0;
        expect(r, DRAIL_ETRUNC, drail_recv(r->t, 0, buffer, 100, &got, -1));
        check(got == BYTES / 16);
        expect(r, DRAIL_ETRUNC, drail_recv(r->t, 0, NULL, BYTES, &got, -1));
        expect(r, 0, drail_recv(r->t, 0, buffer, BYTES, &got, -1));
        check(buffer[BYTES / 16 - 1] == 7 && buffer[BYTES / 16] == 0);
    }
    free(buffer);
}

static void slow(drail_config_t *cfg)
{
    use_rails(cfg, "slow0", "slow1");
}

static void slow_threaded(drail_config_t *cfg)
{
    slow(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void short_timeout(drail_config_t *cfg)
{
    slow(cfg);
    cfg->timeout_ms = 300;
}

static const struct test tests[] = {
    {"receiver without patience", 2, receiver_impatient, slow, 0},
    {"receiver without patience, threaded", 2, receiver_impatient,
     slow_threaded, 0},
    {"another buffer", 2, other_buffer, slow, 0},
    {"receiver leaves", 2, receiver_leaves, slow, 0},
    {"sender without patience", 2, sender_impatient, short_timeout, 0},
    {"sender shares its memory", 2, sender_shares, short_timeout, 0},
    {"sender gives its memory", 2, sender_gives, short_timeout, 0},
    {"refused messages", 2, refused, slow, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)

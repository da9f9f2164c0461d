/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of ranks flood each other, and look at all that comes: what is lost,
 * doubled, out of order or changed ends the program with status 1.
 *
 *   puts      into the slots of a ring, each with a notification that is its
 *             number; the content follows from the number. The target compares
 *             it, poisons the slot, and grants it anew some puts later, when
 *             the poison is still whole: a late copy would have spoilt it
 *   bare puts without a notification, compared in the end
 *   messages  of 0 B to 256 KB, numbered, a few in turn by each of the two
 *   gets      from memory of known content
 *   atomics   with --atomics: as many additions as asked for
 *
 * While all rails of rank R are up, the file that --up names, with .R behind
 * it, holds how often one was lost.
 *
 * flood [--rails A,B] [--ranks N] [--seconds S] [--until FILE] [--up FILE]
 *       [--seed N] [--atomics]
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>

#include "tests/integration/ranks.h"

enum {
    SLOTS = 8,                 /* puts that a rank has under way */
    LAG = 4,                   /* puts between the look and the grant */
    SLOT_BYTES = 1 << 20,      /* the longest put */
    BARE = 64,                 /* bare puts, in as many places */
    BARE_BYTES = 8 << 10,      /* the longest of them */
    GET_BYTES = 1 << 20,       /* peers read from these */
    MESSAGE_BYTES = 256 << 10, /* the longest message */
    TURN = 4,                  /* most messages in one turn */
    HANGS_S = 60,              /* nothing moves: longer than any timeout */
    POISON = 0x5a,
};
#define GRANT 0x80000000u /* a notification that grants slots anew */
#define END   0xffffffffu /* the last one */

/* Peers write to this and read from it. */
struct shared {
    unsigned char slots[SLOTS][SLOT_BYTES];
    unsigned char bare[BARE][BARE_BYTES];
    unsigned char source[GET_BYTES];
    uint64_t sum;
};

/* This rank's source, and the data that it has read. */
struct own {
    unsigned char slots[SLOTS][SLOT_BYTES];
    unsigned char bare[BARE][BARE_BYTES];
    unsigned char got[GET_BYTES];
};

struct header {
    uint32_t number, bytes;
    uint32_t puts, bares, sums; /* of the sender, when it stops */
    bool last;                  /* of this turn */
    bool stops;
};

struct timed_message {
    struct header header;
    unsigned char content[MESSAGE_BYTES];
};

static struct options {
    double seconds;
    const char *until; /* it exists: the end, too */
    const char *up;
    uint64_t seed;
    bool atomics;
    drail_config_t rails;
} options = {.seconds = 2, .seed = 1};

struct flood {
    struct rank *r;
    struct shared *shared;
    struct own *own;
    drail_mem_t *shared_mem, *own_mem;
    drail_key_t key;
    struct timed_message *message;

    uint32_t puts, granted; /* sent, and those whose slots are free again */
    uint32_t seen, grants;  /* of the peer */
    drail_req_t requests[SLOTS];
    bool under_way[SLOTS];

    drail_req_t get;
    bool getting;
    size_t get_offset, get_bytes;

    bool told_up;
    uint64_t losses;
    uint32_t sent, received, gets, bares, sums;
    bool turn;              /* this rank's */
    bool stops, peer_stops; /* no more puts */
    bool ended;             /* by the peer's last notification */
    struct header end;      /* the peer's last */
    double begin, moved, longest;
    uint64_t bytes;
};

/* ---------------------------------------------------------- contents --- */

enum lane { PUTS, BARES, MESSAGES, SOURCE, SIZES };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The contents of message `number` that rank @p from sends in a lane. */
static uint64_t drawn(unsigned from, enum lane lane, uint32_t number)
{
    return mix(options.seed ^
               mix((uint64_t)from << 40 ^ (uint64_t)lane << 32 ^ number));
}

static void fill(unsigned char *to, size_t bytes, uint64_t start)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = start + i * 0x9e3779b97f4a7c15u;
        word ^= word >> 29;
        memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

/* The first byte that differs, or @p bytes. */
static size_t differs(const unsigned char *from, size_t bytes, uint64_t start)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = start + i * 0x9e3779b97f4a7c15u;
        word ^= word >> 29;
        if (memcmp(from + i, &word, bytes - i < 8 ? bytes - i : 8))
            return i;
    }
    return bytes;
}

/* Small ones as often as large ones. */
static size_t size_of(unsigned from, enum lane lane, uint32_t number,
                      size_t most)
{
    uint64_t draw = drawn(from, SIZES, number * 8 + lane);
    unsigned bits = (unsigned)__builtin_ctzll(most);
    return draw >> 8 & ((1ull << draw % (bits + 1)) - 1);
}

static void wrong(const struct flood *f, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

static void wrong(const struct flood *f, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "flood: rank %u after %.3f s: ", f->r->rank,
            seconds() - f->begin);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    _exit(1);
}

static void look(const struct flood *f, const unsigned char *at, size_t bytes,
                 uint64_t start, const char *what, uint32_t number)
{
    size_t byte = differs(at, bytes, start);
    if (byte != bytes)
        wrong(f, "%s %" PRIu32 " is changed from byte %zu of %zu on", what,
              number, byte, bytes);
}

/* A call that may have to wait: has it gone through? */
static bool went(struct flood *f, int rc, const char *what)
{
    if (rc && rc != DRAIL_EAGAIN)
        wrong(f, "%s: %s: %s", what, drail_strerror(rc),
              drail_last_error(f->r->t));
    if (rc)
        return false;
    double now = seconds(), pause = now - f->moved;
    f->longest = pause > f->longest ? pause : f->longest;
    f->moved = now;
    return true;
}

static void told(struct flood *f, FILE *file)
{
    if (!file || fprintf(file, "%" PRIu64 "\n", f->losses) < 0 || fclose(file))
        wrong(f, "%s can't be written", options.up);
}

/* The program that cuts rails waits until they are back. */
static void tell_up(struct flood *f)
{
    char path[4096];
    uint64_t losses = 0;
    bool up = true;
    for (unsigned i = 0; i < drail_nrails(f->r->t); i++) {
        drail_rail_stats_t stats;
        drail_rail_stats(f->r->t, i, &stats);
        up &= stats.up;
        losses += stats.failures;
    }
    if (up == f->told_up && losses == f->losses)
        return;
    f->told_up = up;
    f->losses = losses;
    snprintf(path, sizeof path, "%s.%u", options.up, f->r->rank);
    unlink(path);
    if (up)
        told(f, fopen(path, "w"));
}

/* -------------------------------------------------------------- puts --- */

static void complete(struct flood *f, unsigned slot)
{
    if (f->under_way[slot] &&
        went(f, drail_test(f->r->t, &f->requests[slot]), "put"))
        f->under_way[slot] = false;
}

static bool put(struct flood *f)
{
    unsigned slot = f->puts % SLOTS, me = f->r->rank;
    complete(f, slot);
    if (f->stops || f->under_way[slot] || f->puts - f->granted == SLOTS)
        return false;
    size_t bytes = size_of(me, PUTS, f->puts, SLOT_BYTES);
    fill(f->own->slots[slot], bytes, drawn(me, PUTS, f->puts));
    drail_xfer_t xfer = {
        f->own->slots[slot], f->own_mem, &f->key,
        offsetof(struct shared, slots) + (size_t)slot * SLOT_BYTES, bytes};
    if (!went(f,
              drail_put(f->r->t, f->r->peer, &xfer,
                        DRAIL_NOTIFY | DRAIL_NOWAIT |
                            (f->puts % 2 ? DRAIL_EAGER : 0),
                        f->puts, &f->requests[slot]),
              "drail_put"))
        return false;
    f->under_way[slot] = true;
    f->puts++;
    f->bytes += bytes;
    return true;
}

static void expect_poison(const struct flood *f, unsigned slot, uint32_t number)
{
    const unsigned char *at = f->shared->slots[slot];
    for (size_t i = 0; i < SLOT_BYTES; i += 64)
        if (at[i] != POISON)
            wrong(f, "put %" PRIu32 " has come again, or too early", number);
}

/* The slots of all puts before this one are free again. */
static bool grant(struct flood *f, uint32_t before)
{
    if (before == f->grants)
        return false;
    for (uint32_t i = f->grants; i != before; i++)
        expect_poison(f, i % SLOTS, i);
    if (!went(f,
              drail_notify(f->r->t, f->r->peer, DRAIL_NOWAIT,
                           GRANT | (before & ~GRANT)),
              "drail_notify"))
        return false;
    f->grants = before;
    return true;
}

static void arrived(struct flood *f, uint32_t number)
{
    unsigned slot = number % SLOTS, from = f->r->peer;
    if (number != f->seen)
        wrong(f, "notification %" PRIu32 " instead of %" PRIu32, number,
              f->seen);
    look(f, f->shared->slots[slot], size_of(from, PUTS, number, SLOT_BYTES),
         drawn(from, PUTS, number), "put", number);
    memset(f->shared->slots[slot], POISON, SLOT_BYTES);
    f->seen++;
}

/* The peer grants the slots of all puts before this one. */
static void granted(struct flood *f, uint32_t before)
{
    if (before - f->granted - 1 >= SLOTS || f->puts - before > SLOTS)
        wrong(f, "grant of %" PRIu32 " after %" PRIu32, before, f->granted);
    f->granted = before;
}

static bool notified(struct flood *f, int timeout_ms)
{
    uint32_t id;
    int rc = drail_notify_wait(f->r->t, f->r->peer, &id, timeout_ms);
    if (rc == DRAIL_ETIMEOUT || !went(f, rc, "drail_notify_wait"))
        return false;
    if (f->ended)
        wrong(f, "notification %" PRIx32 " after the last", id);
    f->ended = id == END;
    if (!(id & GRANT))
        arrived(f, id);
    else if (!f->ended)
        granted(f, id & ~GRANT);
    return true;
}

static bool put_bare(struct flood *f)
{
    unsigned place = f->bares % BARE, me = f->r->rank;
    if (f->stops || f->bares == BARE)
        return false;
    size_t bytes = size_of(me, BARES, f->bares, BARE_BYTES);
    fill(f->own->bare[place], bytes, drawn(me, BARES, f->bares));
    drail_xfer_t xfer = {
        f->own->bare[place], f->own_mem, &f->key,
        offsetof(struct shared, bare) + (size_t)place * BARE_BYTES, bytes};
    went(f, drail_put(f->r->t, f->r->peer, &xfer, 0, 0, NULL), "bare put");
    f->bares++;
    return true;
}

/* ------------------------------------------------- gets and additions --- */

static bool get(struct flood *f)
{
    if (!f->getting) {
        uint64_t draw = drawn(f->r->rank, SOURCE, f->gets + 1);
        if (f->stops)
            return false;
        f->get_offset = draw % GET_BYTES & ~7ull;
        f->get_bytes = (draw >> 32) % (GET_BYTES - f->get_offset);
        drail_xfer_t xfer = {f->own->got, f->own_mem, &f->key,
                             offsetof(struct shared, source) + f->get_offset,
                             f->get_bytes};
        f->getting = went(
            f, drail_get(f->r->t, f->r->peer, &xfer, DRAIL_NOWAIT, &f->get),
            "drail_get");
        return f->getting;
    }
    if (!went(f, drail_test(f->r->t, &f->get), "get"))
        return false;
    /* a place in a content is the start of another one */
    look(f, f->own->got, f->get_bytes,
         drawn(f->r->peer, SOURCE, 0) + f->get_offset * 0x9e3779b97f4a7c15u,
         "get", f->gets);
    memset(f->own->got, POISON, f->get_bytes);
    f->bytes += f->get_bytes;
    f->getting = false;
    f->gets++;
    return true;
}

static void add(struct flood *f)
{
    uint64_t before;
    if (f->stops || !options.atomics)
        return;
    went(f,
         drail_atomic(f->r->t, f->r->peer, DRAIL_FETCH_ADD, &f->key,
                      offsetof(struct shared, sum), 1, 0, &before),
         "drail_atomic");
    if (before != f->sums)
        wrong(f, "addition %" PRIu32 " found %" PRIu64, f->sums, before);
    f->sums++;
}

/* ---------------------------------------------------------- messages --- */

static bool time_is_over(const struct flood *f)
{
    return options.until ? !access(options.until, F_OK)
                         : seconds() - f->begin > options.seconds;
}

/* The rank whose turn it is sends while the other one receives, so that no
 * receive is missing. */
static void send_turn(struct flood *f)
{
    unsigned me = f->r->rank;
    bool stops = f->peer_stops || (me % 2 == 0 && time_is_over(f));
    f->stops = stops;
    unsigned count = 1 + (unsigned)(drawn(me, MESSAGES, f->sent) % TURN);
    for (unsigned i = 0; i < count; i++) {
        struct timed_message *m = f->message;
        size_t bytes = size_of(me, MESSAGES, f->sent, MESSAGE_BYTES);
        m->header = (struct header){.number = f->sent,
                                    .bytes = (uint32_t)bytes,
                                    .puts = f->puts,
                                    .bares = f->bares,
                                    .sums = f->sums,
                                    .last = i + 1 == count,
                                    .stops = stops};
        fill(m->content, bytes, drawn(me, MESSAGES, f->sent));
        went(f,
             drail_send(f->r->t, f->r->peer, m,
                        offsetof(struct timed_message, content) + bytes, NULL),
             "drail_send");
        f->sent++;
        f->bytes += bytes;
    }
    f->turn = false;
}

static bool receive(struct flood *f)
{
    struct timed_message *m = f->message;
    size_t bytes;
    if (!went(f, drail_recv(f->r->t, f->r->peer, m, sizeof *m, &bytes, 0),
              "drail_recv"))
        return false;
    if (bytes < sizeof m->header || m->header.number != f->received)
        wrong(f, "message %" PRIu32 " (%zu bytes) instead of %" PRIu32,
              m->header.number, bytes, f->received);
    bytes -= offsetof(struct timed_message, content);
    if (bytes != m->header.bytes ||
        bytes != size_of(f->r->peer, MESSAGES, f->received, MESSAGE_BYTES))
        wrong(f, "message %" PRIu32 " has %zu bytes", f->received, bytes);
    look(f, m->content, bytes, drawn(f->r->peer, MESSAGES, f->received),
         "message", f->received);
    f->received++;
    f->turn = m->header.last;
    if (m->header.stops && m->header.last) {
        f->peer_stops = true;
        f->end = m->header;
    }
    return true;
}

/* ---------------------------------------------------------- the flood --- */

static bool all_done(const struct flood *f)
{
    for (unsigned slot = 0; slot < SLOTS; slot++)
        if (f->under_way[slot])
            return false;
    return f->stops && f->peer_stops && !f->getting && !f->turn &&
           f->granted == f->puts && f->seen == f->end.puts &&
           f->grants == f->seen;
}

/* Does a round of everything: has something moved? */
static bool step(struct flood *f)
{
    bool moved = notified(f, 0);
    if (f->peer_stops && f->seen == f->end.puts)
        moved |= grant(f, f->seen);
    else if (f->seen - f->grants >= LAG + LAG / 2)
        moved |= grant(f, f->seen - LAG);
    moved |= put(f);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        complete(f, slot);
    moved |= get(f);
    if (f->puts % 16 == 1)
        moved |= put_bare(f);
    if (f->puts % 32 == 2)
        add(f);
    /* the one that stops first has its last turn, the other one answers */
    if (!f->turn)
        moved |= receive(f);
    else if (!f->stops)
        send_turn(f), moved = true;
    else
        f->turn = false;
    return moved;
}

static void look_in_the_end(struct flood *f)
{
    unsigned from = f->r->peer;
    for (uint32_t i = 0; i < f->end.bares; i++)
        look(f, f->shared->bare[i], size_of(from, BARES, i, BARE_BYTES),
             drawn(from, BARES, i), "bare put", i);
    for (uint32_t i = f->seen < SLOTS ? 0 : f->seen - SLOTS; i < f->seen; i++)
        expect_poison(f, i % SLOTS, i);
    if (f->shared->sum != f->end.sums)
        wrong(f, "%" PRIu64 " of %" PRIu32 " additions", f->shared->sum,
              f->end.sums);
}

static void flood(struct rank *r)
{
    struct flood f = {.r = r, .turn = r->rank % 2 == 0};
    drail_key_t keys[64];
    void *address;
    r->peer = r->rank ^ 1;
    check(r->size % 2 == 0 && r->size <= 64);
    f.message = malloc(sizeof *f.message);
    check(f.message);
    expect(r, 0,
           drail_mem_alloc(r->t, sizeof *f.shared, DRAIL_ACCESS_ALL, &address,
                           &f.shared_mem));
    f.shared = address;
    expect(r, 0,
           drail_mem_alloc(r->t, sizeof *f.own, DRAIL_ACCESS_LOCAL, &address,
                           &f.own_mem));
    f.own = address;
    memset(f.shared->slots, POISON, sizeof f.shared->slots);
    fill(f.shared->source, GET_BYTES, drawn(r->rank, SOURCE, 0));
    exchange_keys(r, f.shared_mem, keys);
    f.key = keys[r->peer];

    if (r->rank == 0)
        printf("flood: begins\n");
    fflush(stdout);
    f.begin = f.moved = seconds();
    while (!all_done(&f)) {
        if (options.up)
            tell_up(&f);
        if (!step(&f) && !notified(&f, 1) && seconds() - f.moved > HANGS_S)
            wrong(&f, "nothing has moved for %d s", HANGS_S);
    }
    expect(r, 0, drail_fence(r->t, r->peer));
    /* comes after all that went before it on any rail */
    expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ALL_RAILS, END));
    while (!f.ended)
        if (!notified(&f, -1))
            wrong(&f, "the last notification has not come");
    look_in_the_end(&f);
    if (r->rank == 0)
        printf("flood: %" PRIu32 " puts, %" PRIu32 " gets, %" PRIu32
               " messages, %" PRIu32 " additions, %.0f MB in %.1f s; longest "
               "pause %.0f ms\n",
               f.puts, f.gets, f.sent, f.sums, (double)f.bytes / 1e6,
               seconds() - f.begin, f.longest * 1e3);
    fflush(stdout);
    barrier(r);
    drail_mem_release(f.shared_mem);
    drail_mem_release(f.own_mem);
    free(f.message);
}

/* ------------------------------------------------------- command line --- */

static void configure(drail_config_t *cfg)
{
    *cfg = options.rails;
}

static void usage(const char *option)
{
    fprintf(stderr,
            "flood: %s is wrong; allowed: [--rails A,B] [--ranks N] "
            "[--seconds S] [--until FILE] [--up FILE] [--seed N] "
            "[--atomics]\n",
            option);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"rails", required_argument, NULL, 'r'},
        {"ranks", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 's'},
        {"until", required_argument, NULL, 'u'},
        {"up", required_argument, NULL, 'U'},
        {"seed", required_argument, NULL, 'S'},
        {"atomics", no_argument, NULL, 'a'},
        {0},
    };
    struct test test = {
        .name = "flood", .nranks = 2, .run = flood, .configure = configure};
    char *rail = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (option) {
        case 'r':
            rail = optarg;
            break;
        case 'n':
            test.nranks = (unsigned)atoi(optarg);
            break;
        case 's':
            options.seconds = atof(optarg);
            break;
        case 'u':
            options.until = optarg;
            break;
        case 'U':
            options.up = optarg;
            break;
        case 'S':
            options.seed = strtoull(optarg, NULL, 0);
            break;
        case 'a':
            options.atomics = true;
            break;
        default:
            usage("an option");
        }
    if (optind < argc)
        usage(argv[optind]);

    drail_config_init(&options.rails);
    if (rail) {
        options.rails.nrails = 0;
        for (rail = strtok(rail, ","); rail; rail = strtok(NULL, ","))
            if (options.rails.nrails < DRAIL_MAX_RAILS)
                options.rails.rails[options.rails.nrails++] = rail;
    }
    return run_tests(&test, 1, 1, 1, argv);
}

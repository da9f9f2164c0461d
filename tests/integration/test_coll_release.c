/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider refuses to release memory that a peer still accesses: the memory
 * stays until the provider releases it, and the user gets an error for its own
 * memory. This program refuses in the provider's place.
 */
#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/stand_in.h"

enum { BYTES = 40000 };

static enum { NOTHING, USERS, OURS } refused, unregistered;

/* Nodes' memory that has been refused, and then released. */
static uintptr_t kept[16];
static unsigned nkept, nreleased;
static unsigned nwaits; /* refused calls of drail_mem_release() */

static uintptr_t users_begin, users_end;     /* a user's buffer */
static unsigned nusers_tried, nusers_waited; /* calls that release it */

/* Is it memory of a node? */
static bool of_node(uintptr_t address)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    check(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        check(sscanf(line, "%lx-%lx", &from, &to) == 2);
        found = found || (strstr(line, "memfd:dcoll-node") && address >= from &&
                          address < to);
    }
    fclose(maps);
    return found;
}

/* True: the release is refused. */
static bool refuses(drail_mem_t *mem)
{
    drail_key_t key;
    drail_mem_key(mem, &key);
    unsigned i = 0;
    while (i < nkept && kept[i] != key.address)
        i++;
    bool ours = of_node(key.address);
    if (refused && (refused == OURS) == ours) {
        if (ours && i == nkept && nkept < 16)
            kept[nkept++] = key.address;
        return true;
    }
    nreleased += i < nkept;
    return false;
}

static bool of_user(drail_mem_t *mem)
{
    drail_key_t key;
    drail_mem_key(mem, &key);
    return key.address >= users_begin && key.address < users_end;
}

STAND_IN int drail_mem_release(drail_mem_t *mem)
{
    nusers_waited += of_user(mem);
    if (!refuses(mem))
        return real(drail_mem_release)(mem);
    nwaits++;
    return DRAIL_EDAT;
}

STAND_IN int drail_mem_try_release(drail_mem_t *mem)
{
    nusers_tried += of_user(mem);
    return refuses(mem) ? DRAIL_EDAT : real(drail_mem_try_release)(mem);
}

STAND_IN int drail_mem_register(drail_t *rail, void *address, size_t bytes,
                                unsigned access, drail_mem_t **mem)
{
    if (unregistered == USERS && !of_node((uintptr_t)address))
        return DRAIL_EDAT;
    return real(drail_mem_register)(rail, address, bytes, access, mem);
}

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char *send, *recv;
};

static void scene_open(struct scene *s, struct rank *r)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.keep_bytes = 1; /* a new request drops the one before */
    s->r = r;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &s->team, NULL));
    s->send = malloc(BYTES);
    s->recv = malloc(BYTES * 4);
    check(s->send && s->recv);
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
    free(s->send);
    free(s->recv);
}

static dcoll_call_t allgather(struct scene *s, size_t bytes, const char *how)
{
    memset(s->send, (int)s->r->rank + 1, bytes);
    return (dcoll_call_t){
        DCOLL_ALLGATHER, s->send, s->recv, bytes, 0, how, NULL, NULL};
}

static void nodes(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    for (size_t bytes = 8; bytes < 12; bytes++) {
        dcoll_call_t c = allgather(&s, bytes, "smp-direct");
        refused = bytes < 11 ? OURS : NOTHING;
        expect(r, 0, dcoll_run(s.team, &c));
        for (unsigned i = 0; refused && i < nkept; i++)
            check(of_node(kept[i]));
        for (size_t i = 0; i < 4 * bytes; i++)
            check(s.recv[i] == i / bytes + 1);
    }
    check(nkept == 2 * (r->rank % 2 == 0)); /* of masters */
    check(nreleased == nkept);
    check(nwaits == nkept); /* later attempts do not wait */
    check(!*dcoll_last_error(s.team));
    scene_close(&s);
}

/* The last attempt, when the team is freed, may wait again. */
static void nodes_at_the_end(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    for (size_t bytes = 8; bytes < 10; bytes++) {
        dcoll_call_t c = allgather(&s, bytes, "smp-direct");
        refused = OURS;
        expect(r, 0, dcoll_run(s.team, &c));
    }
    unsigned before = nwaits;
    check(nkept == (r->rank % 2 == 0));
    refused = NOTHING;
    nwaits = 0;
    scene_close(&s);
    check(before == nkept && nreleased == nkept);
}

static void users(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    dcoll_call_t c = allgather(&s, BYTES, "direct");
    refused = USERS;
    expect(r, DRAIL_EDAT, dcoll_run(s.team, &c));
    refused = NOTHING;
    scene_close(&s);
}

/* That users' memory is still reached, too, does not hide why a call failed. */
static void users_after_an_error(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    dcoll_call_t c = allgather(&s, BYTES, "direct");
    expect(r, 0, dcoll_run(s.team, &c));
    c.bytes -= r->rank == 3;
    refused = USERS;
    expect(r, DRAIL_EINVAL, dcoll_run(s.team, &c));
    check(strstr(dcoll_last_error(s.team), "39999 bytes") != NULL);
    expect(r, DRAIL_EINVAL, dcoll_barrier(s.team));
    refused = NOTHING;
    scene_close(&s);
}

/* Freeing a broken team with a request that remains: the user may free its
 * memory afterwards. */
static void users_of_a_broken_team(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q = NULL;
    scene_open(&s, r);
    dcoll_call_t c = allgather(&s, BYTES, "direct");
    expect(r, 0, dcoll_init(s.team, &c, &q));
    expect(r, 0, r->rank ? dcoll_start(q) : 0);
    expect(r, DRAIL_EINVAL,
           r->rank ? dcoll_wait(q, -1) : dcoll_barrier(s.team));
    barrier(r);
    users_begin = (uintptr_t)s.recv;
    users_end = users_begin + (uintptr_t)4 * BYTES;
    dcoll_team_free(s.team);
    check(nusers_waited == 1 && !nusers_tried);
    free(s.send);
    free(s.recv);
}

/* If dcoll_init fails, the caller gets no request. */
static void unbound(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q = NULL;
    scene_open(&s, r);
    dcoll_call_t c = allgather(&s, BYTES, "direct");
    unregistered = USERS;
    expect(r, DRAIL_EDAT, dcoll_init(s.team, &c, &q));
    check(q == NULL);
    unregistered = NOTHING;
    scene_close(&s);
}

static const struct test tests[] = {
    {"the memory of a node", 4, nodes, NULL, APART | PPN(2)},
    {"the memory of a node, to the end", 4, nodes_at_the_end, NULL,
     APART | PPN(2)},
    {"users' memory", 4, users, NULL, APART},
    {"users' memory after an error", 4, users_after_an_error, NULL, APART},
    {"users' memory of a broken team", 4, users_of_a_broken_team, NULL, APART},
    {"buffers that can't be registered", 2, unbound, NULL, APART},
};

RUN_TESTS(tests)

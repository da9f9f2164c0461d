/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank performs what requires no further message first, in the order of the
 * file, then receives whose message has been sent. What a rank can do never
 * depends on how far others have come in any other way: so if this order ends
 * with ranks that wait, every order does.
 */
#include <stdlib.h>

#include "goal.h"
#include "matcher.h"

#define NOTHING UINT32_MAX
#define STEPS   UINT16_MAX

/* Messages from one rank to another that one kind of WAIT takes. */
struct flow {
    uint32_t sent, taken, step;
};

struct state {
    uint32_t *missing;    /* by operation: requirements that are not met */
    uint32_t *first;      /* by operation: the first of those that require it */
    uint32_t *behind;     /* by requirement: the next of those */
    uint32_t *ready;      /* operations whose requirements are met, in order */
    uint32_t nready, at;  /* ... and the next to start */
    uint32_t *put;        /* by operation: number of its put; 0: none */
    uint32_t *until;      /* by operation: puts that must be over before */
    uint32_t puts, ended; /* posted, and that a COMPLETE has waited for */
    uint32_t step;
    uint32_t done;
    bool queued; /* in the queue of ranks */
};

struct orderer {
    const goal_t *goal;
    dcoll_program_t *program;
    struct state *ranks;
    struct flow *flows;  /* [(to * nranks + from) * DCOLL_TAGS + tag] */
    uint32_t *next_step; /* of a message from one rank to another */
    matcher_t matcher;
    uint32_t *queue; /* a ring of ranks that may go on */
    uint32_t first, queued;
    char *why;
    size_t size;
};

static int fail(struct orderer *o, uint32_t line, const char *text)
{
    snprintf(o->why, o->size, "line %u: %s", line, text);
    return -1;
}

/* ----------------------------------------------------------- requirements */

/* Copies the requirements into lists, those of an operation in the order of the
 * file. */
static void list_needs(const goal_rank_t *rank, struct state *s)
{
    for (uint32_t i = 0; i < rank->nops; i++)
        s->first[i] = NOTHING;
    for (uint32_t i = rank->nneeds; i-- > 0;) {
        const goal_need_t *need = &rank->needs[i];
        s->missing[need->op]++;
        s->behind[i] = s->first[need->of];
        s->first[need->of] = i;
    }
}

static void is_ready(struct state *s, uint32_t op)
{
    s->ready[s->nready++] = op;
}

/* The operation has started, is finished, or both. */
static void meet(const goal_rank_t *rank, struct state *s, uint32_t op,
                 bool started, bool finished)
{
    for (uint32_t i = s->first[op]; i != NOTHING; i = s->behind[i]) {
        const goal_need_t *need = &rank->needs[i];
        if (need->started ? !started : !finished)
            continue;
        if (!need->started && s->until[need->op] < s->put[op])
            s->until[need->op] = s->put[op];
        if (!--s->missing[need->op])
            is_ready(s, need->op);
    }
}

/* It is finished when a message comes. */
static void start_receive(struct orderer *o, unsigned r, uint32_t op)
{
    matcher_receive(&o->matcher, r, op);
    meet(&o->goal->rank[r], &o->ranks[r], op, true, false);
}

static void is_done(const goal_rank_t *rank, struct state *s, uint32_t op)
{
    s->done++;
    meet(rank, s, op, rank->ops[op].kind != GOAL_RECV, true);
}

/* ------------------------------------------------------------- operations */

/* Notifications keep the tag that goal_write() gives them. */
static dcoll_tag_t tag_of(uint32_t tag, uint64_t size)
{
    return !size && tag < DCOLL_TAGS ? (dcoll_tag_t)tag : DCOLL_DATA;
}

static struct flow *flow_of(const struct orderer *o, unsigned to, unsigned from,
                            dcoll_tag_t tag)
{
    return &o->flows[((size_t)to * o->goal->nranks + from) * DCOLL_TAGS + tag];
}

/* Waits for the first so many puts. */
static void complete(struct orderer *o, unsigned r, uint32_t until)
{
    struct state *s = &o->ranks[r];
    if (until <= s->ended)
        return;
    if (until == s->puts)
        dcoll_add_complete(&o->program->rank[r]);
    else
        dcoll_add_complete_first(&o->program->rank[r], until);
    s->ended = until;
}

/* The step of a message, and the earliest of the next one on its way. READY and
 * CREDIT have none. */
static int take_step(struct orderer *o, unsigned r, const goal_op_t *op,
                     dcoll_tag_t tag)
{
    struct state *s = &o->ranks[r];
    uint32_t *next = &o->next_step[(size_t)op->peer * o->goal->nranks + r];
    const uint32_t step = *next > s->step ? *next : s->step;
    if (step >= STEPS)
        return fail(o, op->line, "it is message number 65536 in a row");
    o->program->rank[r].step = (uint16_t)step;
    *next = tag == DCOLL_DATA ? step + 1 : *next;
    return 0;
}

static void wake(struct orderer *o, unsigned r)
{
    if (o->ranks[r].queued)
        return;
    o->ranks[r].queued = true;
    o->queue[(o->first + o->queued++) % o->goal->nranks] = r;
}

static void post(struct orderer *o, unsigned r, uint32_t index, dcoll_tag_t tag)
{
    const uint32_t to = o->goal->rank[r].ops[index].peer;
    struct flow *flow = flow_of(o, to, r, tag);
    const uint32_t heard = o->program->rank[r].step + (tag == DCOLL_DATA);
    flow->step = flow->step > heard ? flow->step : heard;
    matcher_send(&o->matcher, r, index, ++flow->sent, flow->step);
    wake(o, to);
}

static int send(struct orderer *o, unsigned r, uint32_t index)
{
    const goal_op_t *op = &o->goal->rank[r].ops[index];
    const dcoll_tag_t tag = tag_of(op->tag, op->size);
    dcoll_schedule_t *s = &o->program->rank[r];
    if (take_step(o, r, op, tag))
        return -1;
    if (op->size) {
        dcoll_add_put(s, op->peer, op->nic, dcoll_at(DCOLL_TEMP, 0),
                      dcoll_at(DCOLL_TEMP, 0), op->size);
        o->ranks[r].put[index] = ++o->ranks[r].puts;
    } else {
        dcoll_add_notify(s, op->peer, op->nic, tag);
    }
    post(o, r, index, tag);
    return 0;
}

/* WAITs take messages in the order of sending: so this may be several. */
static int receive(struct orderer *o, unsigned r, const goal_op_t *op,
                   const mail_t *mail)
{
    const dcoll_tag_t tag = tag_of(op->tag, op->size);
    struct flow *flow = flow_of(o, r, op->peer, tag);
    struct state *s = &o->ranks[r];
    if (mail->op->size != op->size) {
        snprintf(o->why, o->size,
                 "line %u: it receives %llu bytes, but line %u sends %llu",
                 op->line, (unsigned long long)op->size, mail->op->line,
                 (unsigned long long)mail->op->size);
        return -1;
    }
    for (; flow->taken < mail->number; flow->taken++)
        dcoll_add_wait(&o->program->rank[r], op->peer, tag, 0);
    s->step = s->step > mail->step ? s->step : mail->step;
    return 0;
}

/* @p mail: what a receive takes. */
static int perform(struct orderer *o, unsigned r, uint32_t index,
                   const mail_t *mail)
{
    const goal_rank_t *rank = &o->goal->rank[r];
    const goal_op_t *op = &rank->ops[index];
    struct state *s = &o->ranks[r];
    int rc = 0;
    complete(o, r, s->until[index]);
    if (op->kind == GOAL_SEND)
        rc = send(o, r, index);
    else if (op->kind == GOAL_RECV)
        rc = receive(o, r, op, mail);
    else
        dcoll_add_copy(&o->program->rank[r], dcoll_at(DCOLL_TEMP, 0),
                       dcoll_at(DCOLL_TEMP, op->size), op->size);
    is_done(rank, s, index);
    return rc;
}

/* -------------------------------------------------------------------- ranks */

/* Runs a rank until it must wait. 0, or -1. */
static int run_rank(struct orderer *o, unsigned r)
{
    struct state *s = &o->ranks[r];
    for (;;) {
        const mail_t *mail = NULL;
        uint32_t index;
        if (s->at < s->nready) {
            index = s->ready[s->at++];
            if (o->goal->rank[r].ops[index].kind == GOAL_RECV) {
                start_receive(o, r, index);
                continue;
            }
        } else if (!(mail = matcher_next(&o->matcher, r, &index))) {
            return 0;
        }
        if (perform(o, r, index, mail))
            return -1;
    }
}

static int run(struct orderer *o)
{
    int rc = 0;
    for (unsigned r = 0; r < o->goal->nranks; r++)
        wake(o, r);
    while (!rc && o->queued) {
        const uint32_t r = o->queue[o->first];
        o->first = (o->first + 1) % o->goal->nranks;
        o->queued--;
        o->ranks[r].queued = false;
        rc = run_rank(o, r);
    }
    return rc;
}

/* The first operation that could not be performed, or message that was not
 * received. */
static int check_end(struct orderer *o)
{
    for (unsigned r = 0; r < o->goal->nranks; r++) {
        const struct state *s = &o->ranks[r];
        const goal_rank_t *rank = &o->goal->rank[r];
        const uint32_t waiting = matcher_waiting(&o->matcher, r);
        uint32_t i = 0;
        while (i < rank->nops && !s->missing[i])
            i++;
        if (waiting)
            return fail(o, waiting,
                        "no rank sends what this receive waits for, or only "
                        "after it");
        if (s->done < rank->nops)
            return fail(o, rank->ops[i].line,
                        "it requires itself, by way of others");
    }
    const uint32_t left = matcher_left(&o->matcher);
    return left ? fail(o, left, "no rank receives it") : 0;
}

/* ------------------------------------------------------------------- memory */

static uint32_t *numbers(size_t count)
{
    return calloc(count + 1, sizeof(uint32_t));
}

static int set_up_rank(struct orderer *o, unsigned r)
{
    const goal_rank_t *rank = &o->goal->rank[r];
    struct state *s = &o->ranks[r];
    s->missing = numbers(rank->nops);
    s->first = numbers(rank->nops);
    s->behind = numbers(rank->nneeds);
    s->ready = numbers(rank->nops);
    s->put = numbers(rank->nops);
    s->until = numbers(rank->nops);
    if (!s->missing || !s->first || !s->behind || !s->ready || !s->put ||
        !s->until)
        return -1;
    list_needs(rank, s);
    for (uint32_t i = 0; i < rank->nops; i++)
        if (!s->missing[i])
            is_ready(s, i);
    o->program->rank[r].phase = 1;
    o->program->rank[r].connections = true;
    return 0;
}

static int set_up(struct orderer *o, dcoll_shape_t *shape)
{
    const size_t n = o->goal->nranks;
    uint32_t ports = 1;
    unsigned *begin = numbers(n);
    *shape = (dcoll_shape_t){.nranks = (unsigned)n, .node_begin = begin};
    shape->nnodes = begin ? dcoll_shape_nodes((unsigned)n, 1, begin) : 0;
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < o->goal->rank[r].nops; i++) {
            const goal_op_t *op = &o->goal->rank[r].ops[i];
            ports = op->nic >= ports ? op->nic + 1 : ports;
        }
    shape->ports = ports;
    o->ranks = calloc(n, sizeof *o->ranks);
    o->flows = calloc(n * n * DCOLL_TAGS, sizeof *o->flows);
    o->next_step = numbers(n * n);
    o->queue = numbers(n);
    o->program->rank = calloc(n, sizeof *o->program->rank);
    if (!begin || !o->ranks || !o->flows || !o->next_step || !o->queue ||
        !o->program->rank || matcher_open(&o->matcher, o->goal))
        return -1;
    for (unsigned r = 0; r < n; r++)
        if (set_up_rank(o, r))
            return -1;
    return 0;
}

static void tear_down(struct orderer *o)
{
    for (unsigned r = 0; o->ranks && r < o->goal->nranks; r++) {
        struct state *s = &o->ranks[r];
        free(s->missing);
        free(s->first);
        free(s->behind);
        free(s->ready);
        free(s->put);
        free(s->until);
    }
    free(o->ranks);
    free(o->flows);
    free(o->next_step);
    free(o->queue);
    matcher_close(&o->matcher);
}

int goal_program(const goal_t *goal, dcoll_shape_t *shape,
                 dcoll_program_t *program, char *why, size_t size)
{
    struct orderer o = {
        .goal = goal, .program = program, .why = why, .size = size};
    *program =
        (dcoll_program_t){.shape = shape,
                          .args = {.collective = DCOLL_BARRIER, .depth = 1},
                          .messages_only = true};
    snprintf(why, size, "out of memory");
    int rc = set_up(&o, shape);
    if (!rc)
        rc = run(&o);
    if (!rc)
        rc = check_end(&o);
    for (unsigned r = 0; !rc && r < goal->nranks; r++) {
        complete(&o, r, o.ranks[r].puts);
        rc = program->rank[r].error ? -1 : 0;
    }
    tear_down(&o);
    if (rc)
        goal_program_free(shape, program);
    return rc;
}

void goal_program_free(dcoll_shape_t *shape, dcoll_program_t *program)
{
    dcoll_program_free(program);
    free((void *)(uintptr_t)shape->node_begin);
    shape->node_begin = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a program under Hockney's model with k ports (Qian and Afsahi 2008,
 * section 3.2): a message starts when it is posted and port `port` of the
 * sender and of the receiver are free; it occupies both for ts + bytes * tau. A
 * sender's port keeps the order of posting; a receiver's port serves first the
 * sender that asks first. The sender goes on at once. Discrete events: a rank
 * runs ahead in its own time until it needs a message that has not arrived yet.
 * If the ranks of a node share its wires, the bytes of a message also wait
 * until both nodes' wires have carried the earlier messages. A short message
 * takes the wire that is free first, a longer one takes all wires. If the model
 * is striped, the same holds of the wires of each rank.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "contents.h"
#include "event_queue.h"
#include "messages.h"
#include "streams.h"
#include "coll/schedule.h"

#define NONE STREAM_EMPTY

enum { ASKS, ENDS, ARRIVES }; /* events of a message */

/* A put or get, or a notification, which occupies no port. */
struct message {
    unsigned from, to, port;
    unsigned poster; /* of a get: the receiver */
    double posted, bytes;
    uint32_t behind; /* the next in the port's queue */
    uint32_t after;  /* the next in the stream */
    double arrived;  /* < 0: not yet */
};

struct port {
    uint32_t first, last; /* messages in the queue, NONE */
    bool busy;
};

struct rank_state {
    double time;
    unsigned op;
    unsigned puts; /* puts and gets under way */
    bool queued;   /* in the list of runnable ranks */
    double *flags; /* when the others see it; < 0: not set yet */
};

struct cost {
    const dcoll_program_t *program;
    const dcoll_cost_model_t *model;
    unsigned nranks, ports;
    struct rank_state *ranks;
    double *flags;
    struct port *out, *in; /* [rank * ports + port] */
    unsigned wires;        /* of a node, or (striped) of a rank, at most */
    double *wires_out, *wires_in; /* [node or rank * wires + wire]: free from
                                     then on */
    struct streams streams;
    struct message *messages;
    uint32_t nmessages, sent;
    struct event_queue events;
    unsigned *runnable, nrunnable;
    struct contents *contents; /* irregular: the contents of bundles */
    bool failed;               /* out of memory */
};

static void add_event(struct cost *c, double time, unsigned kind, unsigned what)
{
    if (!event_add(&c->events, time, kind, what))
        c->failed = true;
}

static void wake(struct cost *c, unsigned rank)
{
    if (c->ranks[rank].queued)
        return;
    c->ranks[rank].queued = true;
    c->runnable[c->nrunnable++] = rank;
}

/* ------------------------------------------------------------- ports --- */

static bool append(struct cost *c, struct port *port, uint32_t m)
{
    bool empty = port->first == NONE;
    c->messages[m].behind = NONE;
    if (empty)
        port->first = m;
    else
        c->messages[port->last].behind = m;
    port->last = m;
    return empty;
}

static struct port *out_of(struct cost *c, const struct message *m)
{
    return &c->out[m->from * c->ports + m->port];
}

static struct port *in_of(struct cost *c, const struct message *m)
{
    return &c->in[m->to * c->ports + m->port];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* When the first @p wires of both ends have carried the bytes, if they begin
 * now. */
static double over_wires(struct cost *c, double now, unsigned from, unsigned to,
                         unsigned wires, double bytes)
{
    unsigned first = 0, end = wires;
    double *out = &c->wires_out[from * c->wires];
    double *in = &c->wires_in[to * c->wires];
    if (bytes < c->model->whole) {
        for (unsigned w = 1; w < wires; w++)
            if (later(out[w], in[w]) < later(out[first], in[first]))
                first = w;
        end = first + 1;
    }
    for (unsigned w = first; w < end; w++)
        now = later(now, later(out[w], in[w]));
    now += bytes * c->model->tau / (end - first);
    for (unsigned w = first; w < end; w++)
        out[w] = in[w] = now;
    return now;
}

/* When the message's bytes have left the ports, if they begin now. */
static double carried(struct cost *c, double now, const struct message *m)
{
    const dcoll_shape_t *shape = c->program->shape;
    unsigned from = dcoll_shape_node(shape, m->from);
    unsigned to = dcoll_shape_node(shape, m->to);
    if (c->model->striped) {
        const unsigned out =
            dcoll_rank_ports(shape, &c->program->args, m->from);
        const unsigned in = dcoll_rank_ports(shape, &c->program->args, m->to);
        return over_wires(c, now, m->from, m->to, out < in ? out : in,
                          m->bytes);
    }
    if (c->wires && from != to)
        return over_wires(c, now, from, to, c->wires, m->bytes);
    return now + m->bytes * c->model->tau;
}

static void start(struct cost *c, double now, uint32_t m)
{
    in_of(c, &c->messages[m])->busy = true;
    add_event(c, carried(c, now + c->model->ts, &c->messages[m]), ENDS, m);
}

/* The first message of the sender's port asks for the receiver's port. */
static void ask(struct cost *c, double now, uint32_t m)
{
    struct port *in = in_of(c, &c->messages[m]);
    if (in->busy)
        append(c, in, m);
    else
        start(c, now, m);
}

static void arrive(struct cost *c, double now, struct message *m)
{
    m->arrived = now;
    wake(c, m->to);
}

static void end(struct cost *c, double now, uint32_t index)
{
    struct message *m = &c->messages[index];
    struct port *out = out_of(c, m), *in = in_of(c, m);
    out->busy = false;
    if (out->first != NONE) {
        uint32_t next = out->first;
        double posted = c->messages[next].posted;
        out->first = c->messages[next].behind;
        out->busy = true;
        add_event(c, posted > now ? posted : now, ASKS, next);
    }
    in->busy = false;
    if (in->first != NONE) {
        uint32_t next = in->first;
        in->first = c->messages[next].behind;
        start(c, now, next);
    }
    c->ranks[m->poster].puts--;
    wake(c, m->poster);
    if (c->model->latency > 0)
        add_event(c, now + c->model->latency, ARRIVES, index);
    else
        arrive(c, now, m);
}

/* ------------------------------------------------------------- ranks --- */

/* Performs the operation in `contents`; returns the bytes that it moves. */
static double bytes_of(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    if (!c->contents)
        return (double)op->bytes;
    double bytes = contents_move(c->contents, rank, op);
    c->failed |= bytes < 0;
    return bytes;
}

static void copy(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    c->ranks[rank].time += bytes_of(c, rank, op) * c->model->copy;
}

static void combine(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    c->ranks[rank].time += (double)op->bytes * c->model->combine;
}

static uint32_t post(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    bool get = op->kind == DCOLL_GET;
    uint32_t m = c->sent++;
    c->messages[m] = (struct message){
        .from = get ? op->peer : rank,
        .to = get ? rank : op->peer,
        .poster = rank,
        .port = op->port,
        .posted = c->ranks[rank].time,
        .bytes = bytes_of(c, rank, op),
        .after = NONE,
        .arrived = -1,
    };
    return m;
}

static uint64_t stream_name(const struct cost *c, unsigned to, unsigned from,
                            dcoll_tag_t tag)
{
    return ((uint64_t)to * c->nranks + from) * DCOLL_TAGS + tag;
}

/* Appends a message to its stream; the receiver's WAITs take them in order. */
static void enqueue(struct cost *c, uint32_t m, dcoll_tag_t tag)
{
    const struct message *message = &c->messages[m];
    struct stream *s = streams_begin(
        &c->streams, stream_name(c, message->to, message->from, tag));
    if (s->next == NONE)
        s->next = m;
    else
        c->messages[s->last].after = m;
    s->last = m;
}

static void transfer(struct cost *c, unsigned rank, uint32_t m)
{
    struct port *out = out_of(c, &c->messages[m]);
    c->ranks[rank].puts++;
    if (out->busy) {
        append(c, out, m);
        return;
    }
    out->busy = true;
    add_event(c, c->ranks[rank].time, ASKS, m);
}

static void put(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    uint32_t m = post(c, rank, op);
    enqueue(c, m, DCOLL_DATA);
    transfer(c, rank, m);
}

static void notify(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    uint32_t m = post(c, rank, op);
    enqueue(c, m, op->tag);
    add_event(c, c->ranks[rank].time + c->model->note, ARRIVES, m);
}

static void until(struct rank_state *r, double time)
{
    if (r->time < time)
        r->time = time;
}

static bool wait_message(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    if (op->lag)
        return true;
    struct stream *s =
        streams_find(&c->streams, stream_name(c, rank, op->peer, op->tag));
    if (!s || s->next == NONE || c->messages[s->next].arrived < 0)
        return false;
    until(&c->ranks[rank], c->messages[s->next].arrived);
    s->next = c->messages[s->next].after;
    return true;
}

static void signal_flag(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    const dcoll_shape_t *shape = c->program->shape;
    struct rank_state *r = &c->ranks[rank];
    unsigned node = dcoll_shape_node(shape, rank);
    r->time += (double)op->bytes * c->model->copy;
    r->flags[op->flag] = r->time + c->model->flag;
    for (unsigned i = shape->node_begin[node]; i < shape->node_begin[node + 1];
         i++)
        wake(c, i);
}

static bool await_flag(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    if (op->lag ||
        (op->offered && !contents_pulled(c->contents, rank, op->peer)))
        return true;
    double seen = c->ranks[op->peer].flags[op->flag];
    if (seen < 0)
        return false;
    until(&c->ranks[rank], seen);
    c->ranks[rank].time += (double)op->bytes * c->model->copy;
    return true;
}

/* Performs one operation. False: the rank must wait. */
static bool perform(struct cost *c, unsigned rank, const dcoll_op_t *op)
{
    if (dcoll_op_rests(op, 0))
        return true;
    switch (op->kind) {
    case DCOLL_PUT:
        put(c, rank, op);
        return true;
    case DCOLL_GET:
        transfer(c, rank, post(c, rank, op));
        return true;
    case DCOLL_NOTIFY:
        notify(c, rank, op);
        return true;
    case DCOLL_WAIT:
        return wait_message(c, rank, op);
    case DCOLL_COMPLETE:
        return !c->ranks[rank].puts;
    case DCOLL_SIGNAL:
        signal_flag(c, rank, op);
        return true;
    case DCOLL_AWAIT:
        return await_flag(c, rank, op);
    case DCOLL_COMBINE:
        combine(c, rank, op);
        return true;
    case DCOLL_COPY:
    case DCOLL_DISTRIBUTE:
    case DCOLL_COLLECT:
    case DCOLL_DELIVER:
    case DCOLL_OFFER:
    case DCOLL_PACK:
    case DCOLL_EXPECT:
    case DCOLL_PICK:
        copy(c, rank, op);
        return true;
    }
    return true;
}

/* Runs all runnable ranks until they must wait. */
static void run(struct cost *c, double now)
{
    while (c->nrunnable) {
        unsigned rank = c->runnable[--c->nrunnable];
        const dcoll_schedule_t *s = &c->program->rank[rank];
        struct rank_state *r = &c->ranks[rank];
        r->queued = false;
        while (r->op < s->nops) {
            const dcoll_op_t *op = &s->ops[r->op];
            if (!perform(c, rank, op))
                break;
            if (op->kind == DCOLL_COMPLETE)
                until(r, now);
            r->op++;
        }
    }
}

static void handle(struct cost *c, const struct event *event)
{
    switch (event->kind) {
    case ASKS:
        ask(c, event->time, event->what);
        break;
    case ENDS:
        end(c, event->time, event->what);
        break;
    case ARRIVES:
        arrive(c, event->time, &c->messages[event->what]);
        break;
    }
}

static double play(struct cost *c)
{
    struct event event = {0};
    double last = 0;
    for (unsigned r = 0; r < c->nranks; r++)
        wake(c, r);
    run(c, 0);
    while (!c->failed && event_next(&c->events, &event)) {
        handle(c, &event);
        run(c, event.time);
    }
    if (c->failed)
        return DRAIL_ENOMEM;
    for (unsigned r = 0; r < c->nranks; r++) {
        if (c->ranks[r].op < c->program->rank[r].nops)
            return DRAIL_EINVAL;
        if (last < c->ranks[r].time)
            last = c->ranks[r].time;
    }
    return last;
}

/* ------------------------------------------------------------- memory --- */

static size_t flags_of(const dcoll_program_t *program)
{
    size_t flags = 0;
    for (unsigned r = 0; r < program->shape->nranks; r++)
        flags += program->rank[r].flags;
    return flags;
}

static bool set_up(struct cost *c)
{
    size_t ports = (size_t)c->nranks * c->ports;
    size_t flags = flags_of(c->program);
    const dcoll_shape_t *shape = c->program->shape;
    c->wires = c->model->striped ? shape->ports : c->model->wires;
    size_t wires =
        (size_t)c->wires * (c->model->striped ? shape->nranks : shape->nnodes);
    c->nmessages = messages_of(c->program);
    c->ranks = calloc(c->nranks, sizeof *c->ranks);
    c->runnable = calloc(c->nranks, sizeof *c->runnable);
    c->flags = calloc(flags + 1, sizeof *c->flags);
    c->out = calloc(2 * ports, sizeof *c->out);
    c->wires_out = calloc(2 * wires + 1, sizeof *c->wires_out);
    c->messages = calloc((size_t)c->nmessages + 1, sizeof *c->messages);
    if (c->program->args.traffic)
        c->contents = contents_make(c->program);
    if (!c->ranks || !c->runnable || !c->flags || !c->out || !c->wires_out ||
        !c->messages || !streams_open(&c->streams, c->nmessages) ||
        !c->contents != !c->program->args.traffic)
        return false;
    c->in = c->out + ports;
    c->wires_in = c->wires_out + wires;
    for (size_t i = 0; i < 2 * ports; i++)
        c->out[i].first = NONE;
    double *next = c->flags;
    for (size_t i = 0; i < flags; i++)
        next[i] = -1;
    for (unsigned r = 0; r < c->nranks; r++) {
        c->ranks[r].flags = next;
        next += c->program->rank[r].flags;
    }
    return true;
}

double dcoll_cost(const dcoll_program_t *program,
                  const dcoll_cost_model_t *model)
{
    struct cost c = {.program = program,
                     .model = model,
                     .nranks = program->shape->nranks,
                     .ports = program->shape->ports};
    if (program->args.traffic && !program->counts)
        return DRAIL_ENOTSUP;
    double time = set_up(&c) ? play(&c) : DRAIL_ENOMEM;
    contents_free(c.contents);
    event_queue_free(&c.events);
    free(c.ranks);
    free(c.runnable);
    free(c.flags);
    free(c.out);
    free(c.wires_out);
    streams_close(&c.streams);
    free(c.messages);
    return time;
}

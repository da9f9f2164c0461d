/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "matcher.h"

#define NOTHING UINT32_MAX

/* Numbers of mails or starts, linked by their `next`. */
struct queue {
    uint32_t first, last;
};

/* Messages from one rank to another with one tag. The first receive takes the
 * first message, so one of the queues is empty. */
struct channel {
    struct queue mails;    /* that no receive has taken */
    struct queue receives; /* that wait for a message */
};

/* A receive that has started. */
struct start {
    uint32_t op, mail, next;
};

struct inbox {
    struct start *starts; /* in their order */
    uint32_t nstarts;
    uint32_t *there; /* a heap of the starts whose message is there */
    uint32_t nthere;
};

/* ------------------------------------------------------------------- memory */

struct message {
    uint32_t to, from, tag, rank, op;
};

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct message, rank));
}

static size_t count_messages(const goal_t *goal)
{
    size_t count = 0;
    for (uint32_t r = 0; r < goal->nranks; r++)
        for (uint32_t i = 0; i < goal->rank[r].nops; i++)
            count += goal->rank[r].ops[i].kind != GOAL_CALC;
    return count;
}

/* Sorted by their channels. */
static struct message *list_messages(const goal_t *goal, size_t count)
{
    struct message *list = malloc((count + 1) * sizeof *list), *m = list;
    for (uint32_t r = 0; list && r < goal->nranks; r++)
        for (uint32_t i = 0; i < goal->rank[r].nops; i++) {
            const goal_op_t *op = &goal->rank[r].ops[i];
            if (op->kind == GOAL_SEND)
                *m++ = (struct message){op->peer, r, op->tag, r, i};
            else if (op->kind == GOAL_RECV)
                *m++ = (struct message){r, op->peer, op->tag, r, i};
        }
    if (list)
        qsort(list, count, sizeof *list, compare);
    return list;
}

static int number_channels(matcher_t *m, size_t count)
{
    struct message *list = list_messages(m->goal, count);
    uint32_t channel = 0;
    for (size_t i = 0; list && i < count; i++) {
        channel += i && compare(&list[i - 1], &list[i]);
        m->channel[list[i].rank][list[i].op] = channel;
    }
    for (size_t i = 0; i < count; i++)
        m->channels[i] = (struct channel){{NOTHING, 0}, {NOTHING, 0}};
    free(list);
    return list ? 0 : -1;
}

int matcher_open(matcher_t *m, const goal_t *goal)
{
    const size_t count = count_messages(goal);
    m->goal = goal;
    m->mails = calloc(count + 1, sizeof *m->mails);
    m->channels = calloc(count + 1, sizeof *m->channels);
    m->channel = calloc(goal->nranks, sizeof *m->channel);
    m->inboxes = calloc(goal->nranks, sizeof *m->inboxes);
    if (!m->mails || !m->channels || !m->channel || !m->inboxes)
        return -1;
    for (uint32_t r = 0; r < goal->nranks; r++) {
        const size_t nops = goal->rank[r].nops;
        struct inbox *inbox = &m->inboxes[r];
        m->channel[r] = calloc(nops + 1, sizeof(uint32_t));
        inbox->starts = calloc(nops + 1, sizeof *inbox->starts);
        inbox->there = calloc(nops + 1, sizeof *inbox->there);
        if (!m->channel[r] || !inbox->starts || !inbox->there)
            return -1;
    }
    return number_channels(m, count);
}

void matcher_close(matcher_t *m)
{
    for (uint32_t r = 0; m->inboxes && r < m->goal->nranks; r++) {
        free(m->inboxes[r].starts);
        free(m->inboxes[r].there);
    }
    for (uint32_t r = 0; m->channel && r < m->goal->nranks; r++)
        free(m->channel[r]);
    free(m->inboxes);
    free(m->channel);
    free(m->channels);
    free(m->mails);
}

/* --------------------------------------------------------------------- heap */

static void swap(uint32_t *a, uint32_t *b)
{
    const uint32_t t = *a;
    *a = *b;
    *b = t;
}

static void heap_add(struct inbox *inbox, uint32_t start)
{
    uint32_t *heap = inbox->there, i = inbox->nthere++;
    heap[i] = start;
    for (; i && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static uint32_t heap_take(struct inbox *inbox)
{
    uint32_t *heap = inbox->there;
    const uint32_t first = heap[0];
    heap[0] = heap[--inbox->nthere];
    for (uint32_t i = 0, least = 0;; i = least) {
        for (uint32_t j = 2 * i + 1; j <= 2 * i + 2 && j < inbox->nthere; j++)
            least = heap[j] < heap[least] ? j : least;
        if (least == i)
            return first;
        swap(&heap[i], &heap[least]);
    }
}

/* ----------------------------------------------------------------- matching */

static void append(struct queue *queue, uint32_t *next_of_last, uint32_t number)
{
    if (queue->first == NOTHING)
        queue->first = number;
    else
        *next_of_last = number;
    queue->last = number;
}

static void match(matcher_t *m, struct inbox *to, struct channel *c)
{
    const uint32_t mail = c->mails.first, start = c->receives.first;
    if (mail == NOTHING || start == NOTHING)
        return;
    c->mails.first = m->mails[mail].next;
    c->receives.first = to->starts[start].next;
    m->mails[mail].taken = true;
    to->starts[start].mail = mail;
    heap_add(to, start);
}

void matcher_send(matcher_t *m, unsigned rank, uint32_t op, uint32_t number,
                  uint32_t step)
{
    const goal_op_t *of = &m->goal->rank[rank].ops[op];
    struct channel *c = &m->channels[m->channel[rank][op]];
    const uint32_t mail = m->nmails++;
    m->mails[mail] = (mail_t){of, number, step, NOTHING, false};
    append(&c->mails, &m->mails[c->mails.last].next, mail);
    match(m, &m->inboxes[of->peer], c);
}

void matcher_receive(matcher_t *m, unsigned rank, uint32_t op)
{
    struct inbox *inbox = &m->inboxes[rank];
    struct channel *c = &m->channels[m->channel[rank][op]];
    const uint32_t start = inbox->nstarts++;
    inbox->starts[start] = (struct start){op, NOTHING, NOTHING};
    append(&c->receives, &inbox->starts[c->receives.last].next, start);
    match(m, inbox, c);
}

const mail_t *matcher_next(matcher_t *m, unsigned rank, uint32_t *op)
{
    struct inbox *inbox = &m->inboxes[rank];
    if (!inbox->nthere)
        return NULL;
    const struct start *start = &inbox->starts[heap_take(inbox)];
    *op = start->op;
    return &m->mails[start->mail];
}

uint32_t matcher_waiting(const matcher_t *m, unsigned rank)
{
    const struct inbox *inbox = &m->inboxes[rank];
    for (uint32_t i = 0; i < inbox->nstarts; i++)
        if (inbox->starts[i].mail == NOTHING)
            return m->goal->rank[rank].ops[inbox->starts[i].op].line;
    return 0;
}

uint32_t matcher_left(const matcher_t *m)
{
    for (uint32_t i = 0; i < m->nmails; i++)
        if (!m->mails[i].taken)
            return m->mails[i].op->line;
    return 0;
}

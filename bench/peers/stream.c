/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/degrade/pattern.h"
#include "run.h"
#include "stream.h"

#define LINE        64
#define BYTES_MAX   ((uint64_t)16 << 20)
#define SECONDS_MAX 600
#define GRACE_S     360   /* behind the stream's end: scripts end it sooner */
#define PAUSE_NS    50000 /* between looks, where nothing moved */
#define SEED        1

/* The head of each message; the rest is the pattern of its number. */
typedef struct head {
    uint64_t number, last; /* last: no more follow */
} head_t;

typedef struct side {
    stream_t *stream;
    const stream_ops_t *ops;
    void *library;
} side_t;

void stream_die(const char *call, const char *why)
{
    fprintf(stderr, "stream: %s: %s\n", call, why);
    exit(1);
}

/* --------------------------------------------------------------- slots --- */

static unsigned message_slot(const side_t *side, uint64_t number)
{
    return (unsigned)(number % side->stream->window);
}

static unsigned answer_slot(const side_t *side, uint64_t number)
{
    return side->stream->window + (unsigned)(number % STREAM_ANSWERS);
}

static int begin_send(side_t *side, unsigned slot, size_t bytes)
{
    int rc = side->ops->send(side->library, slot, bytes);
    side->stream->begun[slot] = rc > 0;
    return rc;
}

static int begin_receive(side_t *side, unsigned slot)
{
    int rc;
    do
        rc = side->ops->receive(side->library, slot);
    while (!rc);
    side->stream->begun[slot] = rc > 0;
    return rc;
}

/* Is nothing under way in it? */
static int ended(side_t *side, unsigned slot)
{
    if (!side->stream->begun[slot])
        return 1;
    int rc = side->ops->test(side->library, slot);
    side->stream->begun[slot] = !rc;
    return rc;
}

static void note(stream_t *stream, uint64_t number, bool wrong)
{
    fprintf(stream->file, "message %.6f %llu %d\n", run_now(),
            (unsigned long long)number, wrong);
}

static void pause_if(bool nothing_moved)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (nothing_moved)
        nanosleep(&pause, NULL);
}

/* -------------------------------------------------------------- rank 0 --- */

typedef struct sender {
    side_t side;
    uint64_t begun, answered; /* messages, … */
    uint64_t answers;         /* … that so many answers were for */
    bool last;
} sender_t;

static void fill(const stream_t *stream, char *slot, head_t head)
{
    memcpy(slot, &head, sizeof head);
    pattern_fill(slot + sizeof head, stream->pattern,
                 stream->bytes - sizeof head, head.number);
}

/* @return 1: a message was begun; 0: none can be now; -1. */
static int send_next(sender_t *s, double end)
{
    stream_t *stream = s->side.stream;
    unsigned slot = message_slot(&s->side, s->begun);
    if (s->last || s->begun - s->answered == stream->window)
        return 0;
    int rc = ended(&s->side, slot);
    if (rc <= 0)
        return rc;
    head_t head = {.number = s->begun, .last = run_now() >= end};
    fill(stream, stream_slot(stream, slot), head);
    rc = begin_send(&s->side, slot, stream->bytes);
    if (rc <= 0)
        return rc;
    note(stream, head.number, false);
    s->begun++;
    s->last = head.last;
    return rc;
}

/* @return 1: an answer came; 0; -1. */
static int take_answer(sender_t *s)
{
    unsigned slot = answer_slot(&s->side, s->answers);
    uint64_t count;
    int rc = ended(&s->side, slot);
    if (rc <= 0)
        return rc;
    memcpy(&count, stream_slot(s->side.stream, slot), sizeof count);
    if (count > s->answered && count <= s->begun)
        s->answered = count;
    s->answers++;
    return begin_receive(&s->side, slot);
}

static int send_all(side_t side)
{
    sender_t s = {.side = side};
    int rc = 0;
    for (unsigned i = 0; rc >= 0 && i < STREAM_ANSWERS; i++)
        rc = begin_receive(&s.side, answer_slot(&side, i));
    double end = run_now() + side.stream->seconds;
    while (rc >= 0 && !(s.last && s.answered == s.begun)) {
        rc = take_answer(&s);
        int sent = rc < 0 ? rc : send_next(&s, end);
        pause_if(!rc && !sent);
        rc = sent < 0 ? sent : rc;
    }
    return rc;
}

/* -------------------------------------------------------------- rank 1 --- */

typedef struct receiver {
    side_t side;
    bool came[STREAM_WINDOW_MAX]; /* by slot: its message, not yet taken */
    uint64_t taken, answered;     /* messages, in the order of their slots */
    uint64_t answers;
    uint64_t end; /* number behind the last message; 0: not known yet */
} receiver_t;

static void note_message(receiver_t *r, const char *slot)
{
    stream_t *stream = r->side.stream;
    head_t head;
    memcpy(&head, slot, sizeof head);
    bool wrong = !pattern_is(slot + sizeof head, stream->pattern,
                             stream->bytes - sizeof head, head.number);
    note(stream, head.number, wrong);
    if (head.last)
        r->end = head.number + 1;
}

/* In any order, so that one that is missing is known. @return 1: some came; 0;
 * -1. */
static int look(receiver_t *r)
{
    stream_t *stream = r->side.stream;
    int some = 0;
    for (unsigned slot = 0; slot < stream->window; slot++) {
        if (!stream->begun[slot])
            continue;
        int rc = ended(&r->side, slot);
        if (rc < 0)
            return rc;
        if (!rc)
            continue;
        note_message(r, stream_slot(stream, slot));
        r->came[slot] = true;
        some = 1;
    }
    return some;
}

static int take_messages(receiver_t *r)
{
    int some = look(r);
    unsigned slot;
    while (some >= 0 && r->came[slot = message_slot(&r->side, r->taken)]) {
        r->came[slot] = false;
        r->taken++;
        if (!r->end && begin_receive(&r->side, slot) < 0)
            return -1;
    }
    return some;
}

static bool took_all(const receiver_t *r)
{
    return r->end && r->taken >= r->end;
}

static int answer(receiver_t *r)
{
    stream_t *stream = r->side.stream;
    uint64_t open = r->taken - r->answered;
    unsigned slot = answer_slot(&r->side, r->answers);
    if (!open || (!took_all(r) && open < (stream->window + 3) / 4))
        return 0;
    int rc = ended(&r->side, slot);
    if (rc <= 0)
        return rc;
    memcpy(stream_slot(stream, slot), &r->taken, sizeof r->taken);
    rc = begin_send(&r->side, slot, sizeof r->taken);
    if (rc > 0) {
        r->answered = r->taken;
        r->answers++;
    }
    return rc;
}

/* All answers have left. */
static int finish_answers(receiver_t *r)
{
    for (unsigned i = 0; i < STREAM_ANSWERS; i++) {
        int rc;
        while (!(rc = ended(&r->side, answer_slot(&r->side, i))))
            pause_if(true);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int receive_all(side_t side)
{
    receiver_t r = {.side = side};
    int rc = 0;
    for (unsigned i = 0; rc >= 0 && i < side.stream->window; i++)
        rc = begin_receive(&r.side, i);
    while (rc >= 0 && !(took_all(&r) && r.answered == r.taken)) {
        rc = take_messages(&r);
        int answered = rc < 0 ? rc : answer(&r);
        pause_if(!rc && !answered);
        rc = answered < 0 ? answered : rc;
    }
    return rc < 0 ? rc : finish_answers(&r);
}

/* ---------------------------------------------------------------- both --- */

static _Noreturn void wrong(const char *argument, const char *allowed)
{
    fprintf(stderr, "stream: '%s' is wrong; allowed: %s\n", argument, allowed);
    exit(2);
}

void stream_parse(stream_t *stream, int argc, char **argv)
{
    uint64_t bytes, window, seconds;
    if (argc < 5)
        wrong("", "BYTES WINDOW SECONDS TRACE …");
    if (!run_parse_number(argv[1], BYTES_MAX, '\0', &bytes) ||
        bytes < 2 * sizeof(head_t))
        wrong(argv[1], "bytes from 32 to 16 MiB");
    if (!run_parse_number(argv[2], STREAM_WINDOW_MAX, '\0', &window))
        wrong(argv[2], "a window from 1 to 256 messages");
    if (!run_parse_number(argv[3], SECONDS_MAX, '\0', &seconds))
        wrong(argv[3], "seconds from 1 to 600");
    *stream = (stream_t){.bytes = bytes,
                         .window = (unsigned)window,
                         .seconds = (double)seconds,
                         .trace = argv[4],
                         .slots = (unsigned)window + STREAM_ANSWERS,
                         .stride = (bytes + LINE) / LINE * LINE};
    run_guard();
    alarm((unsigned)seconds + GRACE_S);
}

void stream_allocate(stream_t *stream)
{
    stream->memory = run_buffer(stream_capacity(stream));
    if (!stream->memory)
        stream_die("start", "out of memory");
}

static void open_trace(stream_t *stream, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", stream->trace, rank);
    stream->file = fopen(path, "w");
    if (!stream->file)
        stream_die(path, "can't be written");
    setlinebuf(stream->file); /* whatever ends the program */
}

int stream_run(stream_t *stream, int rank, const stream_ops_t *ops,
               void *library)
{
    side_t side = {.stream = stream, .ops = ops, .library = library};
    open_trace(stream, rank);
    stream->pattern = pattern_new(stream->bytes, SEED);
    if (!stream->pattern)
        stream_die("start", "out of memory");
    int rc = rank ? receive_all(side) : send_all(side);
    if (rc < 0)
        fprintf(stream->file, "failed %.6f %s\n", run_now(),
                ops->error(library));
    else
        fprintf(stream->file, "end %.6f\n", run_now());
    free(stream->pattern);
    fclose(stream->file);
    return rc < 0;
}

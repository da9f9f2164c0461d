/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "goal.h"
#include "labels.h"

struct reader {
    goal_t *goal;
    words_t words;
    unsigned at; /* the next word */
    bool comment;
    uint32_t line;
    goal_rank_t *rank; /* whose block is open, or NULL */
    labels_t labels;
    char *why;
    size_t size;
};

static int fail(struct reader *r, const char *wanted)
{
    char shown[WORD_SHOWN];
    words_show(&r->words, r->at, shown);
    snprintf(r->why, r->size, "line %u: '%s' where %s must be", r->line, shown,
             wanted);
    return -1;
}

static int no_memory(struct reader *r)
{
    snprintf(r->why, r->size, "line %u: out of memory", r->line);
    return -1;
}

/* ------------------------------------------------------------------ words */

static bool take(struct reader *r, const char *text)
{
    bool is = words_is(&r->words, r->at, text);
    r->at += is;
    return is;
}

static int take_number(struct reader *r, uint64_t most, uint64_t *number)
{
    char wanted[64];
    if (!words_number(&r->words, r->at, most, number)) {
        r->at++;
        return 0;
    }
    snprintf(wanted, sizeof wanted, "a number from 0 to %llu",
             (unsigned long long)most);
    return fail(r, wanted);
}

static int take_u32(struct reader *r, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    int rc = take_number(r, most, &value);
    *number = (uint32_t)value;
    return rc;
}

static int must_take(struct reader *r, const char *text)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "'%s'", text);
    return take(r, text) ? 0 : fail(r, wanted);
}

/* ------------------------------------------------------------- statements */

/* An array with room for one more, that grows to powers of two. NULL: out of
 * memory, and the array stays. */
static void *with_room(void *array, uint32_t count, size_t size)
{
    if (count & (count - 1) || (count && count < 16))
        return array;
    return realloc(array, (count ? 2 * (size_t)count : 16) * size);
}

static int add_op(struct reader *r, const goal_op_t *op, const char *label)
{
    goal_rank_t *rank = r->rank;
    goal_op_t *ops = with_room(rank->ops, rank->nops, sizeof *ops);
    if (!ops)
        return no_memory(r);
    rank->ops = ops;
    ops[rank->nops] = *op;
    const int named = *label ? labels_add(&r->labels, label, rank->nops) : 0;
    rank->nops++;
    if (named > 0)
        snprintf(r->why, r->size, "line %u: there is a label '%s' before",
                 r->line, label);
    return named < 0 ? no_memory(r) : -named;
}

/* "N b to R", and what may follow. */
static int message(struct reader *r, goal_op_t *op)
{
    uint32_t cpu = 0;
    const bool sends = op->kind == GOAL_SEND;
    if (take_number(r, GOAL_MOST, &op->size) || must_take(r, "b") ||
        must_take(r, sends ? "to" : "from") ||
        take_u32(r, r->goal->nranks - 1, &op->peer))
        return -1;
    if (r->rank == &r->goal->rank[op->peer]) {
        r->at--;
        return fail(r, "another rank");
    }
    for (;;) {
        if (take(r, "tag")) {
            if (take_u32(r, UINT32_MAX - 1, &op->tag))
                return -1;
        } else if (take(r, "nic")) {
            if (take_u32(r, GOAL_PORTS - 1, &op->nic))
                return -1;
        } else if (take(r, "cpu")) { /* a rank of a schedule has one */
            if (take_u32(r, 0, &cpu))
                return -1;
        } else {
            return 0;
        }
    }
}

static int calculation(struct reader *r, goal_op_t *op)
{
    uint32_t cpu = 0;
    if (take_number(r, GOAL_MOST, &op->size))
        return -1;
    return take(r, "cpu") ? take_u32(r, 0, &cpu) : 0;
}

static int operation(struct reader *r, const char *label)
{
    goal_op_t op = {.line = r->line};
    op.kind = take(r, "send")   ? GOAL_SEND
              : take(r, "recv") ? GOAL_RECV
                                : GOAL_CALC;
    if (op.kind == GOAL_CALC && !take(r, "calc"))
        return fail(r, "'send', 'recv' or 'calc'");
    int rc = op.kind == GOAL_CALC ? calculation(r, &op) : message(r, &op);
    return rc ? rc : add_op(r, &op, label);
}

static int label(struct reader *r, uint32_t *op)
{
    *op = r->at < r->words.count ? labels_find(&r->labels, r->words.word[r->at])
                                 : LABEL_NONE;
    if (*op == LABEL_NONE)
        return fail(r, "a label of a line before");
    r->at++;
    return 0;
}

static int requirement(struct reader *r)
{
    goal_rank_t *rank = r->rank;
    goal_need_t need = {0};
    if (label(r, &need.op))
        return -1;
    need.started = take(r, "irequires");
    if ((!need.started && must_take(r, "requires")) || label(r, &need.of))
        return -1;
    goal_need_t *needs = with_room(rank->needs, rank->nneeds, sizeof need);
    if (!needs)
        return no_memory(r);
    rank->needs = needs;
    needs[rank->nneeds++] = need;
    return 0;
}

/* "label: operation", "operation", or "label requires label". */
static int statement(struct reader *r)
{
    const char *first = r->words.word[r->at];
    if (words_is(&r->words, r->at + 1, "requires") ||
        words_is(&r->words, r->at + 1, "irequires"))
        return requirement(r);
    if (!words_is(&r->words, r->at + 1, ":"))
        return operation(r, "");
    r->at += 2;
    return operation(r, first);
}

static int open_rank(struct reader *r)
{
    uint32_t number;
    if (!r->goal->nranks)
        return fail(r, "'num_ranks', before all ranks,");
    if (take_u32(r, r->goal->nranks - 1, &number))
        return -1;
    r->rank = &r->goal->rank[number];
    if (r->rank->given) {
        r->at--;
        return fail(r, "a rank that is not in a line before");
    }
    r->rank->given = true;
    labels_clear(&r->labels);
    return must_take(r, "{");
}

static int count_ranks(struct reader *r)
{
    uint32_t ranks;
    if (r->goal->nranks)
        return fail(r, "'rank'");
    if (take_u32(r, GOAL_RANKS, &ranks))
        return -1;
    if (!ranks) {
        r->at--;
        return fail(r, "a rank at least");
    }
    r->goal->rank = calloc(ranks, sizeof *r->goal->rank);
    r->goal->nranks = r->goal->rank ? ranks : 0;
    return r->goal->rank ? 0 : no_memory(r);
}

static int outside(struct reader *r)
{
    if (take(r, "num_ranks"))
        return count_ranks(r);
    return take(r, "rank") ? open_rank(r) : fail(r, "'num_ranks' or 'rank'");
}

static int inside(struct reader *r)
{
    if (take(r, "}")) {
        r->rank = NULL;
        return 0;
    }
    if (statement(r))
        return -1;
    const bool ends =
        r->at == r->words.count || words_is(&r->words, r->at, "}");
    return ends ? 0 : fail(r, "the end of the line");
}

/* ------------------------------------------------------------------- file */

static int read_line(struct reader *r, const char *text)
{
    r->line++;
    r->at = 0;
    if (words_split(&r->words, text, &r->comment)) {
        snprintf(r->why, r->size,
                 "line %u: more than %d words, or one of more than %d "
                 "characters",
                 r->line, WORDS_MAX, WORD_MAX - 1);
        return -1;
    }
    while (r->at < r->words.count)
        if (r->rank ? inside(r) : outside(r))
            return -1;
    return 0;
}

static int ended(struct reader *r)
{
    unsigned missing = 0;
    while (missing < r->goal->nranks && r->goal->rank[missing].given)
        missing++;
    if (!r->goal->nranks)
        snprintf(r->why, r->size, "line %u: the file ends without 'num_ranks'",
                 r->line);
    else if (r->rank || r->comment)
        snprintf(r->why, r->size, "line %u: the file ends within a %s", r->line,
                 r->comment ? "comment" : "rank");
    else if (missing < r->goal->nranks)
        snprintf(r->why, r->size, "line %u: the file ends without rank %u",
                 r->line, missing);
    else
        return 0;
    return -1;
}

static int read_lines(struct reader *r, FILE *file)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;
    while (!rc && (length = getline(&text, &room, file)) > 0) {
        rc = strlen(text) == (size_t)length ? read_line(r, text) : -1;
        if (rc && !*r->why)
            snprintf(r->why, r->size, "line %u is not text", r->line + 1);
    }
    const int error = errno;
    free(text);
    if (!rc && !feof(file)) {
        snprintf(r->why, r->size, "line %u: %s", r->line + 1, strerror(error));
        return -1;
    }
    return rc ? rc : ended(r);
}

int goal_read(goal_t *goal, const char *path, char *why, size_t size)
{
    struct reader r = {.goal = goal, .why = why, .size = size};
    FILE *file = fopen(path, "re");
    *goal = (goal_t){0};
    *why = '\0';
    if (!file) {
        snprintf(why, size, "%s", strerror(errno));
        return -1;
    }
    int rc = read_lines(&r, file);
    fclose(file);
    labels_clear(&r.labels);
    if (rc)
        goal_free(goal);
    return rc;
}

void goal_free(goal_t *goal)
{
    for (unsigned i = 0; i < goal->nranks; i++) {
        free(goal->rank[i].ops);
        free(goal->rank[i].needs);
    }
    free(goal->rank);
    *goal = (goal_t){0};
}

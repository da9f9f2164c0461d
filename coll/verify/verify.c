/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "verify.h"

/* Plays a rank until it blocks or has done all starts. True: it has moved. */
static bool play_rank(struct verifier *v, unsigned rank)
{
    struct player *p = &v->players[rank];
    const dcoll_schedule_t *s = schedule_of(v, rank);
    bool moved = false;
    for (; p->start < v->starts && !v->error; moved = true) {
        if (!p->begun) {
            verify_user_fill(v, rank);
            p->behind = p->posted = 0;
            p->expected = 0;
            p->begun = true;
        } else if (p->op < s->nops) {
            if (!verify_play(v, rank, &s->ops[p->op]))
                return moved;
            p->op++;
        } else {
            verify_user_read(v, rank);
            p->start++;
            p->op = 0;
            p->begun = false;
        }
    }
    return moved;
}

#define NAMED 4 /* blocked ranks that the sentence names */

static void deadlock(struct verifier *v)
{
    char text[NAMED * 200] = "";
    size_t used = 0;
    unsigned blocked = 0;
    for (unsigned r = 0; r < v->nranks; r++) {
        const struct player *p = &v->players[r];
        if (p->start == v->starts || blocked++ >= NAMED)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                 blocked == 1 ? " " : "; ");
        verify_where(v, r, what_of(v, r, p->start, p->op), text + used,
                     sizeof text - used);
        used += strlen(text + used);
    }
    if (blocked)
        verify_fail(v, "deadlock of %u ranks:%s%s", blocked, text,
                    blocked > NAMED ? "; …" : "");
}

static void play(struct verifier *v)
{
    bool moved = true;
    while (moved && !v->error) {
        moved = false;
        for (unsigned r = 0; r < v->nranks && !v->error; r++)
            moved |= play_rank(v, r);
    }
    if (!v->error)
        deadlock(v);
}

/* Do starts differ in the parts that stay in SEND? */
static bool offers(const dcoll_program_t *program)
{
    const dcoll_schedule_t *s = &program->rank[0];
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_OFFER && s->ops[i].dst.space == DCOLL_NODE)
            return true;
    return false;
}

unsigned dcoll_proof_starts(const dcoll_program_t *program)
{
    unsigned group = 1;
    for (unsigned r = 0; r < program->shape->nranks; r++) {
        const dcoll_schedule_t *s = &program->rank[r];
        for (unsigned i = 0; i < s->nops; i++)
            group = s->ops[i].every > group ? s->ops[i].every : group;
    }
    return program->args.depth + group * (offers(program) ? MAPPED_EVERY : 1);
}

int dcoll_verify(const dcoll_program_t *program, unsigned starts, char *why,
                 size_t size)
{
    unsigned n = program->shape->nranks;
    struct verifier v = {.program = program,
                         .shape = program->shape,
                         .nranks = n,
                         .starts = starts,
                         .why = why,
                         .size = size};
    size_t streams = (size_t)n * n * DCOLL_TAGS;
    v.players = calloc(n, sizeof *v.players);
    v.streams = calloc(streams, sizeof *v.streams);
    if (size)
        *why = '\0';
    if (!v.players || !v.streams)
        v.error = DRAIL_ENOMEM;
    for (size_t i = 0; !v.error && i < streams; i++)
        v.streams[i].head = NONE;
    if (program->args.root >= n)
        verify_fail(&v, "root %u of %u ranks", program->args.root, n);
    if (!v.error && is_irregular(&v))
        verify_counts(&v);
    if (!v.error)
        verify_check(&v);
    if (!v.error)
        verify_ports(&v);
    if (!v.error)
        v.error = verify_set_up(&v);
    if (!v.error)
        play(&v);
    if (!v.error)
        verify_uses(&v);
    verify_tear_down(&v);
    if (v.error == DRAIL_ENOMEM)
        snprintf(why, size, "out of memory");
    return v.error;
}

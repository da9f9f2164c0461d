/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

typedef enum kind { COMMAND_RUN, COMMAND_CHECK, COMMAND_QUIT } kind_t;

typedef struct command {
    uint32_t kind, setup, loop;
    uint64_t bytes, warmup, iterations;
    uint64_t seed; /* COMMAND_CHECK */
} command_t;

typedef struct reply {
    uint64_t cpu_ns;
    defect_t defect;
} reply_t;

/* Seed of the data that rank @p writer writes in a checked run. */
static uint64_t seed_of(uint64_t seed, unsigned writer)
{
    return seed + writer;
}

/* Does this rank receive data to check? In a ping-pong of reads only rank 0
 * does. */
static bool is_target(const session_t *s, const loop_t *loop,
                      const setup_t *setup)
{
    bool both = loop->directions == 2;
    switch (setup->op) {
    case OP_GET:
        return s->rank == 0 || (both && loop->batched);
    case OP_FETCH_ADD: /* the loop looks at each value */
    case OP_CMP_SWAP:
        return false;
    default:
        return s->rank == 1 || both;
    }
}

/* One batch or two ping-pongs, so that the use of several buffers is
 * checked. */
static uint64_t checked_iterations(const loop_t *loop)
{
    return loop->batched ? 1 : 2;
}

/* Buffers that the checked iterations use. An iteration of a ping-pong of reads
 * has two reads. */
static uint64_t buffers_used(const session_t *s, const loop_t *loop,
                             const loop_run_t *run)
{
    uint64_t all = session_buffers(s, run->bytes);
    uint64_t each = loop->batched              ? s->opts->batch
                    : run->setup->op == OP_GET ? 2
                                               : 1;
    uint64_t used = each * checked_iterations(loop);
    return all < used ? all : used;
}

/* Each buffer has its own contents. */
static uint64_t seed_in(uint64_t seed, uint64_t buffer)
{
    return seed + buffer * UINT64_C(0xd1b54a32d192ed03);
}

/* Between buffers there is no room for guards. */
static size_t guard_of(const session_t *s)
{
    return session_turns(s) ? 0 : SESSION_GUARD;
}

static void prepare(session_t *s, const loop_t *loop, const loop_run_t *run,
                    uint64_t seed)
{
    uint64_t used = buffers_used(s, loop, run);
    s->turn = 0;
    for (uint64_t b = 0; b < used; b++) {
        size_t place = session_place(s, run->bytes, b);
        content_fill(s->source + place, run->bytes,
                     seed_in(seed_of(seed, s->rank), b));
        if (is_target(s, loop, run->setup))
            content_prepare(s->target + place, run->bytes, guard_of(s),
                            seed_in(seed_of(seed, s->peer), b));
    }
}

static defect_t find_defect(const session_t *s, const loop_t *loop,
                            const loop_run_t *run, uint64_t seed)
{
    uint64_t used = buffers_used(s, loop, run);
    defect_t defect = {.offset = DEFECT_NONE};
    for (uint64_t b = 0; b < used && defect.offset == DEFECT_NONE; b++)
        defect = content_check(s->target + session_place(s, run->bytes, b),
                               run->bytes, guard_of(s),
                               seed_in(seed_of(seed, s->peer), b));
    return defect;
}

/* Runs this rank's part of a checked iteration. */
static int check(session_t *s, const loop_t *loop, loop_run_t *run,
                 uint64_t seed, defect_t *defect)
{
    defect->offset = DEFECT_NONE;
    prepare(s, loop, run, seed);

    int rc = session_sync(s);
    if (!rc)
        rc = loop->run(run);
    if (!rc && is_target(s, loop, run->setup))
        *defect = find_defect(s, loop, run, seed);
    return rc;
}

static int issue(const command_table_t *table, const command_t *command,
                 loop_run_t *run)
{
    run->setup = &table->plan->setups[command->setup];
    int rc = session_tell(run->session, command, sizeof *command);
    return rc ? rc : session_switch(run->session, run->setup);
}

int command_run(const command_table_t *table, unsigned setup, unsigned loop,
                loop_run_t *run, uint64_t *peer_cpu_ns)
{
    command_t command = {.kind = COMMAND_RUN,
                         .setup = setup,
                         .loop = loop,
                         .bytes = run->bytes,
                         .warmup = run->warmup,
                         .iterations = run->iterations};
    reply_t reply = {0};
    int rc = issue(table, &command, run);
    if (!rc)
        rc = table->test->loops[loop]->run(run);
    if (!rc)
        rc = session_hear(run->session, &reply, sizeof reply);
    *peer_cpu_ns = reply.cpu_ns;
    return rc;
}

int command_check(const command_table_t *table, unsigned setup, unsigned loop,
                  loop_run_t *run, uint64_t seed, defect_t *defect)
{
    command_t command = {.kind = COMMAND_CHECK,
                         .setup = setup,
                         .loop = loop,
                         .bytes = run->bytes,
                         .iterations =
                             checked_iterations(table->test->loops[loop]),
                         .seed = seed};
    reply_t reply;
    run->warmup = 0;
    run->iterations = command.iterations;
    run->checked = true;
    int rc = issue(table, &command, run);
    if (!rc)
        rc = check(run->session, table->test->loops[loop], run, seed, defect);
    if (!rc)
        rc = session_hear(run->session, &reply, sizeof reply);
    if (!rc && defect->offset == DEFECT_NONE)
        *defect = reply.defect;
    return rc;
}

int command_quit(session_t *session)
{
    command_t command = {.kind = COMMAND_QUIT};
    return session_tell(session, &command, sizeof command);
}

static int serve(const command_table_t *table, session_t *s,
                 const command_t *command)
{
    if (command->setup >= table->plan->count ||
        command->loop >= table->test->nloops || command->bytes > s->capacity ||
        !command->iterations)
        return DRAIL_EINVAL;

    const loop_t *loop = table->test->loops[command->loop];
    loop_run_t run = {.session = s,
                      .setup = &table->plan->setups[command->setup],
                      .bytes = command->bytes,
                      .warmup = command->warmup,
                      .iterations = command->iterations,
                      .checked = command->kind == COMMAND_CHECK};
    reply_t reply = {0};
    int rc = session_switch(s, run.setup);
    if (!rc)
        rc = run.checked ? check(s, loop, &run, command->seed, &reply.defect)
                         : loop->run(&run);
    reply.cpu_ns = run.cpu_ns;
    return rc ? rc : session_tell(s, &reply, sizeof reply);
}

int command_follow(const command_table_t *table, session_t *s)
{
    for (;;) {
        command_t command;
        int rc = session_hear(s, &command, sizeof command);
        if (rc || command.kind == COMMAND_QUIT)
            return rc;
        rc = serve(table, s, &command);
        if (rc)
            return rc;
    }
}

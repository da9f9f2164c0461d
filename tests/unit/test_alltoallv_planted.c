/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults in the schedules of irregular all-to-alls, one at a time: the verifier
 * refuses each, unless it is listed here as harmless, with a reason.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/deal.h"
#include "coll/build/irregular/mesh.h"
#include "coll/build/smp/node.h"
#include "coll/build/irregular/stages.h"
#include "sizes_play.h"
#include "traffic.h"

#ifdef DRAIL_SANITIZE
enum { ELEMENT = 16, MOST = 6, NODES_STEP = 2 };
#else
enum { ELEMENT = 16, MOST = 11, NODES_STEP = 1 };
#endif

/* A schedule under test. */
struct subject {
    const dcoll_algorithm_t *algorithm;
    dcoll_program_t *program;
    bool pulled; /* something stays in SEND for others to read */
    unsigned planted, missed;
};

/* A rank's operations before the change. */
struct saved {
    dcoll_schedule_t schedule;
    dcoll_op_t *ops;
    dcoll_deal_t *deals;
};

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    return bytes ? memcpy(copy, from, bytes) : copy;
}

static struct saved save(const dcoll_schedule_t *s)
{
    return (struct saved){*s, copy_of(s->ops, s->nops * sizeof *s->ops),
                          copy_of(s->deals, s->ndeals * sizeof *s->deals)};
}

static void restore(dcoll_schedule_t *s, struct saved *saved)
{
    *s = saved->schedule;
    memcpy(s->ops, saved->ops, s->nops * sizeof *s->ops);
    if (s->ndeals)
        memcpy(s->deals, saved->deals, s->ndeals * sizeof *s->deals);
    free(saved->ops);
    free(saved->deals);
}

static bool accepted(const struct subject *x)
{
    char why[512];
    return !dcoll_verify(x->program, x->program->args.depth + 1, why,
                         sizeof why);
}

/* Must be refused, unless it is no fault. */
static void judge_op(struct subject *x, unsigned rank, unsigned index,
                     const dcoll_op_t *op, const char *what, bool harmless)
{
    x->planted++;
    if (harmless || !accepted(x))
        return;
    x->missed++;
    print_message("%s, %u ranks: not refused: %s, operation %u (%s) of rank "
                  "%u\n",
                  x->algorithm->name, x->program->shape->nranks, what, index,
                  dcoll_kind_name(op->kind), rank);
}

static void judge(struct subject *x, unsigned rank, unsigned index,
                  const char *what, bool harmless)
{
    judge_op(x, rank, index, &x->program->rank[rank].ops[index], what,
             harmless);
}

static void drop(dcoll_schedule_t *s, unsigned index)
{
    s->nops--;
    memmove(&s->ops[index], &s->ops[index + 1],
            (s->nops - index) * sizeof *s->ops);
}

static void move(dcoll_schedule_t *s, unsigned from, unsigned to)
{
    dcoll_op_t op = s->ops[from];
    if (from < to)
        memmove(&s->ops[from], &s->ops[from + 1], (to - from) * sizeof op);
    else
        memmove(&s->ops[to + 1], &s->ops[to], (from - to) * sizeof op);
    s->ops[to] = op;
}

static bool deals(const dcoll_op_t *o)
{
    return o->kind == DCOLL_DISTRIBUTE || o->kind == DCOLL_COLLECT ||
           o->kind == DCOLL_PACK;
}

static bool sends(const dcoll_op_t *o)
{
    return o->kind == DCOLL_PUT || o->kind == DCOLL_NOTIFY;
}

/* The tag that others wait for. */
static dcoll_tag_t tag_of(const dcoll_op_t *o)
{
    return o->kind == DCOLL_PUT ? DCOLL_DATA : o->tag;
}

/* The peer's WAIT for what this operation sends. */
static unsigned wait_for(const dcoll_program_t *p, unsigned rank, unsigned op)
{
    const dcoll_op_t *sent = &p->rank[rank].ops[op];
    const dcoll_schedule_t *peer = &p->rank[sent->peer];
    unsigned nth = 0, i = 0;
    for (; i < op; i++) {
        const dcoll_op_t *o = &p->rank[rank].ops[i];
        nth += sends(o) && o->peer == sent->peer && tag_of(o) == tag_of(sent);
    }
    for (i = 0; i < peer->nops; i++) {
        const dcoll_op_t *o = &peer->ops[i];
        if (o->kind == DCOLL_WAIT && o->peer == rank &&
            o->tag == tag_of(sent) && !nth--)
            break;
    }
    return i;
}

/* -------------------------------------------------------- left out alone */

/*
 * No faults:
 *  - a notification of a barrier and its WAIT: others may imply that order; a
 *    whole barrier is needed, see below;
 *  - the same of a stage of `birkhoff`: it paces (that is tested in
 *    test_alltoallv_birkhoff.c), only READY is needed;
 *  - a COMPLETE of the blocking form that is not the last of its stage: it
 *    paces, as the seed's figure 3 has it; the next one comes before the send
 *    buffer is used again;
 *  - a COMPLETE before which there are no puts.
 */
static bool may_be_left_out(const dcoll_schedule_t *s, unsigned index)
{
    const dcoll_op_t *o = &s->ops[index];
    unsigned i = index + 1;
    if (o->kind == DCOLL_NOTIFY)
        return o->tag == DCOLL_CREDIT;
    if (o->kind != DCOLL_COMPLETE)
        return false;
    for (; i < s->nops && s->ops[i].kind != DCOLL_COMPLETE; i++)
        if (deals(&s->ops[i]))
            break;
    if (i < s->nops && s->ops[i].kind == DCOLL_COMPLETE)
        return true;
    for (i = index; i-- > 0 && s->ops[i].kind != DCOLL_COMPLETE;)
        if (s->ops[i].kind == DCOLL_PUT)
            return false;
    return true;
}

/* Ranks that have read from SEND tell, and only a rank that has data there
 * waits: no fault if no rank has. */
static bool of_pulling(const dcoll_op_t *o)
{
    return o->offered || (o->kind == DCOLL_SIGNAL && o->flag == NODE_DONE);
}

static void leave_out(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_schedule_t *s = &x->program->rank[rank];
    const dcoll_op_t out = s->ops[index];
    bool harmless =
        may_be_left_out(s, index) || (of_pulling(&out) && !x->pulled);
    unsigned match = sends(&out) ? wait_for(x->program, rank, index) : s->nops;
    dcoll_schedule_t *peer = &x->program->rank[sends(&out) ? out.peer : rank];
    struct saved mine = save(s), theirs = save(peer);
    drop(s, index);
    if (sends(&out))
        drop(peer, match);
    judge_op(x, rank, index, &out, "left out", harmless);
    restore(peer, &theirs);
    restore(s, &mine);
}

/* ----------------------------------------------------------- wrong places */

/* Tables of the node: its own is in none that a rank looks at. */
static bool looks_at_tables(const dcoll_op_t *o, unsigned rank)
{
    return o->kind == DCOLL_EXPECT && o->peer == rank;
}

static bool is_alone(const struct subject *x, unsigned rank)
{
    return dcoll_shape_locals(x->program->shape, rank) == 1;
}

/* Where the tables begin is where the only one is that it looks at. */
static bool looks_at_first(const struct subject *x, const dcoll_op_t *o,
                           unsigned rank)
{
    return looks_at_tables(o, rank) &&
           dcoll_shape_locals(x->program->shape, rank) == 2 &&
           dcoll_shape_node(x->program->shape, rank - 1) ==
               dcoll_shape_node(x->program->shape, rank);
}

static void misplace(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_op_t *o = &x->program->rank[rank].ops[index];
    const dcoll_op_t before = *o;
    bool moves = o->kind == DCOLL_PUT || o->kind == DCOLL_COPY;
    size_t room = deals(o) || o->kind == DCOLL_DELIVER
                      ? x->program->rank[rank].deals[o->deal].stride
                      : o->bytes;
    room = room && o->kind != DCOLL_PICK ? room : ELEMENT;
    if (!moves && !deals(o) && o->kind != DCOLL_DELIVER &&
        o->kind != DCOLL_OFFER && o->kind != DCOLL_EXPECT &&
        o->kind != DCOLL_PICK)
        return;
    if (o->kind == DCOLL_PICK && o->peer == rank)
        return; /* a rank's own part is in no table */
    if (o->kind != DCOLL_OFFER) {
        o->src.offset += room;
        judge(x, rank, index, "source shifted",
              looks_at_tables(o, rank) && is_alone(x, rank));
        *o = before;
    }
    if (o->kind != DCOLL_EXPECT && o->kind != DCOLL_PICK) {
        o->dst.offset += room;
        judge(x, rank, index, "target shifted", false);
        *o = before;
    }
}

/* ----------------------------------------------------------- wrong order */

static bool reads_bundle(const dcoll_op_t *o, const dcoll_op_t *put)
{
    return o->kind == DCOLL_DELIVER ||
           ((deals(o) || o->kind == DCOLL_EXPECT) &&
            o->src.space == put->dst.space && o->src.offset == put->dst.offset);
}

/* A bundle is read before it has come. */
static void read_early(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_schedule_t *s = &x->program->rank[rank];
    const dcoll_op_t *put = &s->ops[index];
    if (put->kind != DCOLL_PUT || put->src.space != DCOLL_TEMP)
        return;
    dcoll_schedule_t *peer = &x->program->rank[put->peer];
    unsigned wait = wait_for(x->program, rank, index), i = wait + 1;
    while (i < peer->nops && !reads_bundle(&peer->ops[i], put))
        i++;
    assert_true(i < peer->nops);
    struct saved saved = save(peer);
    move(peer, wait, i);
    judge(x, put->peer, i, "after the bundle is read", false);
    restore(peer, &saved);
}

/* A bucket is sent before the last that is dealt to it. */
static void send_early(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_schedule_t *s = &x->program->rank[rank];
    unsigned i = index;
    if (s->ops[index].kind != DCOLL_PUT ||
        s->ops[index].src.space != DCOLL_TEMP)
        return;
    while (i > 0 && !deals(&s->ops[i]))
        i--;
    struct saved saved = save(s);
    move(s, index, i);
    judge(x, rank, i, "before the last dealing", false);
    restore(s, &saved);
}

/* COMPLETE of the first puts, but one. */
static void complete_fewer(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_op_t *o = &x->program->rank[rank].ops[index];
    if (o->kind != DCOLL_COMPLETE || o->puts < 2)
        return;
    o->puts--;
    judge(x, rank, index, "one put fewer", false);
    o->puts++;
}

static unsigned first_step(const dcoll_program_t *p, unsigned phase)
{
    unsigned first = UINT16_MAX;
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            const dcoll_op_t *o = &p->rank[r].ops[i];
            if (o->kind == DCOLL_PUT && o->phase == phase && o->step < first)
                first = o->step;
        }
    return first;
}

/* Does the rank send, or its target receive, on the same port in that step? */
static bool is_busy(const dcoll_program_t *p, unsigned rank,
                    const dcoll_op_t *put, unsigned step)
{
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            const dcoll_op_t *o = &p->rank[r].ops[i];
            if (o->kind == DCOLL_PUT && o->step == step &&
                o->port == put->port && (r == rank || o->peer == put->peer))
                return true;
        }
    return false;
}

/* Sent in the step before: there, the rank or its target has another; but for
 * the first step of a stage, and for steps of a stage that is not full. */
static void send_sooner(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_op_t *o = &x->program->rank[rank].ops[index];
    if (o->kind != DCOLL_PUT || o->step == first_step(x->program, o->phase))
        return;
    bool may = x->algorithm == &alltoallv_birkhoff &&
               !is_busy(x->program, rank, o, o->step - 1u);
    o->step--;
    judge(x, rank, index, "a step sooner", may);
    o->step++;
}

/* ---------------------------------------------------------- wrong dealing */

/* Do all that a rank can hold there go to the same buckets? Of collecting by
 * rows, those for its own column. */
static bool same_buckets(const dcoll_program_t *p, unsigned rank,
                         const dcoll_deal_t *a, const dcoll_deal_t *b)
{
    struct mesh m = mesh_of(p->shape->nranks);
    for (unsigned j = 0; j < m.ranks; j++)
        if ((a->divisor == 1 || mesh_column(&m, j) == mesh_column(&m, rank)) &&
            deal_bucket(a, j) != deal_bucket(b, j))
            return false;
    return true;
}

static void deal_wrongly(struct subject *x, unsigned rank, unsigned index)
{
    dcoll_schedule_t *s = &x->program->rank[rank];
    const dcoll_op_t *o = &s->ops[index];
    if (!deals(o) && o->kind != DCOLL_DELIVER &&
        (o->kind != DCOLL_EXPECT || o->bytes || o->src.space == DCOLL_RECV))
        return; /* of a bundle, and of known counts, it needs none */
    dcoll_deal_t *deal = &s->deals[o->deal];
    const dcoll_deal_t before = *deal;
    deal->fan--;
    judge(x, rank, index, "one bucket fewer", false);
    *deal = before;
    deal->fan++;
    judge(x, rank, index, "one bucket more", false);
    *deal = before;
    deal->stride += ELEMENT;
    judge(x, rank, index, "wider buckets",
          before.fan == 1 || looks_at_first(x, o, rank));
    *deal = before;
    if (!deals(o) || o->kind == DCOLL_PACK)
        return;
    deal->most = 0;
    judge(x, rank, index, "none for each", false);
    *deal = before;
    deal->opens = !deal->opens;
    judge(x, rank, index, "opens", false);
    *deal = before;
    deal->divisor++;
    judge(x, rank, index, "divisor",
          o->kind == DCOLL_DISTRIBUTE ||
              same_buckets(x->program, rank, &before, deal));
    *deal = before;
    if (!deal->ring)
        return;
    deal->origin = (deal->origin + 1) % deal->ring;
    judge(x, rank, index, "distances from another rank", false);
    *deal = before;
}

/* --------------------------------------------------------- whole barriers */

static bool of_barrier(const dcoll_op_t *o, unsigned phase)
{
    return o->phase == phase && o->tag == DCOLL_CREDIT &&
           (o->kind == DCOLL_NOTIFY || o->kind == DCOLL_WAIT);
}

static void leave_out_barrier(struct subject *x, unsigned phase)
{
    unsigned n = x->program->shape->nranks, dropped = 0;
    struct saved *saved = calloc(n, sizeof *saved);
    assert_non_null(saved);
    for (unsigned r = 0; r < n; r++) {
        dcoll_schedule_t *s = &x->program->rank[r];
        saved[r] = save(s);
        for (unsigned i = s->nops; i-- > 0;)
            if (of_barrier(&s->ops[i], phase)) {
                drop(s, i);
                dropped++;
            }
    }
    if (dropped)
        judge(x, 0, phase, "a barrier", x->algorithm == &alltoallv_birkhoff);
    for (unsigned r = 0; r < n; r++)
        restore(&x->program->rank[r], &saved[r]);
    free(saved);
}

/* ------------------------------------------------------------------ sweep */

static void plant_all(struct subject *x, unsigned rank)
{
    for (unsigned i = 0; i < x->program->rank[rank].nops; i++) {
        leave_out(x, rank, i);
        misplace(x, rank, i);
        read_early(x, rank, i);
        send_early(x, rank, i);
        complete_fewer(x, rank, i);
        send_sooner(x, rank, i);
        deal_wrongly(x, rank, i);
    }
}

static bool same_on_all_ranks(const dcoll_algorithm_t *a)
{
    return !strncmp(a->name, "a1", 2) || !strncmp(a->name, "a2", 2) ||
           !strcmp(a->name, "direct") || !strncmp(a->name, "shm", 3);
}

/* Some ranks: the first, in each kind of row and column. */
static void sweep(const dcoll_algorithm_t *a, unsigned n, unsigned ppn,
                  bool labelled, unsigned *missed)
{
    unsigned node[MOST + 1];
    const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, ppn, node), node, 1};
    struct traffic t = traffic_make(n, TRAFFIC_EQUAL, n, n);
    dcoll_traffic_t bounds =
        traffic_bounds(&t, a->by_counts ? TRAFFIC_LONG : ELEMENT);
    const dcoll_args_t args = {.collective = DCOLL_ALLTOALLV,
                               .depth = a->depth ? a->depth : 2,
                               .traffic = &bounds};
    dcoll_program_t program;
    struct subject x = {a, &program, labelled && n % 2, 0, 0};
    bounds.labelled = labelled;
    bounds.pulled = x.pulled ? 1 : SIZE_MAX;
    if (!dcoll_refusal(a, &shape, &args)) {
        assert_int_equal(dcoll_program_make(a, &shape, &args, &program), 0);
        program.counts = t.counts;
        assert_true(accepted(&x));
        for (unsigned r = 0; r < n; r += same_on_all_ranks(a) ? n : n / 3)
            plant_all(&x, r);
        for (unsigned phase = 1; phase <= STAGES_MAX; phase++)
            leave_out_barrier(&x, phase);
        *missed += x.missed;
        dcoll_program_free(&program);
    }
    traffic_free(&t);
}

static void test_planted(void **state)
{
#ifdef DRAIL_SANITIZE
    static const unsigned ranks[] = {5, 6};
#else
    static const unsigned ranks[] = {5, 6, 9, 11};
#endif
    unsigned missed = 0;
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
             *a; a++)
            sweep(*a, ranks[i], ranks[i], true, &missed);
    assert_int_equal(missed, 0);
}

static void test_unlabelled(void **state)
{
    unsigned missed = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++)
        sweep(*a, 5, 5, false, &missed);
    sweep(&alltoallv_smp, 5, 2, false, &missed);
    assert_int_equal(missed, 0);
}

/* Of what differs between several nodes and one; the last one is smaller. */
static void test_nodes(void **state)
{
    unsigned missed = 0;
    for (unsigned n = 4; n <= MOST; n += NODES_STEP)
        for (unsigned ppn = 1; ppn <= 3; ppn++) {
            sweep(&alltoallv_smp, n, ppn, true, &missed);
            sweep(&alltoallv_birkhoff, n, ppn, true, &missed);
        }
    assert_int_equal(missed, 0);
}

/* Elements come where they belong with any counter: it is their even
 * distribution (lemma 2), or the room, that a wrong one costs. */
static void count_wrongly(dcoll_program_t *p, unsigned rank, unsigned deal)
{
    dcoll_deal_t *d = &p->rank[rank].deals[deal];
    const unsigned right = d->period;
    for (unsigned period = d->fan; period <= 2 * right; period++) {
        struct sizes sizes = {.spread = 1};
        d->period = period;
        const char *wrong = sizes_play(p, &sizes);
        bool same =
            period == right || (right % d->fan == 0 && period % d->fan == 0);
        if (same != (!wrong && !sizes.uneven))
            fail_msg("%u ranks, rank %u, dealing %u: period %u instead of %u",
                     p->shape->nranks, rank, deal, period, right);
    }
    d->period = right;
}

/* The dealings of the first two stages, where buckets differ. */
static void count_all_wrongly(dcoll_program_t *p, unsigned rank)
{
    const dcoll_schedule_t *s = &p->rank[rank];
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_DISTRIBUTE &&
            s->deals[s->ops[i].deal].opens && s->deals[s->ops[i].deal].fan > 1)
            count_wrongly(p, rank, s->ops[i].deal);
}

static void test_counters(void **state)
{
    static const unsigned ranks[] = {5, 6, 9, 11, 18};
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, "a4");
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const unsigned n = ranks[i], node[] = {0, n};
        const dcoll_shape_t shape = {n, 1, node, 1};
        struct traffic t = traffic_make(n, TRAFFIC_RANDOM, 5, n);
        for (unsigned k = 0; k < n * n; k++)
            t.counts[k] = (t.counts[k] + 1) * n;
        dcoll_traffic_t bounds = traffic_bounds(&t, ELEMENT);
        const dcoll_args_t args = {
            .collective = DCOLL_ALLTOALLV, .depth = 1, .traffic = &bounds};
        dcoll_program_t program;
        assert_int_equal(dcoll_program_make(a, &shape, &args, &program), 0);
        program.counts = t.counts;
        for (unsigned r = 0; r < n; r += n / 4)
            count_all_wrongly(&program, r);
        dcoll_program_free(&program);
        traffic_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_unlabelled),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with different tables make the same choice. */
#include "coll/dcoll.h"
#include "coll/select/table.h"

#include "ranks.h"

enum { RANKS = 3, BYTES = 16, MORE = 1024 };

/* Says "bruck", where no rule would. */
static void write_table(const struct rank *r, const char *path)
{
    char rails[DCOLL_TABLE_RAILS] = "";
    FILE *file = fopen(path, "w");
    check(file != NULL);
    dcoll_table_row_t row = {DCOLL_ALLGATHER,
                             RANKS,
                             RANKS,
                             drail_nrails(r->t),
                             drail_config_of(r->t)->engine,
                             BYTES,
                             dcoll_algorithm_find(DCOLL_ALLGATHER, "bruck"),
                             false,
                             1,
                             1,
                             1};
    for (unsigned i = 0; i < drail_nrails(r->t); i++)
        dcoll_table_add_rail(rails, drail_rail_at(r->t, i)->name);
    dcoll_table_write(file, &(dcoll_table_t){&row, 1}, rails, NULL);
    check(fclose(file) == 0);
}

static dcoll_team_t *team_open(struct rank *r, bool has_table)
{
    char path[64];
    dcoll_config_t cfg;
    dcoll_team_t *team;
    snprintf(path, sizeof path, "/tmp/dcoll-table-%d", (int)getpid());
    write_table(r, path);
    dcoll_config_init(&cfg);
    cfg.table = has_table ? path : NULL;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &team, NULL));
    remove(path);
    return team;
}

static void team_close(struct rank *r, dcoll_team_t *team)
{
    barrier(r);
    dcoll_team_free(team);
}

static bool takes_bruck(struct rank *r, dcoll_team_t *team, size_t bytes)
{
    unsigned char send[MORE] = {1}, recv[RANKS * MORE];
    dcoll_call_t c = {DCOLL_ALLGATHER, send, recv, bytes, 0, NULL, NULL, NULL};
    dcoll_request_t *q;
    expect(r, 0, dcoll_begin(team, &c, &q));
    bool bruck = !strcmp(dcoll_request_algorithm(q)->name, "bruck");
    expect(r, 0, dcoll_wait(q, -1));
    return bruck;
}

static void all(struct rank *r)
{
    dcoll_team_t *team = team_open(r, true);
    check(takes_bruck(r, team, BYTES));
    team_close(r, team);
}

static void some(struct rank *r)
{
    dcoll_team_t *team = team_open(r, r->rank != 1);
    check(!takes_bruck(r, team, BYTES));
    team_close(r, team);
}

/* An earlier choice is made again only where it fits. */
static void in_turn(struct rank *r)
{
    dcoll_team_t *team = team_open(r, true);
    drail_engine_t usual = drail_config_of(r->t)->engine;
    for (unsigned round = 0; round < 2; round++) {
        check(takes_bruck(r, team, BYTES));
        check(!takes_bruck(r, team, MORE));
        check(takes_bruck(r, team, BYTES));
        expect(r, 0, drail_set_engine(r->t, DRAIL_ENGINE_SINGLE, 0));
        check(!takes_bruck(r, team, BYTES));
        expect(r, 0, drail_set_engine(r->t, usual, 0));
    }
    team_close(r, team);
}

static const struct test tests[] = {
    {"all ranks have the table", RANKS, all, NULL, APART},
    {"one has not", RANKS, some, NULL, APART},
    {"sizes and engines in turn", RANKS, in_turn, NULL, APART},
};

RUN_TESTS(tests)

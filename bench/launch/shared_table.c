/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's table for the client of a pair. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "pairing.h"

typedef struct piece {
    unsigned used; /* less than there is room for: the last piece */
    char text[16 << 10];
} piece_t;

typedef struct telling {
    const struct table_copy *table; /* of the server */
    bool listens;
    piece_t mine, all[2];
} telling_t;

/* Without what would control the client's terminal. */
static void print(const piece_t *piece)
{
    for (unsigned i = 0; i < piece->used; i++) {
        const char c = piece->text[i];
        putchar(iscntrl((unsigned char)c) && c != '\n' ? '?' : c);
    }
}

/* Piece after piece; the client prints them. */
static int tell(drail_job_t *job, void *arg)
{
    telling_t *t = arg;
    size_t at = 0;
    do {
        piece_t *mine = &t->mine;
        size_t left = t->listens ? 0 : t->table->size - at;
        mine->used = left < sizeof mine->text ? (unsigned)left
                                              : (unsigned)sizeof mine->text;
        if (mine->used)
            memcpy(mine->text, t->table->text + at, mine->used);
        at += mine->used;
        if (drail_job_allgather(job, mine, sizeof *mine, t->all, -1) ||
            t->all[0].used > sizeof t->all[0].text)
            return 1;
        if (t->listens)
            print(&t->all[0]);
    } while (t->all[0].used == sizeof t->all[0].text);
    return 0;
}

void pairing_tell(const options_t *o, const struct table_copy *table)
{
    telling_t *t = calloc(1, sizeof *t);
    drail_error_t err = {0};
    if (t) {
        t->table = table;
        t->listens = o->follows;
        /* a test that failed has said so, and its launch is over */
        launch_exchange(o, &err, tell, t);
    }
    free(t);
}

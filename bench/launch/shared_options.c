/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that server and client of a pair have in common. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "pairing.h"

#define WORDS_MAX 512

/* Words of a command, as they are told to the other side. */
typedef struct words {
    unsigned used;
    char text[16 << 10]; /* each ends with '\0' */
} words_t;

typedef struct exchange {
    words_t mine, all[2];
} exchange_t;

/* Options that concern one side only, and are not told to the other: how the
 * two meet, where results go, commands and files of one host. */
static const char *const private_options[] = {
    "--server", "--code",   "--secret",    "--rendezvous", "--connect-time",
    "--format", "--output", "--save",      "--histogram",  "--rank",
    "--ranks",  "--fork",   "--selection", "--on-event"};

/* @p name: the option's own, also where an old one was typed. */
static bool is_private(const char *name, bool without_rails)
{
    for (size_t i = 0; i < sizeof private_options / sizeof *private_options;
         i++)
        if (!strcmp(name, private_options[i]))
            return true;
    return without_rails && !strcmp(name, "--rails");
}

/* Does the value name a file, as some of --pattern and --rails do? */
static bool names_file(const char *value)
{
    return strstr(value, "file:") || strstr(value, "sim:");
}

/* Of the options of one side, in @p args, those that count on the other side,
 * too. Both sides choose: what comes over the network may be anything.
 * @return how many of @p shared are filled in. */
static unsigned choose_shared(const option_table_t *table, bool without_rails,
                              unsigned count, char *const *args,
                              const char **shared)
{
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        const option_row_t *row = option_find(table, args[i]);
        bool valued = row && row->value && !strchr(args[i], '=');
        if (valued && i + 1 == count)
            break; /* without its value it would take the next word */
        bool kept = row && !is_private(row->name, without_rails) &&
                    !names_file(args[valued ? i + 1 : i]);
        if (kept)
            shared[n++] = args[i];
        if (valued)
            i++;
        if (valued && kept)
            shared[n++] = args[i];
    }
    return n;
}

static int add_word(words_t *w, const char *word)
{
    size_t size = strlen(word) + 1;
    if (size > sizeof w->text - w->used)
        return -1;
    memcpy(w->text + w->used, word, size);
    w->used += (unsigned)size;
    return 0;
}

/* TEST, and the options. @return 0, or -1: too long. */
static int tell_words(const options_t *o, const option_table_t *table,
                      words_t *w)
{
    const char *shared[WORDS_MAX];
    unsigned count = (unsigned)o->argc - 2;
    if (count > WORDS_MAX)
        return -1;
    count = choose_shared(table, !o->server, count, o->argv + 2, shared);
    int rc = add_word(w, o->argv[1]);
    for (unsigned i = 0; !rc && i < count; i++)
        rc = add_word(w, shared[i]);
    return rc;
}

/* @return how many of @p args are filled in, TEST first; 0: no words, or some
 * that must not reach a terminal. */
static unsigned hear_words(words_t *w, char *args[WORDS_MAX])
{
    unsigned n = 0;
    if (!w->used || w->used > sizeof w->text || w->text[w->used - 1])
        return 0;
    for (unsigned i = 0; i < w->used; i++)
        if (w->text[i] && !isprint((unsigned char)w->text[i]))
            return 0;
    for (char *at = w->text; at < w->text + w->used; at += strlen(at) + 1) {
        if (n == WORDS_MAX)
            return 0;
        args[n++] = at;
    }
    return n;
}

static int exchange(drail_job_t *job, void *arg)
{
    exchange_t *x = arg;
    int rc = drail_job_allgather(job, &x->mine, sizeof x->mine, x->all, -1);
    return rc ? 1 : 0;
}

static int append(char **argv, int *argc, unsigned count,
                  const char *const *words)
{
    for (unsigned i = 0; i < count; i++)
        if (!(argv[(*argc)++] = strdup(words[i])))
            return -1;
    return 0;
}

/* The own command, with the other side's options before the client's own and
 * behind the server's. @return NULL: out of memory. */
static char **join(const options_t *o, unsigned count,
                   const char *const *others, int *argc)
{
    const char *const *own = (const char *const *)o->argv;
    unsigned mine = (unsigned)o->argc - 2;
    char **argv = calloc(o->argc + (size_t)count + 1, sizeof *argv);
    *argc = 0;
    if (!argv)
        return NULL;
    if (!append(argv, argc, 2, own) &&
        (o->server || !append(argv, argc, count, others)) &&
        !append(argv, argc, mine, own + 2) &&
        (!o->server || !append(argv, argc, count, others)))
        return argv;
    pairing_free(argv);
    return NULL;
}

static int refuse(const option_table_t *table, const char *why)
{
    fprintf(stderr, "%s: %s\n", table->command, why);
    return 1;
}

/* @return exit status. */
static int join_others(const options_t *o, const option_table_t *table,
                       exchange_t *x, int *argc, char ***argv)
{
    char *args[WORDS_MAX];
    const char *shared[WORDS_MAX];
    unsigned count = hear_words(&x->all[o->server ? 1 : 0], args);
    if (!count)
        return refuse(table, "the other side's options can't be read");
    if (strcmp(args[0], o->argv[1])) {
        option_wrong(table, "TEST", o->server ? args[0] : o->argv[1],
                     o->server ? o->argv[1] : args[0]);
        return 2;
    }
    /* the client's rails may have other names; these are not known here then */
    bool own_rails = o->server || option_given(o, "--rails");
    count = choose_shared(table, own_rails, count - 1, args + 1, shared);
    *argv = join(o, count, shared, argc);
    return *argv ? 0 : refuse(table, "out of memory");
}

int pairing_agree(const options_t *o, const option_table_t *table, int *argc,
                  char ***argv)
{
    exchange_t *x = calloc(1, sizeof *x);
    drail_error_t err = {0};
    int status = 1, rc;
    if (!x)
        return refuse(table, "out of memory");
    if (tell_words(o, table, &x->mine))
        refuse(table, "the options are too long for the other side");
    else if ((rc = launch_exchange(o, &err, exchange, x)))
        refuse(table, err.text[0] ? err.text : drail_strerror(rc));
    else
        status = join_others(o, table, x, argc, argv);
    free(x);
    return status;
}

void pairing_free(char **argv)
{
    for (char **word = argv; word && *word; word++)
        free(*word);
    free(argv);
}

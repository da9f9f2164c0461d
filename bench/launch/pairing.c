/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/options/rows.h"
#include "bench/report/report.h"
#include "launch.h"
#include "pairing.h"

#define SERVER_WAITS 600 /* seconds, for a person to type the command */
#define CLIENT_WAITS 5   /* the server is there before */
#define SECRET_BYTES 16
#define CODE_MAX     (sizeof "65535-" + 256)
#define HOST_MAX     256

/* Options that concern one side only, and are not told to the other: how the
 * two meet, where results go, commands and files of one host. */
static const char *const private_options[] = {
    "--server", "--code",   "--secret",    "--rendezvous", "--connect-time",
    "--format", "--output", "--save",      "--histogram",  "--rank",
    "--ranks",  "--fork",   "--selection", "--on-event"};

bool pairing_wanted(const options_t *opts)
{
    return opts->server || opts->code || opts->host;
}

/* ------------------------------------------------------------ checking --- */

static int wrong(const option_table_t *table, const char *option,
                 const char *value, const char *allowed)
{
    option_wrong(table, option, value, allowed);
    return 2;
}

static int check(const options_t *o, const option_table_t *table)
{
    if (o->server && (o->host || o->code))
        return wrong(table, "--server", o->host ? o->host : "--code",
                     "--server on one host, HOST --code CODE on the other");
    if (o->code && !o->host)
        return wrong(table, "--code", o->code, "with the server's HOST");
    if (o->code && o->secret)
        return wrong(table, "--secret", o->secret, "in place of --code");
    if (o->simulated || o->fork || o->rank != RANK_DEFAULT ||
        (o->ranks && o->ranks != 2) || (o->rendezvous && !o->server))
        return wrong(table, o->server ? "--server" : "HOST",
                     o->simulated    ? o->rails[0]
                     : o->fork       ? "--fork"
                     : o->rendezvous ? "--rendezvous"
                                     : "--ranks",
                     "two ranks of this machine or others, without --rank, "
                     "--fork and simulated rails");
    return 0;
}

/* ------------------------------------------------------- where to meet --- */

/* A port that nobody uses. @return 0, or -1: no socket. */
static int free_port(int family, unsigned *port)
{
    struct sockaddr_in6 at = {.sin6_family = (sa_family_t)family};
    socklen_t size = sizeof at;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc =
        fd < 0 ||
        bind(fd, (struct sockaddr *)&at,
             family == AF_INET6 ? sizeof at : sizeof(struct sockaddr_in)) ||
        getsockname(fd, (struct sockaddr *)&at, &size);
    if (fd >= 0)
        close(fd);
    *port = ntohs(at.sin6_port); /* at the same place in both families */
    return rc ? -1 : 0;
}

/* Without --rendezvous: this host's name, for people, and any free port. */
static int choose_place(options_t *o, char host[HOST_MAX], unsigned *port)
{
    static char place[64];
    const char *any = "[::]";
    if (gethostname(host, HOST_MAX))
        return -1;
    host[HOST_MAX - 1] = '\0';
    if (free_port(AF_INET6, port)) {
        any = "0.0.0.0";
        if (free_port(AF_INET, port))
            return -1;
    }
    snprintf(place, sizeof place, "%s:%u", any, *port);
    o->rendezvous = place;
    return 0;
}

static void split_place(const char *place, char host[HOST_MAX], unsigned *port)
{
    const char *colon = strrchr(place, ':');
    snprintf(host, HOST_MAX, "%.*s", (int)(colon - place), place);
    *port = (unsigned)strtoul(colon + 1, NULL, 10);
}

/* The library takes it from there. */
static void keep_secret(const char *secret)
{
    setenv("DRAIL_SECRET", secret, 1);
    unsetenv("DRAIL_SECRET_FILE");
}

static int make_secret(char text[2 * SECRET_BYTES + 1])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return -1;
    for (unsigned i = 0; i < SECRET_BYTES; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    return 0;
}

static int begin_server(options_t *o, const option_table_t *table)
{
    char host[HOST_MAX], secret[2 * SECRET_BYTES + 1] = "";
    unsigned port;
    if (o->rendezvous) {
        split_place(o->rendezvous, host, &port);
    } else if (choose_place(o, host, &port)) {
        fprintf(stderr, "%s: --server: no socket to listen at\n",
                table->command);
        return 1;
    }
    if (!o->secret && make_secret(secret)) {
        fprintf(stderr, "%s: --server: no random numbers\n", table->command);
        return 1;
    }
    if (!o->secret)
        keep_secret(secret);
    fprintf(stderr, "%s: waits for the other rank; run there:\n  ",
            table->command);
    report_argument(stderr, o->argv[0]);
    fprintf(stderr, " %s ", o->argv[1]);
    report_argument(stderr, host);
    if (o->secret)
        fprintf(stderr, ":%u --secret FILE (a copy of this one)\n", port);
    else
        fprintf(stderr, " --code %u-%s\n", port, secret);
    return 0;
}

/* PORT-SECRET; then nobody reads it from the list of processes any more. */
static int read_code(options_t *o, const option_table_t *table, unsigned *port)
{
    char *dash = strchr((char *)o->code, '-'); /* in argv */
    char *end;
    *port = (unsigned)strtoul(o->code, &end, 10);
    if (!dash || end != dash || *port < 1 || *port > 65535 || !dash[1] ||
        strlen(o->code) > CODE_MAX)
        return wrong(table, "--code", o->code, "as its --server has printed");
    keep_secret(dash + 1);
    memset(dash + 1, '*', strlen(dash + 1));
    return 0;
}

static int begin_client(options_t *o, const option_table_t *table)
{
    static char place[HOST_MAX + 16];
    unsigned port;
    if (o->secret) {
        if (!strchr(o->host, ':'))
            return wrong(table, "HOST", o->host, "host:port with --secret");
        o->rendezvous = o->host;
        return 0;
    }
    int status = read_code(o, table, &port);
    if (status)
        return status;
    bool bare = strchr(o->host, ':') && *o->host != '['; /* IPv6 */
    snprintf(place, sizeof place, bare ? "[%.255s]:%u" : "%.255s:%u", o->host,
             port);
    o->rendezvous = place;
    return 0;
}

int pairing_begin(options_t *o, const option_table_t *table)
{
    int status = check(o, table);
    if (status)
        return status;
    if (!option_given(o, "--connect-time"))
        o->connect_time = o->server ? SERVER_WAITS : CLIENT_WAITS;
    o->ranks = 2;
    o->rank = o->server ? 0 : 1;
    return o->server ? begin_server(o, table) : begin_client(o, table);
}

/* ---------------------------------------------------- the same options --- */

/* A command's options as text: words that end with '\0'. */
typedef struct words {
    unsigned count;
    unsigned used;
    char text[16 << 10];
} words_t;

typedef struct exchange {
    words_t mine, all[2];
} exchange_t;

static int add_word(words_t *w, const char *word)
{
    size_t size = strlen(word) + 1;
    if (w->used + size > sizeof w->text)
        return -1;
    memcpy(w->text + w->used, word, size);
    w->used += (unsigned)size;
    w->count++;
    return 0;
}

static bool is_private(const char *arg, bool client)
{
    for (size_t i = 0; i < sizeof private_options / sizeof *private_options;
         i++)
        if (option_is(arg, private_options[i]))
            return true;
    return client && option_is(arg, "--rails"); /* named otherwise there */
}

/* What the other side is told: TEST, and the options that it is to share. */
static int tell_words(const options_t *o, const option_table_t *table,
                      words_t *w)
{
    int rc = add_word(w, o->argv[1]);
    for (int i = 2; !rc && i < o->argc; i++) {
        const option_row_t *row = option_find(table, o->argv[i]);
        bool valued = row && row->value && !strchr(o->argv[i], '=');
        bool left_out = !row || is_private(o->argv[i], !o->server);
        if (!left_out)
            rc = add_word(w, o->argv[i]);
        if (valued && ++i < o->argc && !left_out && !rc)
            rc = add_word(w, o->argv[i]);
    }
    return rc;
}

static int exchange(drail_job_t *job, void *arg)
{
    exchange_t *x = arg;
    return drail_job_allgather(job, &x->mine, sizeof x->mine, x->all, -1) ? 1
                                                                          : 0;
}

/* Words that came over the network end where they say. */
static bool is_sound(const words_t *w)
{
    unsigned count = 0;
    if (w->used > sizeof w->text || !w->used || w->text[w->used - 1])
        return false;
    for (unsigned i = 0; i < w->used; i++)
        count += !w->text[i];
    return count == w->count;
}

/* argv[0] and TEST as typed, then one side's words, then the other's. */
static char **join(const options_t *o, const words_t *server,
                   const words_t *client, int *argc)
{
    /* the side's own words are in its command, with those that are private */
    const words_t *first = o->server ? NULL : server;
    const words_t *last = o->server ? client : NULL;
    unsigned most = (unsigned)o->argc + server->count + client->count + 1;
    char **argv = calloc(most, sizeof *argv);
    int n = 0;
    if (!argv)
        return NULL;
    for (int i = 0; i < 2; i++)
        argv[n++] = strdup(o->argv[i]);
    for (unsigned pass = 0; pass < 2; pass++) {
        const words_t *w = pass ? last : first;
        const char *at = w ? w->text : NULL;
        for (unsigned i = 0; w && i < w->count; i++, at += strlen(at) + 1)
            if (i) /* behind TEST */
                argv[n++] = strdup(at);
        for (int i = 2; !pass && i < o->argc; i++)
            argv[n++] = strdup(o->argv[i]);
    }
    *argc = n;
    return argv;
}

int pairing_agree(const options_t *o, const option_table_t *table, int *argc,
                  char ***argv)
{
    exchange_t *x = calloc(1, sizeof *x);
    int status = 1;
    if (!x || tell_words(o, table, &x->mine)) {
        fprintf(stderr, "%s: options longer than %zu bytes\n", table->command,
                sizeof x->mine.text);
        goto out;
    }
    status = launch_exchange(table->command, o, exchange, x);
    if (status)
        goto out;
    status = 2;
    if (!is_sound(&x->all[0]) || !is_sound(&x->all[1]))
        fprintf(stderr, "%s: the other side's options can't be read\n",
                table->command);
    else if (strcmp(x->all[0].text, x->all[1].text))
        wrong(table, "TEST", x->all[1].text, x->all[0].text);
    else
        status = 0;
    if (!status && !(*argv = join(o, &x->all[0], &x->all[1], argc)))
        status = 1;
out:
    free(x);
    return status;
}

void pairing_free(char **argv)
{
    for (char **word = argv; word && *word; word++)
        free(*word);
    free(argv);
}

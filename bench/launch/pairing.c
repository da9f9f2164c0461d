/* SPDX-License-Identifier: BSD-3-Clause */
/* Where server and client meet, and by which secret. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/report/report.h"
#include "pairing.h"

#define SERVER_WAITS 600 /* seconds, for a person to type the command */
#define CLIENT_WAITS 5   /* the server is there before */
#define SECRET_BYTES 16
#define CODE_MAX     (sizeof "65535-" + 256)
#define HOST_MAX     256

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

static bool resolves(const char *host)
{
    struct addrinfo *found = NULL;
    bool good = !getaddrinfo(host, NULL, NULL, &found);
    if (good)
        freeaddrinfo(found);
    return good;
}

/* An address of this host that others may reach, else that of the loopback
 * interface. */
static void find_address(char host[HOST_MAX])
{
    struct ifaddrs *all = NULL;
    snprintf(host, HOST_MAX, "127.0.0.1");
    if (getifaddrs(&all))
        return;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
            i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK) &&
            !getnameinfo(i->ifa_addr, sizeof(struct sockaddr_in), host,
                         HOST_MAX, NULL, 0, NI_NUMERICHOST))
            break;
    freeifaddrs(all);
}

/* Without --rendezvous: any free port, and this host's name, for people, if it
 * means something. */
static int choose_place(options_t *o, char host[HOST_MAX], unsigned *port)
{
    static char place[64];
    const char *any = "[::]";
    if (gethostname(host, HOST_MAX))
        return -1;
    host[HOST_MAX - 1] = '\0';
    if (!resolves(host))
        find_address(host);
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

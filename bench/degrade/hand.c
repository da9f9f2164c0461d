/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock.h"
#include "hand.h"

#define CABLES_ENV "DAPL_SHM_CABLES"
#define SAYS_FD    3 /* of a command, for the time of its event */
/* Of events that are drawn: for so long a rail has been up before another is
 * cut, for the other rank knows of it a little later. */
#define SETTLED_NS 20000000u
#define MOST_TIMES 3 /* the time of a run whose drawn cuts take longer */

extern char **environ;

/* ------------------------------------------------------------- cables --- */

/* Words of the file, as the manual has them. */
enum { PULLED, CUTS, SLOW };

static uint32_t get(int cable, unsigned word)
{
    uint32_t value = 0;
    (void)!pread(cable, &value, sizeof value, (off_t)(word * sizeof value));
    return value;
}

static int put(int cable, unsigned word, uint32_t value)
{
    return pwrite(cable, &value, sizeof value, (off_t)(word * sizeof value)) ==
                   (ssize_t)sizeof value
               ? 0
               : -1;
}

static int use_cable(int cable, const event_t *event)
{
    switch (event->kind) {
    case EVENT_CUT:
        return put(cable, PULLED, 1) || put(cable, CUTS, get(cable, CUTS) + 1)
                   ? -1
                   : 0;
    case EVENT_BACK:
        return put(cable, SLOW, 0) || put(cable, PULLED, 0) ? -1 : 0;
    default:
        return put(cable, SLOW,
                   event->factor < 1 ? (uint32_t)(event->factor * 1000 + 0.5)
                                     : 0);
    }
}

/* Files without a name: whatever ends the run, nothing of them is left. The
 * provider makes a cable of an empty one. */
static struct {
    unsigned n; /* 0: none were made */
    int cable[DRAIL_MAX_RAILS];
} own;

/* Not a memfd: inotify, by which managers hear of a cut, says nothing of it. */
static int unnamed_file(void)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    snprintf(path, sizeof path, "%s/railbench_cable_XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int make_own(void)
{
    int fd = unnamed_file();
    if (fd < 0)
        return -1;
    own.cable[own.n++] = fd;
    return 0;
}

int hand_cables_make(const options_t *opts)
{
    char list[DRAIL_MAX_RAILS * (DRAIL_NAME_MAX + 16)] = "fd:";
    size_t used = strlen(list);
    if (opts->degrade.on_event || getenv(CABLES_ENV))
        return 0;
    for (unsigned r = 0; r < opts->nrails; r++) {
        if (make_own())
            return -1;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s=%d",
                                 r ? "," : "", opts->rails[r], own.cable[r]);
        if (used >= sizeof list) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    return setenv(CABLES_ENV, list, 1);
}

void hand_cables_remove(void)
{
    if (own.n)
        unsetenv(CABLES_ENV);
    while (own.n)
        close(own.cable[--own.n]);
}

/* The cable of a rail that is open, to be closed; or -1. */
static int open_cable(const options_t *opts, unsigned rail)
{
    char path[4096];
    struct stat st;
    if (!own.n) {
        snprintf(path, sizeof path, "%s/%s", getenv(CABLES_ENV),
                 opts->rails[rail]);
        return open(path, O_RDWR | O_CLOEXEC);
    }
    bool used = !fstat(own.cable[rail], &st) && st.st_size;
    return used ? fcntl(own.cable[rail], F_DUPFD_CLOEXEC, 0) : -1;
}

/* ------------------------------------------------------------ command --- */

/* Its descriptor 3 is the end of a pipe. */
static int spawn(hand_t *hand, const char *const argv[])
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    int rc = posix_spawn_file_actions_init(&actions);
    if (!rc) {
        rc = posix_spawn_file_actions_adddup2(&actions, ends[1], SAYS_FD);
        if (!rc)
            rc = posix_spawn(&hand->command, "/bin/sh", &actions, NULL,
                             (char *const *)(uintptr_t)argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    hand->says = ends[0];
    if (rc)
        close(ends[0]);
    return rc;
}

/* The last one counts of those that it has said. */
static void take_time(hand_t *hand, uint64_t now_ns)
{
    char text[256], *at = text, *end;
    ssize_t n = read(hand->says, text, sizeof text - 1);
    double clock = (double)clock_ns() / 1e9, seconds = 0;
    text[n > 0 ? n : 0] = '\0';
    for (double next; next = strtod(at, &end), end != at; at = end)
        seconds = next;
    uint64_t ago = seconds > 0 && seconds <= clock
                       ? (uint64_t)((clock - seconds) * 1e9)
                       : UINT64_MAX;
    event_t *event = hand->carried_out;
    if (ago <= now_ns && now_ns - ago >= event->was_ns)
        event->was_ns = now_ns - ago;
    close(hand->says);
}

/* The words behind the user's command are its arguments. */
static int start_command(hand_t *hand, event_t *event)
{
    char script[4096], factor[32];
    snprintf(script, sizeof script, "%s \"$@\"", hand->opts->degrade.on_event);
    snprintf(factor, sizeof factor, "%g", event->factor);
    const char *argv[] = {"sh",
                          "-c",
                          script,
                          "railbench",
                          event_name(event->kind),
                          hand->opts->rails[event->rail],
                          event->kind == EVENT_SLOW ? factor : NULL,
                          NULL};
    hand->carried_out = event;
    return spawn(hand, argv);
}

/* Runs the commands one after the other. */
static bool command_runs(hand_t *hand, int flags, uint64_t now_ns)
{
    int status;
    if (!hand->command)
        return false;
    pid_t pid;
    while ((pid = waitpid(hand->command, &status, flags)) < 0 && errno == EINTR)
        ;
    if (!pid)
        return true;
    hand->failed |= pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
    take_time(hand, now_ns);
    hand->command = 0;
    return false;
}

/* ------------------------------------------------------------- events --- */

static void carry_out(hand_t *hand, event_t *event, uint64_t now_ns)
{
    int rc = hand->opts->degrade.on_event
                 ? start_command(hand, event)
                 : use_cable(hand->cable[event->rail], event);
    hand->failed |= rc != 0;
    event->was_ns = now_ns;
    if (event->kind == EVENT_CUT)
        hand->cut |= 1u << event->rail;
    else if (event->kind == EVENT_BACK)
        hand->cut &= ~(1u << event->rail);
}

static uint64_t draw(hand_t *hand, uint64_t below)
{
    hand->random = hand->random * 6364136223846793005u + 1442695040888963407u;
    return (hand->random >> 33) % below;
}

/* Draws a rail of the mask. */
static unsigned draw_rail(hand_t *hand, uint32_t rails)
{
    uint64_t skip = draw(hand, (uint64_t)__builtin_popcount(rails));
    while (skip--)
        rails &= rails - 1;
    return (unsigned)__builtin_ctz(rails);
}

/* Rails that have been up for a while, also for the other rank: it has gone on
 * since. */
static uint32_t settled(hand_t *hand, const sight_t *sight)
{
    uint32_t rails = 0;
    for (unsigned r = 0; r < hand->opts->nrails; r++) {
        struct since *since = &hand->since[r];
        if (!(sight->up & ~hand->cut & 1u << r))
            since->ns = 0;
        else if (!since->ns)
            *since = (struct since){sight->now_ns | 1, sight->begun};
        else if (since->ns + SETTLED_NS <= sight->now_ns &&
                 sight->acknowledged > since->messages)
            rails |= 1u << r;
    }
    return rails;
}

/* The mean pause between two events of those that are left: all are to come
 * before the end, which needs some time of its own. */
static uint64_t pause_ns(const hand_t *hand, uint64_t now_ns)
{
    uint64_t end = hand->opts->degrade.time_ns / 10 * 9;
    uint64_t left = 2 * (hand->events->cuts - hand->next) + 1;
    return now_ns < end ? (end - now_ns) / left : 0;
}

/* Cuts and gives back at random, and leaves a rail that is up. */
static void draw_event(hand_t *hand, const sight_t *sight)
{
    events_t *events = hand->events;
    uint32_t left = settled(hand, sight);
    uint64_t now_ns = sight->now_ns;
    bool more = hand->next < events->cuts && events->count < EVENTS_MAX - 1;
    bool cut =
        more && __builtin_popcount(left) > 1 && (!hand->cut || draw(hand, 2));
    if (now_ns < hand->due_ns || (!cut && !hand->cut))
        return;
    event_t *event = &events->list[events->count++];
    *event = (event_t){.kind = cut ? EVENT_CUT : EVENT_BACK,
                       .rail = draw_rail(hand, cut ? left : hand->cut),
                       .factor = 1,
                       .at_ns = now_ns};
    hand->next += cut;
    hand->due_ns = now_ns + draw(hand, 2 * pause_ns(hand, now_ns) + 1);
    carry_out(hand, event, now_ns);
}

/* Has the transport seen what happened to this rail last? */
static void watch(hand_t *hand, const sight_t *sight)
{
    events_t *events = hand->events;
    unsigned count = events->cuts ? events->count : hand->next;
    uint32_t later = 0; /* rails */
    while (count--) {
        event_t *e = &events->list[count];
        uint32_t rail = 1u << e->rail;
        bool up = sight->up & rail;
        if (e->kind == EVENT_SLOW || later & rail)
            continue;
        later |= rail;
        hand->left |= e->kind == EVENT_CUT && !up ? rail : 0;
        if (!e->seen_ns && hand->left & rail && up == (e->kind == EVENT_BACK)) {
            e->seen_ns = sight->now_ns;
            hand->left &= up ? ~rail : ~0u;
        }
    }
}

void hand_poll(hand_t *hand, const sight_t *sight)
{
    events_t *events = hand->events;
    watch(hand, sight);
    if (command_runs(hand, WNOHANG, sight->now_ns))
        return;
    if (events->cuts) {
        draw_event(hand, sight);
        return;
    }
    if (hand->next < events->count &&
        events->list[hand->next].at_ns <= sight->now_ns)
        carry_out(hand, &events->list[hand->next++], sight->now_ns);
}

uint64_t hand_end(const hand_t *hand, uint64_t ns)
{
    const events_t *events = hand->events;
    if (events->cuts) /* or hand_done() */
        return MOST_TIMES * ns;
    if (!events->count)
        return ns;
    if (hand->next < events->count)
        return UINT64_MAX;
    const event_t *last = &events->list[events->count - 1];
    return ns + (last->was_ns - last->at_ns);
}

bool hand_done(const hand_t *hand, const sight_t *sight)
{
    return hand->events->cuts && hand->next == hand->events->cuts &&
           !hand->cut && sight->up == (1u << hand->opts->nrails) - 1 &&
           sight->now_ns >= hand->opts->degrade.time_ns;
}

/* --------------------------------------------------------------- life --- */

static bool concerns(const events_t *events, unsigned rail)
{
    bool any = events->cuts;
    for (unsigned i = 0; i < events->count; i++)
        any |= events->list[i].rail == rail;
    return any;
}

int hand_open(hand_t *hand, const options_t *opts, events_t *events,
              unsigned *rail)
{
    *hand = (hand_t){.opts = opts, .events = events, .random = events->seed};
    for (unsigned r = 0; r < opts->nrails; r++) {
        hand->cable[r] = -1;
        if (opts->degrade.on_event)
            continue;
        hand->cable[r] = open_cable(opts, r);
        *rail = r;
        if (hand->cable[r] < 0 && concerns(events, r))
            return -1;
    }
    return 0;
}

void hand_close(hand_t *hand)
{
    uint32_t slow = 0;
    command_runs(hand, 0, 0);
    for (unsigned i = 0; i < hand->next && !hand->events->cuts; i++)
        if (hand->events->list[i].kind == EVENT_SLOW)
            slow |= 1u << hand->events->list[i].rail;
    for (unsigned r = 0; r < hand->opts->nrails; r++) {
        event_t back = {.kind = EVENT_BACK, .rail = r};
        if ((hand->cut | slow) & 1u << r) {
            carry_out(hand, &back, 0);
            command_runs(hand, 0, 0);
        }
        if (hand->cable[r] >= 0)
            close(hand->cable[r]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets from rank 0 of a group to each other rank: the all-gather by which
 * libdapl_rail and libdcoll exchange addresses and keys, and the goodbye. If a
 * rank dies or fails, all others see their sockets end.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "offload/offload.h"

#define TURN_MS 5 /* between two looks at the rails, while this rank waits */

/* -------------------------------------------------------- begin and end --- */

static unsigned places(const struct star *s)
{
    return s->self ? 1 : s->size;
}

int star_new(struct star *s, unsigned size, unsigned self)
{
    *s = (struct star){.size = size, .self = self};
    s->fd = malloc(places(s) * sizeof *s->fd);
    s->wake = s->fd ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (s->wake < 0) {
        free(s->fd);
        return -1;
    }
    for (unsigned i = 0; i < places(s); i++)
        s->fd[i] = -1;
    return 0;
}

void star_delete(struct star *s)
{
    close(s->wake);
    free(s->fd);
}

static int code_of(int error)
{
    return error == ECANCELED ? DRAIL_EINTR
           : error == ENOMEM  ? DRAIL_ENOMEM
                              : DRAIL_EPEER;
}

/* A peer may need this rank to complete an earlier call: a rail is lost, or out
 * of credits. So the rails make progress meanwhile. */
static int await(const struct star *s, int fd, short events, int64_t until)
{
    struct pollfd look[] = {{.fd = fd, .events = events},
                            {.fd = s->wake, .events = POLLIN}};
    for (int64_t left; (left = until - offload_now_ms()) > 0;) {
        if (s->rail)
            drail_progress(s->rail);
        int n = poll(look, 2, s->rail && left > TURN_MS ? TURN_MS : (int)left);
        if (n > 0)
            return look[1].revents ? DRAIL_EINTR : 0;
    }
    return DRAIL_ETIMEOUT;
}

/* Moves all bytes, in either direction. */
static int carry(const struct star *s, int fd, bool out, void *data,
                 size_t bytes, int timeout_ms)
{
    char *at = data;
    int rc = 0;
    while (bytes && !rc) {
        ssize_t n = out ? send(fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : recv(fd, at, bytes, MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return DRAIL_EPEER;
        rc =
            await(s, fd, out ? POLLOUT : POLLIN, offload_now_ms() + timeout_ms);
    }
    return rc;
}

static int accept_all(struct star *s, struct member *m, uint32_t group)
{
    for (unsigned i = 1; i < s->size; i++) {
        struct visit visit;
        int fd = member_accept(m, group, s->wake, &visit);
        if (fd < 0)
            return code_of(errno);
        if (visit.size != s->size) {
            s->verdict.rank = visit.rank;
            s->verdict.other = visit.size;
        }
        if (visit.size != s->size || !visit.rank || visit.rank >= s->size ||
            s->fd[visit.rank] >= 0) {
            s->fd[0] = fd; /* is told, too */
            return DRAIL_EINVAL;
        }
        s->fd[visit.rank] = fd;
    }
    return 0;
}

static void tell(const struct star *s, int fd)
{
    struct verdict v = s->verdict;
    if (v.error == DRAIL_EINTR) /* of this rank only */
        v.error = DRAIL_EPEER;
    if (fd >= 0 && send(fd, &v, sizeof v, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the rank sees that it is closed */
}

/* Do the ranks disagree on the group's size? */
static bool disagrees(const struct star *s)
{
    return s->verdict.other != 0;
}

static int meet(struct star *s, struct member *m,
                const struct member_info *root, uint32_t group)
{
    struct verdict *v = &s->verdict;
    int rc;
    v->size = s->size;
    if (!s->self) {
        v->error = rc = accept_all(s, m, group);
        for (unsigned i = 0; i < s->size; i++)
            tell(s, s->fd[i]);
        return rc;
    }
    s->fd[0] = member_visit(root, group, s->size, s->self, s->wake);
    if (s->fd[0] < 0)
        return code_of(errno);
    rc = carry(s, s->fd[0], false, v, sizeof *v, INT_MAX);
    return rc ? rc : v->error;
}

int star_open(struct star *s, struct member *m, const struct member_info *root,
              uint32_t group, drail_error_t *err)
{
    int rc = meet(s, m, root, group);
    if (rc && disagrees(s))
        snprintf(err->text, sizeof err->text,
                 "rank %u says that the group has %u ranks, rank 0 says %u",
                 s->verdict.rank, s->verdict.other, s->verdict.size);
    return rc;
}

void star_refuse(const struct star *s, struct member *m, uint32_t group)
{
    struct visit visit;
    int fd;
    while (!s->self && s->verdict.error == DRAIL_EINVAL &&
           (fd = member_accept(m, group, -1, &visit)) >= 0) {
        tell(s, fd);
        close(fd);
    }
}

void star_close(struct star *s)
{
    for (unsigned i = 0; i < places(s); i++) {
        if (s->fd[i] >= 0)
            close(s->fd[i]);
        s->fd[i] = -1;
    }
}

/* ----------------------------------------------------------- all-gather --- */

static int serve(const struct star *s, const void *mine, size_t bytes,
                 char *all, int timeout_ms)
{
    int rc = 0;
    memcpy(all, mine, bytes);
    for (unsigned r = 1; !rc && r < s->size; r++)
        rc = carry(s, s->fd[r], false, all + r * bytes, bytes, timeout_ms);
    for (unsigned r = 1; !rc && r < s->size; r++)
        rc = carry(s, s->fd[r], true, all, s->size * bytes, timeout_ms);
    return rc;
}

int star_allgather(void *star, const void *mine, size_t bytes, void *all,
                   int timeout_ms)
{
    struct star *s = star;
    int rc = 0;
    if (!s->self) {
        rc = serve(s, mine, bytes, all, timeout_ms);
    } else {
        rc = carry(s, s->fd[0], true, (void *)(uintptr_t)mine, bytes,
                   timeout_ms);
        if (!rc)
            rc = carry(s, s->fd[0], false, all, s->size * bytes, timeout_ms);
    }
    if (rc)
        star_close(s); /* tells the others */
    return rc;
}

/* -------------------------------------------------------------- goodbye --- */

/* Receives the goodbye of a rank, until then. */
static bool hear(const struct star *s, int fd, int64_t until)
{
    char byte;
    for (;;) {
        ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (n >= 0 || (errno != EAGAIN && errno != EINTR))
            return n == 1;
        if (offload_now_ms() >= until)
            return false;
        if (s->rail)
            drail_progress(s->rail);
        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1);
    }
}

static bool say(int fd)
{
    return send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

bool star_leave(struct star *s, int timeout_ms)
{
    int64_t until = offload_now_ms() + timeout_ms;
    bool all = true;
    if (s->self)
        return say(s->fd[0]) && hear(s, s->fd[0], until);
    for (unsigned r = 1; all && r < s->size; r++)
        all = hear(s, s->fd[r], until);
    for (unsigned r = 1; all && r < s->size; r++)
        all = say(s->fd[r]);
    return all;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdcoll_dat: dat_ib_collective_* by libdcoll, for programs that use DAT. A
 * provider loads it, if a line of dat.conf says so, and calls the functions of
 * struct dapl_collectives (hook.h). Files in reading order:
 *
 *  library.c   the table
 *  member.c    a process as other ranks find it: a listening socket
 *  star.c      sockets from each rank of a group to its rank 0
 *  group.c     a group: its calls, one after the other, and their progress
 *  create.c    how a group gets its team, and loses it
 *  calls.c     arguments of DAT as those of libdcoll
 *
 * Each group has a worker thread. It does all that waits for other ranks:
 * creating the team, preparing calls, closing. Meanwhile polls leave it the
 * core. Otherwise the consumer's polls drive a call; if it does not poll, the
 * worker does.
 */
#ifndef OFFLOAD_H
#define OFFLOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netinet/in.h>

#include "coll/dcoll.h"
#include "dapl_rail/platform/busywait.h"
#include "providers/core/collectives/hook.h"

#define OFFLOAD_ERROR(type, subtype)                                           \
    ((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))
#define OFFLOAD_TOKEN 16 /* bytes */

static inline int64_t offload_now_ms(void)
{
    return (int64_t)(busywait_now_ns() / 1000000u);
}

/* What other ranks know of a member. Only they know the token. */
struct member_info {
    uint32_t magic;
    uint32_t family;        /* AF_INET or AF_INET6 */
    unsigned char host[16]; /* the address, in network byte order */
    uint16_t port;          /* in network byte order */
    uint16_t unused;
    uint32_t scope; /* of an IPv6 address */
    unsigned char token[OFFLOAD_TOKEN];
};

/* ---- members ---- */

struct member {
    char rails[DRAIL_MAX_RAILS][DAT_NAME_MAX_LENGTH]; /* names of IAs */
    unsigned nrails;
    struct member_info info;
    int listening;            /* socket */
    pthread_mutex_t lock;     /* of what follows */
    struct visitor *visitors; /* connections of groups not created here yet */
    unsigned visits;          /* their number */
    unsigned users;           /* the consumer, and groups that are not freed */
    struct group *groups;     /* also those that are ending */
};

/* A rank that has come, and the size of the group as it says. */
struct visit {
    uint32_t rank, size;
};

DAT_RETURN member_create(const char *const *ias, const struct sockaddr *address,
                         void **member, const void **info, DAT_COUNT *bytes);
void member_delete(struct member *m);
/* The next connection of a rank of this group, which is told in *visit; or -1
 * and errno: ECANCELED, if `wake` becomes readable. wake -1: does not wait; -1:
 * there is none. */
int member_accept(struct member *m, uint32_t group, int wake,
                  struct visit *visit);
/* Connects to rank 0's member; otherwise as member_accept. */
int member_visit(const struct member_info *info, uint32_t group, uint32_t size,
                 uint32_t rank, int wake);

/* ---- star ---- */

/* What rank 0 tells the ranks that have come. */
struct verdict {
    int32_t error;        /* a DRAIL_E… code, or 0 */
    uint32_t size;        /* of the group as rank 0 says, … */
    uint32_t rank, other; /* … and this rank, if it says another one */
};

struct star {
    unsigned size, self;
    struct verdict verdict;
    int *fd;       /* of rank 0: to each rank; else: fd[0], to rank 0; or -1 */
    int wake;      /* readable: the group was freed */
    drail_t *rail; /* makes progress while this rank waits; or NULL */
};

/* A star without sockets. -1: out of resources. */
int star_new(struct star *s, unsigned size, unsigned self);
void star_delete(struct star *s);
/* These return 0 or a DRAIL_E… code. Fills err->text if the ranks do not agree
 * on the group's size. */
int star_open(struct star *s, struct member *m, const struct member_info *root,
              uint32_t group, drail_error_t *err);
/* Rank 0 tells ranks that come after star_open has failed so. */
void star_refuse(const struct star *s, struct member *m, uint32_t group);
void star_close(struct star *s);
/* drail_allgather_t. */
int star_allgather(void *star, const void *mine, size_t bytes, void *all,
                   int timeout_ms);
/* Says goodbye, and waits until all ranks have, for so long at most. False: not
 * all have. */
bool star_leave(struct star *s, int timeout_ms);

/* ---- groups ---- */

#define GROUP_CALLS 256u /* at a time */

struct queued_call {
    struct dapl_collective_call call;
    bool is_irregular; /* `irregular` is used; otherwise `equal` */
    dcoll_call_t equal;
    dcoll_alltoallv_t irregular;
    size_t *arrays; /* theirs; or NULL */
};

struct group {
    struct member *member;
    struct group *next; /* member->groups */
    pthread_t worker;
    void (*done)(void *owner, const struct dapl_collective_call *call, bool ok);
    void *owner;
    DAT_CONTEXT context;
    uint32_t id, node; /* node: as this rank names it */
    struct member_info root;

    pthread_mutex_t lock; /* of what follows; held for a moment */
    pthread_cond_t wake;  /* for the worker */
    pthread_cond_t
        work_ended; /* the worker is no longer at work, or has ended */
    struct queued_call calls[GROUP_CALLS];
    _Atomic uint64_t first, end; /* calls[first % GROUP_CALLS] is under way */
    bool freed;                  /* nothing may wait any more … */
    bool released;               /* … and the worker may end it */
    bool wants_worker;           /* the first call can't go on without it */
    bool sleeps;                 /* the worker, for long */
    bool opened;                 /* its creation has ended, well or not */
    bool ended;                  /* the worker has nothing more to do */
    drail_job_t *job;            /* NULL before it is joined */

    atomic_uint polls;   /* of the consumer */
    atomic_bool at_work; /* the worker; polls leave team_lock to it */

    pthread_mutex_t team_lock; /* of what follows; the worker waits with it */
    struct star star;
    drail_t *rail;
    dcoll_team_t *team;
    dcoll_request_t *request; /* of the first call, once it has begun */
    int broken;               /* a DRAIL_E… code */
};

DAT_RETURN group_create(void *member, const struct dapl_collective_group *how,
                        void **group);
void group_free(void *group);
DAT_RETURN group_start(void *group, const struct dapl_collective_call *call);
enum dapl_collective_state group_progress(void *group);
void group_leave_core(void *group);
void group_rest(void *group);
/* A user of the member less. The last one waits for all groups to end, and
 * deletes it. */
void group_leave_member(void *member);

/* create.c; team_lock is held, or the group is released. */
int group_open_team(struct group *g);
void group_close_team(struct group *g);

/* calls.c. After an error nothing is to be freed. */
DAT_RETURN queued_call_make(const struct group *g,
                            const struct dapl_collective_call *from,
                            struct queued_call *to);
/* As dcoll_would_wait and dcoll_begin. */
int queued_call_would_wait(dcoll_team_t *team, const struct queued_call *c);
int queued_call_begin(dcoll_team_t *team, const struct queued_call *c,
                      dcoll_request_t **out);

#endif

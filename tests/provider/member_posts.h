/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands between a bond and its members, in a program that includes this. It
 * delays the posts of the bond on EPs of members, in order. Or it carries them
 * out, and the bond does not learn of it. The program's own posts, on EPs of an
 * IA named bond…, are not changed.
 */
#ifndef TESTS_PROVIDER_MEMBER_POSTS_H
#define TESTS_PROVIDER_MEMBER_POSTS_H

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/core/extensions.h"
#include "util.h"

#define EPS      64
#define HELD     4096
#define SEGMENTS 17
#define SHORT    4096
#define WORD     8
#define REST_NS  20000

typedef __typeof__(&dat_ep_post_rdma_write) rdma_t; /* as of a read, too */
typedef __typeof__(&dat_ep_post_send) send_t;

enum kind { WRITE, READ, SEND };

struct post {
    enum kind kind;
    DAT_EP_HANDLE ep;
    DAT_COUNT n;
    DAT_LMR_TRIPLET seg[SEGMENTS];
    DAT_DTO_COOKIE cookie;
    DAT_RMR_TRIPLET there;
    DAT_COMPLETION_FLAGS flags;
    uint64_t due; /* ns */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned delay_us[2];
static unsigned byte_ns;
static struct post held[HELD];
static unsigned first, last; /* of held, modulo HELD */
static pid_t worker;         /* the process whose thread posts them */
static void (*loses)(void);  /* see posts_lose; NULL: nothing is lost */
static bool drops;           /* see posts_drop_read, … */
static DAT_EP_HANDLE muted;  /* … and the EP that has dropped it */
static uint64_t seed = 1;

/* ---------------------------------------------------------- the members --- */

static struct {
    DAT_EP_HANDLE ep;
    uint64_t due; /* of its last post */
} members[EPS];
static unsigned member_count;

/* The number of a member's EP, or EPS: the EP is of the bond. */
static unsigned member_of(DAT_EP_HANDLE ep)
{
    for (unsigned i = 0; i < member_count; i++)
        if (members[i].ep == ep)
            return i;
    if (!strncmp(ia_of(ep), "bond", 4) || member_count == EPS)
        return EPS;
    members[member_count].ep = ep;
    return member_count++;
}

/* -------------------------------------------------------------- posting --- */

static uint64_t bytes_of(const struct post *p)
{
    uint64_t sum = 0;
    for (DAT_COUNT i = 0; i < p->n; i++)
        sum += p->seg[i].segment_length;
    return sum;
}

static DAT_RETURN post_now(struct post *p, DAT_COMPLETION_FLAGS flags)
{
    static const char *const names[] = {
        "dat_ep_post_rdma_write", "dat_ep_post_rdma_read", "dat_ep_post_send"};
    void *real = dlsym(RTLD_NEXT, names[p->kind]);
    if (p->kind == SEND)
        return ((send_t)real)(p->ep, p->n, p->seg, p->cookie, flags);
    return ((rdma_t)real)(p->ep, p->n, p->seg, p->cookie, &p->there, flags);
}

/* Posts all that is due. The posts of an EP stay in order, because their due
 * times are in order. */
static void *post_held(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        /* once: else a later post may overtake */
        uint64_t now = busywait_now_ns();
        for (unsigned i = first; i != last; i++) {
            struct post *p = &held[i % HELD];
            if (p->ep && p->due <= now) {
                /* fails if the bond has taken the link for lost, and has freed
                 * the EP: this thread may not have run for long */
                post_now(p, p->flags);
                p->ep = DAT_HANDLE_NULL;
            }
        }
        while (first != last && !held[first % HELD].ep)
            first++;
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    }
    return NULL;
}

/* A process that is forked has no thread that could release the lock, and none
 * of the EPs. */
static void fork_begins(void)
{
    pthread_mutex_lock(&lock);
}

static void fork_ends(void)
{
    pthread_mutex_unlock(&lock);
}

static void fork_ends_in_child(void)
{
    first = last;
    pthread_mutex_unlock(&lock);
}

/* fork() calls the handlers that were registered last first. So it takes this
 * lock before those of the providers, which have registered theirs before. */
static void mind_forks(void)
{
    static bool does;
    if (!does)
        pthread_atfork(fork_begins, fork_ends, fork_ends_in_child);
    does = true;
}

static DAT_RETURN hold(struct post *p, unsigned member)
{
    pthread_t thread;
    uint64_t due =
        busywait_now_ns() +
        random_next(&seed) % (1000 * (uint64_t)delay_us[member % 2] + 1);
    assert_true(last - first < HELD);
    if (due < members[member].due)
        due = members[member].due;
    due += byte_ns * bytes_of(p);
    members[member].due = p->due = due;
    held[last++ % HELD] = *p;
    if (worker != getpid()) {
        worker = getpid();
        mind_forks();
        assert_int_equal(pthread_create(&thread, NULL, post_held, NULL), 0);
        pthread_detach(thread);
    }
    return DAT_SUCCESS;
}

/* Carries out the post; the bond learns that it failed. */
static DAT_RETURN lose(struct post *p)
{
    void (*cut)(void) = loses;
    loses = NULL;
    DAT_OK(post_now(p, p->flags | DAT_COMPLETION_SUPPRESS_FLAG));
    cut();
    return post_now(p, p->flags);
}

/* there: NULL for a send. */
static DAT_RETURN post(enum kind kind, DAT_EP_HANDLE ep, DAT_COUNT n,
                       const DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie_,
                       const DAT_RMR_TRIPLET *there, DAT_COMPLETION_FLAGS flags)
{
    struct post p = {
        .kind = kind, .ep = ep, .n = n, .cookie = cookie_, .flags = flags};
    pthread_mutex_lock(&lock);
    unsigned member = member_of(ep);
    assert_true(n <= SEGMENTS);
    if (n)
        memcpy(p.seg, seg, (size_t)n * sizeof *seg);
    if (there)
        p.there = *there;
    bool of_member = member < EPS;
    bool loses_it = loses && kind == WRITE && bytes_of(&p) < SHORT;
    if (drops && of_member && kind == READ && bytes_of(&p) == WORD)
        muted = ep;
    bool holds_it = delay_us[0] || delay_us[1] || byte_ns;
    DAT_RETURN ret = DAT_SUCCESS;
    if (of_member && (loses_it || holds_it) && flags & DAPL_RDMA_SYNC_FLAG)
        ret = DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    else if (of_member && loses_it)
        ret = lose(&p);
    else if (drops && muted == ep)
        drops = false;
    else if (muted == ep)
        ret = post_now(&p, flags | DAT_COMPLETION_SUPPRESS_FLAG);
    else if (of_member && holds_it)
        ret = hold(&p, member);
    else
        of_member = false;
    pthread_mutex_unlock(&lock);
    return of_member ? ret : post_now(&p, flags);
}

/* Takes the lock when no post is held: no later one may overtake it. */
static inline void lock_idle(void)
{
    pthread_mutex_lock(&lock);
    while (first != last && worker == getpid()) {
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
        pthread_mutex_lock(&lock);
    }
}

/* From now on, each post on a member's EP waits for up to so many microseconds:
 * most_us[0] for EPs of even number, most_us[1] for the others. */
static inline void posts_delay(const unsigned most_us[2])
{
    lock_idle();
    memcpy(delay_us, most_us, sizeof delay_us);
    member_count = 0;
    pthread_mutex_unlock(&lock);
}

/* From now on, each post on a member's EP takes so many nanoseconds a byte. The
 * posts of an EP wait for one another. */
static inline void posts_slow(unsigned ns)
{
    lock_idle();
    byte_ns = ns;
    member_count = 0;
    pthread_mutex_unlock(&lock);
}

/* The next short write over a member arrives; then @p lose_by is called, and
 * the bond learns that the write failed. */
static inline void posts_lose(void (*lose_by)(void))
{
    pthread_mutex_lock(&lock);
    loses = lose_by;
    pthread_mutex_unlock(&lock);
}

/* The answer to the next read of 8 bytes over a member is lost, and all answers
 * behind it: later posts of that EP arrive, and the bond does not learn it. */
static inline void posts_drop_read(void)
{
    pthread_mutex_lock(&lock);
    drops = true;
    pthread_mutex_unlock(&lock);
}

/* --------------------------------------------------- instead of libdat2 --- */

/* Its held posts end with it: another EP may get the handle. */
STAND_IN DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = first; i != last; i++)
        if (held[i % HELD].ep == ep)
            held[i % HELD].ep = DAT_HANDLE_NULL;
    if (muted == ep)
        muted = DAT_HANDLE_NULL;
    pthread_mutex_unlock(&lock);
    return real(dat_ep_free)(ep);
}

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *seg,
                                           DAT_DTO_COOKIE cookie_,
                                           const DAT_RMR_TRIPLET *there,
                                           DAT_COMPLETION_FLAGS flags)
{
    return post(WRITE, ep, n, seg, cookie_, there, flags);
}

STAND_IN DAT_RETURN dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT n,
                                          DAT_LMR_TRIPLET *seg,
                                          DAT_DTO_COOKIE cookie_,
                                          const DAT_RMR_TRIPLET *there,
                                          DAT_COMPLETION_FLAGS flags)
{
    return post(READ, ep, n, seg, cookie_, there, flags);
}

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *seg,
                                     DAT_DTO_COOKIE cookie_,
                                     DAT_COMPLETION_FLAGS flags)
{
    return post(SEND, ep, n, seg, cookie_, NULL, flags);
}

#endif

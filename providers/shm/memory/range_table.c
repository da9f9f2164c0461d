/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of registered ranges, which peers read. Peers can map a range that
 * lies in one shared mapping of a file (a memfd) which is sealed against
 * shrinking and of which this process has an open descriptor: they open it
 * through /proc/PID/fd. They access any other range by process_vm_writev/readv,
 * unless the range is adopted: its pages move to such a file (adopt.h).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "providers/shm/connect/lifetime.h"
#include "providers/shm/memory/access.h"
#include "providers/shm/memory/adopt.h"
#include "providers/shm/memory/mapping.h"
#include "providers/shm/memory/memfd.h"
#include "providers/shm/memory/range_table.h"
#include "providers/shm/message/data.h"

/* core_mr.tp: a range that peers may access. */
struct shm_published {
    struct shm_range range;
    struct shm_file *file; /* of the consumer, that peers map; NULL: none */
};

/* A file that registered ranges are mapped from. */
struct shm_file {
    struct shm_file *next;
    dev_t device;
    ino_t inode;
    int fd; /* a duplicate of the consumer's */
    unsigned users;
};

#define FD_GAP 256

/* The consumer's open, writable descriptor of that file from `first` on, or -1.
 * Trying each number is many times faster than reading /proc/self/fd. The
 * kernel always gives the lowest free number, so after a long gap there are no
 * more. */
static int find_fd_from(const struct shm_mapping *m, int first)
{
    struct stat st;
    for (int fd = first, last = first; fd <= last + FD_GAP; fd++) {
        if (fstat(fd, &st))
            continue;
        last = fd;
        if (S_ISREG(st.st_mode) && st.st_ino == m->inode &&
            st.st_dev == m->device &&
            (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR)
            return fd;
    }
    return -1;
}

/* Most files are newer than the one found before. */
static int find_fd(struct shm_ia *sia, const struct shm_mapping *m)
{
    int fd = find_fd_from(m, sia->newest_fd);
    if (fd < 0 && sia->newest_fd)
        fd = find_fd_from(m, 0);
    if (fd >= 0)
        sia->newest_fd = fd;
    return fd;
}

/* The file of a range, with a duplicate of the consumer's descriptor, which the
 * consumer may close. NULL: peers can't map it. */
static struct shm_file *file_get(struct shm_ia *sia,
                                 const struct shm_mapping *m)
{
    for (struct shm_file *f = sia->files; f; f = f->next)
        if (f->inode == m->inode && f->device == m->device) {
            f->users++;
            return f;
        }
    int fd = find_fd(sia, m);
    struct shm_file *f =
        fd < 0 || !shm_cannot_shrink(fd) ? NULL : calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (f->fd < 0) {
        free(f);
        return NULL;
    }
    f->device = m->device;
    f->inode = m->inode;
    f->users = 1;
    f->next = sia->files;
    sia->files = f;
    return f;
}

static void file_put(struct shm_ia *sia, struct shm_file *f)
{
    if (!f || --f->users)
        return;
    struct shm_file **at = &sia->files;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    close(f->fd);
    free(f);
}

void shm_mr_close(struct shm_ia *sia)
{
    for (struct shm_file *f; (f = sia->files);) {
        sia->files = f->next;
        close(f->fd);
        free(f);
    }
}

/* Finds the part of a range that peers can map. part->fd: -1 if there is none.
 */
static void find_part(struct shm_ia *sia, struct shm_published *p, bool adopt,
                      struct shm_file_part *part)
{
    struct shm_mapping m;
    *part = (struct shm_file_part){.fd = -1};
    bool adopted = shm_range_add(&p->range, adopt, part);
    atomic_fetch_add(&sia->adopted, adopted);
    if (adopted || !shm_mapping_find(p->range.base, p->range.length, &m))
        return;
    p->file = file_get(sia, &m);
    if (p->file)
        *part = (struct shm_file_part){
            .fd = p->file->fd, .inode = m.inode, .offset = m.offset};
}

DAT_RETURN shm_mr_publish(struct core_ia *ia, struct core_mr *mr)
{
    struct shm_ia *sia = shm_ia(ia);
    struct shm_mr *e = &sia->control.table[mr->key % CORE_MAX_MRS];
    struct shm_published *p = calloc(1, sizeof *p);
    struct shm_file_part part;
    if (!p)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    p->range.base = mr->base;
    p->range.length = mr->length;
    mr->tp = p;
    /* also ranges without remote privileges: receivers fetch long sends from
     * them */
    find_part(sia, p, sia->params.adopt && mr->priv & CORE_PRIV_REMOTE, &part);
    atomic_fetch_add_explicit(&e->use, 1, memory_order_relaxed);
    e->fd = part.fd;
    e->inode = part.inode;
    e->offset = part.offset;
    e->head = part.head;
    e->tail = part.tail;
    e->priv = mr->priv;
    e->base = mr->base;
    e->length = mr->length;
    e->pz_id = mr->pz_id;
    e->ep_id =
        mr->ep && mr->ep->tp ? ((struct shm_conn *)mr->ep->tp)->ep_id : 0;
    atomic_store_explicit(&e->key, mr->key, memory_order_release);
    return DAT_SUCCESS;
}

static bool peers_inside(struct shm_ia *sia, uint32_t key)
{
    bool inside = false;
    for (struct shm_conn *c = sia->conns; c && !inside; c = c->next)
        inside = shm_access_inside(c, key);
    for (struct shm_conn *c = sia->leaving; c && !inside; c = c->next)
        inside = shm_access_inside(c, key);
    return inside;
}

bool shm_mr_withdraw(struct core_ia *ia, struct core_mr *mr)
{
    struct shm_ia *sia = shm_ia(ia);
    struct shm_mr *e = &sia->control.table[mr->key % CORE_MAX_MRS];
    if (atomic_exchange(&e->key, 0))
        core_fence_heavy(false);
    for (struct shm_conn *c = sia->conns; c; c = c->next)
        shm_requests_withdraw(c, mr->key);
    shm_conn_reap(sia);
    if (peers_inside(sia, mr->key))
        return false;
    struct shm_published *p = mr->tp;
    shm_range_remove(&p->range);
    file_put(sia, p->file);
    free(p);
    mr->tp = NULL;
    atomic_store(&e->key, SHM_KEY_FREE);
    atomic_fetch_add(&sia->control.door->withdrawals, 1);
    return true;
}

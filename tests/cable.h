/* SPDX-License-Identifier: BSD-3-Clause */
/* The hand on the cables of shm rails: see
 * providers/shm/link_model/cable_file.h. */
#ifndef TESTS_CABLE_H
#define TESTS_CABLE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "providers/shm/link_model/cable_file.h"

/** A cable that can be operated. */
typedef struct cable {
    int fd;
    struct shm_cable last; /**< what is written there: by this hand only */
} cable_t;

static struct cables {
    pid_t maker;
    char folder[32];
} cables_made;

static inline void cables_remove(void)
{
    struct cables *made = &cables_made;
    DIR *all = getpid() == made->maker ? opendir(made->folder) : NULL;
    if (!all)
        return;
    for (struct dirent *e; (e = readdir(all));)
        unlinkat(dirfd(all), e->d_name, 0);
    closedir(all);
    rmdir(made->folder);
}

/** Gives each shm rail that is opened from now on (and in children) a cable:
 *  a file of the rail's name in a new folder, whose path is returned; NULL:
 *  errno. The folder is removed when this process ends by exit(). */
static inline const char *cables_folder(void)
{
    cables_made = (struct cables){getpid(), "/tmp/drail_cables_XXXXXX"};
    if (!mkdtemp(cables_made.folder) || atexit(cables_remove) ||
        setenv("DAPL_SHM_CABLES", cables_made.folder, 1))
        return NULL;
    return cables_made.folder;
}

/** The rail need not be open yet. -1: errno. */
static inline int cable_grasp(cable_t *cable, const char *folder,
                              const char *rail)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, rail);
    *cable = (cable_t){.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    return cable->fd < 0 || ftruncate(cable->fd, sizeof cable->last) ? -1 : 0;
}

/** Also removes its file. */
static inline void cable_drop(cable_t *cable, const char *folder,
                              const char *rail)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, rail);
    unlink(path);
    close(cable->fd);
}

#define CABLE_WRITE(cable, word)                                               \
    (pwrite((cable)->fd, &(cable)->last.word, sizeof(uint32_t),                \
            offsetof(struct shm_cable, word)) == sizeof(uint32_t)              \
         ? 0                                                                   \
         : -1)

/** Breaks all connections over it; nobody can connect. From its return on, no
 *  DTO is carried out over them. These calls: 0, or -1 and errno. */
static inline int cable_pull(cable_t *cable)
{
    cable->last.pulled = 1;
    cable->last.cuts++;
    return CABLE_WRITE(cable, pulled) || CABLE_WRITE(cable, cuts) ? -1 : 0;
}

static inline int cable_plug(cable_t *cable)
{
    cable->last.pulled = 0;
    return CABLE_WRITE(cable, pulled);
}

/** Leaves so many thousandths of its rate, 1 to 999; 0: all. */
static inline int cable_slow(cable_t *cable, uint32_t thousandths)
{
    cable->last.slow = thousandths;
    return CABLE_WRITE(cable, slow);
}

/** What is posted from now on never arrives, nobody is told, and nobody can
 *  connect; false: all that for new connections no more. */
static inline int cable_mute(cable_t *cable, bool mute)
{
    cable->last.mute = mute;
    return CABLE_WRITE(cable, mute);
}

/** Breaks the n-th oldest connection of each of the process's IAs of this
 *  rail, 0: all. Not before it returns, but soon. */
static inline int cable_break(cable_t *cable, pid_t pid, uint32_t n)
{
    cable->last.end_pid = (uint32_t)pid;
    cable->last.end_conn = n;
    cable->last.end_cuts++;
    return CABLE_WRITE(cable, end_pid) || CABLE_WRITE(cable, end_conn) ||
                   CABLE_WRITE(cable, end_cuts)
               ? -1
               : 0;
}

#endif

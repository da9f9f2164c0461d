/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, and how one is chosen. */
#ifndef DAPL_SHM_COPY_H
#define DAPL_SHM_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct shm_ia;
struct shm_params;

/* ---- copy.c ---- */

/* Are there non-temporal stores? */
extern const bool shm_can_stream;
/* What was learnt in copies that were not in caches: of a connection in one
 * direction, whose posts take turns. Contents: zeros. */
struct shm_cold {
    uint32_t copies;
    float cost[2]; /* ns per byte: plain, non-temporal */
};

/* How to copy: plain, with non-temporal stores, or (`cold`) as the first piece
 * tells, by what such copies take in caches. */
struct shm_manner {
    bool stream;
    float warm; /* ns per byte */
    struct shm_cold *cold;
};
void shm_copy(void *to, const void *from, size_t n,
              const struct shm_manner *manner);
/* Bytes of the last aligned word of [to, to + n): 8, 4, 2 or 1; n is not 0. */
size_t shm_last_word(uintptr_t to, size_t n);
/* The last word becomes visible last and whole: a poller may wait for it. */
void shm_copy_ordered_any(void *to, const void *from, size_t n,
                          const struct shm_manner *manner);
static inline void shm_copy_ordered(void *to, const void *from, size_t n,
                                    const struct shm_manner *manner)
{
    uint64_t word;
    if (n != sizeof word || (uintptr_t)to % sizeof word) {
        shm_copy_ordered_any(to, from, n, manner);
        return;
    }
    memcpy(&word, from, sizeof word);
    __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
}

/* ---- cold.c ---- */

/* By manner->cold. */
void shm_copy_cold(void *to, const void *from, size_t n,
                   const struct shm_manner *manner);

/* ---- trial.c ---- */

/* Times in ns of data that go to the same place again and again: until they
 * have been copied and read each time, and of copies that nobody reads. */
struct shm_times {
    double read, unread;
};

/* Measures copies by plain ([0]) and by non-temporal stores ([1]). The reader
 * is another CPU, or this one if @p here. 0, or -1 when it can't be done. */
int shm_trial(size_t bytes, bool here, struct shm_times times[2]);

/* ---- choice.c ---- */

#define SHM_STREAM_MEASURED SIZE_MAX /* stream= is not given */

/* Copies of fewer bytes than this are plain. */
size_t shm_choice_least(const struct shm_params *params);
/* Such a copy, into the peer's memory or from there, is to come: measures which
 * kind is faster if that is not known (a few copies' time): hold no lock, be in
 * no access. Any thread. */
void shm_choice_measure(struct shm_ia *sia, bool write, size_t bytes);
/* How a copy of so many bytes, not fewer than shm_choice_least(), is made: as
 * far as is known. `cold`: of the connection and direction, or NULL if others
 * copy at the same time. */
struct shm_manner shm_choose(struct shm_ia *sia, bool write, size_t bytes,
                             struct shm_cold *cold);
/* Says what was chosen so far. */
void shm_choice_text(const struct shm_ia *sia, char *text, size_t size);

#endif

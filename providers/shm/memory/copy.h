/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies: plain ones leave the data in the writer's cache, non-temporal ones
 * need not read the target first. copy_choice.c decides by size which to use:
 * by the parameter stream=, or by what copy_trial.c has measured on this
 * machine. copy_cold.c decides again for a copy that finds its data in no
 * cache.
 */
#ifndef DAPL_SHM_COPY_H
#define DAPL_SHM_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dapl_rail/platform/long_copy.h"

struct shm_ia;
struct shm_params;

/* ---- copy.c ---- */

/* Are there non-temporal stores? */
extern const bool shm_can_stream;
/* Costs of copies that found their data in no cache, learnt per connection and
 * direction, whose posts take turns. Zero at first. */
struct shm_cold {
    uint32_t copies;
    float cost[2]; /* ns per byte: plain, non-temporal */
};

/* The write before, of this connection. Zero at first. */
struct shm_swing {
    const void *from;
    bool backward;
};

/* How to copy: plain, or with non-temporal stores (`stream`); or (`cold`) as
 * the time of the first piece tells, compared with `warm`. `backward`: a plain
 * copy begins with the end. */
struct shm_manner {
    bool stream, backward;
    float warm; /* ns per byte of copies within caches */
    struct shm_cold *cold;
};

/* Of copies of the same source in a row, every second one runs backward: it
 * begins with what the one before, or the source's writer, has left in the
 * nearer caches. On the EPYC, 1 MB took 0.90 times as long, and 0.76 times if
 * the source was written and the target read each time. Shorter copies that
 * are read gain nothing; longer ones gain next to nothing, and would look warm
 * to copy_cold.c at both ends. */
#define SHM_SWING_LEAST (1u << 20)
#define SHM_SWING_MOST  (2u << 20)
static inline bool shm_swings(struct shm_swing *last, const void *from,
                              size_t n)
{
    if (n < SHM_SWING_LEAST || n >= SHM_SWING_MOST)
        return false;
    last->backward = last->from == from && !last->backward;
    last->from = from;
    return last->backward;
}

/* A plain copy, from the end that the manner says. */
static inline void shm_copy_plain(void *to, const void *from, size_t n,
                                  const struct shm_manner *manner)
{
    if (manner->backward)
        backward_copy(to, from, n);
    else
        plain_copy(to, from, n);
}

void shm_copy(void *to, const void *from, size_t n,
              const struct shm_manner *manner);
/* Copies so that the last word becomes visible last (core/last_word.h). */
void shm_copy_ordered(void *to, const void *from, size_t n,
                      const struct shm_manner *manner);
/* The same plainly; at least one byte. near: from the source of the write
 * before. */
void shm_copy_in_order_any(void *to, const void *from, size_t n, bool near);
static inline void shm_copy_in_order(void *to, const void *from, size_t n,
                                     bool near)
{
    uint64_t word;
    if (n != sizeof word || (uintptr_t)to % sizeof word) {
        shm_copy_in_order_any(to, from, n, near);
        return;
    }
    memcpy(&word, from, sizeof word);
    __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
}

/* ---- copy_cold.c ---- */

/* Copies as manner->cold says. */
void shm_copy_cold(void *to, const void *from, size_t n,
                   const struct shm_manner *manner);

/* ---- copy_trial.c ---- */

/* ns of a copy to the same place again and again: with the time of reading the
 * data each time, and if they are not read. */
struct shm_times {
    double read, unread;
};

/* Measures plain ([0]) and non-temporal ([1]) copies. The data are read by
 * another CPU, or by this one if @p here. 0, or -1 without memory or another
 * CPU. */
int shm_trial(size_t bytes, bool here, struct shm_times times[2]);

/* ---- copy_choice.c ---- */

#define SHM_STREAM_MEASURED SIZE_MAX /* stream= is not given */

/* Copies of fewer bytes than this are always plain. */
size_t shm_choice_least(const struct shm_params *params);
/* Prepares for a copy of so many bytes, into the peer's memory (@p write) or
 * from there: measures which kind is faster, if that is not known. Takes the
 * time of about a dozen copies, so the caller holds no lock and is in no
 * access. Any thread. */
void shm_choice_measure(struct shm_ia *sia, bool write, size_t bytes);
/* How to make a copy of so many bytes, at least shm_choice_least(). @p cold: of
 * this connection and direction; NULL if another thread may copy on it at the
 * same time. */
struct shm_manner shm_choose(struct shm_ia *sia, bool write, size_t bytes,
                             struct shm_cold *cold);
/* Writes the attribute `copies`: the choices so far. */
void shm_choice_text(const struct shm_ia *sia, char *text, size_t size);

#endif

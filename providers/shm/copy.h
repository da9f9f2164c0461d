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
/* `stream`: with non-temporal stores. */
void shm_copy(void *to, const void *from, size_t n, bool stream);
/* Bytes of the last aligned word of [to, to + n): 8, 4, 2 or 1; n is not 0. */
size_t shm_last_word(uintptr_t to, size_t n);
/* The last word becomes visible last and whole: a poller may wait for it. */
void shm_copy_ordered_any(void *to, const void *from, size_t n, bool stream);
static inline void shm_copy_ordered(void *to, const void *from, size_t n,
                                    bool stream)
{
    uint64_t word;
    if (n != sizeof word || (uintptr_t)to % sizeof word) {
        shm_copy_ordered_any(to, from, n, stream);
        return;
    }
    memcpy(&word, from, sizeof word);
    __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
}

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
/* Shall a copy of so many bytes be made with non-temporal stores? As far as is
 * known. */
bool shm_choose_stream(struct shm_ia *sia, bool write, size_t bytes);
/* Says what was chosen so far. */
void shm_choice_text(const struct shm_ia *sia, char *text, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the part of librailomp that is linked into each program calls. */
#ifndef OMP_WRAPPER_PROGRAM_H
#define OMP_WRAPPER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(default)

/* Runs the program's main in rank 0, and serves it in the other ranks. */
int railomp_main(int (*program)(int, char **, char **), int argc, char **argv,
                 char **envp);

/* Of the program: its heap before main begins. */
enum { RAILOMP_EARLY_BYTES = 1 << 20 };
extern char railomp_early[RAILOMP_EARLY_BYTES] __attribute__((weak));

/* Memory that all ranks share; as the functions of the C library. */
void *railomp_malloc(size_t bytes);
void *railomp_calloc(size_t count, size_t bytes);
void *railomp_realloc(void *p, size_t bytes);
void *railomp_memalign(size_t alignment, size_t bytes);
int railomp_posix_memalign(void **p, size_t alignment, size_t bytes);
void *railomp_reallocarray(void *p, size_t count, size_t bytes);
char *railomp_strndup(const char *text, size_t most);
/* Also of memory that a library has allocated. */
void railomp_free(void *p);

/* What the C library allocates in this thread is shared, until it is told
 * false. For functions that pass none of it to the kernel. */
void railomp_shares_heap(bool shares);

/* As __cxa_guard_acquire(), ..._release() and ..._abort(), between ranks. */
int railomp_guard_acquire(uint64_t *guard);
void railomp_guard_release(uint64_t *guard);
void railomp_guard_abort(uint64_t *guard);

unsigned railomp_rank(void);
/* Several ranks share the object. */
bool railomp_is_of_ranks(const void *object);
/* ... and have copies of its page. */
bool railomp_is_copied(const void *object);
/* ... and threads of several ranks may use it now: the caller is in a region.
 * In ranks but 0, threads that the program has started itself count as such. */
bool railomp_is_between_ranks(const void *object);
/* A word there, as an atomic operation: @value for @expected. True: it was so,
 * and what its last setter has written is seen. */
bool railomp_word_swap(uint32_t *word, uint32_t expected, uint32_t value);
/* Until it is so. */
void railomp_word_await(uint32_t *word, uint32_t expected, uint32_t value);
void railomp_word_set(uint32_t *word, uint32_t value);
/* Between two polls. @polls: how many there were before. */
void railomp_pause(unsigned polls);
/* Before a call that would synchronise threads of one process only: ends the
 * program if it is between ranks. */
void railomp_synchronises(const void *object, const char *function);
/* Ends the program: it uses @what in a region of several ranks. */
void railomp_not_served(const char *what);

/* Before a system call that reads the range, or writes it: the kernel finds
 * only pages that are there. */
void railomp_prepare(const void *start, size_t bytes, bool writable);
/* May pages of the range go while the call waits? */
bool railomp_may_go(const void *start, size_t bytes);

/* Files (FILE *), each of which belongs to the rank that has opened it. */

/* This rank has opened it. False: another rank has one at the same address. */
bool railomp_file_opened(void *file);
/* Before it closes one of its own. Returns what belongs to it, or NULL. */
void *railomp_file_closes(void *file);
/* @pipe, which the program does not know, is to be closed by pclose() when
 * @file is. */
void railomp_file_is_pipe(void *file, void *pipe);
/* The file to use here in place of @file; NULL: it is another rank's. */
void *railomp_file_here(void *file);
/* The same for what only the owner can do: ends the program if it is another
 * rank's. */
void *railomp_file_needed(void *file, const char *function);
/* For another rank's file: its owner does it, in a barrier at the latest. */
void railomp_file_write(void *file, const void *text, size_t bytes);
void railomp_file_write_wide(void *file, const wchar_t *text, size_t count);
void railomp_file_flush(void *file);
void railomp_file_close(void *file);

/* Before the program sets what a signal does: ends it if that can't be. */
void railomp_handles_signal(int number);

/* Before the program protects memory: ends it if ranks have copies of that. */
void railomp_protects(const void *start, size_t bytes);

/* Pages of the shared heap, which are zero, or the file from @offset on if
 * @fd >= 0. NULL: the program is to map by itself. MAP_FAILED: the heap is
 * full. */
void *railomp_map(size_t bytes, int fd, off_t offset);
/* Of what railomp_map() has returned, or a part. False: the program is to unmap
 * by itself, as the memory is not shared or the call is wrong. */
bool railomp_unmap(void *start, size_t bytes);
/* Before the program changes what is mapped there: ends it if shared. */
void railomp_remaps(const void *start, size_t bytes, const char *what);

/* A system call of the program has failed, as this rank has no such descriptor:
 * ends the program if it is not rank 0. Keeps errno. */
void railomp_no_descriptor(int fd, const char *function);
/* Before a call with a descriptor: ends the program if the runtime uses that
 * number in this rank, as then another rank has opened it. */
void railomp_descriptor(int fd, const char *function);

/* As setenv() and putenv(). With several ranks, putenv() copies the text: that
 * may lie in shared memory, where the kernel can't read it for another program.
 * Other ranks follow in the next barrier. */
int railomp_setenv(const char *name, const char *value, bool replaces);
int railomp_putenv(char *text);
/* The program has unset a variable of the environment, or all (@name NULL). */
void railomp_unsets(const char *name);
/* It has another directory. */
void railomp_changes_directory(void);

/* Fortran: this rank has opened the unit; closes it; or writes or reads, which
 * ends the program if another rank has opened it. */
void railomp_unit_opened(int32_t unit);
void railomp_unit_closed(int32_t unit);
void railomp_unit_used(int32_t unit);
/* Fortran: a statement that writes or reads begins; one of that unit ends
 * (INT32_MAX: of a variable). */
void railomp_statement_begins(void);
void railomp_statement_ends(int32_t unit);

#pragma GCC visibility pop
#endif

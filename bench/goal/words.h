/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and numbers of a line of GOAL, without comments. */
#ifndef BENCH_GOAL_WORDS_H
#define BENCH_GOAL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_MAX 24
#define WORD_MAX  64
/** Bytes of a word that is shown. */
#define WORD_SHOWN WORD_MAX

/** A line: words of letters, digits and _, a number before "b" apart, and
 *  single other characters. */
typedef struct words {
    char word[WORDS_MAX][WORD_MAX];
    unsigned count;
} words_t;

/** Splits a line. @p comment: is the line within a comment? It becomes whether
 *  its end is. @return 0; -1: there are too many words, or one is too long. */
int words_split(words_t *words, const char *line, bool *comment);
/** Is there a word @p at that equals @p text? */
bool words_is(const words_t *words, unsigned at, const char *text);
/** The number @p at, at most @p most. @return 0, or -1. */
int words_number(const words_t *words, unsigned at, uint64_t most,
                 uint64_t *number);
/** The word @p at as printable text; "the end of the line" after the last. */
void words_show(const words_t *words, unsigned at, char shown[WORD_SHOWN]);

#endif

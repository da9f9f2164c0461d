/* SPDX-License-Identifier: BSD-3-Clause */
/* The reason of a failure of a link or peer. Most never fail: a sentence has
 * memory only after its first write. */
#ifndef DRAIL_BASE_SENTENCE_H
#define DRAIL_BASE_SENTENCE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define SENTENCE_BYTES 200u /* longer ones are cut */

/* The old sentence may be among the arguments. If there is no memory, the new
 * one is "out of memory". */
void sentence_vwrite(char **sentence, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void sentence_write(char **sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Empties it; keeps its memory. */
void sentence_clear(char **sentence);
/* Frees its memory. */
void sentence_free(char **sentence);

static inline bool sentence_is(const char *sentence)
{
    return sentence && sentence[0];
}

static inline const char *sentence_text(const char *sentence)
{
    return sentence ? sentence : "";
}

#endif

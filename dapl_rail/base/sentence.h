/* SPDX-License-Identifier: BSD-3-Clause */
/* What went wrong with one of many things, of which most go well: its memory
 * comes with the first sentence, and stays for the next. */
#ifndef DRAIL_BASE_SENTENCE_H
#define DRAIL_BASE_SENTENCE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define SENTENCE_BYTES 200u /* longer ones are cut */

/* The old one may be among the arguments. Without memory it becomes one that
 * says so. */
void sentence_vwrite(char **sentence, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void sentence_write(char **sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* There is none any more. */
void sentence_clear(char **sentence);
/* Its memory goes, too. */
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

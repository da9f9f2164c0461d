/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

static bool of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind blanks and comments; the end of the line, if nothing follows. */
static const char *skip(const char *at, bool *comment)
{
    for (;;) {
        if (*comment) {
            const char *end = strstr(at, "*/");
            *comment = !end;
            at = end ? end + 2 : at + strlen(at);
        }
        at += strspn(at, " \t\r\n");
        if (!strncmp(at, "//", 2))
            return at + strlen(at);
        if (strncmp(at, "/*", 2))
            return at;
        *comment = true;
        at += 2;
    }
}

/* The characters of the word that begins here. */
static size_t length_of(const char *at)
{
    size_t digits = strspn(at, "0123456789"), length = digits;
    while (of_word(at[length]))
        length++;
    if (digits && at[digits] == 'b' && length == digits + 1)
        return digits;
    return length ? length : 1;
}

int words_split(words_t *words, const char *line, bool *comment)
{
    words->count = 0;
    for (const char *at = skip(line, comment); *at; at = skip(at, comment)) {
        size_t length = length_of(at);
        if (words->count == WORDS_MAX || length >= WORD_MAX)
            return -1;
        memcpy(words->word[words->count], at, length);
        words->word[words->count++][length] = '\0';
        at += length;
    }
    return 0;
}

bool words_is(const words_t *words, unsigned at, const char *text)
{
    return at < words->count && !strcmp(words->word[at], text);
}

int words_number(const words_t *words, unsigned at, uint64_t most,
                 uint64_t *number)
{
    if (at >= words->count ||
        strspn(words->word[at], "0123456789") != strlen(words->word[at]) ||
        strlen(words->word[at]) > 18)
        return -1;
    *number = strtoull(words->word[at], NULL, 10);
    return *number > most ? -1 : 0;
}

void words_show(const words_t *words, unsigned at, char shown[WORD_SHOWN])
{
    const char *word =
        at < words->count ? words->word[at] : "the end of the line";
    const unsigned char first = (unsigned char)*word;
    if (first > ' ' && first < 0x7f)
        snprintf(shown, WORD_SHOWN, "%s", word);
    else /* a word alone: part of a character, or what a terminal obeys */
        snprintf(shown, WORD_SHOWN, "\\x%02x", first);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/base/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "out of memory";

void sentence_vwrite(char **sentence, const char *format, va_list args)
{
    char text[SENTENCE_BYTES];
    char *room = *sentence != no_memory ? *sentence : NULL;
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    if (!room)
        room = malloc(sizeof text);
    *sentence = room ? strcpy(room, text) : (char *)no_memory;
}

void sentence_write(char **sentence, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sentence_vwrite(sentence, format, args);
    va_end(args);
}

void sentence_clear(char **sentence)
{
    if (*sentence == no_memory)
        *sentence = NULL;
    if (*sentence)
        (*sentence)[0] = '\0';
}

void sentence_free(char **sentence)
{
    if (*sentence != no_memory)
        free(*sentence);
    *sentence = NULL;
}

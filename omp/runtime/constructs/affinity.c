/* SPDX-License-Identifier: BSD-3-Clause */
/* omp_display_affinity() and its like, which say where a thread runs. */
#include <ctype.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

#define DEFAULT_FORMAT "level %L thread %i affinity %A"

enum { FIELD_BYTES = 256 };

/* Text that may be longer than its room; only what has room is kept. */
struct text {
    char *room;
    size_t bytes, length;
};

static void put(struct text *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++, to->length++)
        if (to->length + 1 < to->bytes)
            to->room[to->length] = from[i];
}

static void finish(struct text *to)
{
    if (to->bytes)
        to->room[to->length < to->bytes ? to->length : to->bytes - 1] = 0;
}

/* ----------------------------------------------------------------- fields */

/* The processors that the thread may use, as 0-3,5. */
static void processors_of_thread(char *value)
{
    struct text list = {value, FIELD_BYTES, 0};
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        CPU_ZERO(&set);
    for (int first = 0, last; first < CPU_SETSIZE; first = last + 1) {
        char range[32];
        for (last = first; last < CPU_SETSIZE && CPU_ISSET(last, &set);)
            last++;
        if (last == first)
            continue;
        const int length =
            last - first > 1
                ? snprintf(range, sizeof range, "%d-%d,", first, last - 1)
                : snprintf(range, sizeof range, "%d,", first);
        put(&list, range, (size_t)length);
    }
    list.length -= list.length > 0; /* the last comma */
    finish(&list);
}

static int ancestor_number(const struct thread *t)
{
    return t->team->parent ? (int)t->team->parent->id : -1;
}

/* FIELD(short name, long name, format of a number, its value) */
#define NUMBERS(FIELD)                                                         \
    FIELD('t', "team_num", (int)shared_words->league.team)                     \
    FIELD('T', "num_teams",                                                    \
          shared_words->league.teams ? (int)shared_words->league.teams : 1)    \
    FIELD('L', "nesting_level", (int)t->team->level)                           \
    FIELD('n', "thread_num", (int)t->id)                                       \
    FIELD('N', "num_threads", (int)t->team->threads)                           \
    FIELD('a', "ancestor_tnum", ancestor_number(t))                            \
    FIELD('P', "process_id", (int)getpid())                                    \
    FIELD('i', "native_thread_id", (int)gettid())

/* The field's value, and whether it is a number. */
static bool is_number(char name, char *value)
{
    const struct thread *t = self();
    switch (name) {
#define OF_NUMBER(letter, word, number)                                        \
    case letter:                                                               \
        snprintf(value, FIELD_BYTES, "%d", number);                            \
        return true;
        NUMBERS(OF_NUMBER)
    case 'H':
        if (gethostname(value, FIELD_BYTES))
            *value = 0;
        return false;
    case 'A':
        processors_of_thread(value);
        return false;
    default:
        snprintf(value, FIELD_BYTES, "undefined");
        return false;
    }
}

/* The letter of {name}, at *@format; moves behind it. */
static char letter_of(const char **format)
{
    static const struct {
        char letter;
        const char *word;
    } words[] = {
#define OF_WORD(letter, word, number) {letter, word},
        NUMBERS(OF_WORD){'H', "host"},
        {'A', "thread_affinity"},
    };
    const char *begin = *format, *end;
    if (*begin != '{')
        return *begin ? *(*format)++ : 0;
    end = strchr(begin, '}');
    *format = end ? end + 1 : begin + strlen(begin);
    for (size_t i = 0; end && i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == (size_t)(end - begin - 1) &&
            !strncmp(words[i].word, begin + 1, strlen(words[i].word)))
            return words[i].letter;
    return 0;
}

/* Behind a %: [[[0].]size]field. */
static void expand(struct text *to, const char **format)
{
    char value[FIELD_BYTES], padded[2 * FIELD_BYTES];
    const bool zeros = **format == '0';
    *format += zeros;
    const bool right = **format == '.';
    *format += right;
    int size = 0;
    while (isdigit((unsigned char)**format) && size < FIELD_BYTES / 10)
        size = 10 * size + *(*format)++ - '0';
    const bool number = is_number(letter_of(format), value);
    const int length =
        snprintf(padded, sizeof padded, right ? "%*s" : "%-*s", size, value);
    if (zeros && right && number)
        for (char *p = padded; *p == ' '; p++)
            *p = '0';
    put(to, padded, (size_t)length);
}

/* ------------------------------------------------------------------ format */

/* Of all ranks; in shared memory. */
static const char *format_now(void)
{
    const char *named = getenv("OMP_AFFINITY_FORMAT");
    return *shared_words->affinity_format ? shared_words->affinity_format
           : named                        ? named
                                          : DEFAULT_FORMAT;
}

size_t omp_capture_affinity(char *room, size_t bytes, const char *format)
{
    struct text to = {room, bytes, 0};
    if (!format || !*format)
        format = format_now();
    while (*format)
        if (*format != '%') {
            put(&to, format++, 1);
        } else if (*++format == '%') {
            put(&to, format++, 1);
        } else {
            expand(&to, &format);
        }
    finish(&to);
    return to.length;
}

void omp_display_affinity(const char *format)
{
    char line[1024];
    omp_capture_affinity(line, sizeof line, format);
    fprintf(stderr, "%s\n", line);
}

void omp_set_affinity_format(const char *format)
{
    snprintf(shared_words->affinity_format,
             sizeof shared_words->affinity_format, "%s", format);
}

size_t omp_get_affinity_format(char *room, size_t bytes)
{
    struct text to = {room, bytes, 0};
    put(&to, format_now(), strlen(format_now()));
    finish(&to);
    return to.length;
}

/* ---------------------------------------------------------------- Fortran */

/* Text of Fortran ends with blanks, and has its length with it. */
static char *terminated(const char *text, size_t length, char *copy)
{
    while (length && text[length - 1] == ' ')
        length--;
    if (length >= FIELD_BYTES)
        length = FIELD_BYTES - 1;
    copy[length] = 0;
    return memcpy(copy, text, length);
}

/* What there is room for, and blanks. */
static void fill(char *room, size_t bytes, const char *text)
{
    const size_t length = strnlen(text, bytes);
    memcpy(room, text, length);
    memset(room + length, ' ', bytes - length);
}

void omp_set_affinity_format_(const char *format, size_t length)
{
    char own[FIELD_BYTES];
    omp_set_affinity_format(terminated(format, length, own));
}

void omp_display_affinity_(const char *format, size_t length)
{
    char own[FIELD_BYTES];
    omp_display_affinity(terminated(format, length, own));
}

int32_t omp_get_affinity_format_(char *room, size_t bytes)
{
    char own[FIELD_BYTES];
    const size_t length = omp_get_affinity_format(own, sizeof own);
    fill(room, bytes, own);
    return (int32_t)length;
}

int32_t omp_capture_affinity_(char *room, const char *format, size_t bytes,
                              size_t format_bytes)
{
    char own[FIELD_BYTES], text[1024];
    const size_t length = omp_capture_affinity(
        text, sizeof text, terminated(format, format_bytes, own));
    fill(room, bytes, text);
    return (int32_t)length;
}

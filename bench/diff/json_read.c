/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gunzip.h"
#include "json_read.h"

typedef struct reader {
    const char *start, *at, *end;
    json_error_t *error;
} reader_t;

static int wrong(reader_t *r, const char *text)
{
    json_error_t *error = r->error;
    error->line = error->column = 1;
    for (const char *p = r->start; p < r->at; p++) {
        error->column++;
        if (*p == '\n') {
            error->line++;
            error->column = 1;
        }
    }
    snprintf(error->text, sizeof error->text, "%s", text);
    return -1;
}

static int peek(const reader_t *r)
{
    return r->at < r->end ? (unsigned char)*r->at : -1;
}

static bool accept(reader_t *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static void skip_blanks(reader_t *r)
{
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
        r->at++;
}

/* ------------------------------------------------------------- strings --- */

static int read_hex(reader_t *r, unsigned *code)
{
    *code = 0;
    for (unsigned i = 0; i < 4; i++) {
        int c = peek(r);
        if (c < 0 || !isxdigit(c))
            return wrong(r, "\\u needs 4 hexadecimal digits");
        *code = *code * 16 +
                (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
        r->at++;
    }
    return 0;
}

/* Reads the digits behind \u, as UTF-8. A pair of surrogates is one
 * character. */
static int read_unicode(reader_t *r, char **out)
{
    unsigned code, low;
    if (read_hex(r, &code))
        return -1;
    if (code >= 0xd800 && code < 0xdc00) {
        if (!accept(r, '\\') || !accept(r, 'u'))
            return wrong(r, "half of a surrogate pair");
        if (read_hex(r, &low))
            return -1;
        if (low < 0xdc00 || low > 0xdfff)
            return wrong(r, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return wrong(r, "half of a surrogate pair");
    } else if (!code) {
        return wrong(r, "a zero character in a string");
    }
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    *(*out)++ = (char)(lead[more] | code >> 6 * more);
    while (more--)
        *(*out)++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return 0;
}

static int read_escape(reader_t *r, char **out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (accept(r, 'u'))
        return read_unicode(r, out);
    int c = peek(r);
    const char *name = c > 0 ? strchr(names, c) : NULL;
    if (!name)
        return wrong(r, "an unknown escape in a string");
    r->at++;
    *(*out)++ = values[name - names];
    return 0;
}

/* The text never grows by unescaping. */
static int read_string(reader_t *r, char **string)
{
    if (!accept(r, '"'))
        return wrong(r, "a string in double quotes is expected");
    const char *close = r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= r->end)
        return wrong(r, "a string without an end");
    char *out = *string = malloc((size_t)(close - r->at) + 1);
    if (!out)
        return wrong(r, "out of memory");
    while (!accept(r, '"')) {
        if ((unsigned char)*r->at < 0x20)
            return wrong(r, "a control character in a string");
        if (!accept(r, '\\'))
            *out++ = *r->at++;
        else if (read_escape(r, &out))
            return -1;
    }
    *out = '\0';
    return 0;
}

/* ------------------------------------------------------------- scalars --- */

static bool skip_digits(reader_t *r)
{
    const char *first = r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return r->at > first;
}

/* Checks the grammar, which is narrower than that of strtod. */
static int read_number(reader_t *r, double *number)
{
    char copy[64];
    const char *first = r->at;
    accept(r, '-');
    bool good = accept(r, '0') || skip_digits(r);
    if (good && accept(r, '.'))
        good = skip_digits(r);
    if (good && (accept(r, 'e') || accept(r, 'E'))) {
        if (!accept(r, '-'))
            accept(r, '+');
        good = skip_digits(r);
    }
    size_t length = (size_t)(r->at - first);
    if (!good || length >= sizeof copy)
        return wrong(r, good ? "a number with too many digits"
                             : "a malformed number");
    memcpy(copy, first, length);
    copy[length] = '\0';
    *number = strtod(copy, NULL);
    return isfinite(*number) ? 0 : wrong(r, "a number that is too large");
}

static int read_word(reader_t *r, json_value_t *value)
{
    static const struct {
        const char *word;
        json_type_t type;
        bool boolean;
    } words[] = {{"null", JSON_NULL, false},
                 {"true", JSON_BOOL, true},
                 {"false", JSON_BOOL, false}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < length ||
            memcmp(r->at, words[i].word, length))
            continue;
        r->at += length;
        value->type = words[i].type;
        value->boolean = words[i].boolean;
        return 0;
    }
    return wrong(r, "a value is expected");
}

/* ------------------------------------------------------------- nesting --- */

static int read_value(reader_t *r, json_value_t *value, unsigned depth);

static int read_members(reader_t *r, json_value_t *parent, unsigned depth)
{
    bool object = parent->type == JSON_OBJECT;
    char close = object ? '}' : ']';
    json_value_t **last = &parent->first;
    r->at++;
    skip_blanks(r);
    if (accept(r, close))
        return 0;
    for (;;) {
        json_value_t *value = *last = calloc(1, sizeof *value);
        if (!value)
            return wrong(r, "out of memory");
        last = &value->next;
        skip_blanks(r);
        if (object && read_string(r, &value->key))
            return -1;
        skip_blanks(r);
        if (object && !accept(r, ':'))
            return wrong(r, "':' is expected");
        if (read_value(r, value, depth + 1))
            return -1;
        if (accept(r, close))
            return 0;
        if (!accept(r, ','))
            return wrong(r, object ? "',' or '}' is expected"
                                   : "',' or ']' is expected");
    }
}

/* Takes the blanks around the value, too. */
static int read_value(reader_t *r, json_value_t *value, unsigned depth)
{
    int rc;
    if (depth > JSON_READ_DEPTH)
        return wrong(r, "nested too deeply");
    skip_blanks(r);
    int c = peek(r);
    if (c == '{' || c == '[') {
        value->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        rc = read_members(r, value, depth);
    } else if (c == '"') {
        value->type = JSON_STRING;
        rc = read_string(r, &value->string);
    } else if (c == '-' || (c >= 0 && isdigit(c))) {
        value->type = JSON_NUMBER;
        rc = read_number(r, &value->number);
    } else {
        rc = read_word(r, value);
    }
    skip_blanks(r);
    return rc;
}

json_value_t *json_parse(const char *text, size_t size, json_error_t *error)
{
    reader_t r = {text, text, text + size, error};
    json_value_t *value = calloc(1, sizeof *value);
    int rc = value ? read_value(&r, value, 1) : wrong(&r, "out of memory");
    if (!rc && r.at < r.end)
        rc = wrong(&r, "more follows after the value");
    if (!rc)
        return value;
    json_release(value);
    return NULL;
}

/* Values are at most JSON_READ_DEPTH deep, and so is the recursion. */
void json_release(json_value_t *value)
{
    while (value) {
        json_value_t *next = value->next;
        json_release(value->first);
        free(value->key);
        free(value->string);
        free(value);
        value = next;
    }
}

/* --------------------------------------------------------------- files --- */

/* All of a file (which may be a pipe); the caller frees *text. */
static int read_all(FILE *file, char **text, size_t *size)
{
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            if (capacity > JSON_READ_BYTES) {
                errno = EFBIG;
                return -1;
            }
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(*text, capacity);
            if (!grown)
                return -1;
            *text = grown;
        }
        size_t n = fread(*text + *size, 1, capacity - *size, file);
        *size += n;
        if (!n)
            return ferror(file) ? -1 : 0;
    }
}

static json_value_t *failed(json_error_t *error, const char *text)
{
    *error = (json_error_t){0};
    snprintf(error->text, sizeof error->text, "%s", text);
    return NULL;
}

static json_value_t *parse_packed(const char *packed, size_t packed_size,
                                  json_error_t *error)
{
    gunzip_t gunzip;
    char *text = NULL;
    size_t size = 0;
    json_value_t *value;
    if (gunzip_open(&gunzip, packed, packed_size))
        return failed(error, "it is compressed, and gzip can't be run");
    const char *why =
        read_all(gunzip.text, &text, &size) ? strerror(errno) : NULL;
    if (gunzip_close(&gunzip) && !why)
        why = "it is compressed, and damaged";
    value = why ? failed(error, why) : json_parse(text, size, error);
    free(text);
    return value;
}

json_value_t *json_load(const char *path, json_error_t *error)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    json_value_t *value = NULL;
    if (!file || read_all(file, &text, &size))
        failed(error, strerror(errno));
    else if (gunzip_is_needed(text, size))
        value = parse_packed(text, size, error);
    else
        value = json_parse(text, size, error);
    free(text);
    if (file)
        fclose(file);
    return value;
}

/* ------------------------------------------------------------- look-up --- */

const json_value_t *json_get(const json_value_t *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const json_value_t *v = object->first; v; v = v->next)
        if (!strcmp(v->key, key))
            return v;
    return NULL;
}

const char *json_get_string(const json_value_t *object, const char *key,
                            const char *fallback)
{
    const json_value_t *value = json_get(object, key);
    return value && value->type == JSON_STRING ? value->string : fallback;
}

double json_get_number(const json_value_t *object, const char *key,
                       double fallback)
{
    const json_value_t *value = json_get(object, key);
    return value && value->type == JSON_NUMBER ? value->number : fallback;
}

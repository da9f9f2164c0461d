/* SPDX-License-Identifier: BSD-3-Clause */
/* A strict reader of JSON (RFC 8259) for files that may be anything. */
#ifndef BENCH_JSON_READ_H
#define BENCH_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

/** Deepest nesting and longest text that are accepted. */
#define JSON_READ_DEPTH 32
#define JSON_READ_BYTES ((size_t)256 << 20)

typedef enum json_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
} json_type_t;

typedef struct json_value {
    json_type_t type;
    bool boolean;
    double number;
    char *string;             /**< UTF-8, without zero bytes in it */
    char *key;                /**< of a member of an object, else NULL */
    struct json_value *first; /**< of an array or object */
    struct json_value *next;  /**< in the same array or object */
} json_value_t;

/** Where and what is wrong. */
typedef struct json_error {
    unsigned line, column; /**< from 1; 0: not in the text */
    char text[96];
} json_error_t;

/**
 * Parses @p size bytes; nothing but blanks may follow the value.
 * @return the value, for json_release, or NULL with *error.
 */
json_value_t *json_parse(const char *text, size_t size, json_error_t *error);
/** Reads and parses a file, which gzip may have compressed. */
json_value_t *json_load(const char *path, json_error_t *error);
/** Frees a value and all in it; accepts NULL. */
void json_release(json_value_t *value);

/** The first member of that name, or NULL; also when @p object is NULL or no
 *  object, so that look-ups chain. */
const json_value_t *json_get(const json_value_t *object, const char *key);
/** The member's string or number, or @p fallback when it isn't one. */
const char *json_get_string(const json_value_t *object, const char *key,
                            const char *fallback);
double json_get_number(const json_value_t *object, const char *key,
                       double fallback);

#endif

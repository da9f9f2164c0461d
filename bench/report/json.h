/* SPDX-License-Identifier: BSD-3-Clause */
/* A small JSON writer. Keys are NULL inside arrays and at the top. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

typedef struct json {
    FILE *file;
    unsigned depth;
    unsigned compact; /**< depth from which on all is in one line, 0: none */
    bool empty[JSON_DEPTH + 1];
} json_t;

void json_init(json_t *json, FILE *file);
void json_object(json_t *json, const char *key);
void json_array(json_t *json, const char *key);
/** An array or object that is written in one line. */
void json_row_object(json_t *json, const char *key);
void json_row_array(json_t *json, const char *key);
/** Ends the innermost object or array. */
void json_end_object(json_t *json);
void json_end_array(json_t *json);

/** What is not UTF-8 becomes U+FFFD. */
void json_string(json_t *json, const char *key, const char *value);
void json_uint(json_t *json, const char *key, uint64_t value);
void json_int(json_t *json, const char *key, int64_t value);
/** NaN and infinities become null. */
void json_double(json_t *json, const char *key, double value);
void json_bool(json_t *json, const char *key, bool value);
void json_null(json_t *json, const char *key);

#endif

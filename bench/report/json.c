/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "json.h"
#include "utf8.h"

void json_init(json_t *json, FILE *file)
{
    *json = (json_t){.file = file, .empty = {true}};
}

static void quoted(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        unsigned length = utf8_length(text), code = (unsigned char)*text;
        if (!length)
            fputs(UTF8_REPLACEMENT, file);
        else if (code == '"' || code == '\\')
            fprintf(file, "\\%c", *text);
        else if (code < 0x20)
            fprintf(file, "\\u%04x", code);
        else
            fwrite(text, 1, length, file);
        text += length ? length : 1;
    }
    fputc('"', file);
}

static void new_line(json_t *json)
{
    if (json->compact)
        return;
    fprintf(json->file, "\n%*s", (int)json->depth, "");
}

/* Writes separator, indentation and key before a value. */
static void prefix(json_t *json, const char *key)
{
    bool *empty = &json->empty[json->depth];
    if (!*empty)
        fputs(json->compact ? ", " : ",", json->file);
    if (json->depth)
        new_line(json);
    *empty = false;
    if (key) {
        quoted(json->file, key);
        fputs(": ", json->file);
    }
}

static void begin(json_t *json, const char *key, char bracket, bool row)
{
    prefix(json, key);
    fputc(bracket, json->file);
    if (json->depth < JSON_DEPTH)
        json->depth++;
    if (row && !json->compact)
        json->compact = json->depth;
    json->empty[json->depth] = true;
}

static void end(json_t *json, char bracket)
{
    bool empty = json->empty[json->depth], row = json->compact == json->depth;
    json->depth--;
    if (!empty)
        new_line(json);
    if (row)
        json->compact = 0;
    fputc(bracket, json->file);
    if (!json->depth)
        fputc('\n', json->file);
}

void json_object(json_t *json, const char *key)
{
    begin(json, key, '{', false);
}

void json_array(json_t *json, const char *key)
{
    begin(json, key, '[', false);
}

void json_row_object(json_t *json, const char *key)
{
    begin(json, key, '{', true);
}

void json_row_array(json_t *json, const char *key)
{
    begin(json, key, '[', true);
}

void json_end_object(json_t *json)
{
    end(json, '}');
}

void json_end_array(json_t *json)
{
    end(json, ']');
}

void json_string(json_t *json, const char *key, const char *value)
{
    prefix(json, key);
    quoted(json->file, value);
}

void json_uint(json_t *json, const char *key, uint64_t value)
{
    prefix(json, key);
    fprintf(json->file, "%" PRIu64, value);
}

void json_int(json_t *json, const char *key, int64_t value)
{
    prefix(json, key);
    fprintf(json->file, "%" PRId64, value);
}

void json_double(json_t *json, const char *key, double value)
{
    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    prefix(json, key);
    fprintf(json->file, "%.9g", value);
}

void json_bool(json_t *json, const char *key, bool value)
{
    prefix(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_null(json_t *json, const char *key)
{
    prefix(json, key);
    fputs("null", json->file);
}

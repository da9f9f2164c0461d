/* SPDX-License-Identifier: BSD-3-Clause */
/* The parsers of options' values: single values (values.c), lists (lists.c). */
#ifndef BENCH_OPTION_PARSERS_H
#define BENCH_OPTION_PARSERS_H

#include "options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/** Names of format_t that --format takes. */
#define FORMAT_NAMES "table", "csv", "json"

/** @return 0, or -1: no number from @p min to @p max. */
int option_real(const char *text, double min, double max, double *value);
/** Index of @p text in @p names, or -1 with the names in @p allowed. */
int option_choice(const char *const *names, unsigned count, const char *text,
                  char *allowed, size_t size);

/** As --type and --op take them; they end with NULL. */
extern const char *const option_types[], *const option_operators[];

option_parser_t option_parse_percent, option_parse_text, option_parse_address,
    option_parse_bytes, option_parse_align, option_parse_algorithms,
    option_parse_weights, option_parse_sizes, option_parse_shapes,
    option_parse_saves, option_parse_rails;
/** What a --server has printed. */
option_parser_t option_parse_code;
/** option_parse_name: one of row->names, into an enumeration.
 *  option_parse_names: a list of them, each once. */
option_parser_t option_parse_name, option_parse_names;
/** "auto" or "notify", for a bool: the latter. */
option_parser_t option_parse_pingpong;
/** A count, or "off-cache": BUFFERS_OFF_CACHE. */
option_parser_t option_parse_buffers;

/** A list of numbers from 1, which stays text. */
option_parser_t option_parse_numbers;

#endif

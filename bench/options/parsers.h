/* SPDX-License-Identifier: BSD-3-Clause */
/* How the values of options are read: single ones (values.c), lists (lists.c).
 */
#ifndef BENCH_OPTION_PARSERS_H
#define BENCH_OPTION_PARSERS_H

#include "options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/** Names of format_t that --format takes. */
#define FORMAT_NAMES "table", "csv", "json"

/** @return 0, or -1: no number from @p min to @p max. */
int option_real(const char *text, double min, double max, double *value);
/** A time such as 3, 3s, 500ms: in units of @p unit seconds, as is a number
 *  alone. @return 0, or -1: no time from @p min to @p max. */
int option_time(const char *text, double unit, double min, double max,
                double *value);
/** Index of @p text in @p names, or -1 with the names in @p allowed. */
int option_choice(const char *const *names, unsigned count, const char *text,
                  char *allowed, size_t size);

/* As option_row_t's parse. */
int option_parse_percent(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
int option_parse_text(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size);
int option_parse_address(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
int option_parse_bytes(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_align(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_format(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size);
int option_parse_zero_copy(const option_row_t *row, const char *text,
                           void *field, char *allowed, size_t size);
int option_parse_type(const option_row_t *row, const char *text, void *field,
                      char *allowed, size_t size);
int option_parse_operator(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size);
int option_parse_start(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_engines(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
int option_parse_policies(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size);
int option_parse_teams(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_waitings(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size);
int option_parse_notify_bys(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size);
int option_parse_ops(const option_row_t *row, const char *text, void *field,
                     char *allowed, size_t size);
/** "auto" or "notify", for a bool: the latter. */
int option_parse_pingpong(const option_row_t *row, const char *text,
                          void *field, char *allowed, size_t size);
/** A count, or "off-cache": BUFFERS_OFF_CACHE. */
int option_parse_buffers(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
/** ... of atomics. */
int option_parse_atomics(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
/** Collectives; where row->max is not 0, alltoallv as well. */
int option_parse_collectives(const option_row_t *row, const char *text,
                             void *field, char *allowed, size_t size);
int option_parse_units(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_algorithms(const option_row_t *row, const char *text,
                            void *field, char *allowed, size_t size);
int option_parse_weights(const option_row_t *row, const char *text, void *field,
                         char *allowed, size_t size);
int option_parse_sizes(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_shapes(const option_row_t *row, const char *text, void *field,
                        char *allowed, size_t size);
int option_parse_saves(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);
int option_parse_rails(const option_row_t *row, const char *text, void *field,
                       char *allowed, size_t size);

#endif

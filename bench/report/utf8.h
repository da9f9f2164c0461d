/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines, paths and names of hosts are bytes; JSON (RFC 8259) and
 * readers of CSV need UTF-8.
 */
#ifndef BENCH_UTF8_H
#define BENCH_UTF8_H

/** Stands for a byte that is part of no character (U+FFFD). */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/** Bytes of the character at @p text, which is not empty; 0 if it is not
 *  UTF-8 (RFC 3629). */
unsigned utf8_length(const char *text);

/** Puts '?' in the place of bytes that are part of no character. */
void utf8_clean(char *text);

#endif

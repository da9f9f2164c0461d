/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard descriptors and signals at the start of a program, whatever its
 * parent has left; the exit status at its end.
 */
#ifndef BENCH_STARTUP_H
#define BENCH_STARTUP_H

/** First in main: descriptors 0 to 2 are taken, so that no file or socket gets
 *  their numbers; no signal is blocked; children can be waited for. */
void startup(void);

/** Last in main: what is still buffered is written.
 *  @return @p status, but 1 for 0, after a line on standard error, if standard
 *  output could not be written. */
int finish(const char *program, int status);

#endif

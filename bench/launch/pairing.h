/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test between two hosts by two commands: `railbench TEST --server` on one
 * host prints the command for the other, with a code that serves once.
 *
 * Both meet as the two ranks of a rendezvous. In a first job they tell each
 * other their options, so that both go on with the same ones: the server's, but
 * where the client says otherwise.
 */
#ifndef BENCH_PAIRING_H
#define BENCH_PAIRING_H

#include "bench/options/options.h"

/** Is this process the server or the client of a pair? */
bool pairing_wanted(const options_t *opts);

/** Before launch_open: settles rendezvous, rank and secret; a server prints the
 *  command for the other host. @return 0, or exit status after a line on
 *  stderr. */
int pairing_begin(options_t *opts, const option_table_t *table);

/** After launch_open, both call it: the command that both go on with, as argv:
 *  to be freed with pairing_free. @return 0, or exit status after a line on
 *  stderr. */
int pairing_agree(const options_t *opts, const option_table_t *table, int *argc,
                  char ***argv);
void pairing_free(char **argv); /**< accepts NULL */

#endif

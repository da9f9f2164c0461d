/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the libraries of providers loaded. */
#ifndef DRAIL_RAILS_KEEP_LOADED_H
#define DRAIL_RAILS_KEEP_LOADED_H

#include <dat2/udat.h>

/*
 * Keeps the library of the provider that made this object loaded until the
 * process ends. Not for an IA: the registry makes its handle. Only for ranks: a
 * process that forks later inherits the library's state without its threads.
 */
void provider_keep_loaded(DAT_HANDLE handle);

#endif

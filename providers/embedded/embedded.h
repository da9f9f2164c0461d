/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_EMBEDDED_H
#define DAPL_EMBEDDED_H

/** Restores the environment once libdat2 has read its dat.conf. Called by the
 *  constructor of the library that links this one; further calls do nothing. */
__attribute__((visibility("default"))) void dapl_embedded_done(void);

/** Why the file that $DAPL_RAIL_DAT_CONF names was not read, or NULL. */
__attribute__((visibility("default"))) const char *dapl_embedded_error(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the program that ddsm_adopt() has made part of a space, when the
 * space is closed. */
#ifndef DSM_ADOPT_H
#define DSM_ADOPT_H

#include "dsm/base/space.h"

/* Fetches the ranges whose contents this rank keeps. */
void adopt_fetch(ddsm_t *d);
/* Makes them private memory again, with the contents that are here. */
void adopt_give_back(ddsm_t *d);

#endif

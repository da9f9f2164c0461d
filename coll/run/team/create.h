/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_TEAM_CREATE_H
#define DCOLL_TEAM_CREATE_H

#include "coll/run/team/team.h"

/* As dcoll_team_create(), but of ranks that are a part of the rails' job,
 * unless shrunk is NULL. On success the team owns it. */
int team_create(drail_job_t *job, drail_t *rail, const dcoll_config_t *cfg,
                struct shrunk *shrunk, dcoll_team_t **out, drail_error_t *err);

#endif

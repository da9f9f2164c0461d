/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements that say where they go. */
#include <string.h>

#include "irregular.h"

void irregular_stamp(const coll_run_t *run, const irregular_call_t *call,
                     uint8_t *send)
{
    size_t element = run->opts->alltoallv.element;
    uint8_t *end = send + call->sent * element;
    for (size_t turn = 0; send < end; turn++)
        for (uint32_t to = 0; to < run->ranks; to++)
            if (turn < call->send_counts[to]) {
                memcpy(send + IRREGULAR_DESTINATION, &to, sizeof to);
                send += element;
            }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "coll/run/execute/notifications.h"
#include "coll/run/shrink/gather.h"
#include "coll/run/shrink/patience.h"
#include "coll/run/team/team.h"

#define MS    1000000ull
#define PIECE 512u

/* One slot for each rank, and one from which this rank puts its own piece. */
static size_t slot_offset(const struct shrunk *s, unsigned slot)
{
    return ((size_t)(s->pieces % 2) * (s->ranks + 1) + slot) * PIECE;
}

size_t gather_area_bytes(unsigned ranks)
{
    return 2 * (size_t)(ranks + 1) * PIECE;
}

static int put(struct shrunk *s, unsigned rank, size_t bytes)
{
    const drail_xfer_t xfer = {
        .local = s->area + slot_offset(s, s->ranks),
        .local_mem = s->mem,
        .remote = &s->keys[rank],
        .remote_offset = slot_offset(s, s->rank),
        .bytes = bytes,
    };
    int rc =
        drail_put(s->rail, s->peers[rank], &xfer,
                  DRAIL_NOTIFY | DRAIL_NOWAIT | DRAIL_EAGER, NOTE_GATHER, NULL);
    s->posted[rank] += !rc;
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

/* Takes what has come from this rank, up to its piece: what follows may be for
 * what this rank does next. Words of requests may come before. */
static int take(struct shrunk *s, unsigned rank)
{
    uint32_t id;
    int rc = 0;
    while (s->arrived[rank] <= s->pieces &&
           !(rc = drail_notify_test(s->rail, s->peers[rank], &id))) {
        if (id % NOTIFICATION_KINDS > NOTE_ENTERED)
            shrunk_note(s, rank, id);
        else if (s->team)
            notifications_deliver(s->team, rank, id);
    }
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

/* DRAIL_EAGAIN: pieces are missing. */
static int advance(struct shrunk *s, size_t bytes)
{
    bool complete = true;
    drail_progress(s->rail); /* its error may be that of a dead rank's rail */
    for (unsigned r = 0; r < s->ranks; r++) {
        if (r == s->rank)
            continue;
        int rc = s->posted[r] == s->pieces ? put(s, r, bytes) : 0;
        if (!rc)
            rc = take(s, r);
        bool arrived = s->arrived[r] > s->pieces;
        if (rc || (s->left[r] && !arrived))
            return rc ? rc : DRAIL_EPEER;
        complete = complete && arrived && s->posted[r] > s->pieces;
    }
    return complete ? 0 : DRAIL_EAGAIN;
}

static int exchange(struct shrunk *s, size_t bytes, int timeout_ms)
{
    struct deadline deadline = deadline_after(
        platform_now(drail_job_platform(s->whole)), (uint64_t)timeout_ms * MS);
    struct patience patience;
    int rc, over = 0;
    patience_begin(&patience, s->whole, &s->cfg, &deadline);
    while (!over && (rc = advance(s, bytes)) == DRAIL_EAGAIN)
        over = patience_turn(&patience);
    return over ? over : rc;
}

int gather_run(void *context, const void *mine, size_t bytes, void *all,
               int timeout_ms)
{
    struct shrunk *s = context;
    for (size_t done = 0; done < bytes; done += PIECE, s->pieces++) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        unsigned char *own = s->area + slot_offset(s, s->ranks);
        memcpy(own, (const char *)mine + done, piece);
        memcpy(s->area + slot_offset(s, s->rank), own, piece);
        int rc = exchange(s, piece, timeout_ms);
        if (rc)
            return rc;
        for (unsigned r = 0; r < s->ranks; r++)
            memcpy((char *)all + r * bytes + done, s->area + slot_offset(s, r),
                   piece);
    }
    return 0;
}

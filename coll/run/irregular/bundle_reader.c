/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/irregular/bundle_reader.h"

/* Read once: its writer may go on changing it. */
static struct bundle_head read_head(const unsigned char *bundle)
{
    const volatile struct bundle_head *head =
        (const volatile struct bundle_head *)bundle;
    return (struct bundle_head){head->bytes, head->lost};
}

size_t bundle_length(const unsigned char *bundle, size_t room)
{
    const struct bundle_head head = read_head(bundle);
    if (head.bytes < BUNDLE_HEAD || head.bytes > room)
        return 0;
    return head.lost ? room : head.bytes;
}

struct bundle_reader bundle_reader_open(const dcoll_request_t *q,
                                        const unsigned char *bundle,
                                        size_t room)
{
    const struct bundle_head head = read_head(bundle);
    size_t end = room - bundle_marks(q->team->shape.nranks);
    bool sound = head.bytes >= BUNDLE_HEAD && head.bytes <= end;
    return (struct bundle_reader){.q = q,
                                  .at = bundle + BUNDLE_HEAD,
                                  .left = sound ? head.bytes - BUNDLE_HEAD : 0,
                                  .lost = head.lost ? bundle + end : NULL,
                                  .malformed = !sound};
}

bool bundle_reader_lacks(const struct bundle_reader *r, unsigned rank)
{
    return r->lost && r->lost[rank / 8] >> rank % 8 & 1;
}

int bundle_fail_malformed(const dcoll_request_t *q)
{
    return team_fail(q->team, DRAIL_EINVAL,
                     "%s: a malformed bundle was received: ranks disagree on "
                     "elements or bounds",
                     q->algorithm->name);
}

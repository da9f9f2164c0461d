/* SPDX-License-Identifier: BSD-3-Clause */
/* Inline sends: bytes of memory that is not registered. */
#include "peer.h"

#include "providers/core/extensions.h"

#define BYTES 65536

static size_t most(DAT_IA_HANDLE ia)
{
    const char *bytes = provider_attribute(ia, DAPL_MAX_INLINE_SEND);
    return bytes ? strtoul(bytes, NULL, 10) : 0;
}

static DAT_RETURN post(end_t *end, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes, uint64_t id)
{
    DAT_LMR_TRIPLET parts[2] = {
        {.virtual_address = (uintptr_t)head,
         .segment_length = (DAT_SEG_LENGTH)head_bytes},
        {.virtual_address = (uintptr_t)body,
         .segment_length = (DAT_SEG_LENGTH)body_bytes},
    };
    return dat_ep_post_send(end->ep, 2, parts, cookie(id),
                            DAPL_SEND_INLINE_FLAG);
}

/* The caller changes its bytes at once. */
static void is_copied(void **state)
{
    static const size_t bodies[] = {0, 1, 7, 8, 9, 31, 32, 33, 100, 4000};
    end_t a, b;
    ends_open(&a, &b, MEMORY_MALLOC, BYTES);
    end_connect_both(&a, &b);
    size_t limit = most(a.ia);
    if (!limit) { /* the flag is unknown there */
        DAT_FAILS(post(&a, "head", 4, "body", 4, 0), DAT_INVALID_PARAMETER);
        ends_close(&a, &b);
        skip();
    }
    for (uint64_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        unsigned char head[24], body[4096], sent[sizeof head + sizeof body];
        size_t n = bodies[i], all = sizeof head + n;
        fill(sent, sizeof sent, i);
        memcpy(head, sent, sizeof head);
        memcpy(body, sent + sizeof head, n);
        DAT_OK(post(&a, head, sizeof head, body, n, i));
        memset(head, 0, sizeof head);
        memset(body, 0, sizeof body);
        DAT_LMR_TRIPLET to = local(&b.mem, 0, all);
        DAT_OK(dat_ep_post_recv(b.ep, 1, &to, cookie(i), 0));
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, all);
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, all);
        assert_memory_equal(b.mem.data, sent, all);
    }
    DAT_FAILS(post(&a, a.mem.data, limit, a.mem.data, 1, 0), DAT_LENGTH_ERROR);
    ends_close(&a, &b);
}

/* Nobody receives: in the end there is no room. A send that is not inline waits
 * for room; and until it has gone, no inline send overtakes it. */
static void is_refused_without_room(void **state)
{
    end_t a, b;
    uint64_t n = 0, got = 0;
    DAT_RETURN status;
    ends_open(&a, &b, MEMORY_MALLOC, BYTES);
    end_connect_both(&a, &b);
    size_t bytes = most(a.ia);
    if (!bytes) {
        ends_close(&a, &b);
        skip();
    }
    bytes -= sizeof n;
    while ((status = post(&a, &n, sizeof n, a.mem.data, bytes, n)) ==
           DAT_SUCCESS)
        assert_in_range(++n, 1, 1000);
    assert_int_equal(DAT_GET_TYPE(status), DAT_INSUFFICIENT_RESOURCES);
    memcpy(a.mem.data, &n, sizeof n);
    DAT_LMR_TRIPLET from = local(&a.mem, 0, sizeof n + bytes);
    DAT_OK(dat_ep_post_send(a.ep, 1, &from, cookie(n++), 0));
    DAT_FAILS(post(&a, &n, sizeof n, a.mem.data, 0, n),
              DAT_INSUFFICIENT_RESOURCES);
    DAT_LMR_TRIPLET to = local(&b.mem, 0, BYTES / 2);
    for (; got < n; got++) {
        DAT_OK(dat_ep_post_recv(b.ep, 1, &to, cookie(got), 0));
        EXPECT_DTO(b.recv, got, DAT_DTO_SUCCESS, sizeof n + bytes);
        assert_memory_equal(b.mem.data, &got, sizeof got);
        EXPECT_DTO(a.request, got, DAT_DTO_SUCCESS, sizeof n + bytes);
    }
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_copied),
        cmocka_unit_test(is_refused_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer writes nonsense into the queue that it shares with this process: the
 * connection ends, not the process. The test plays the peer itself, and finds
 * the queue among its own mappings. */
#include "peer.h"

#include "providers/shm/message/ring.h"

#define BYTES 65536
#define EACH  8000 /* of a message: few fill the ring */
/* Where in a connection's file the ring and the backlog of the active side
 * begin, and how long a message's head is. */
#define RING    SHM_PAGE
#define BACKLOG (SHM_PAGE + 2 * SHM_RING_BYTES)
#define HEAD    SHM_HEAD

/* All but its sequence number, without which it is no message. */
static void scribble(unsigned char *message, uint64_t *seed)
{
    unsigned char noise[HEAD + 64];
    fill(noise, sizeof noise, random_next(seed));
    noise[8] = (unsigned char)(noise[8] % 5); /* the kind is mostly known */
    if (random_next(seed) % 2)
        memset(noise + 10, 0, 2); /* short lists, too */
    if (random_next(seed) % 2) {
        memset(noise + 14, 0, 2); /* messages and pads about as long … */
        memset(noise + 21, 0, 3); /* … as a ring and a line have room for */
    }
    memcpy(message + 8, noise + 8, sizeof noise - 8);
}

/* Whatever it is taken for: something is reported in the end. True if that is
 * the end of the connection. */
static bool expect_any_end(end_t *b)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(b->recv, WAIT_MS * 1000, 1, &event, &more));
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    if (dto->status != DAT_DTO_SUCCESS)
        EXPECT_EVENT(b->conn, DAT_CONNECTION_EVENT_BROKEN);
    else if (event.event_number == DAT_DTO_COMPLETION_EVENT)
        assert_true(dto->transfered_length <= BYTES);
    return dto->status != DAT_DTO_SUCCESS;
}

static bool one_message(uint64_t *seed, unsigned before, uint64_t offset)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET out = local(&a.mem, 0, EACH), in = local(&b.mem, 0, BYTES);
    for (unsigned i = 0; i <= before; i++)
        DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(i), 0));
    scribble(shared_mapping("dapl-shm-connection", offset), seed);
    for (unsigned i = 0; i < before; i++) {
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(i), 0));
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, EACH);
    }
    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(before), 0));
    bool broken = expect_any_end(&b);
    ends_close(&a, &b);
    return broken;
}

static void nonsense_in_the_ring(void **state)
{
    uint64_t seed = 1;
    int broken = 0;
    for (int round = 0; round < 300; round++)
        broken += one_message(&seed, 0, RING);
    assert_true(broken > 100); /* else the nonsense was not seen */
}

static void nonsense_in_the_backlog(void **state)
{
    const unsigned in_ring = SHM_RING_LINES / (unsigned)shm_lines(EACH);
    int broken = 0;
    uint64_t seed = 2;
    for (int round = 0; round < 100; round++)
        broken += one_message(&seed, in_ring, BACKLOG);
    assert_true(broken > 30);
}

/* Its time is that of a link model, or nonsense; and then the peer goes. */
static void due_never(const char *rail)
{
    end_t a, b;
    end_open_on(&a, rail, NULL);
    end_open_on(&b, rail, NULL);
    region_create(&a.mem, MEMORY_MEMFD, BYTES, a.ia, a.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET out = local(&a.mem, 0, 8);
    DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(1), 0));
    struct shm_msg *m = shared_mapping("dapl-shm-connection", RING);
    m->head.due = UINT64_MAX;
    DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    ends_close(&a, &b);
}

static void a_message_that_is_never_due(void **state)
{
    due_never(IA_NAME);
    due_never("ultra24-a0");
}

/* Where the next message of so many lines begins in an empty ring, of which
 * lines before `line` are used. */
static uint64_t place_of(uint64_t line, uint64_t lines)
{
    bool turns = line % SHM_STRETCH_LINES + lines >= SHM_STRETCH_LINES;
    return turns ? line + SHM_RING_LINES - line % SHM_RING_LINES : line;
}

/* Data of an old message look like the number of the next one. Messages of two
 * lengths: else the next one would begin where an old one did. */
static void data_like_a_number(void **state)
{
    enum { TIMES = 1000 };
    static const size_t lengths[] = {600, 600, 712};
    end_t a, b;
    ends_open(&a, &b, MEMORY_MEMFD, BYTES);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET in = local(&b.mem, 0, BYTES);
    uint64_t *words = (uint64_t *)a.mem.data, line = 0;
    char *ring = shared_mapping("dapl-shm-connection", RING);
    DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(0), 0));
    for (uint64_t i = 0; i < TIMES; i++) {
        const size_t n = lengths[i % 3];
        DAT_LMR_TRIPLET out = local(&a.mem, 0, n);
        line = place_of(line, shm_lines(n));
        for (uint64_t w = 0; w < n / 8; w++)
            words[w] = line + (HEAD + w * 8) / SHM_LINE + SHM_RING_LINES + 1;
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie(i + 1), 0));
        DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie(i), 0));
        assert_int_equal(atomic_load(&shm_line(ring, line)->seq), line + 1);
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, n);
        assert_memory_equal(b.mem.data, a.mem.data, n);
        EXPECT_DTO(a.request, i, DAT_DTO_SUCCESS, n);
        expect_silence(b.recv, 0);
        line += shm_lines(n);
    }
    ends_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_in_the_ring),
        cmocka_unit_test(nonsense_in_the_backlog),
        cmocka_unit_test(a_message_that_is_never_due),
        cmocka_unit_test(data_like_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection requests whose shared memory is not valid: each is refused, breaks
 * nothing, and the next valid one is served. */
#include "peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/shm/connect/wire.h"
#include "providers/shm/message/segment.h"

/* A file as the provider makes them, but for what is wrong with it. */
static int segment(size_t size, int seals, uint64_t magic)
{
    const uint32_t version = SHM_VERSION;
    int fd = memfd_create("bad", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(pwrite(fd, &magic, sizeof magic, 0), sizeof magic);
    assert_int_equal(pwrite(fd, &version, sizeof version, sizeof magic),
                     sizeof version);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* Sends a request with such files, and waits for the end of its socket. */
static void refused(end_t *me, int connection, int control)
{
    DAT_IA_ATTR attr;
    struct sockaddr_storage address = {0};
    int fds[SHM_CM_FDS] = {connection, control}, fd = shm_cm_socket();
    assert_true(fd >= 0);
    DAT_OK(dat_ia_query(me->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    memcpy(&address, attr.ia_address_ptr, sizeof(struct sockaddr_in));
    assert_int_equal(shm_cm_connect(fd, shm_cm_rail(&address), me->qual), 0);
    assert_int_equal(shm_cm_send(fd, SHM_CM_REQUEST, 1, 1, NULL, 0, fds,
                                 control < 0 ? 1 : SHM_CM_FDS),
                     0);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&end, 1, WAIT_MS), 1);
    assert_true(end.revents & POLLHUP);
    close(fd);
    close(connection);
    if (control >= 0)
        close(control);
}

static void nothing_of_use(void **state)
{
    enum { FIXED = F_SEAL_SHRINK | F_SEAL_GROW };
    static const struct {
        size_t size[2]; /* of the connection's, of the IA's; 0: none */
        int seals[2];
        uint64_t magic[2];
    } bad[] = {
        /* can't be written, now or in a new mapping */
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE},
         {FIXED | F_SEAL_WRITE, FIXED},
         {SHM_MAGIC, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE},
         {FIXED | F_SEAL_FUTURE_WRITE, FIXED},
         {SHM_MAGIC, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE},
         {FIXED, FIXED | F_SEAL_WRITE},
         {SHM_MAGIC, SHM_MAGIC}},
        /* could shrink under us */
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE},
         {F_SEAL_GROW, FIXED},
         {SHM_MAGIC, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE},
         {FIXED, F_SEAL_GROW},
         {SHM_MAGIC, SHM_MAGIC}},
        /* of another size, or not ours, or missing */
        {{SHM_SEGMENT_SIZE / 2, SHM_CONTROL_SIZE},
         {FIXED, FIXED},
         {SHM_MAGIC, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, 2 * SHM_CONTROL_SIZE},
         {FIXED, FIXED},
         {SHM_MAGIC, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE}, {FIXED, FIXED}, {1, SHM_MAGIC}},
        {{SHM_SEGMENT_SIZE, SHM_CONTROL_SIZE}, {FIXED, FIXED}, {SHM_MAGIC, 1}},
        {{SHM_SEGMENT_SIZE, 0}, {FIXED, 0}, {SHM_MAGIC, 0}},
    };
    end_t me, other;
    end_open(&me, NULL);
    end_open(&other, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int fd[2];
        for (int k = 0; k < 2; k++)
            fd[k] = bad[i].size[k] ? segment(bad[i].size[k], bad[i].seals[k],
                                             bad[i].magic[k])
                                   : -1;
        refused(&me, fd[0], fd[1]);
    }
    end_connect_both(&other, &me);
    ends_close(&other, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A rail's cable is pulled, plugged and slowed from outside. */
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/cable.h"

#define BYTES (1 << 20)
#define IMAGE (BYTES + 2 * GUARD)
#define SOME  (256 << 10)
#define MODEL "ultra24-a0" /* 2000 MB/s: 0.5 ns a byte */

static const char *folder;
static cable_t cable;

/* A connection to a peer at that place. */
typedef struct pair {
    peer_t peer;
    end_t me;
} pair_t;

static void pair_open(pair_t *p, peer_place_t place)
{
    peer_open(
        &p->peer, &p->me,
        &(peer_options_t){place, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG});
}

static void pair_close(pair_t *p)
{
    peer_close(&p->peer, &p->me);
}

static void expect_broken(pair_t *p)
{
    EXPECT_EVENT(p->me.conn, DAT_CONNECTION_EVENT_BROKEN);
    peer_expect_event(&p->peer, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);
}

/* Everything that is posted comes back, at both ends. */
static void pulled_breaks(peer_place_t place)
{
    pair_t p;
    pair_open(&p, place);
    DAT_LMR_TRIPLET iov = local(&p.me.mem, 0, 64);
    DAT_OK(dat_ep_post_recv(p.me.ep, 1, &iov, cookie(1), 0));
    DAT_OK(dat_ep_post_send(p.me.ep, 1, &iov, cookie(2), 0));
    assert_int_equal(cable_pull(&cable), 0);
    expect_broken(&p);
    EXPECT_DTO(p.me.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(p.me.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    peer_post_recv(&p.peer, 0, 64, 3);
    peer_expect_dto(&p.peer, EVD_RECV, 3, DAT_DTO_ERR_FLUSHED, 0);
    assert_int_equal(cable_plug(&cable), 0);
    pair_close(&p);
}

static void pulled_here(void **state)
{
    pulled_breaks(PEER_HERE);
}

static void pulled_between_processes(void **state)
{
    pulled_breaks(PEER_PROCESS);
}

/* Pulls the cable by a store, which wakes no thread: only the poster notices.
 */
static void pull_unseen(void)
{
    struct shm_cable *c =
        mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, cable.fd, 0);
    assert_ptr_not_equal(c, MAP_FAILED);
    c->cuts = ++cable.last.cuts;
    munmap(c, sizeof *c);
}

/* Requests behind the cut are not carried out, whether their poster knows of
 * the cut or not. */
static void nothing_passes(void **state)
{
    pair_t p;
    unsigned char *before = malloc(IMAGE), *after = malloc(IMAGE);
    pair_open(&p, PEER_PROCESS);
    peer_fill(&p.peer, 5);
    peer_read(&p.peer, before);
    fill(p.me.mem.data, BYTES, 6);
    DAT_LMR_TRIPLET iov = local(&p.me.mem, 0, BYTES);
    DAT_RMR_TRIPLET target = remote(&p.peer.end.mem, 0, BYTES);
    pull_unseen();
    DAT_OK(dat_ep_post_rdma_write(p.me.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(p.me.request, 1, DAT_DTO_ERR_FLUSHED, 0);
    expect_broken(&p);
    peer_read(&p.peer, after);
    assert_memory_equal(before, after, IMAGE);
    pair_close(&p);
    free(before);
    free(after);
}

static void plugged_again(void **state)
{
    pair_t p;
    pair_open(&p, PEER_PROCESS);
    assert_int_equal(cable_pull(&cable), 0);
    expect_broken(&p);
    DAT_OK(dat_ep_reset(p.me.ep));
    peer_reset(&p.peer);
    DAT_OK(end_connect(&p.me, p.peer.end.qual));
    EXPECT_EVENT(p.me.conn, DAT_CONNECTION_EVENT_UNREACHABLE);
    DAT_OK(dat_ep_reset(p.me.ep));

    assert_int_equal(cable_plug(&cable), 0);
    peer_connect(&p.peer, &p.me);
    DAT_LMR_TRIPLET iov = local(&p.me.mem, 0, 64);
    peer_post_recv(&p.peer, 0, 64, 1);
    DAT_OK(dat_ep_post_send(p.me.ep, 1, &iov, cookie(2), 0));
    peer_expect_dto(&p.peer, EVD_RECV, 1, DAT_DTO_SUCCESS, 64);
    EXPECT_DTO(p.me.request, 2, DAT_DTO_SUCCESS, 64);
    pair_close(&p);
}

/* No look at the cable is quick enough to be sure to see that it was out. */
static void out_for_a_moment(void **state)
{
    pair_t p;
    pair_open(&p, PEER_PROCESS);
    pull_unseen();
    assert_int_equal(cable_plug(&cable), 0);
    expect_broken(&p);
    pair_close(&p);
}

/* Nothing arrives, and nobody is told, until the connection is ended; what is
 * posted behind what was lost is lost, too. */
static void mute_until(DAT_CLOSE_FLAGS end)
{
    pair_t p;
    DAT_EVENT event;
    unsigned char *before = malloc(IMAGE), *after = malloc(IMAGE);
    pair_open(&p, PEER_PROCESS);
    peer_fill(&p.peer, 5);
    peer_read(&p.peer, before);
    fill(p.me.mem.data, BYTES, 6);
    DAT_LMR_TRIPLET iov = local(&p.me.mem, 0, 64);
    DAT_RMR_TRIPLET target = remote(&p.peer.end.mem, 0, 64);
    peer_post_recv(&p.peer, 0, 64, 1);
    assert_int_equal(cable_mute(&cable, true), 0);
    DAT_OK(dat_ep_post_rdma_write(p.me.ep, 1, &iov, cookie(2), &target, 0));
    assert_int_equal(cable_mute(&cable, false), 0);
    DAT_OK(dat_ep_post_send(p.me.ep, 1, &iov, cookie(3), 0));
    peer_read(&p.peer, after);
    assert_memory_equal(before, after, IMAGE);
    assert_int_not_equal(dat_evd_dequeue(p.me.request, &event), DAT_SUCCESS);
    assert_int_not_equal(dat_evd_dequeue(p.me.conn, &event), DAT_SUCCESS);

    DAT_OK(dat_ep_disconnect(p.me.ep, end));
    EXPECT_DTO(p.me.request, 2, DAT_DTO_ERR_FLUSHED, 0);
    EXPECT_DTO(p.me.request, 3, DAT_DTO_ERR_FLUSHED, 0);
    peer_expect_dto(&p.peer, EVD_RECV, 1, DAT_DTO_ERR_FLUSHED, 0);
    pair_close(&p);
    free(before);
    free(after);
}

static void mute(void **state)
{
    mute_until(DAT_CLOSE_ABRUPT_FLAG);
    mute_until(DAT_CLOSE_GRACEFUL_FLAG);
}

/* A connection of several, named by its age. */
static void one_connection(void **state)
{
    pair_t p;
    peer_t other;
    end_t second;
    peer_options_t options = {PEER_PROCESS, MEMORY_MALLOC, 4096,
                              DAT_MEM_PRIV_ALL_FLAG};
    peer_start(&other, &options);
    pair_open(&p, PEER_PROCESS);
    second = p.me;
    DAT_OK(dat_evd_create(p.me.ia, END_QLEN, DAT_HANDLE_NULL,
                          DAT_EVD_CONNECTION_FLAG, &second.conn));
    DAT_OK(dat_ep_create(p.me.ia, p.me.pz, p.me.recv, p.me.request, second.conn,
                         NULL, &second.ep));
    peer_connect(&other, &second);
    assert_int_equal(cable_break(&cable, getpid(), 2), 0);
    EXPECT_EVENT(second.conn, DAT_CONNECTION_EVENT_BROKEN);
    peer_expect_event(&other, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);

    DAT_LMR_TRIPLET iov = local(&p.me.mem, 0, 64);
    peer_post_recv(&p.peer, 0, 64, 1);
    DAT_OK(dat_ep_post_send(p.me.ep, 1, &iov, cookie(2), 0));
    peer_expect_dto(&p.peer, EVD_RECV, 1, DAT_DTO_SUCCESS, 64);
    assert_int_equal(cable_break(&cable, p.peer.pid, 0), 0);
    expect_broken(&p);
    DAT_OK(dat_ep_free(second.ep));
    DAT_OK(dat_evd_free(second.conn));
    pair_close(&p);
    peer_stop(&other);
}

/* ------------------------------------------------------ under way, when -- */

typedef struct meeting {
    DAT_CONN_QUAL qual; /* set before the gate opens */
    DAT_RMR_TRIPLET target;
} meeting_t;

/* Writes other bytes each time, until the connection is over. */
static void writer(void *arg)
{
    const meeting_t *meeting = arg;
    end_t end;
    DAT_EVENT event;
    end_open_memory(&end, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&end, meeting->qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t i = 0; dat_evd_dequeue(end.conn, &event) != DAT_SUCCESS;
         i++) {
        DAT_LMR_TRIPLET iov = local(&end.mem, 0, BYTES);
        memset(end.mem.data, (int)i, BYTES);
        dat_ep_post_rdma_write(end.ep, 1, &iov, cookie(i), &meeting->target, 0);
        evd_drain(end.request);
    }
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
    end_close(&end);
}

/* Nobody writes here any more when the event has come. */
static void no_late_write(void **state)
{
    enum { ROUNDS = 10 };
    uint64_t seed = 3;
    unsigned char *image = malloc(BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        end_t me;
        int gate[2];
        meeting_t *meeting = shared_memory(sizeof *meeting);
        assert_int_equal(pipe(gate), 0);
        pid_t pid = spawn_behind(gate, writer, meeting);
        close(gate[0]);
        end_open_memory(&me, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
        memset(me.mem.data, 255, BYTES);
        meeting->qual = me.qual;
        meeting->target = remote(&me.mem, 0, BYTES);
        close(gate[1]);
        end_accept(&me);
        while (((volatile unsigned char *)me.mem.data)[BYTES - 1] == 255)
            poll_pause();
        usleep((useconds_t)(random_next(&seed) % 3000));
        assert_int_equal(cable_pull(&cable), 0);
        EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_BROKEN);
        memcpy(image, me.mem.data, BYTES);
        join(pid);
        assert_memory_equal(image, me.mem.data, BYTES);
        assert_int_equal(cable_plug(&cable), 0);
        end_close(&me);
        shared_free(meeting, sizeof *meeting);
    }
    free(image);
}

/* ------------------------------------------------------------- slower --- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The link model takes a hundred times as long. Less than what a process
 * measures copies for before the first. */
static void slower(void **state)
{
    end_t a, b;
    cable_t modelled;
    assert_int_equal(cable_grasp(&modelled, folder, MODEL), 0);
    assert_int_equal(cable_slow(&modelled, 10), 0);
    end_open_on(&a, MODEL, NULL);
    end_open_on(&b, MODEL, NULL);
    region_create(&a.mem, MEMORY_MEMFD, BYTES, a.ia, a.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    region_create(&b.mem, MEMORY_MEMFD, BYTES, b.ia, b.pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    end_connect_both(&a, &b);
    DAT_LMR_TRIPLET iov = local(&a.mem, 0, SOME);
    DAT_RMR_TRIPLET target = remote(&b.mem, 0, SOME);
    int64_t start = now_ns();
    DAT_OK(dat_ep_post_rdma_write(a.ep, 1, &iov, cookie(1), &target, 0));
    EXPECT_DTO(a.request, 1, DAT_DTO_SUCCESS, SOME);
    assert_true(now_ns() - start >= SOME * 50);
    ends_close(&a, &b);
    cable_drop(&modelled, folder, MODEL);
}

/* ------------------------------------------------------------- refused --- */

static void refused(const char *what)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    print_message("%s\n", what);
    DAT_FAILS(dat_ia_open((DAT_NAME_PTR) "shm1", 16, &async, &ia),
              DAT_INVALID_PARAMETER);
}

/* A file that others could write, or that is none of ours, is left alone. */
static void bad_files(void **state)
{
    char path[256], other[256];
    snprintf(path, sizeof path, "%s/shm1", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    FILE *f = fopen(other, "w");
    assert_non_null(f);
    assert_int_equal(fchmod(fileno(f), 0600), 0);

    assert_int_equal(symlink(other, path), 0);
    refused("a symbolic link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(chmod(path, 0644), 0);
    refused("others may read it");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(fprintf(f, "%-63s\n", "not a cable"), 64);
    assert_int_equal(fflush(f), 0);
    refused("another content");
    assert_int_equal(ftruncate(fileno(f), 0), 0);
    assert_int_equal(ftruncate(fileno(f), 128), 0);
    refused("another size");
    fclose(f);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    refused("a folder");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused("a pipe");
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulled_here),
        cmocka_unit_test(pulled_between_processes),
        cmocka_unit_test(nothing_passes),
        cmocka_unit_test(plugged_again),
        cmocka_unit_test(out_for_a_moment),
        cmocka_unit_test(mute),
        cmocka_unit_test(one_connection),
        cmocka_unit_test(no_late_write),
        cmocka_unit_test(slower),
        cmocka_unit_test(bad_files),
    };
    if (!(folder = cables_folder()) || cable_grasp(&cable, folder, IA_NAME)) {
        printf("Bail out! no cable: %s\n", strerror(errno));
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

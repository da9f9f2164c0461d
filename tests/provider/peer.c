/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum peer_op {
    OP_OPEN,
    OP_ACCEPT,
    OP_FILL,
    OP_READ,
    OP_POST_RECV,
    OP_POST_SEND,
    OP_WAIT,
    OP_FREE_LMR,
    OP_DISCONNECT,
    OP_RESET,
    OP_CLOSE,
} peer_op_t;

typedef struct request {
    peer_op_t op;
    uint64_t arg[4];
} request_t;

typedef struct reply {
    DAT_RETURN status;
    DAT_EVENT event;
    end_t end;
} reply_t;

static DAT_EVD_HANDLE evd_of(const end_t *end, uint64_t which)
{
    return (DAT_EVD_HANDLE[]){end->conn, end->recv, end->request,
                              end->async}[which];
}

/* Does one command on the end that this process owns; OP_READ's bytes are
 * the caller's affair. */
static void serve(end_t *end, const request_t *rq, reply_t *reply)
{
    const uint64_t *arg = rq->arg;
    DAT_LMR_TRIPLET iov;
    DAT_COUNT more;

    reply->status = DAT_SUCCESS;
    switch (rq->op) {
    case OP_OPEN:
        end_open_memory(end, (memory_kind_t)arg[0], arg[1],
                        (DAT_MEM_PRIV_FLAGS)arg[2]);
        break;
    case OP_ACCEPT:
        end_accept(end);
        break;
    case OP_FILL:
        fill(end->mem.all, end->mem.bytes + 2 * GUARD, arg[0]);
        break;
    case OP_READ:
        break;
    case OP_POST_RECV:
        iov = local(&end->mem, arg[0], arg[1]);
        reply->status = dat_ep_post_recv(end->ep, 1, &iov, cookie(arg[2]),
                                         DAT_COMPLETION_DEFAULT_FLAG);
        break;
    case OP_POST_SEND:
        iov = local(&end->mem, arg[0], arg[1]);
        reply->status = dat_ep_post_send(end->ep, 1, &iov, cookie(arg[2]),
                                         (DAT_COMPLETION_FLAGS)arg[3]);
        break;
    case OP_WAIT:
        reply->status = dat_evd_wait(evd_of(end, arg[0]), (DAT_TIMEOUT)arg[1],
                                     1, &reply->event, &more);
        break;
    case OP_FREE_LMR:
        reply->status = dat_lmr_free(end->mem.lmr);
        end->mem.lmr = NULL;
        break;
    case OP_DISCONNECT:
        reply->status = dat_ep_disconnect(end->ep, (DAT_CLOSE_FLAGS)arg[0]);
        break;
    case OP_RESET:
        reply->status = dat_ep_reset(end->ep);
        break;
    case OP_CLOSE:
        end_close(end);
        break;
    }
    reply->end = *end;
}

static void transfer(int fd, void *data, size_t bytes,
                     ssize_t (*step)(int, void *, size_t))
{
    for (char *at = data; bytes > 0;) {
        ssize_t n = step(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        assert_true(n > 0);
        at += n;
        bytes -= (size_t)n;
    }
}

static ssize_t put(int fd, void *data, size_t bytes)
{
    return send(fd, data, bytes, MSG_NOSIGNAL);
}

static void serve_all(void *arg)
{
    int fd = *(int *)arg;
    end_t end;
    request_t rq;
    do {
        reply_t reply = {0};
        transfer(fd, &rq, sizeof rq, read);
        serve(&end, &rq, &reply);
        transfer(fd, &reply, sizeof reply, put);
        if (rq.op == OP_READ)
            transfer(fd, end.mem.all, end.mem.bytes + 2 * GUARD, put);
    } while (rq.op != OP_CLOSE);
}

static reply_t call(peer_t *peer, request_t rq)
{
    reply_t reply = {0};
    if (peer->pid) {
        transfer(peer->socket, &rq, sizeof rq, put);
        transfer(peer->socket, &reply, sizeof reply, read);
    } else {
        serve(&peer->end, &rq, &reply);
    }
    return reply;
}

void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

void shared_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

pid_t spawn_behind(const int gate[2], void (*main)(void *arg), void *arg)
{
    fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        /* a failed check must end this process, not go on with the tests */
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        if (gate) {
            char nothing;
            close(gate[1]);
            assert_int_equal(read(gate[0], &nothing, 1), 0);
        }
        main(arg);
        fflush(NULL);
        _exit(0);
    }
    return pid;
}

pid_t spawn(void (*main)(void *arg), void *arg)
{
    return spawn_behind(NULL, main, arg);
}

pid_t spawn_and_open(end_t *me, DAT_CONN_QUAL *qual, void (*main)(void *arg),
                     void *arg)
{
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    pid_t pid = spawn_behind(gate, main, arg);
    close(gate[0]);
    end_open(me, NULL);
    *qual = me->qual;
    close(gate[1]);
    return pid;
}

void join(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

void peer_start(peer_t *peer, const peer_options_t *options)
{
    memset(peer, 0, sizeof *peer);
    if (options->place == PEER_PROCESS) {
        int pair[2];
        assert_int_equal(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        peer->pid = spawn(serve_all, &pair[1]);
        peer->socket = pair[0];
        close(pair[1]);
    }
    request_t rq = {OP_OPEN,
                    {options->memory, options->bytes, options->privileges, 0}};
    peer->end = call(peer, rq).end;
}

void peer_connect(peer_t *peer, end_t *me)
{
    DAT_OK(end_connect(me, peer->end.qual));
    call(peer, (request_t){OP_ACCEPT, {0}});
    EXPECT_EVENT(me->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

void peer_stop(peer_t *peer)
{
    call(peer, (request_t){OP_CLOSE, {0}});
    if (peer->pid) {
        close(peer->socket);
        join(peer->pid);
    }
}

void peer_close(peer_t *peer, end_t *me)
{
    end_close(me);
    peer_stop(peer);
}

void peer_open(peer_t *peer, end_t *me, const peer_options_t *options)
{
    peer_start(peer, options);
    end_open_memory(me, options->memory, options->bytes, DAT_MEM_PRIV_ALL_FLAG);
    peer_connect(peer, me);
}

void peer_kill(peer_t *peer)
{
    assert_int_equal(kill(peer->pid, SIGKILL), 0);
    close(peer->socket);
    assert_int_equal(waitpid(peer->pid, NULL, 0), peer->pid);
}

void peer_fill(peer_t *peer, uint64_t seed)
{
    call(peer, (request_t){OP_FILL, {seed}});
}

void peer_read(peer_t *peer, void *image)
{
    size_t bytes = peer->end.mem.bytes + 2 * GUARD;
    call(peer, (request_t){OP_READ, {0}});
    if (peer->pid)
        transfer(peer->socket, image, bytes, read);
    else
        memcpy(image, peer->end.mem.all, bytes);
}

void peer_post_recv(peer_t *peer, size_t offset, size_t bytes, uint64_t cookie)
{
    DAT_OK(
        call(peer, (request_t){OP_POST_RECV, {offset, bytes, cookie}}).status);
}

void peer_post_send(peer_t *peer, size_t offset, size_t bytes, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags)
{
    DAT_OK(call(peer, (request_t){OP_POST_SEND, {offset, bytes, cookie, flags}})
               .status);
}

DAT_RETURN peer_wait(peer_t *peer, end_evd_t evd, int milliseconds,
                     DAT_EVENT *event)
{
    request_t rq = {OP_WAIT, {evd, (uint64_t)milliseconds * 1000}};
    reply_t reply = call(peer, rq);
    *event = reply.event;
    return reply.status;
}

void peer_expect_event(peer_t *peer, end_evd_t evd, DAT_EVENT_NUMBER number)
{
    DAT_EVENT event;
    DAT_OK(peer_wait(peer, evd, WAIT_MS, &event));
    assert_int_equal(event.event_number, number);
}

void peer_expect_dto(peer_t *peer, end_evd_t evd, uint64_t cookie,
                     DAT_DTO_COMPLETION_STATUS status, size_t length)
{
    DAT_EVENT event;
    DAT_OK(peer_wait(peer, evd, WAIT_MS, &event));
    assert_int_equal(event.event_number, DAT_DTO_COMPLETION_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    assert_int_equal(dto->user_cookie.as_64, cookie);
    assert_int_equal(dto->status, status);
    if (!status)
        assert_int_equal(dto->transfered_length, length);
}

void peer_free_lmr(peer_t *peer)
{
    DAT_OK(call(peer, (request_t){OP_FREE_LMR, {0}}).status);
}

void peer_disconnect(peer_t *peer, DAT_CLOSE_FLAGS flags)
{
    DAT_OK(call(peer, (request_t){OP_DISCONNECT, {flags}}).status);
}

void peer_reset(peer_t *peer)
{
    DAT_OK(call(peer, (request_t){OP_RESET, {0}}).status);
}

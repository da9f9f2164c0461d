#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks: pages come and go while a call of the system
# waits.
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

# Thread 0 waits in a call. Meanwhile rank 1 writes the page that the kernel is to
# fill, which is its own, and thread 1 synchronises: the page is elsewhere when the
# call ends.
cat >waits.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ROUNDS = 300, MUCH = 2 * BUFSIZ };
static int start_child(void)
{
    char *arguments[] = {"sh", "-c", "sleep 1; exit 3", NULL};
    pid_t id;
    return posix_spawnp(&id, "sh", NULL, NULL, arguments, NULL);
}
/* A socket that waits for connections at an address that the system chooses. */
static int start_listening(void)
{
    const struct sockaddr address = {.sa_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return bind(fd, &address, sizeof address.sa_family) || listen(fd, 1) ? -1 : fd;
}
static int connect_to(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &bytes) ||
           connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, bytes);
}
/* Until there is no more room, or nothing more. */
static int fill(int fd)
{
    const char text[256] = {0};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, text, sizeof text) > 0)
        continue;
    return fcntl(fd, F_SETFL, 0);
}
static int drain(int fd)
{
    char text[256];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (read(fd, text, sizeof text) > 0)
        continue;
    return fcntl(fd, F_SETFL, 0);
}
static union page {
    struct {
        union {
            struct pollfd poll;
            struct epoll_event event;
            fd_set set;
            int status;
            siginfo_t child;
            char text[8];
            uint64_t number;
        };
        int other;
        struct rusage usage;
        struct timespec time;
        struct sockaddr_storage address;
        socklen_t bytes;
        struct iovec piece;
        struct msghdr message;
        char control[64], name[256];
    };
    char much[MUCH]; /* some pages */
} *page;
#define u (*page)
static const volatile size_t much = (size_t)1 << 46;
int main(void)
{
    int fds[2], wrong = 0, other = 0, begins = 0, seen;
    FILE *file = NULL;
    socketpair(AF_UNIX, TYPE, 0, fds);
#pragma omp parallel num_threads(4) private(seen)
    {
        union page of_rank1 __attribute__((aligned(4096))) = {0};
        if (omp_get_thread_num() == 2)
            page = &of_rank1;
#pragma omp barrier
        switch (omp_get_thread_num()) {
        case 0: {
            u.poll = (struct pollfd){.fd = fds[0], .events = POLLIN};
            BEFORE;
#pragma omp atomic write seq_cst
            begins = 1;
            wrong += !(CALL);
            break;
        }
        case 3:
            break;
        default:
            do {
#pragma omp atomic read seq_cst
                seen = begins;
            } while (!seen && !usleep(1000));
            for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
                if (omp_get_thread_num() == 2)
                    u.other++;
                usleep(1000);
            }
            if (omp_get_thread_num() == 2)
                break;
            AFTER;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 2)
            other = u.other;
    }
    printf("%d wrong, %d\n", wrong, other);
    return 0;
}
END
type=SOCK_STREAM ranks=2
# waits NAME CALL [BEFORE [AFTER]]: that call is not hurt
waits()
{
    local before=${3-}
    "$BUILD/bin/railomp-cc" "-DCALL=${2//$'\n'/}" "-DBEFORE=${before//$'\n'/}" "-DTYPE=$type" \
        "-DAFTER=${4:-wrong += write(fds[1], \"text\", 4) != 4}" waits.c -o waits
    RAILOMP_PAGES=copied RAILOMP_RANKS=$ranks OMP_NUM_THREADS=2 timeout -k 5 60 ./waits >out
    check "$1 waits while its page goes" cmp out <(echo '0 wrong, 300')
}
waits poll 'poll(&u.poll, 1, -1) == 1 && u.poll.revents == POLLIN'
waits select 'select(fds[0] + 1, &u.set, NULL, NULL, NULL) == 1' \
    'FD_ZERO(&u.set); FD_SET(fds[0], &u.set)'
waits recv 'recv(fds[0], u.text, 8, 0) == 4 && u.text[3] == 116'
waits read 'read(fds[0], u.text, 8) == 4 && u.text[3] == 116'
waits waitpid 'waitpid(-1, &u.status, 0) > 0 && WEXITSTATUS(u.status) == 3' \
    'wrong += start_child()' 0
waits 'poll of another descriptor' \
    'poll(&u.poll, 1, -1) == 1 && u.poll.revents == POLLIN && u.poll.fd == -1' \
    '' 'u.poll.fd = -1; wrong += write(fds[1], "text", 4) != 4'
waits 'poll of too many' 'poll(&u.poll, much >> 15, 0) == -1 && errno == EINVAL'
for ranks in 1 2; do
    waits "recv of much, ranks: $ranks," 'recv(fds[0], u.text, much, 0) == 4 && u.text[3] == 116'
done
waits 'read of eventfd' 'read(fds[0], &u.number, 8) == 8 && u.number == 7' \
    'fds[0] = eventfd(0, 0)' 'wrong += eventfd_write(fds[0], 7)'
waits ppoll 'ppoll(&u.poll, 1, &u.time, NULL) == 1 && u.poll.revents == POLLIN' \
    'u.time.tv_sec = 60'
waits pselect 'pselect(fds[0] + 1, &u.set, NULL, NULL, &u.time, NULL) == 1' \
    'FD_ZERO(&u.set); FD_SET(fds[0], &u.set); u.time.tv_sec = 60'
waits epoll_wait 'epoll_wait(epoll, &u.event, 1, -1) == 1 && u.event.data.u32 == 7' \
    'const int epoll = epoll_create1(0); u.event = (struct epoll_event){.events = EPOLLIN, .data.u32 = 7};
    wrong += epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &u.event)'
waits accept 'accept(fds[0], (void *)&u.address, &u.bytes) >= 0 && u.address.ss_family == AF_UNIX' \
    'fds[0] = start_listening(); u.bytes = 64' 'wrong += connect_to(fds[0])'
waits accept4 'accept4(fds[0], (void *)&u.address, &u.bytes, 0) >= 0 && u.bytes == 2' \
    'fds[0] = start_listening(); u.bytes = 64' 'wrong += connect_to(fds[0])'
waits recvfrom 'recvfrom(fds[0], u.text, 8, 0, (void *)&u.address, &u.bytes) == 4 &&
    u.text[3] == 116 && !u.bytes' 'u.bytes = 64'
message='u.message = (struct msghdr){.msg_iov = &u.piece, .msg_iovlen = 1,
    .msg_control = u.control, .msg_controllen = 64}'
waits recvmsg 'recvmsg(fds[0], &u.message, 0) == 4 && u.text[3] == 116 && !u.message.msg_controllen' \
    "u.piece = (struct iovec){u.text, 8}; $message"
send_much='wrong += drain(fds[1])'
waits send 'send(fds[0], u.much, 4096, 0) == 4096' 'fill(fds[0])' "$send_much"
waits sendto 'sendto(fds[0], u.much, 4096, 0, NULL, 0) == 4096' 'fill(fds[0])' "$send_much"
waits sendmsg 'sendmsg(fds[0], &u.message, 0) == 4096' \
    "fill(fds[0]); u.piece = (struct iovec){u.much, 4096}; $message; u.message.msg_controllen = 0" \
    "$send_much"
waits wait4 'wait4(-1, &u.status, 0, &u.usage) > 0 && WEXITSTATUS(u.status) == 3 &&
    u.usage.ru_maxrss > 0' 'wrong += start_child()' 0
waits waitid 'waitid(P_ALL, 0, &u.child, WEXITED) == 0 && u.child.si_status == 3' \
    'wrong += start_child()' 0
ends='wrong += write(fds[1], "text", 4) != 4; close(fds[1])'
waits fread 'fread(u.much, 1, MUCH, file) == 4 && u.text[3] == 116' 'file = fdopen(fds[0], "r")' "$ends"
waits 'fread of pieces' 'fread(u.much, 3, MUCH / 3, file) == 1 && u.text[3] == 116' \
    'file = fdopen(fds[0], "r")' "$ends"
waits fgets 'fgets(text, 8, file) == text && text[3] == 116' \
    'char text[8]; file = fdopen(fds[0], "r"); setvbuf(file, u.much, _IOFBF, MUCH)' "$ends"
waits getline 'getline(&text, &room, file) == 4 && text[3] == 116' \
    'char *text = NULL; size_t room = 0; file = fdopen(fds[0], "r"); setbuf(file, u.much)' "$ends"
waits fwrite 'fwrite(u.much, 1, MUCH, file) == MUCH' 'file = fdopen(fds[0], "w"); fill(fds[0])' \
    "$send_much"
type=SOCK_DGRAM
waits 'recv of a datagram' 'recv(fds[0], u.text, 8, 0) == 4 && u.text[3] == 116'
waits 'read of a datagram' 'read(fds[0], u.text, 8) == 4 && u.text[3] == 116'
waits 'readv of a datagram' 'readv(fds[0], pieces, 2) == 4 && u.text[1] == 101 && u.text[5] == 116' \
    'const struct iovec pieces[] = {{u.text, 2}, {u.text + 4, 4}}'

waits 'recvfrom with an address' 'recvfrom(fds[0], u.text, 8, 0, (void *)&u.address, &u.bytes) == 4 &&
    u.text[3] == 116 && u.bytes > 2 && u.address.ss_family == AF_UNIX' \
    'u.bytes = 64; wrong += bind(fds[1], (void *)&(struct sockaddr){AF_UNIX}, 2)'
waits 'recvmsg with a long address' 'recvmsg(fds[0], &u.message, 0) == 4 && u.text[3] == 116 &&
    u.message.msg_namelen > 2 && ((struct sockaddr *)u.name)->sa_family == AF_UNIX' \
    'u.piece = (struct iovec){u.text, 8};
    u.message = (struct msghdr){.msg_iov = &u.piece, .msg_iovlen = 1, .msg_name = u.name, .msg_namelen = 256};
    wrong += bind(fds[1], (void *)&(struct sockaddr){AF_UNIX}, 2)'

# threads that are cancelled in calls that wait give their memory back
cat >cancelled.c <<'END'
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
enum { BYTES = 1 << 20 };
static char *at;
static int fds[2];
static void *call(void *kind)
{
    switch (*(char *)kind) {
    case 'r':
        return (void *)read(fds[0], at, BYTES);
    case 's':
        return (void *)recv(fds[0], at, BYTES, 0);
    }
    return (void *)(long)poll((void *)at, 1000, -1);
}
int main(void)
{
    static char kinds[] = "rsp";
    mallopt(M_MMAP_THRESHOLD, 4096);
    at = calloc(1, BYTES);
    for (int i = 0; i < 1000; i++)
        ((struct pollfd *)at)[i].fd = -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
        return 2;
    const size_t before = mallinfo2().hblkhd;
    for (int i = 0; i < 3; i++) {
        pthread_t id;
        pthread_create(&id, NULL, call, &kinds[i]);
        usleep(100000);
        pthread_cancel(id);
        pthread_join(id, NULL);
    }
    return mallinfo2().hblkhd != before;
}
END
"$BUILD/bin/railomp-cc" cancelled.c -o cancelled
check 'threads that are cancelled while they wait' env RAILOMP_PAGES=copied \
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./cancelled

# fread brings only the pages here that it fills
cat >short.c <<'END'
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
static char much[256 << 20];
int main(void)
{
    struct rusage before, after;
    int wrong = 0;
#pragma omp parallel private(before, after) reduction(+ : wrong)
    if (omp_get_thread_num()) {
        FILE *file = fopen("short.c", "r");
        getrusage(RUSAGE_SELF, &before);
        wrong += fread(much, 1, sizeof much, file) >= 4096 || strncmp(much, "#include", 8);
        getrusage(RUSAGE_SELF, &after);
        wrong += after.ru_maxrss - before.ru_maxrss > 64 << 10;
        fclose(file);
    }
    return wrong;
}
END
"$BUILD/bin/railomp-cc" short.c -o short
check 'fread of little into much' env RAILOMP_PAGES=copied RAILOMP_RANKS=2 OMP_NUM_THREADS=1 \
    timeout -k 5 60 ./short

# regexec takes a lock between ranks only
cat >locks.c <<'END'
#include <pthread.h>
#include <regex.h>
static int locks;
void GOMP_critical_name_start(void **lock)
{
    locks += lock != 0;
}
void GOMP_critical_name_end(void **lock)
{
    locks -= !lock;
}
/* The copy is private to the rank, what it points to is not. */
static void *search(void *regex)
{
    const regex_t copy = *(regex_t *)regex;
    return regexec(&copy, "a", 0, 0, 0) ? regex : 0;
}
int main(void)
{
    regex_t regex;
    pthread_t id;
    void *wrong = 0;
    return regcomp(&regex, "a*", 0) || regexec(&regex, "a", 0, 0, 0) ||
                   pthread_create(&id, 0, search, &regex) || pthread_join(id, &wrong) || wrong
               ? -1
               : locks;
}
END
"$BUILD/bin/railomp-cc" locks.c -o locks
check 'regexec takes no lock with one rank' ./locks
RAILOMP_RANKS=2 ./locks
check '... and one in each of two calls with two' exited_with 2 $?

# A function of the program's own may be written with another one that is wrapped;
# the system's others do not call it.
cat >owns.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
static int calls; /* of own functions */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    calls++;
    return mask ? -1 : poll(fds, count, time ? (int)time->tv_sec * 1000 : -1);
}
int epoll_pwait(int fd, struct epoll_event *to, int room, int ms, const sigset_t *mask)
{
    calls++;
    return mask ? -1 : epoll_wait(fd, to, room, ms);
}
pid_t wait4(pid_t id, int *status, int flags, struct rusage *usage)
{
    calls++;
    return usage ? -1 : waitpid(id, status, flags);
}
ssize_t recvmsg(int fd, struct msghdr *to, int flags)
{
    calls++;
    return recv(fd, to->msg_iov->iov_base, to->msg_iov->iov_len, flags);
}
ssize_t recvfrom(int fd, void *to, size_t bytes, int flags, struct sockaddr *at, socklen_t *room)
{
    calls++;
    return at || room ? -1 : recv(fd, to, bytes, flags);
}
int getsockopt(int fd, int level, int option, void *to, socklen_t *bytes)
{
    calls++;
    return fd && level && option && to && bytes ? 0 : -1;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    calls++;
    return clock || flags ? EINVAL : nanosleep(time, left);
}
int setvbuf(FILE *file, char *buffer, int mode, size_t bytes)
{
    calls++;
    setbuf(file, mode == _IOFBF && bytes == BUFSIZ ? buffer : NULL);
    return 0;
}
static struct {
    struct pollfd poll;
    struct epoll_event event;
    int status;
    struct timespec time;
    char text[8], buffer[BUFSIZ];
} u;
static int start_child(void)
{
    char *arguments[] = {"false", NULL};
    pid_t id;
    return posix_spawnp(&id, "false", NULL, NULL, arguments, NULL);
}
int main(void)
{
    int fds[2];
    struct iovec piece = {u.text, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int wrong = socketpair(AF_UNIX, SOCK_STREAM, 0, fds) + (send(fds[1], "text", 4, 0) != 4);
    const int epoll = epoll_create1(0);
    u.poll = (struct pollfd){.fd = fds[0], .events = POLLIN};
    u.event.events = EPOLLIN;
    wrong += epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &u.event);
    wrong += poll(&u.poll, 1, -1) != 1 || epoll_wait(epoll, &u.event, 1, -1) != 1;
    wrong += recv(fds[0], u.text, 1, 0) != 1 || start_child() || wait(&u.status) <= 0;
    wrong += start_child() || waitpid(-1, &u.status, 0) <= 0 || start_child();
    wrong += wait3(&u.status, 0, NULL) <= 0 || nanosleep(&u.time, NULL);
    setbuf(stdout, u.buffer);
    setbuffer(stdout, u.buffer, sizeof u.buffer);
    wrong += calls != 0;
    wrong += ppoll(&u.poll, 1, NULL, NULL) != 1;
    wrong += epoll_pwait(epoll, &u.event, 1, -1, NULL) != 1;
    wrong += start_child() || wait4(-1, &u.status, 0, NULL) <= 0;
    wrong += recvmsg(fds[0], &message, 0) != 1;
    wrong += recvfrom(fds[0], u.text, 1, 0, NULL, NULL) != 1;
    wrong += clock_nanosleep(CLOCK_REALTIME, 0, &u.time, NULL);
    wrong += setvbuf(stdout, u.buffer, _IOFBF, sizeof u.buffer);
    return wrong + (calls != 7);
}
END
"$BUILD/bin/railomp-cc" owns.c -o owns
for ranks in 1 2; do
    check "own functions by others that are wrapped, ranks: $ranks" env RAILOMP_PAGES=copied \
        RAILOMP_RANKS=$ranks OMP_NUM_THREADS=1 timeout -k 5 60 ./owns
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks print what they print with gcc's own runtime
# on as many threads (tests/omp).
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

programs=$SOURCE/tests/omp
[ -x "$BUILD/bin/railomp-cc" ] ||
    skip 'no gcc-12-plugin-dev was there when this was built'
cd "$work" || exit 1
unset OMP_SCHEDULE OMP_NUM_THREADS RAILOMP_RANKS RAILOMP_PAGES

# a library that is preloaded comes before that of the sanitizer; crashes are to
# be told by the runtime
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:handle_segv=0:handle_abort=0
preload=
# build NAME SOURCE COMPILER WRAPPER [OPTION]: as NAME.gcc and NAME.railomp
build()
{
    "$3" -O2 ${5:+"$5"} -fopenmp "$programs/$2" -o "$1.gcc" -latomic &&
        "$BUILD/bin/$4" -O2 ${5:+"$5"} "$programs/$2" -o "$1.railomp"
}
export -f build
export programs

# same NAME RANKS THREADS [PAGES]: output and status are gcc's, whose program
# runs once on so many threads
same()
{
    local name=$1 ranks=$2 threads=$3 status
    local expected=$name.$((ranks * threads))
    if [ ! -e "$expected.status" ]; then
        OMP_NUM_THREADS=$((ranks * threads)) "./$name.gcc" >"$expected"
        echo $? >"$expected.status"
    fi
    RAILOMP_RANKS=$ranks OMP_NUM_THREADS=$threads LD_PRELOAD=$preload \
        RAILOMP_PAGES=${4:-copied} timeout -k 5 60 "./$name.railomp" >out 2>err
    status=$?
    [ $status -eq "$(cat "$expected.status")" ] && [ ! -s err ] &&
        cmp "$expected" out && return
    echo "status $status, expected $(cat "$expected.status"):"
    diff "$expected" out
    cat err
    return 1
}

names=(atomics worksharing sharing tasks reductions doacross devices printing wide
    pipeline system fortified cxx mutexes fortran output barriers exits)
for name in "${names[@]}"; do
    case $name in
    cxx | mutexes) echo "$name" "$name.cpp" g++ railomp-c++ ;;
    fortran | output) echo "$name" "$name.f90" gfortran railomp-fortran ;;
    fortified) echo fortified system.c gcc railomp-cc -D_FORTIFY_SOURCE=2 ;;
    *) echo "$name" "$name.c" gcc railomp-cc ;;
    esac
done | xargs -L 1 -P "$(nproc)" bash -c 'build "$@"' build
shapes=('1 1' '1 3' '2 1' '2 2' '3 1' '4 1')
shared=('2 1' '2 2' '3 1')
# the plain build compares the results of all shapes
if [ "$(basename "$BUILD")" = asan ]; then
    shapes=('1 3' '2 2' '3 1')
    shared=('2 2')
fi
for name in "${names[@]}"; do
    check "$name is built" [ -x "$name.railomp" ]
    for shape in "${shapes[@]}"; do
        check "$name, ${shape/ / rank(s) x }" same "$name" "${shape% *}" "${shape#* }"
    done
    for shape in "${shared[@]}"; do
        check "$name, ${shape/ / rank(s) x } on shared pages" \
            same "$name" "${shape% *}" "${shape#* }" shared
    done
done

gcc -O2 -shared -fPIC "-I$SOURCE" "$programs/delays.c" -o delays.so
preload=$PWD/delays.so
for name in worksharing sharing tasks reductions doacross devices printing wide system cxx mutexes fortran output barriers exits; do
    check "$name, 2 ranks x 2, with pauses" same $name 2 2
    check "$name, 2 ranks x 2, with pauses, on shared pages" same $name 2 2 shared
done
check "atomics, 2 ranks x 1, with pauses" same atomics 2 1
preload=

# --- output of several ranks -------------------------------------------------------

PRINTED=1 RAILOMP_RANKS=3 OMP_NUM_THREADS=2 timeout -k 5 60 ./printing.railomp |
    grep 'thread' >out
check 'all lines of all ranks' [ "$(wc -l <out)" -eq 1800 ]
check '… are whole' [ "$(grep -vc \
    '^thread   [0-5]: a line of a length that no buffer divides$' out)" -eq 0 ]

# --- more threads than OMP_NUM_THREADS --------------------------------------------

cat >many.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int threads = 0, other = 0;
#pragma omp parallel num_threads(100) reduction(+ : threads)
    threads++;
#pragma omp parallel num_threads(1000000) reduction(+ : other)
    other++;
    printf("%d, %d\n", threads, other == omp_get_thread_limit());
    return 0;
}
END
"$BUILD/bin/railomp-cc" many.c -o many
for ranks in 2 3; do
    RAILOMP_RANKS=$ranks OMP_NUM_THREADS=1 timeout -k 5 60 ./many >out
    check "100 threads on $ranks ranks, and as many as there may be" \
        [ "$(cat out)" = '100, 1' ]
done

# no address fits such an alignment: the old block stays. ASan would end the program.
cat >unchanged.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    enum { BLOCKS = 8, WORDS = 100 };
    const omp_alloctrait_t traits[] = {{omp_atk_alignment, 1UL << 47}};
    const omp_allocator_handle_t huge =
        omp_init_allocator(omp_default_mem_space, 1, traits);
    long *block[BLOCKS], sum = 0;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = omp_alloc(WORDS * sizeof(long), omp_default_mem_alloc);
        for (int word = 0; word < WORDS; word++)
            block[i][word] = i;
        if (!i && omp_realloc(block[0], 100 * WORDS * sizeof(long), huge,
                              omp_default_mem_alloc))
            return 1;
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (int word = 0; word < WORDS; word++)
            sum += block[i][word];
        omp_free(block[i], omp_default_mem_alloc);
    }
    printf("%ld\n", sum);
    return 0;
}
END
"$BUILD/bin/railomp-cc" unchanged.c -o unchanged
for ranks in 1 2; do
    ASAN_OPTIONS=${ASAN_OPTIONS-}:allocator_may_return_null=1 RAILOMP_RANKS=$ranks \
        OMP_NUM_THREADS=1 timeout -k 5 60 ./unchanged >out
    check "a block whose omp_realloc fails stays, $ranks rank(s)" \
        [ "$(cat out)" = 2800 ]
done

cat >reads.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    FILE *file = tmpfile();
    char line[10];
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        fgets(line, sizeof line, file);
    return 0;
}
END
"$BUILD/bin/railomp-cc" reads.c -o reads
refused 'a rank reads a file of another one' 'rank.1:.fgets...is.not.served' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./reads

# a descriptor is one of the rank that has opened it
cat >descriptor.c <<'END'
#include <fcntl.h>
#include <omp.h>
#include <unistd.h>
int main(void)
{
    int fd = 0;
    char byte = 0;
    for (int i = 0; i < 50; i++) /* more than a rank has */
        fd = open("/dev/null", O_RDWR);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        CALL(fd, &byte, 1, 0);
    return 0;
}
END
for call in read write pread pwrite; do
    arguments='fd, to, n'
    [ "${call#p}" = "$call" ] || arguments='fd, to, n, at'
    "$BUILD/bin/railomp-cc" "-DCALL(fd, to, n, at)=$call($arguments)" descriptor.c -o descriptor
    refused "$call of a descriptor of another rank" \
        "rank.1:.$call...is.not.served.for.descriptor" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./descriptor
done

# The number may be that of a descriptor which the runtime uses in this rank.
cat >sockets.c <<'END'
#include <fcntl.h>
#include <omp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
    char byte = 0;
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        for (int fd = 3; fd < 1000; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                CALL(fd, &byte);
    return 0;
}
END
for call in 'read(fd, to, 0)' 'write(fd, to, 0)' 'close(fd)' 'dup2(0, fd)' 'listen(fd, 1)' \
    'shutdown(fd, SHUT_RD)' 'epoll_ctl(fd, EPOLL_CTL_DEL, 0, NULL)' \
    'epoll_ctl(0, EPOLL_CTL_DEL, fd, NULL)' 'epoll_wait(fd, (void *)to, 0, 0)' \
    'epoll_pwait(fd, (void *)to, 0, 0, NULL)'; do
    "$BUILD/bin/railomp-cc" "-DCALL(fd, to)=$call" sockets.c -o sockets
    refused "$call of a descriptor of the runtime" \
        "rank.1:.${call%%(*}...is.not.served.for.descriptor" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./sockets
done

"$BUILD/bin/railomp-cc" '-DCALL(fd, to)=if (vfork() == 0) { close(fd); _exit(0); }' sockets.c -o sockets
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./sockets
check '... a child closes what it likes' [ $? -eq 0 ]

# --- environment and directory ----------------------------------------------------

cat >directory.c <<'END'
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char folder[] = "directory.XXXXXX", there[PATH_MAX], here[PATH_MAX];
    int wrong = !mkdtemp(folder) || !realpath(folder, there) || chdir(folder);
    (void)argc;
    if (!strcmp(argv[1], "ends")) /* no rank needs to be there */
        return wrong + rmdir(there);
    if (!strcmp(argv[1], "back")) {
        wrong += chdir("/") + rmdir(there);
        strcpy(there, "/");
    }
    if (!strcmp(argv[1], "gone"))
        wrong += rmdir(there);
#pragma omp parallel private(here) reduction(+ : wrong)
    wrong += !getcwd(here, sizeof here) || strcmp(here, there) != 0;
    return wrong;
}
END
"$BUILD/bin/railomp-cc" directory.c -o directory
for pages in shared copied; do
    two_ranks=(env "RAILOMP_PAGES=$pages" RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60)
    for way in back ends; do
        "${two_ranks[@]}" ./directory $way >out 2>&1
        check "a directory that is gone: $way, pages are $pages" exited_with 0 $?
        check '... silently' test ! -s out
    done
    "${two_ranks[@]}" ./directory gone >out 2>err
    check 'a rank must go to a directory that is gone' exited_with 1 $?
    check '... and says so' grep -Eq \
        '^railomp: rank 1: rank 0 has changed the directory to .*, but this rank can.t: No such file' err
done

# putenv: with one rank the environment has the caller's text, as ever. Another
# program has what a constructor puts.
cat >puts.c <<'END'
#include <stdlib.h>
#include <string.h>
static char text[] = "RAIL_PUT=first", early[] = "RAIL_EARLY=yes";
__attribute__((constructor)) static void put(void)
{
    putenv(early);
}
#ifdef OWN
int setenv(const char *name, const char *value, int replaces)
{
    char *all = malloc(strlen(name) + strlen(value) + 2);
    strcat(strcat(strcpy(all, name), "="), value);
    return replaces ? putenv(all) : -1;
}
#endif
int main(int argc, char **argv)
{
    int wrong = putenv(text) + setenv("RAIL_SET", "yes", 1);
    strcpy(text + 9, "other");
    wrong += argc > 1 && strcmp(getenv("RAIL_PUT"), argv[1]) != 0;
#pragma omp parallel reduction(+ : wrong)
    {
        strcpy(early, "RAIL_EARLY=yes"); /* the page goes */
        wrong += strcmp(getenv("RAIL_SET"), "yes") != 0;
    }
    return wrong + system("test $RAIL_SET$RAIL_EARLY = yesyes");
}
END
for own in -DOTHER -DOWN; do
    "$BUILD/bin/railomp-cc" $own puts.c -o puts
    check "putenv with one rank, $own" env OMP_NUM_THREADS=2 timeout -k 5 60 ./puts other
    check "putenv with two ranks, $own" env RAILOMP_PAGES=copied RAILOMP_RANKS=2 \
        OMP_NUM_THREADS=1 timeout -k 5 60 ./puts first
done

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

# Two ranks fail, and the first one has to wait before it can say so.
sed 's/== omp_get_num_threads() - 1/> 0/' descriptor.c >both.c
"$BUILD/bin/railomp-cc" '-DCALL(fd, to, n, at)=read(fd, to, n)' both.c -o both
{
    head -c 65536 /dev/zero # a pipe's room
    env RAILOMP_RANKS=3 OMP_NUM_THREADS=1 ./both 2>&1
} | (
    sleep 1
    tr -d '\0' >both.err
)
check 'two ranks that fail at once: one says so' \
    [ "$(grep -c '^railomp: rank [12]: read' both.err)" -eq 1 ]

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

# of_headers NAME OPTIONS STATEMENT: headers make other calls of what is read
of_headers()
{
    sed "s/fgets(.*/$3/" reads.c >other.c
    check "… $1: builds" "$BUILD/bin/railomp-cc" -O1 "$2" other.c -o other
    refused "… $1" "rank.1:.$1...is.not.served" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./other
}
of_headers fgets -D_FORTIFY_SOURCE=2 \
    '{ char own[10]; fgets(own, 5 + omp_get_level(), file); }'
of_headers fread -D_FORTIFY_SOURCE=2 \
    '{ char own[10]; line[0] = fread(own, 1, 5 + omp_get_level(), file); }'
of_headers freopen64 -D_FILE_OFFSET_BITS=64 'freopen("reads.c", "r", file);'
of_headers fgetpos -g '{ fpos_t position; fgetpos(file, \&position); }'
of_headers setbuffer -g '{ setbuffer(file, NULL, 0); }'
of_headers getw -g '{ line[0] = getw(file); }'

cat >files.c <<'END'
#include <stdio.h>
#include <sys/resource.h>
int main(void)
{
    struct rlimit limit;
    int files = 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 3000 ? limit.rlim_max : 3000;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 1100)
        return 77;
    while (files < 1100 && fopen("/dev/null", "r"))
        files++;
    return 0;
}
END
"$BUILD/bin/railomp-cc" files.c -o files
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 1100 ]; then
    refused 'more files than a rank may have' 'more.than.1024.open.files' \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./files
else
    echo 'skipped: the limit of open files is below 1100'
fi

# The first output comes after a region: a terminal shows each line at once.
cat >prompt.c <<'END'
#include <stdio.h>
int main(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("%d threads\n", threads);
    return getchar() != 'x';
}
END
"$BUILD/bin/railomp-cc" prompt.c -o prompt
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 python3 -c '
import os, pty, select, sys
pid, terminal = pty.fork()
if not pid:
    os.execv("./prompt", ["./prompt"])
shown = select.select([terminal], [], [], 10)[0]
os.write(terminal, b"x\n")
os.waitpid(pid, 0)
sys.exit(not shown)'
check 'a terminal shows a line at once' exited_with 0 $?

# The program ends in a region, after another rank has written to its file.
cat >exits.c <<'END'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    FILE *file = fopen("exits.out", "w");
    int written = 0;
#pragma omp parallel
    for (;;) {
#pragma omp critical
        {
            if (omp_get_thread_num()) {
                if (!written++)
                    fprintf(file, "of the other rank\n");
            } else if (written) {
                fprintf(file, "of rank 0\n");
                exit(5);
            }
        }
    }
}
END
"$BUILD/bin/railomp-cc" exits.c -o exits
for pages in shared copied; do
    RAILOMP_PAGES=$pages RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./exits >out 2>err
    check "exit in a region, pages are $pages" exited_with 5 $?
    check '... nothing is lost' cmp exits.out <(printf 'of the other rank\nof rank 0\n')
done

# Fortran: what libgfortran would write when the process ends normally, which only
# rank 0 does.
cat >units.f90 <<'END'
program units
  use omp_lib
  implicit none
  character(20) :: text
  !$omp parallel private(text)
  if (omp_get_thread_num() == 1) then
     open (10, file='units.out')
     write (10, '(a)') 'of a file'
     write (0, '(a)') 'an error'
     call fput(':')
     write (text, '(i4)') nested()
  end if
  !$omp barrier
  if (omp_get_thread_num() == 0) write (0, '(a)') 'after it'
  !$omp end parallel
contains
  integer function nested()
    print '(a)', 'nested'
    nested = 1
  end function
end program
END
"$BUILD/bin/railomp-fortran" units.f90 -o units
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./units >out 2>err
check 'Fortran units of another rank' exited_with 0 $?
check '... its file' cmp units.out <(echo 'of a file')
check '... errors' cmp err <(printf 'an error\nafter it\n')
check '... output within a statement' cmp out <(echo ':nested')

# a unit that rank 0 has opened: another rank would write to fort.10, or to its own
# standard output
for unit in 10 6 newunit; do
    cat >unit.f90 <<'END'
program unit
  use omp_lib
  integer :: u = UNIT
  open (OPEN, file='unit.out')
  !$omp parallel
  if (omp_get_thread_num() == 1) write (u, *) 'of rank 1'
  !$omp end parallel
  close (u)
end program
END
    case $unit in
    newunit) sed -i 's/UNIT/0/; s/OPEN/newunit=u/' unit.f90 ;;
    *) sed -i "s/UNIT/$unit/; s/OPEN/u/" unit.f90 ;;
    esac
    "$BUILD/bin/railomp-fortran" unit.f90 -o unit
    refused "unit $unit of another rank" 'rank.1:.unit.[-0-9]+.is.not.served' \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./unit
    check '... its own rank may use it' env RAILOMP_RANKS=1 OMP_NUM_THREADS=2 ./unit
done

# the first use opens fort.10; an open that fails does not
cat >unit.f90 <<'END'
program unit
  use omp_lib
  integer :: status
  open (11, file='none/unit.out', iostat=status)
  write (10, *) 'of rank 0'
  !$omp parallel
  if (omp_get_thread_num() == 1) write (UNIT, *) 'of rank 1'
  !$omp end parallel
end program
END
for unit in 10 11; do
    sed "s/UNIT/$unit/" unit.f90 >used.f90
    "$BUILD/bin/railomp-fortran" used.f90 -o "used$unit"
done
refused 'a unit that another rank has used first' 'rank.1:.unit.10.is.not.served' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./used10
check 'a unit whose open has failed' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./used11

# --- tasks ----------------------------------------------------------------------

cat >shared_tasks.c <<'END'
#include <omp.h>
#include <unistd.h>
int main(void)
{
    int runs[64] = {0}, threads = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; i++)
#pragma omp task
    {
        usleep(2000);
        runs[omp_get_thread_num()]++;
    }
    for (int i = 0; i < 64; i++)
        threads += runs[i] > 0;
    return threads;
}
END
"$BUILD/bin/railomp-cc" shared_tasks.c -o shared_tasks
RAILOMP_RANKS=2 OMP_NUM_THREADS=2 timeout -k 5 60 ./shared_tasks
check 'both threads of a rank run tasks' exited_with 2 $?

# --- launched by hand -----------------------------------------------------------

port=$(free_port)
export DRAIL_SECRET=of-sixteen-characters
two=(env "DRAIL_RENDEZVOUS=127.0.0.1:$port" DRAIL_RANKS=2 OMP_NUM_THREADS=1
    timeout -k 5 60)
OMP_NUM_THREADS=2 ./sharing.gcc >expected
DRAIL_RANK=1 "${two[@]}" ./sharing.railomp >out1 2>&1 &
background+=($!)
DRAIL_RANK=0 "${two[@]}" ./sharing.railomp >out 2>err
check 'two processes: the status is the program'"'"'s' exited_with 3 $?
check '... the output, too' cmp expected out
check '... the other rank ends well' wait "${background[0]}"
check '... and is silent' test ! -s out1
background=()

# exceptions and objects of std::, which point into libraries
OMP_NUM_THREADS=2 ./cxx.gcc >expected
status=$?
DRAIL_RANK=1 "${two[@]}" ./cxx.railomp >out1 2>&1 &
background+=($!)
DRAIL_RANK=0 "${two[@]}" ./cxx.railomp >out 2>err
check 'two processes in C++: the status' exited_with "$status" $?
# std::cout of the other rank is that process's own: line 1
sed -i 1d expected out
check '... the output' cmp expected out
check '... the other rank ends well' wait "${background[0]}"
background=()

DRAIL_RANK=1 "${two[@]}" ./atomics.railomp >out1 2>&1 &
background+=($!)
refused 'ranks of two programs' 'rank.1.runs.another.program' \
    env DRAIL_RANK=0 "${two[@]}" ./sharing.railomp
wait "${background[0]}"
check '... the other rank ends, too' exited_with 2 $?
check '... and is silent' test ! -s out1
background=()

# a program with MPI: its other ranks would never call it
echo 'int MPI_Init(int *argc, char ***argv) { return argc != 0 && argv != 0; }' >mpi.c
gcc -shared -fPIC mpi.c -o libmpi.so
cat >hybrid.c <<'END'
int MPI_Init(int *argc, char ***argv);
int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) - 1;
}
END
"$BUILD/bin/railomp-cc" hybrid.c -L. -lmpi -Wl,-rpath,. -o hybrid
DRAIL_RANK=1 "${two[@]}" ./hybrid >out1 2>&1 &
background+=($!)
refused 'ranks of a program with MPI' 'program.with.MPI' \
    env DRAIL_RANK=0 "${two[@]}" ./hybrid
wait "${background[0]}"
background=()
check '... it is served with one rank' ./hybrid

# --- ends -------------------------------------------------------------------------

cat >ends.c <<'END'
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char said[64];
static int deep(int bytes)
{
    volatile char room[4096];
    room[0] = room[4095] = 1;
    return bytes > 0 ? deep(bytes - 4096) + room[0] : 0;
}
static void at_exit(void)
{
    printf("%s at exit\n", said);
}
__attribute__((destructor)) static void destroy(void)
{
    printf("destroyed\n");
}
int main(int argc, char **argv)
{
    atexit(at_exit);
    setvbuf(stdout, malloc(4096), _IOFBF, 4096);
#pragma omp parallel
    {
#pragma omp single
        strcpy(said, argv[argc - 1]);
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            if (!strcmp(said, "abort"))
                abort();
            if (!strcmp(said, "exit"))
                exit(4);
            if (!strcmp(said, "null"))
                *(volatile int *)NULL = 1;
            if (!strcmp(said, "raise"))
                raise(SIGTERM);
            if (!strcmp(said, "fork"))
                fork();
            if (!strcmp(said, "deep"))
                deep(1300 << 10);
            if (!strcmp(said, "unseen")) {
                kill(getppid(), SIGSTOP);
                abort();
            }
        }
        while (!strcmp(said, "null") || !strcmp(said, "stay"))
            usleep(1000);
    }
    exit(7);
}
END
check 'ends.c' "$BUILD/bin/railomp-cc" ends.c -o ends
threads=1
# ended STATUS REGEX WORD: one line on standard error matches
ended()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=$threads timeout -k 5 30 ./ends "$3" \
        >out 2>err
    exited_with "$1" $? && [ "$(wc -l <err)" -eq 1 ] && grep -Eq "$2" err ||
        { cat err && return 1; }
}
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 30 ./ends well >out 2>err
check 'exit(7)' exited_with 7 $?
check 'what runs at exit' cmp out <(printf 'well at exit\ndestroyed\n')
check 'a rank aborts' ended 1 'rank 1 was killed by signal 6 ' abort
check 'a rank dereferences NULL' ended 1 'rank 1 was killed by signal 11 ' null
check 'a rank raises SIGTERM' ended 1 'rank 1 was killed by signal 15 ' raise
# unseen: what has forked the ranks finds out later than rank 0, but says why
unseen()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./ends unseen >out 2>err &
    local program=$! i
    for ((i = 0; i < 1000; i++)); do
        ! grep -q '^State:.T' "/proc/$program/status" || break
        sleep 0.01
    done
    sleep 1.5
    kill -CONT "$program"
    wait "$program"
    exited_with 1 $? && [ "$(wc -l <err)" -eq 1 ] &&
        grep 'rank 1 was killed by signal 6 ' err || { cat err && return 1; }
}
check 'rank 0 sees first that a rank is gone' unseen
# terminated: a signal ends the program and its ranks, as one process
terminated()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./ends stay >out 2>err &
    local program=$!
    sleep 1
    kill "$program" && { wait "$program" || exited_with 143 $?; } &&
        [ ! -s err ] && ! pgrep -s 0 -x ends
}
check 'SIGTERM' terminated
check 'a rank calls exit' ended 1 'rank 1: exit\(4\) was called' exit
check 'a rank forks' ended 2 'rank 1: fork\(\) is not served' fork
# shallow STATUS REGEX WORD: the same with stacks of 1 MiB, two in each rank
shallow()
{
    (threads=2 && ulimit -S -s 1024 && ended "$@")
}
check 'a stack overflows' shallow 1 'rank 1 was killed by signal 11 ' deep
export RAILOMP_PAGES=copied
check 'a rank aborts, pages are copied' ended 1 \
    'rank 1 was killed by signal 6 ' abort
check 'a rank dereferences NULL, pages are copied' ended 1 \
    'rank 1 was killed by signal 11 ' null
check 'a rank forks, pages are copied' ended 2 'rank 1: fork\(\) is not served' fork
check 'a stack overflows, pages are copied' shallow 1 \
    'rank 1 was killed by signal 11 ' deep
unset RAILOMP_PAGES

# --- bad input ------------------------------------------------------------------

refused 'no number of ranks' "RAILOMP_RANKS.'x' 1.to" env RAILOMP_RANKS=x ./ends
refused 'no rank' "RAILOMP_RANKS.'0'" env RAILOMP_RANKS=0 ./ends
# told NAME SETTING…: status 2; libgomp, which our own threads use, may
# say something, too
told()
{
    local status
    RAILOMP_RANKS=2 timeout -k 5 30 env "${@:2}" ./ends >out 2>err
    status=$?
    check "told: $*" [ "$status $(grep -c '^railomp: .*is wrong (allowed: ' err)" = "2 1" ]
}
told 'no thread' OMP_NUM_THREADS=0
told 'no schedule' OMP_SCHEDULE=fast
told 'no chunk' OMP_SCHEDULE=static,0
told 'no stack' OMP_STACKSIZE=1x
told 'no pages' RAILOMP_PAGES=none
told 'no heap' RAILOMP_HEAP=1X
told 'no heap of 2^64 bytes' RAILOMP_HEAP=16777216T
told 'no heap of 2^60 bytes' RAILOMP_HEAP=1048576T
told 'a heap that is too small' RAILOMP_HEAP=100K
told 'an empty setting' RAILOMP_PAGES=
told 'no chunk behind the comma' OMP_SCHEDULE=dynamic,
told 'no limit of threads' OMP_THREAD_LIMIT=0
told 'no levels' OMP_MAX_ACTIVE_LEVELS=-1
told 'no policy' OMP_WAIT_POLICY=lazy
told 'no statistics' RAILOMP_STATS=yes
for value in '' -1 2x 99999999999999999999 16385; do
    refused "RAILOMP_RANKS='$value'" "RAILOMP_RANKS.'$value'.is.wrong" \
        env RAILOMP_RANKS="$value" ./ends
done
two_ranks=(env RAILOMP_RANKS=2 OMP_NUM_THREADS=1)
refused 'too many threads' 'OMP_NUM_THREADS.100000.is.not.served' \
    "${two_ranks[@]}" OMP_NUM_THREADS=100000 ./ends
refused 'no such rail' 'none0:.not.listed|no.such.rail' "${two_ranks[@]}" DRAIL_RAILS=none0 ./ends
refused 'no such engine' 'DRAIL_ENGINE=turbo' \
    "${two_ranks[@]}" DRAIL_ENGINE=turbo ./ends
refused 'a launcher that names no rank' 'DRAIL_RANK' \
    env DRAIL_RENDEZVOUS=127.0.0.1:1 ./ends
refused 'a rank that is not there' 'rank.7.of.2' \
    env DRAIL_RENDEZVOUS=127.0.0.1:1 DRAIL_RANKS=2 DRAIL_RANK=7 ./ends
# a sanitizer needs more
[ -n "${ASAN:=$(ldd ./ends | grep libasan)}" ] ||
    refused 'no memory' 'more.than.ulimit.-v' \
        bash -c 'ulimit -v 1000000 && RAILOMP_RANKS=2 OMP_NUM_THREADS=1 exec ./ends'
OMP_STACKSIZE=1b OMP_NUM_THREADS=2 ./ends well >out 2>err
check 'a stack that is too short is made longer' exited_with 7 $?

cat >handles.c <<'END'
#include <signal.h>
int main(void)
{
    signal(SIGSEGV, SIG_IGN);
    return 0;
}
END
for standard in gnu17 c99; do
    "$BUILD/bin/railomp-cc" -std=$standard handles.c -o handles
    refused "a handler of SIGSEGV, -std=$standard" 'handler.of.SIGSEGV' \
        "${two_ranks[@]}" RAILOMP_PAGES=copied ./handles
done
cat >protects.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
int shared[1024];
int main(void)
{
    mprotect((void *)((uintptr_t)shared & -4096), 4096, PROT_READ);
#pragma omp parallel
#pragma omp critical
    puts("a thread");
    return 0;
}
END
"$BUILD/bin/railomp-cc" protects.c -o protects
refused 'mprotect of copied pages' 'mprotect.of.shared.memory' \
    "${two_ranks[@]}" RAILOMP_PAGES=copied ./protects
check '... it is served where the memory is one' sh -c '"$@" | wc -l | grep -qx 2' - \
    "${two_ranks[@]}" RAILOMP_PAGES=shared ./protects
sed 's/mprotect(.*PROT_READ)/mremap((void *)((uintptr_t)shared \& -4096), 4096, 8192, 1)/
    s/^#include <stdint/#define _GNU_SOURCE\n&/' protects.c >remaps.c
"$BUILD/bin/railomp-cc" remaps.c -o remaps
refused 'mremap of shared memory' 'mremap.of.shared.memory' "${two_ranks[@]}" ./remaps
# replaced NAME CALL: shared memory is not to be changed by that call of @page
replaced()
{
    sed "s/mremap(.*1)/$2/; s/@page/(void *)((uintptr_t)shared \\& -4096)/" remaps.c >replaces.c
    "$BUILD/bin/railomp-cc" replaces.c -o replaces
    refused "$1" "${1%%.*}.*of.shared.memory" "${two_ranks[@]}" ./replaces
}
replaced mmap.with.MAP_FIXED \
    'mmap(@page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)'
replaced madvise 'madvise(@page, 4096, MADV_DONTNEED)'
# what would synchronise threads of one process only
cat >synchronises.c <<'END'
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c_mutex;
static cnd_t c_cond;
static pthread_mutex_t odd;
static const struct timespec end;
int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    ODD(&attributes, 1);
    pthread_mutex_init(&odd, &attributes);
    pthread_barrier_init(&barrier, NULL, omp_get_max_threads());
    sem_init(&semaphore, 0, 2);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        CALL;
    return 0;
}
END
# synchronises SENTENCE CALL [ODD]: it is refused; ODD makes the mutex `odd`
synchronises()
{
    "$BUILD/bin/railomp-cc" "-DCALL=$2" "-DODD=${3:-pthread_mutexattr_setpshared}" \
        synchronises.c -o synchronises
    for pages in shared copied; do
        refused "$2, pages are $pages" "rank.1:.$1.*is.not.served.in.a.region" \
            "${two_ranks[@]}" RAILOMP_PAGES=$pages OMP_NUM_THREADS=2 ./synchronises
    done
}
for call in 'pthread_cond_wait(&cond, &mutex)' 'pthread_cond_timedwait(&cond, &mutex, &end)' \
    'pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &end)' \
    'pthread_mutex_timedlock(&mutex, &end)' \
    'pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end)' \
    'cnd_wait(&c_cond, &c_mutex)' 'cnd_timedwait(&c_cond, &c_mutex, &end)' \
    'mtx_lock(&c_mutex)' 'mtx_trylock(&c_mutex)' 'mtx_timedlock(&c_mutex, &end)' \
    'pthread_rwlock_'{,try}{rd,wr}'lock(&lock)' \
    'pthread_rwlock_timed'{rd,wr}'lock(&lock, &end)' \
    'pthread_rwlock_clock'{rd,wr}'lock(&lock, CLOCK_MONOTONIC, &end)' \
    'pthread_barrier_wait(&barrier)' 'sem_wait(&semaphore)' 'sem_trywait(&semaphore)' \
    'sem_timedwait(&semaphore, &end)' 'sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end)'; do
    synchronises "${call%%(*}.." "$call"
done
for odd in pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setprotocol; do
    synchronises 'a.robust,.process-shared.or.priority.mutex' 'pthread_mutex_lock(&odd)' $odd
done
# headers of C++ call these functions; the library waits for std::condition_variable
cat >waits.cpp <<'END'
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <omp.h>
static std::timed_mutex timed;
static std::mutex mutex;
static std::condition_variable condition;
int main()
{
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        std::unique_lock<std::mutex> guard(mutex);
        CALL;
    }
    return 0;
}
END
for call in 'pthread_mutex_clocklock timed.try_lock_for(std::chrono::seconds(1))' \
    'pthread_cond_clockwait condition.wait_for(guard,std::chrono::seconds(1))' \
    'std::condition_variable::wait condition.wait(guard)'; do
    "$BUILD/bin/railomp-c++" "-DCALL=${call#* }" waits.cpp -o waits
    for pages in shared copied; do
        refused "${call#* }, pages are $pages" \
            "rank.1:.${call% *}...is.not.served.in.a.region" \
            "${two_ranks[@]}" RAILOMP_PAGES=$pages OMP_NUM_THREADS=2 ./waits
    done
done
cat >leaves.c <<'END'
#include <pthread.h>
int main(void)
{
#pragma omp parallel
    ;
    pthread_exit(NULL);
}
END
"$BUILD/bin/railomp-cc" leaves.c -o leaves
refused 'pthread_exit of main' 'pthread_exit.in' "${two_ranks[@]}" ./leaves

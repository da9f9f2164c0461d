/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls with what other threads have written: paths, structures, pages
 * that the program maps. Prints the same for any number of threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { PAGE = 4096, PAGES = 64, ROUNDS = 3 };
static char path[PAGE], other[PAGE]; /* pages that move */
static const char *volatile no_path;

/* Each thread uses what another thread has written. */
static void paths(void)
{
    struct stat *status = malloc(PAGE);
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            const int id = omp_get_thread_num();
            if (id == i)
                snprintf(path, sizeof path, "of_thread.%d", i);
#pragma omp barrier
            if (id == (i + 1) % omp_get_num_threads()) {
                FILE *file = fopen(path, "w");
                wrong += !file || fputs("text", file) < 0 || fclose(file);
                wrong += access(path, R_OK) + stat(path, status);
                wrong += status->st_size != 4;
            }
#pragma omp barrier
            if (id == i) {
                const int fd = open(path, O_RDONLY);
                wrong += fd < 0 || fstat(fd, status) || close(fd);
                snprintf(other, sizeof other, "%s.other", path);
            }
#pragma omp barrier
            if (id == (i + 1) % omp_get_num_threads())
                wrong += rename(path, other) + unlink(other);
#pragma omp barrier
        }
    free(status);
    printf("paths: %d wrong\n", wrong);
}

/* A thread's own mistake is an error, and no other thread's file. */
static void mistakes(void)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int fd = open("/dev/null", O_RDONLY);
        wrong += write(fd, "", 1) != -1 || errno != EBADF;
        wrong += close(fd);
    }
    printf("mistakes: %d wrong\n", wrong);
}

/* The kernel fills what another thread has written last. */
static void structures(void)
{
    static union {
        char page[PAGE];
        struct rusage usage;
        struct utsname name;
        struct tms times;
        struct timespec time;
        cpu_set_t cpus;
    } u[5];
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            if (omp_get_thread_num() == i) {
                wrong += getrusage(RUSAGE_SELF, &u[0].usage) != 0;
                wrong += uname(&u[1].name) != 0;
                wrong += times(&u[2].times) == (clock_t)-1;
                wrong += clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &u[3].time);
                wrong +=
                    sched_getaffinity(0, sizeof u[4].cpus, &u[4].cpus) != 0;
            }
#pragma omp barrier
            wrong += strcmp(u[1].name.sysname, "Linux") != 0;
            wrong += CPU_COUNT(&u[4].cpus) < 1;
#pragma omp barrier
        }
    printf("structures: %d wrong\n", wrong);
}

static int one = 1; /* GCC does not know that: it checks lengths when it runs */

/* The same, of calls that may wait. With -D_FORTIFY_SOURCE their lengths are
 * checked. */
static void descriptors(void)
{
    static union {
        char page[PAGE];
        struct pollfd poll;
        struct timeval time;
        fd_set set;
    } u[7];
    int wrong = 0, fds[2];
    char name[] = "system.XXXXXX";
    const int file = mkstemp(name);
    wrong += unlink(name) + symlink("nowhere", name);
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel private(fds) reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            if (omp_get_thread_num() == i) {
                FILE *zero = fopen("/dev/zero", "r");
                wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
                u[0].poll = (struct pollfd){.fd = fds[0], .events = POLLIN};
#pragma omp flush
                wrong += send(fds[1], "text", 4, 0) != 4;
                wrong += poll(&u[0].poll, (nfds_t)one, -1) != 1;
                wrong += ppoll(&u[0].poll, (nfds_t)one, NULL, NULL) != 1;
                FD_ZERO(&u[1].set);
                FD_SET(fds[0], &u[1].set);
#pragma omp flush
                wrong += select(fds[0] + one, &u[1].set, NULL, NULL, NULL) != 1;
                wrong += !FD_ISSET(fds[0], &u[1].set);
                wrong += recv(fds[0], u[2].page, (size_t)one * 8, 0) != 4;
                wrong += readlink(name, u[3].page, (size_t)one * PAGE) != 7;
                wrong += getcwd(u[4].page, (size_t)one * PAGE) != u[4].page;
                wrong += gettimeofday(&u[5].time, NULL);
                wrong += fread_unlocked(u[6].page, 1, (size_t)one * PAGE,
                                        zero) != PAGE;
                wrong += fclose(zero) + close(fds[0]) + close(fds[1]);
            }
#pragma omp barrier
            wrong += u[0].poll.revents != POLLIN;
            wrong += memcmp(u[2].page, "text", 4) != 0;
            wrong += memcmp(u[3].page, "nowhere", 7) != 0;
            wrong += u[4].page[0] != '/' || u[5].time.tv_sec <= 0;
            wrong += u[6].page[0] != 0 || u[6].page[PAGE - 1] != 0;
#pragma omp barrier
            if (omp_get_thread_num() == i)
                for (int k = 0; k < 7; k++)
                    memset(u[k].page, 1, PAGE);
#pragma omp barrier
        }
    wrong += unlink(name) + close(file);
    printf("descriptors: %d wrong\n", wrong);
}

/* Addresses and options of sockets, which another thread has had last. */
static void sockets(void)
{
    static union {
        char page[PAGE];
        struct {
            struct sockaddr_storage address;
            socklen_t bytes;
            int value;
        };
    } u[4];
    int wrong = 0;
    u[0].address.ss_family = AF_UNIX;
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            if (omp_get_thread_num() == i) {
                const int listens = socket(AF_UNIX, SOCK_STREAM, 0);
                const int calls = socket(AF_UNIX, SOCK_STREAM, 0);
                wrong += bind(listens, (void *)&u[0].address,
                              sizeof u[0].address.ss_family);
                wrong += listen(listens, 1);
                u[1].bytes = u[2].bytes = sizeof u[1].address;
                u[3].bytes = sizeof u[3].value;
#pragma omp flush
                wrong +=
                    getsockname(listens, (void *)&u[1].address, &u[1].bytes);
#pragma omp flush
                wrong += connect(calls, (void *)&u[1].address, u[1].bytes);
                const int accepted =
                    accept(listens, (void *)&u[2].address, &u[2].bytes);
                wrong += accepted < 0;
                wrong += getsockopt(listens, SOL_SOCKET, SO_ACCEPTCONN,
                                    &u[3].value, &u[3].bytes);
                close(accepted);
                close(calls);
                close(listens);
            }
#pragma omp barrier
            wrong += u[1].address.ss_family != AF_UNIX || u[1].bytes <= 2;
            wrong += u[2].address.ss_family != AF_UNIX || u[2].bytes != 2;
            wrong += u[3].value != 1;
#pragma omp barrier
            if (omp_get_thread_num() == i)
                for (int k = 0; k < 4; k++)
                    memset(u[k].page, k ? 1 : 0, PAGE);
            if (omp_get_thread_num() == i)
                u[0].address.ss_family = AF_UNIX;
#pragma omp barrier
        }
    printf("sockets: %d wrong\n", wrong);
}

/* Two datagrams with an address: the second has two pieces and a descriptor. */
static void datagrams(void)
{
    static union {
        char page[PAGE];
        struct {
            struct sockaddr_un name;
            socklen_t bytes;
            char text[2][8], room[256];
            struct iovec pieces[2];
            struct msghdr message;
            union {
                struct cmsghdr header;
                char control[CMSG_SPACE(sizeof(int))];
            };
        };
    } u[2];
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            if (omp_get_thread_num() == i) {
                const int to = socket(AF_UNIX, SOCK_DGRAM, 0);
                const int from = socket(AF_UNIX, SOCK_DGRAM, 0);
                u[0].name.sun_family = AF_UNIX;
                wrong += bind(to, (void *)&u[0].name, sizeof(sa_family_t));
                wrong += bind(from, (void *)&u[0].name, sizeof(sa_family_t));
                u[0].bytes = sizeof u[0].name;
                wrong += getsockname(to, (void *)&u[0].name, &u[0].bytes);
                u[1].bytes = sizeof u[1].name;
                strcpy(u[0].text[0], "one");
                strcpy(u[0].text[1], "two");
#pragma omp flush
                wrong += sendto(from, u[0].text[0], 4, 0, (void *)&u[0].name,
                                u[0].bytes) != 4;
                wrong += recvfrom(to, u[1].room, (size_t)one * 8, 0,
                                  (void *)&u[1].name, &u[1].bytes) != 4;
                wrong += strcmp(u[1].room, "one") || u[1].bytes <= 2 ||
                         u[1].name.sun_family != AF_UNIX;

                for (int k = 0; k < 2; k++) {
                    for (int piece = 0; piece < 2; piece++)
                        u[k].pieces[piece] =
                            (struct iovec){u[k].text[piece], 4};
                    u[k].message =
                        (struct msghdr){.msg_iov = u[k].pieces,
                                        .msg_iovlen = 2,
                                        .msg_control = u[k].control,
                                        .msg_controllen = sizeof u[k].control};
                }
                u[0].message.msg_name = &u[0].name;
                u[0].message.msg_namelen = u[0].bytes;
                u[0].header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof to),
                                               .cmsg_level = SOL_SOCKET,
                                               .cmsg_type = SCM_RIGHTS};
                memcpy(CMSG_DATA(&u[0].header), &to, sizeof to);
                /* longer than an address can be */
                u[1].message.msg_name = u[1].room;
                u[1].message.msg_namelen = sizeof u[1].room;
#pragma omp flush
                wrong += sendmsg(from, &u[0].message, 0) != 8;
                wrong += recvmsg(to, &u[1].message, 0) != 8;
                wrong += u[1].message.msg_namelen != u[1].bytes ||
                         memcmp(u[1].room, &u[1].name, u[1].bytes) != 0;
                int passed = -1;
                memcpy(&passed, CMSG_DATA(&u[1].header), sizeof passed);
                wrong += u[1].header.cmsg_type != SCM_RIGHTS || passed == to;
                wrong += close(passed) + close(to) + close(from);
            }
#pragma omp barrier
            wrong += strcmp(u[1].text[0], "one") || strcmp(u[1].text[1], "two");
#pragma omp barrier
            if (omp_get_thread_num() == i)
                memset(u, 0, sizeof u);
#pragma omp barrier
        }
    printf("datagrams: %d wrong\n", wrong);
}

/* MSG_TRUNC throws away what comes of TCP: no memory is needed. */
static void thrown_away(void)
{
    static struct msghdr message;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct iovec pieces[2] = {{NULL, 3}, {NULL, 1}};
    socklen_t bytes = sizeof at;
    const int listens = socket(AF_INET, SOCK_STREAM, 0);
    const int calls = socket(AF_INET, SOCK_STREAM, 0);
    int wrong = bind(listens, (void *)&at, bytes) + listen(listens, 1);
    wrong += getsockname(listens, (void *)&at, &bytes);
    wrong += connect(calls, (void *)&at, bytes);
    const int accepted = accept(listens, NULL, NULL);
    wrong += send(calls, "some text", 9, 0) != 9;
    wrong += recv(accepted, NULL, 4, MSG_TRUNC) != 4;
    message = (struct msghdr){.msg_iov = pieces, .msg_iovlen = 2};
    wrong += recvmsg(accepted, &message, MSG_TRUNC) != 4;
    wrong += recv(accepted, path, 8, 0) != 1 || path[0] != 't';
    close(accepted);
    close(calls);
    close(listens);
    printf("thrown away: %d wrong\n", wrong);
}

static int is_set(const char *name, const char *value)
{
    const char *got = getenv(name);
    return value ? got && !strcmp(got, value) : !got;
}

/* All threads set variables at the same time. */
static int set_at_once(void)
{
    enum { EACH = 20 };
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        char name[32], value[16];
#pragma omp barrier
        for (int i = 0; i < EACH; i++) {
            snprintf(name, sizeof name, "RAIL_%d_%d", omp_get_thread_num(), i);
            snprintf(value, sizeof value, "%d", i);
            wrong += setenv(name, value, 1);
        }
#pragma omp barrier
        for (int t = 0; t < omp_get_num_threads(); t++)
            for (int i = 0; i < EACH; i++) {
                snprintf(name, sizeof name, "RAIL_%d_%d", t, i);
                snprintf(value, sizeof value, "%d", i);
                wrong += !is_set(name, value);
            }
    }
    return wrong;
}

/* All threads set a variable that is not set: all have the first one's. */
static int set_if_unset(void)
{
    int wrong = 0;
    static char all[4][16];
    for (int round = 0; round < ROUNDS; round++) {
        memset(all, 0, sizeof all);
#pragma omp parallel reduction(+ : wrong)
        {
            const int id = omp_get_thread_num();
            char value[16];
            snprintf(value, sizeof value, "%d", id);
            wrong += setenv("RAIL_FIRST", value, 0);
#pragma omp barrier
            strcpy(all[id % 4], getenv("RAIL_FIRST"));
#pragma omp barrier
            for (int i = 0; i < 4 && i < omp_get_num_threads(); i++)
                wrong += strcmp(all[i], all[0]) != 0;
#pragma omp barrier
            if (!id)
                wrong += setenv("RAIL_FIRST", "other", 0);
#pragma omp barrier
            wrong += is_set("RAIL_FIRST", "other");
#pragma omp barrier
            wrong += unsetenv("RAIL_FIRST");
#pragma omp barrier
            wrong += !is_set("RAIL_FIRST", NULL);
        }
    }
    return wrong;
}

/* What one thread changes, all others have after the next barrier. */
static void environment(void)
{
    char folder[] = "system.XXXXXX", text[] = "RAIL_PUT=put";
    int wrong = !getcwd(path, sizeof path) || !mkdtemp(folder);
    wrong += setenv("RAIL_SET", "first", 1) + setenv("RAIL_SET", "none", 0);
    wrong += putenv(text) + chdir(folder) + !fopen("here", "w");
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel reduction(+ : wrong)
        for (int i = 0; i < omp_get_num_threads(); i++) {
            wrong += !is_set("RAIL_SET", "first") + !is_set("RAIL_PUT", "put");
            wrong += access("here", R_OK) != 0;
#pragma omp barrier
            if (omp_get_thread_num() == i) {
                wrong += setenv("RAIL_SET", "second", 1) + chdir(path);
                wrong += unsetenv("RAIL_PUT");
            }
#pragma omp barrier
            wrong += !is_set("RAIL_SET", "second") + !is_set("RAIL_PUT", NULL);
            wrong += access("here", R_OK) == 0;
#pragma omp barrier
            if (omp_get_thread_num() == i) {
                wrong += clearenv() + setenv("RAIL_SET", "first", 1);
                wrong += setenv("RAIL_PUT", "put", 1) + chdir(folder);
            }
#pragma omp barrier
        }
    wrong += unlink("here") + chdir(path) + rmdir(folder) + set_at_once();
    wrong += set_if_unset() + (chdir(no_path) != -1 || errno != EFAULT);
    printf("environment: %d wrong\n", wrong);
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) -
           (*(const int *)a < *(const int *)b);
}

/* What one thread gets from the C library, others use. */
static void libraries(void)
{
    enum { KEYS = 200 };
    static int keys[KEYS];
    void *root = NULL;
    wchar_t *wide = NULL;
    regex_t regex;
    int wrong = regcomp(&regex, "^(a|b)*([0-9]+)x{2,5}$", REG_EXTENDED);
    for (int i = 0; i < KEYS; i++)
        keys[i] = i * 7919 % KEYS;
#pragma omp parallel reduction(+ : wrong)
    {
#pragma omp for
        for (int i = 0; i < KEYS; i++)
#pragma omp critical
            tsearch(&keys[i], &root, compare);
#pragma omp single
        wide = wcsdup(L"wide text");
        wrong += wcscmp(wide, L"wide text") != 0;
        for (int i = 0; i < KEYS; i++) {
            char text[40];
            regmatch_t found[3];
            const int **node = tfind(&i, &root, compare);
            wrong += !node || **node != i;
            snprintf(text, sizeof text, "%.*s%dxxx", i % 9, "abababababa", i);
            wrong += regexec(&regex, text, 3, found, 0) != 0;
            wrong += found[2].rm_so != i % 9 ||
                     regexec(&regex, "aa", 0, NULL, 0) == 0;
        }
    }
    for (int i = 0; i < KEYS; i++)
        wrong += !tdelete(&i, &root, compare);
    free(wide);
    regfree(&regex);
    printf("libraries: %d wrong, %d\n", wrong, root != NULL);
}

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void mapped(void)
{
    int *numbers = map(PAGES * PAGE), sum = 0, wrong = 0;
    const int count = PAGES * PAGE / sizeof *numbers;
    char *of_thread[64] = {0};
    for (int i = 0; i < count; i++)
        wrong += numbers[i] != 0;
#pragma omp parallel for
    for (int i = 0; i < count; i++)
        numbers[i] = i;
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < count; i++)
        wrong += numbers[count - 1 - i] != count - 1 - i;
    /* the ends, as programs do that want aligned pages, then the rest */
    wrong += munmap(numbers, PAGE);
    wrong += munmap((char *)numbers + (PAGES - 1) * PAGE, PAGE);
    for (int i = count / 4; i < count / 2; i++)
        sum += numbers[i] != i;
    wrong += munmap((char *)numbers + PAGE, (PAGES - 2) * PAGE);
#pragma omp parallel reduction(+ : wrong)
    {
        const int id = omp_get_thread_num(), all = omp_get_num_threads();
        of_thread[id] = map(100);
        of_thread[id][PAGE - 1] = (char)(id + 1);
#pragma omp barrier
        char *next = of_thread[(id + 1) % all];
        wrong += next[PAGE - 1] != (id + 1) % all + 1 || next[0] != 0;
        wrong += munmap(next, 100);
    }
    printf("mapped: %d wrong, %d\n", wrong, sum);
}

/* The file has what is written to its pages. */
static int written(int fd, int flags)
{
    int *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
    int got = 0, wrong = 0;
    if (page == MAP_FAILED)
        return 1;
    page[0] = flags;
    wrong += pread(fd, &got, sizeof got, 0) != sizeof got || got != flags;
    page[0] = 0;
    return wrong + munmap(page, PAGE);
}

/* Not only what is there is unmapped. */
static void unmapped(void)
{
    char *p = map(8 * PAGE);
    int wrong = 0;
    for (int i = 0; i < 8; i++)
        wrong += munmap(p, PAGE);
    wrong += munmap(p + 5 * PAGE, 3 * PAGE);
    wrong += munmap(p + 4 * PAGE, 4 * PAGE);
    wrong += munmap(p + 1, PAGE) != -1;
    wrong += munmap(p + PAGE, 0) != -1;
    p[PAGE] = p[4 * PAGE - 1] = 1;
    char *other = map(8 * PAGE);
    memset(other, 2, 8 * PAGE);
    wrong += p[PAGE] != 1 || p[4 * PAGE - 1] != 1;
    wrong += munmap(other, 8 * PAGE) + munmap(p + PAGE, 3 * PAGE);
    wrong += map((size_t)1 << 50) != MAP_FAILED || errno != ENOMEM;
    printf("unmapped: %d wrong\n", wrong);
}

static void *use_stack(void *unused)
{
    char text[3 * PAGE];
    (void)unused;
    snprintf(text, sizeof text, "%d", getpid());
    return NULL;
}

/* A thread that the program makes has a stack that it maps. */
static void stack(void)
{
    enum { BYTES = 64 * PAGE };
    pthread_attr_t attributes;
    pthread_t id;
    int wrong = 0;
    void *pages =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    wrong += mprotect(pages, PAGE, PROT_NONE);
    wrong += pthread_attr_init(&attributes);
    wrong +=
        pthread_attr_setstack(&attributes, (char *)pages + PAGE, BYTES - PAGE);
    wrong += pthread_create(&id, &attributes, use_stack, NULL);
    wrong += pthread_join(id, NULL) + munmap(pages, BYTES);
    printf("stack: %d wrong\n", wrong);
}

static void mapped_file(void)
{
    enum { COUNT = 3000 };
    char name[] = "system.XXXXXX";
    const int fd = mkstemp(name);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += write(fd, &i, sizeof i) != sizeof i;
    const int *all =
        mmap(NULL, COUNT * sizeof *all, PROT_READ, MAP_SHARED, fd, 0);
    int *end =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 2 * PAGE);
    wrong += written(fd, MAP_SHARED) + written(fd, MAP_SHARED_VALIDATE);
    wrong += close(fd) + unlink(name);
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < COUNT; i++)
        wrong += all[i] != i;
#pragma omp parallel for
    for (int i = 0; i < PAGE / 4; i++)
        end[i]++;
    for (int i = 0; i < PAGE / 4; i++)
        wrong +=
            end[i] != (i + 2 * PAGE / 4 < COUNT ? i + 2 * PAGE / 4 : 0) + 1;
    wrong += munmap((void *)all, COUNT * sizeof *all) + munmap(end, PAGE);
    wrong += mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 987, 0) != MAP_FAILED;
    wrong += mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0) != MAP_FAILED;
    wrong += fopen(no_path, "r") != NULL;
    printf("mapped file: %d wrong\n", wrong);
}

int main(void)
{
    paths();
    mistakes();
    structures();
    descriptors();
    sockets();
    datagrams();
    thrown_away();
    environment();
    libraries();
    mapped();
    unmapped();
    stack();
    mapped_file();
    return 0;
}

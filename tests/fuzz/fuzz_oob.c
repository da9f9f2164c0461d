/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of ranks to the server of a job's all-gathers. The input is a list
 * of steps, each of a rank; in the end all have left, and the server knows. */
#include <sys/socket.h>

#include "dapl_rail/job/supervise/oob.h"
#include "fuzz.h"

#define RANKS 3
#define STEPS 64

static struct oob_server server;
static int fds[RANKS]; /* the ranks' ends; -1: gone */

/* Everything that the server can do now. */
static void serve(void)
{
    for (unsigned quiet = 0; quiet < RANKS;)
        for (unsigned r = 0; r < RANKS; r++) {
            struct pollfd p = oob_server_want(&server, r);
            must(p.fd < 0 || p.events);
            if (p.fd >= 0 && poll(&p, 1, 0) > 0) {
                oob_server_event(&server, r, p.revents);
                quiet = 0;
            } else {
                quiet++;
            }
        }
}

static void take(unsigned rank)
{
    static unsigned char reply[4096];
    (void)!recv(fds[rank], reply, sizeof reply, MSG_DONTWAIT);
}

static void say(struct input *in, unsigned rank)
{
    struct oob_header h = {.status = input_byte(in) % 3,
                           .bytes = input_byte(in)};
    unsigned char body[256];
    size_t bytes = h.bytes;
    h.exit = input_byte(in) % 4 ? 0 : 1;
    uint8_t odd = input_byte(in);
    if (odd % 4 == 1)
        input_take(in, &h, sizeof h);
    send(fds[rank], &h, odd % 4 == 2 ? odd % sizeof h : sizeof h,
         MSG_DONTWAIT | MSG_NOSIGNAL);
    input_take(in, body, bytes);
    send(fds[rank], body, odd % 4 == 3 ? odd % (bytes + 1) : bytes,
         MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void one_step(struct input *in)
{
    uint8_t what = input_byte(in);
    unsigned rank = what % RANKS;
    switch (what / RANKS % 8) {
    case 0:
        take(rank);
        break;
    case 1:
        shutdown(fds[rank], what < 128 ? SHUT_WR : SHUT_RDWR);
        break;
    case 2:
        oob_server_break(&server, DRAIL_EPEER, rank, OOB_LOST);
        break;
    case 3:
        oob_server_hang_up(&server);
        break;
    default:
        say(in, rank);
    }
    serve();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    must(!oob_server_open(&server, RANKS));
    for (unsigned r = 0; r < RANKS; r++) {
        int pair[2];
        must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
        server.ranks[r].fd = pair[0];
        fds[r] = pair[1];
    }
    for (unsigned i = 0; in.left && i < STEPS; i++)
        one_step(&in);
    for (unsigned r = 0; r < RANKS; r++)
        close(fds[r]);
    serve();
    for (unsigned r = 0; r < RANKS; r++)
        must(server.ranks[r].fd < 0 || server.ranks[r].closed);
    oob_server_close(&server);
    return 0;
}

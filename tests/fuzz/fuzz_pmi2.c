/* SPDX-License-Identifier: BSD-3-Clause */
/* A launcher that speaks PMI-2, or something else: all that it answers, and the
 * line of rank 0's secret and addresses that it passes on. */
#include <sys/socket.h>

#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/launch/pmi2_wire.h"
#include "fuzz.h"

static void values(const char *text)
{
    char value[64], head[PMI2_HEAD + 1];
    struct addresses where;
    if (pmi2_value(text, "cmd", value, sizeof value))
        must(strlen(value) < sizeof value);
    must(pmi2_number(text, "rc") >= -1);
    snprintf(head, sizeof head, "%-6.6s", text);
    must(pmi2_length(head) <= PMI2_MOST);
    if (!address_parse(&where, text))
        must(where.count >= 1 && where.count <= ADDRESS_MOST);
}

static void talk(const uint8_t *data, size_t size)
{
    int pair[2];
    char number[16], line[KVS_LINE] = "";
    struct kvs *board = NULL;
    drail_error_t err = {0};
    must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    must(send(pair[1], data, size, 0) == (ssize_t)size);
    shutdown(pair[1], SHUT_WR);
    snprintf(number, sizeof number, "%d", pair[0]);
    setenv("PMI_FD", number, 1);
    int rc = pmi2_open(&board, &err);
    must(rc ? *err.text : board != NULL);
    if (!rc) {
        rc = board->share(board, line, -1, &err);
        must(memchr(line, '\0', sizeof line) != NULL);
        must(!rc || *err.text);
        board->close(board, rc != 0);
    }
    close(pair[0]);
    close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = input_text(data, size);
    values(text);
    talk(data, size);
    free(text);
    return 0;
}

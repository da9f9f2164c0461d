/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer's description of itself, in the private data of a connection. */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/hello.h"
#include "dapl_rail/rails/rail.h"
#include "fuzz.h"

/* The input: where a good hello is changed, and to what; then, it is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    drail_job_t job = {.rank = 1, .size = 3};
    drail_t t = {.job = &job, .id = 7, .cfg = {.eps = 2}};
    struct rail rail = {.owner = &t, .index = 1};
    struct link_hello theirs = hello_of(&rail, 0), hello;
    theirs.rank = 0;
    for (unsigned changes = input_byte(&in) % 8; changes; changes--)
        ((uint8_t *)&theirs)[input_byte(&in) % sizeof theirs] = input_byte(&in);
    size_t bytes = sizeof theirs - input_byte(&in) % (sizeof theirs + 1);
    uint8_t *message = malloc(bytes ? bytes : 1);
    must(message != NULL);
    memcpy(message, &theirs, bytes);
    if (hello_read(&rail, message, (DAT_COUNT)bytes, &hello)) {
        must(bytes >= sizeof hello && hello.transport == t.id);
        must(hello.rank < job.size && hello.rank != job.rank);
        must(hello.ep < t.cfg.eps && hello.rail == rail.index);
        must(hello.kind <= HELLO_GIVES_UP);
    }
    free(message);
    return 0;
}

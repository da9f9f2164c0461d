/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Shared by the provider's tests: checks of DAT results and events, and an end
 * of a connection. The tests are plain DAT programs: everything goes through
 * <dat2/udat.h> and the genuine registry.
 */
#ifndef TESTS_PROVIDER_UTIL_H
#define TESTS_PROVIDER_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dat2/udat.h>

#include "tests/stand_in.h"

/** IA under test: of the environment variable TEST_IA, or this one. */
#define IA_NAME    ia_name()
#define IA_DEFAULT "shm0"
const char *ia_name(void);
/** Skips the test over networks on which a suppressed request is done as soon
 * as its memory is free again, whether the peer has the data or not (TCP). */
#define NEEDS_SUPPRESSED_FAILURES()                                            \
    do {                                                                       \
        if (strcmp(IA_NAME, IA_DEFAULT))                                       \
            skip();                                                            \
    } while (0)
/** Skips it where the IA can't do something: an IA attribute is 0. */
#define NEEDS(attribute)                                                       \
    do {                                                                       \
        if (!ia_attributes_of(IA_NAME).attribute)                              \
            skip();                                                            \
    } while (0)
DAT_IA_ATTR ia_attributes_of(const char *name);
/** The value of a provider-specific attribute of an open IA, or NULL. */
const char *provider_attribute(DAT_IA_HANDLE ia, const char *name);
/** Skips it where there are no atomics. */
#define NEEDS_ATOMICS()                                                        \
    do {                                                                       \
        if (!ia_has_atomics(IA_NAME))                                          \
            skip();                                                            \
    } while (0)
bool ia_has_atomics(const char *name);
/** The name of the IA that an object belongs to. */
const char *ia_of(DAT_HANDLE object);
/** Bound of every wait that must succeed, in milliseconds. */
#define WAIT_MS 10000
/** Bytes before and after registered memory that nobody may touch. */
#define GUARD 4096
/** Queue length of every EVD that an end makes. */
#define END_QLEN 1024

/** The call must succeed / fail with this type of error (any subtype). */
#define DAT_OK(call) check_dat((call), DAT_SUCCESS, #call, __FILE__, __LINE__)
#define DAT_FAILS(call, type)                                                  \
    check_dat((call), (type), #call, __FILE__, __LINE__)

void check_dat(DAT_RETURN got, DAT_RETURN want, const char *call,
               const char *file, int line);

/* -------------------------------------------------------------- events --- */

/** Waits up to WAIT_MS for the next event, which must have this number. */
#define EXPECT_EVENT(evd, number)                                              \
    expect_event((evd), (DAT_EVENT_NUMBER)(number), __FILE__, __LINE__)
DAT_EVENT expect_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number,
                       const char *file, int line);

/** Waits for a DTO completion with this cookie, status and, when successful,
 *  length. */
#define EXPECT_DTO(evd, cookie, status, length)                                \
    expect_dto((evd), (cookie), (status), (length), __FILE__, __LINE__)
DAT_DTO_COMPLETION_EVENT_DATA expect_dto(DAT_EVD_HANDLE evd, uint64_t cookie,
                                         DAT_DTO_COMPLETION_STATUS status,
                                         size_t length, const char *file,
                                         int line);

/** Nothing may be on the EVD for this long. */
void expect_silence(DAT_EVD_HANDLE evd, int milliseconds);
/** Takes all events that are on it. */
void evd_drain(DAT_EVD_HANDLE evd);

DAT_DTO_COOKIE cookie(uint64_t value);

/* -------------------------------------------------------------- memory --- */

typedef enum memory_kind {
    MEMORY_MALLOC, /**< private to the process */
    MEMORY_MEMFD,  /**< shared mapping of a file that can't shrink and whose
                        descriptor stays open: peers map it */
    MEMORY_KINDS
} memory_kind_t;

/** Registered memory between two guard zones. */
typedef struct region {
    memory_kind_t kind;
    int fd;
    unsigned char *all; /**< guard, data, guard */
    unsigned char *data;
    size_t bytes; /**< of data */
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
} region_t;

void region_create(region_t *region, memory_kind_t kind, size_t bytes,
                   DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                   DAT_MEM_PRIV_FLAGS privileges);
/** Registers what region->data and region->bytes say. */
void region_register(region_t *region, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                     DAT_MEM_PRIV_FLAGS privileges);
void region_destroy(region_t *region);

/** Less than a second. */
void pause_ms(long ms);
/** A millisecond, between two looks at memory that another process writes. */
void poll_pause(void);

/** The first place where this process has mapped that offset of a file of this
 *  name, to read and write it: what its peers share with it, too. */
void *shared_mapping(const char *name, uint64_t offset);

/** Reproducible noise. */
void fill(void *memory, size_t bytes, uint64_t seed);
/** Next random number of a generator whose state is *seed. */
uint64_t random_next(uint64_t *seed);

DAT_LMR_TRIPLET local(const region_t *region, size_t offset, size_t bytes);
DAT_RMR_TRIPLET remote(const region_t *region, size_t offset, size_t bytes);

/** Starts this program again with a dat.conf of these lines, {library, name,
 *  parameters}: the registry reads it when a process starts. The libraries are
 *  in the folder of the present dat.conf. In the restarted program this does
 *  nothing, and TEST_CONF names the new file, which remove_rails() removes. */
void restart_with_lines(char **argv, const char *const lines[][3],
                        size_t count);
/** The teardown of the group, for cmocka_run_group_tests. */
int remove_rails(void **state);

/* ----------------------------------------------------------------- end --- */

/** One end of a connection: an open IA with what an Endpoint needs. */
typedef struct end {
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE async, cr, conn, recv, request;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual; /**< of psp */
    DAT_EP_HANDLE ep;
    region_t mem;
} end_t;

/** Opens IA_NAME with EVDs, a listening PSP and an unconnected EP; *end is
 *  all zero afterwards but for those. @p attr NULL: the provider's defaults. */
void end_open(end_t *end, const DAT_EP_ATTR *attr);
/** The same of another IA than IA_NAME. */
void end_open_on(end_t *end, const char *ia_name, const DAT_EP_ATTR *attr);
/** The same, and registers @p bytes of memory. */
void end_open_memory(end_t *end, memory_kind_t kind, size_t bytes,
                     DAT_MEM_PRIV_FLAGS privileges);
/** EVDs and a listening PSP on the IA and with the PZ of @p other: no EP. */
void end_open_beside(end_t *end, const end_t *other);
void end_close_beside(end_t *end);
void end_close(end_t *end);
/** The same for two ends of this process, with memory of all privileges. */
void ends_open(end_t *a, end_t *b, memory_kind_t kind, size_t bytes);
void ends_close(end_t *a, end_t *b);

/** Starts connecting to a PSP on the same IA. */
DAT_RETURN end_connect(end_t *end, DAT_CONN_QUAL qual);
/** Waits for the next connection request. */
DAT_CR_HANDLE end_asked(end_t *end);
/** Accepts the next connection request with the end's EP. */
void end_accept(end_t *end);
/** Connects two ends of this process. */
void end_connect_both(end_t *active, end_t *passive);

/** Posts a fetch-and-add of 1 to the first word of @p there, with cookie n. The
 *  old value comes to word n of the end's memory. */
void end_post_add(end_t *end, const region_t *there, unsigned n);

#endif

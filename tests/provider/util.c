/* SPDX-License-Identifier: BSD-3-Clause */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_registry.h> /* DAT_PROVIDER */

#include "providers/core/extensions.h"

void restart_with_lines(char **argv, const char *const lines[][3], size_t count)
{
    char conf[] = "/tmp/test_rails_XXXXXX";
    const char *was = getenv("DAT_OVERRIDE");
    const char *slash = was ? strrchr(was, '/') : NULL;
    if (getenv("TEST_CONF"))
        return;
    int fd = mkstemp(conf);
    assert_true(slash && fd >= 0);
    for (size_t i = 0; i < count; i++)
        dprintf(fd,
                "%s u2.0 nonthreadsafe default %.*s/%s dapl_rail.0.1 \"%s\" "
                "\"\"\n",
                lines[i][1], (int)(slash - was), was, lines[i][0], lines[i][2]);
    close(fd);
    setenv("DAT_OVERRIDE", conf, 1);
    setenv("TEST_CONF", conf, 1);
    execv("/proc/self/exe", argv);
    _exit(127);
}

int remove_rails(void **state)
{
    return unlink(getenv("TEST_CONF"));
}

const char *ia_name(void)
{
    const char *name = getenv("TEST_IA");
    return name ? name : IA_DEFAULT;
}

const char *ia_of(DAT_HANDLE object)
{
    return (*(const DAT_PROVIDER *const *)object)->device_name;
}

DAT_IA_ATTR ia_attributes_of(const char *name)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_open((DAT_NAME_PTR)name, 8, &async, &ia));
    DAT_OK(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    DAT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    return attr;
}

const char *provider_attribute(DAT_IA_HANDLE ia, const char *name)
{
    DAT_PROVIDER_ATTR attr = {0};
    DAT_OK(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
    return dapl_provider_attribute(&attr, name);
}

bool ia_has_atomics(const char *name)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_OK(dat_ia_open((DAT_NAME_PTR)name, 8, &async, &ia));
    bool has = provider_attribute(ia, DAT_IB_ATTR_FETCH_AND_ADD) != NULL;
    DAT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    return has;
}

void check_dat(DAT_RETURN got, DAT_RETURN want, const char *call,
               const char *file, int line)
{
    const char *major = "unknown code", *minor = "", *wanted = "", *none;

    if (DAT_GET_TYPE(got) == DAT_GET_TYPE(want))
        return;
    dat_strerror(got, &major, &minor);
    dat_strerror(want ? want | DAT_CLASS_ERROR : want, &wanted, &none);
    print_error("%s\n  gave %s %s, expected %s\n", call, major, minor, wanted);
    _fail(file, line);
}

/* -------------------------------------------------------------- events --- */

DAT_EVENT expect_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number,
                       const char *file, int line)
{
    DAT_EVENT event = {0};
    DAT_COUNT more;
    DAT_RETURN rc = dat_evd_wait(evd, WAIT_MS * 1000, 1, &event, &more);
    check_dat(rc, DAT_SUCCESS, "dat_evd_wait", file, line);
    if (event.event_number != number) {
        print_error("event 0x%x, expected 0x%x\n", event.event_number, number);
        if (event.event_number == DAT_DTO_COMPLETION_EVENT)
            print_error("  a DTO completion with status %d\n",
                        event.event_data.dto_completion_event_data.status);
        _fail(file, line);
    }
    return event;
}

DAT_DTO_COMPLETION_EVENT_DATA expect_dto(DAT_EVD_HANDLE evd, uint64_t cookie,
                                         DAT_DTO_COMPLETION_STATUS status,
                                         size_t length, const char *file,
                                         int line)
{
    DAT_EVENT event = expect_event(evd, DAT_DTO_COMPLETION_EVENT, file, line);
    DAT_DTO_COMPLETION_EVENT_DATA dto =
        event.event_data.dto_completion_event_data;
    if (dto.user_cookie.as_64 != cookie || dto.status != status ||
        (!status && dto.transfered_length != length)) {
        print_error("completion: cookie %llu status %d length %u,"
                    " expected %llu %d %zu\n",
                    (unsigned long long)dto.user_cookie.as_64, dto.status,
                    dto.transfered_length, (unsigned long long)cookie, status,
                    length);
        _fail(file, line);
    }
    return dto;
}

void expect_silence(DAT_EVD_HANDLE evd, int milliseconds)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_FAILS(
        dat_evd_wait(evd, (DAT_TIMEOUT)milliseconds * 1000, 1, &event, &more),
        DAT_TIMEOUT_EXPIRED);
}

void evd_drain(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
        ;
}

DAT_DTO_COOKIE cookie(uint64_t value)
{
    return (DAT_DTO_COOKIE){.as_64 = value};
}

/* -------------------------------------------------------------- memory --- */

/* Emulators of a processor may not have the call that peers reach private
 * memory by. */
static bool private_is_reachable(void)
{
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ||
           errno != ENOSYS;
}

void region_create(region_t *region, memory_kind_t kind, size_t bytes,
                   DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                   DAT_MEM_PRIV_FLAGS privileges)
{
    size_t total = bytes + 2 * GUARD;
    if (kind == MEMORY_MALLOC && !private_is_reachable()) {
        print_message("# private memory can't be reached here: a memfd\n");
        kind = MEMORY_MEMFD;
    }
    region->kind = kind;
    region->bytes = bytes;
    region->fd = -1;
    if (kind == MEMORY_MEMFD) {
        region->fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_true(region->fd >= 0);
        assert_int_equal(ftruncate(region->fd, (off_t)total), 0);
        assert_int_equal(fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        region->all = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED,
                           region->fd, 0);
        assert_ptr_not_equal(region->all, MAP_FAILED);
    } else {
        region->all = malloc(total);
        assert_non_null(region->all);
    }
    region->data = region->all + GUARD;
    fill(region->all, total, 0);
    region_register(region, ia, pz, privileges);
}

void region_register(region_t *region, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                     DAT_MEM_PRIV_FLAGS privileges)
{
    DAT_REGION_DESCRIPTION what = {.for_va = region->data};
    DAT_VLEN registered;
    DAT_VADDR address;
    DAT_OK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, what, region->bytes, pz,
                          privileges, DAT_VA_TYPE_VA, &region->lmr,
                          &region->lmr_context, &region->rmr_context,
                          &registered, &address));
    assert_true(address <= (uintptr_t)region->data);
    assert_true(address + registered >=
                (uintptr_t)region->data + region->bytes);
}

void region_destroy(region_t *region)
{
    if (region->lmr)
        DAT_OK(dat_lmr_free(region->lmr));
    if (region->fd >= 0) {
        munmap(region->all, region->bytes + 2 * GUARD);
        close(region->fd);
    } else {
        free(region->all);
    }
    memset(region, 0, sizeof *region);
}

void *shared_mapping(const char *name, uint64_t offset)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], *found = NULL;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        uint64_t start, end, at;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw-s %" SCNx64, &start, &end,
                   &at) == 3 &&
            strstr(line, name) && offset >= at && offset < at + (end - start))
            found = (char *)(uintptr_t)(start + (offset - at));
    }
    fclose(maps);
    assert_non_null(found);
    return found;
}

void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

void poll_pause(void)
{
    pause_ms(1);
}

uint64_t random_next(uint64_t *seed)
{
    /* splitmix64 (Steele, Lea, Flood 2014): any seed is a good one */
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void fill(void *memory, size_t bytes, uint64_t seed)
{
    unsigned char *byte = memory;
    for (; bytes >= 8; bytes -= 8, byte += 8)
        memcpy(byte, &(uint64_t){random_next(&seed)}, 8);
    memcpy(byte, &(uint64_t){random_next(&seed)}, bytes);
}

DAT_LMR_TRIPLET local(const region_t *region, size_t offset, size_t bytes)
{
    return (DAT_LMR_TRIPLET){(uintptr_t)region->data + offset,
                             (DAT_SEG_LENGTH)bytes, region->lmr_context};
}

DAT_RMR_TRIPLET remote(const region_t *region, size_t offset, size_t bytes)
{
    return (DAT_RMR_TRIPLET){(uintptr_t)region->data + offset,
                             (DAT_SEG_LENGTH)bytes, region->rmr_context};
}

/* ----------------------------------------------------------------- end --- */

/* EVDs, and a listening PSP. */
static void open_queues(end_t *end)
{
    DAT_OK(dat_evd_create(end->ia, END_QLEN, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG,
                          &end->cr));
    DAT_OK(dat_evd_create(end->ia, END_QLEN, DAT_HANDLE_NULL,
                          DAT_EVD_CONNECTION_FLAG, &end->conn));
    DAT_OK(dat_evd_create(end->ia, END_QLEN, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                          &end->recv));
    DAT_OK(dat_evd_create(end->ia, END_QLEN, DAT_HANDLE_NULL,
                          DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG,
                          &end->request));
    DAT_OK(dat_psp_create_any(end->ia, &end->qual, end->cr,
                              DAT_PSP_CONSUMER_FLAG, &end->psp));
}

void end_open_on(end_t *end, const char *ia_name, const DAT_EP_ATTR *attr)
{
    memset(end, 0, sizeof *end);
    DAT_OK(dat_ia_open((DAT_NAME_PTR)ia_name, 16, &end->async, &end->ia));
    DAT_OK(dat_pz_create(end->ia, &end->pz));
    open_queues(end);
    DAT_OK(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->conn,
                         attr, &end->ep));
}

void end_open(end_t *end, const DAT_EP_ATTR *attr)
{
    end_open_on(end, IA_NAME, attr);
}

void end_open_memory(end_t *end, memory_kind_t kind, size_t bytes,
                     DAT_MEM_PRIV_FLAGS privileges)
{
    end_open(end, NULL);
    region_create(&end->mem, kind, bytes, end->ia, end->pz, privileges);
}

void end_open_beside(end_t *end, const end_t *other)
{
    *end = (end_t){.ia = other->ia, .pz = other->pz};
    open_queues(end);
}

void end_close_beside(end_t *end)
{
    if (end->ep)
        DAT_OK(dat_ep_free(end->ep));
    if (end->mem.all)
        region_destroy(&end->mem);
    if (end->psp)
        DAT_OK(dat_psp_free(end->psp));
    DAT_OK(dat_evd_free(end->request));
    DAT_OK(dat_evd_free(end->recv));
    DAT_OK(dat_evd_free(end->conn));
    DAT_OK(dat_evd_free(end->cr));
}

void end_close(end_t *end)
{
    end_close_beside(end);
    DAT_OK(dat_pz_free(end->pz));
    DAT_OK(dat_ia_close(end->ia, DAT_CLOSE_GRACEFUL_FLAG));
    memset(end, 0, sizeof *end);
}

void ends_open(end_t *a, end_t *b, memory_kind_t kind, size_t bytes)
{
    end_open_memory(a, kind, bytes, DAT_MEM_PRIV_ALL_FLAG);
    end_open_memory(b, kind, bytes, DAT_MEM_PRIV_ALL_FLAG);
}

void ends_close(end_t *a, end_t *b)
{
    end_close(a);
    end_close(b);
}

DAT_RETURN end_connect(end_t *end, DAT_CONN_QUAL qual)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    return dat_ep_connect(end->ep, attr.ia_address_ptr, qual, WAIT_MS * 1000, 0,
                          NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CR_HANDLE end_asked(end_t *end)
{
    return EXPECT_EVENT(end->cr, DAT_CONNECTION_REQUEST_EVENT)
        .event_data.cr_arrival_event_data.cr_handle;
}

void end_accept(end_t *end)
{
    DAT_OK(dat_cr_accept(end_asked(end), end->ep, 0, NULL));
    DAT_EVENT event = EXPECT_EVENT(end->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    assert_ptr_equal(event.event_data.connect_event_data.ep_handle, end->ep);
}

void end_connect_both(end_t *active, end_t *passive)
{
    DAT_OK(end_connect(active, passive->qual));
    end_accept(passive);
    EXPECT_EVENT(active->conn, DAT_CONNECTION_EVENT_ESTABLISHED);
}

void end_post_add(end_t *end, const region_t *there, unsigned n)
{
    DAT_LMR_TRIPLET old = local(&end->mem, 8 * (size_t)n, 8);
    DAT_RMR_TRIPLET word = remote(there, 0, 8);
    DAT_OK(dat_ib_post_fetch_and_add(end->ep, 1, &old, cookie(n), &word,
                                     DAT_COMPLETION_DEFAULT_FLAG));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/program_data.h"

#include <link.h>
#include <unistd.h>

#include "omp/runtime/fail.h"

struct range {
    uintptr_t first, last;
};

/* The first object is the program. */
static int visit(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct range *data = context;
    uintptr_t relro = 0;
    (void)bytes;
    if (info->dlpi_addr)
        fail(NOT_SERVED, "this program is position-independent (PIE), so its "
                         "data lie elsewhere in each rank: link it with "
                         "railomp-cc");
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            *data = (struct range){p->p_vaddr, p->p_vaddr + p->p_memsz};
        if (p->p_type == PT_GNU_RELRO)
            relro = p->p_vaddr + p->p_memsz;
    }
    if (relro > data->first)
        data->first = relro;
    return 1;
}

void program_data(void **start, size_t *bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct range data = {0, 0};
    dl_iterate_phdr(visit, &data);
    if (data.first % page)
        fail(NOT_SERVED, "this program's data do not begin with a page: link "
                         "it with railomp-cc");
    *start = (void *)data.first;
    *bytes = (data.last - data.first + page - 1) & -page;
}

static int add_segments(struct dl_phdr_info *info, size_t bytes, void *context)
{
    uint64_t *sum = context;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uint64_t *at = (const void *)(info->dlpi_addr + p->p_vaddr);
        const size_t words = p->p_memsz / sizeof *at;
        if (p->p_type != PT_LOAD || p->p_flags & PF_W)
            continue;
        for (size_t w = 0; w < words; w++) /* FNV-1a, by words */
            *sum = (*sum ^ at[w]) * UINT64_C(0x100000001b3);
    }
    return 1;
}

uint64_t program_sum(void)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    dl_iterate_phdr(add_segments, &sum);
    return sum;
}

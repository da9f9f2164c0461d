/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/program_data.h"

#include <link.h>
#include <stdint.h>
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* The linker has no option for what a shared library calls. So the addresses
 * that the dynamic linker has written for the library are replaced. */
#include "omp/runtime/library_heap.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/wrapper/program.h"

static const struct replaced {
    const char *name;
    uintptr_t by;
} all_replaced[] = {
    {"malloc", (uintptr_t)railomp_malloc},
    {"calloc", (uintptr_t)railomp_calloc},
    {"realloc", (uintptr_t)railomp_realloc},
    {"free", (uintptr_t)railomp_free},
};
enum { REPLACED = sizeof all_replaced / sizeof *all_replaced };

/* The tables of a library; the dynamic linker has made addresses of them. */
struct library {
    uintptr_t base;
    const ElfW(Sym) * symbol;
    const char *names;
    const ElfW(Rela) * calls, *data;
    size_t call_bytes, data_bytes;
};

static void set_address(uintptr_t *at, uintptr_t value)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)at & -page);
    if (mprotect(start, page, PROT_READ | PROT_WRITE))
        fail(FAILED, "sharing the heap of libgfortran: %s", strerror(errno));
    *at = value;
}

static void replace(const struct library *l, const ElfW(Rela) * table,
                    size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *table; i++) {
        const unsigned type = ELF64_R_TYPE(table[i].r_info);
        const char *name =
            l->names + l->symbol[ELF64_R_SYM(table[i].r_info)].st_name;
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        for (unsigned k = 0; k < REPLACED; k++)
            if (!strcmp(name, all_replaced[k].name))
                set_address((uintptr_t *)(l->base + table[i].r_offset),
                            all_replaced[k].by);
    }
}

static void read_dynamic(struct library *l, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        const void *p = (const void *)d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB:
            l->symbol = p;
            break;
        case DT_STRTAB:
            l->names = p;
            break;
        case DT_JMPREL:
            l->calls = p;
            break;
        case DT_PLTRELSZ:
            l->call_bytes = d->d_un.d_val;
            break;
        case DT_RELA:
            l->data = p;
            break;
        case DT_RELASZ:
            l->data_bytes = d->d_un.d_val;
        }
    }
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct library l = {.base = info->dlpi_addr};
    (void)bytes, (void)context;
    if (!strstr(info->dlpi_name, "/libgfortran.so"))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&l, (const void *)(info->dlpi_addr +
                                            info->dlpi_phdr[i].p_vaddr));
    if (!l.symbol || !l.names)
        return 1;
    replace(&l, l.calls, l.calls ? l.call_bytes : 0);
    replace(&l, l.data, l.data ? l.data_bytes : 0);
    return 1;
}

void library_heap_share(void)
{
    dl_iterate_phdr(visit, NULL);
}

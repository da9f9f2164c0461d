/* SPDX-License-Identifier: BSD-3-Clause */
/* The linker has no option for what a shared library calls. So the addresses
 * that the dynamic linker has written for the library are replaced. */
#include "omp/runtime/library_heap.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

/* ----------------------------------------------- what the C library calls */

static __thread unsigned sharing;

void railomp_shares_heap(bool shares)
{
    sharing += shares ? 1 : -1;
}

static void *libc_malloc(size_t bytes)
{
    return sharing ? railomp_malloc(bytes) : malloc(bytes);
}

static void *libc_calloc(size_t count, size_t bytes)
{
    return sharing ? railomp_calloc(count, bytes) : calloc(count, bytes);
}

static void *libc_realloc(void *p, size_t bytes)
{
    return (p ? memory_is_shared(p) : sharing) ? railomp_realloc(p, bytes)
                                               : realloc(p, bytes);
}

/* -------------------------------------------------------------- libraries */

enum { REPLACED = 4 };
static const struct replacing {
    const char *library; /* a part of its path */
    struct {
        const char *name;
        uintptr_t by;
    } all[REPLACED];
} libraries[] = {
    {"/libgfortran.so",
     {{"malloc", (uintptr_t)railomp_malloc},
      {"calloc", (uintptr_t)railomp_calloc},
      {"realloc", (uintptr_t)railomp_realloc},
      {"free", (uintptr_t)railomp_free}}},
    {"/libc.so.",
     {{"malloc", (uintptr_t)libc_malloc},
      {"calloc", (uintptr_t)libc_calloc},
      {"realloc", (uintptr_t)libc_realloc},
      {"free", (uintptr_t)railomp_free}}},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* The tables of a library; the dynamic linker has made addresses of them. */
struct library {
    const struct replacing *replacing;
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
        fail(FAILED, "sharing the heap of libraries: %s", strerror(errno));
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
            if (!strcmp(name, l->replacing->all[k].name))
                set_address((uintptr_t *)(l->base + table[i].r_offset),
                            l->replacing->all[k].by);
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

static void share(struct library *l, const struct dl_phdr_info *info)
{
    l->base = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(l,
                         (const void *)(l->base + info->dlpi_phdr[i].p_vaddr));
    if (!l->symbol || !l->names)
        return;
    replace(l, l->calls, l->calls ? l->call_bytes : 0);
    replace(l, l->data, l->data ? l->data_bytes : 0);
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes, (void)context;
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (strstr(info->dlpi_name, libraries[i].library))
            share(&(struct library){.replacing = &libraries[i]}, info);
    return 0;
}

void library_heap_share(void)
{
    dl_iterate_phdr(visit, NULL);
}

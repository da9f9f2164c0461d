/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program may look for a function by its name, to find out whether its MPI
 * has it. So this library must not offer what the MPI below lacks, which is
 * known at run time only. Such names are taken out of its table of dynamic
 * symbols: the loader passes over one that has no value.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layer.h"

#define LONGEST 64 /* name */

/* The dynamic symbols of this library. */
struct table {
    ElfW(Sym) * symbols;
    const char *names;
    size_t number;
};

static void *address_of(const struct link_map *map, ElfW(Addr) value)
{
    return (void *)(value >= map->l_addr ? value : map->l_addr + value);
}

/* DT_HASH has their number. */
static bool find_table(struct table *t)
{
    Dl_info info;
    struct link_map *map;
    const ElfW(Dyn) * entry;
    const Elf_Symndx *hash = NULL;
    if (!dladdr1((void *)find_table, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    *t = (struct table){0};
    for (entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        void *at = address_of(map, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            t->symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            t->names = at;
        else if (entry->d_tag == DT_HASH)
            hash = at;
    }
    t->number = hash ? hash[1] : 0;
    return t->symbols && t->names && t->number;
}

/* PMPI_Allgather_init of MPI_Allgather_init; of Fortran's names, too:
 * mpi_allgather_init, with _ or __ behind it, in capitals, with _f08_, and
 * ompi_allgather_init_f. */
static bool below_name(const char *name, char below[LONGEST])
{
    size_t ahead = strncmp(name, "ompi_", 5) ? 4 : 5;
    if (strncasecmp(name + ahead - 4, "mpi_", 4))
        return false;
    size_t n = (size_t)snprintf(below, LONGEST, "PMPI_%s", name + ahead);
    if (n >= LONGEST)
        return false;
    for (size_t i = 6; i < n; i++)
        below[i] = (char)tolower(below[i]);
    below[5] = (char)toupper(below[5]);
    while (below[n - 1] == '_')
        below[--n] = '\0';
    if (ahead == 5 && n > 2)
        below[n - 2] = '\0';
    else if (n > 4 && !strcmp(below + n - 4, "_f08"))
        below[n - 4] = '\0';
    return true;
}

static bool is_lacking(const struct table *t, const ElfW(Sym) * symbol)
{
    char below[LONGEST];
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
           below_name(t->names + symbol->st_name, below) &&
           !dlsym(RTLD_DEFAULT, below);
}

/* Where it is not allowed to write there (SELinux), the names stay. */
void offers_limit(void)
{
    struct table t;
    if (!find_table(&t))
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)t.symbols & ~(page - 1);
    const size_t bytes = (uintptr_t)(t.symbols + t.number) - begin;
    for (size_t i = 0; i < t.number; i++) {
        if (!is_lacking(&t, &t.symbols[i]))
            continue;
        if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE))
            return;
        t.symbols[i].st_value = 0;
    }
    mprotect((void *)begin, bytes, PROT_READ);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs test with dlsym or a weak symbol whether their MPI has a function.
 * So this library must hide those of its functions that the MPI below lacks,
 * which is known at run time only. It edits its own table of dynamic symbols:
 *
 *   - If the MPI is loaded, such a name gets no value: the loader skips it.
 *   - If a module may load the MPI later, its symbols are bound before the
 *     first call of this library. So the names become STT_GNU_IFUNC: the loader
 *     calls a function that looks at what is loaded then.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/below/below.h"

#define LONGEST 64 /* bytes of a name */

/* The dynamic symbols of a library. */
struct table {
    ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu_hash; /* finds the defined ones; or NULL */
    size_t number;            /* needs DT_HASH, which this library has */
};

static void *address_of(const struct link_map *map, ElfW(Addr) value)
{
    return (void *)(value >= map->l_addr ? value : map->l_addr + value);
}

static struct table table_of(const struct link_map *map)
{
    struct table t = {0};
    for (const ElfW(Dyn) *e = map->l_ld; e && e->d_tag != DT_NULL; e++) {
        void *at = address_of(map, e->d_un.d_ptr);
        if (e->d_tag == DT_SYMTAB)
            t.symbols = at;
        else if (e->d_tag == DT_STRTAB)
            t.names = at;
        else if (e->d_tag == DT_GNU_HASH)
            t.gnu_hash = at;
        else if (e->d_tag == DT_HASH)
            t.number = ((const Elf_Symndx *)at)[1];
    }
    return t;
}

static const struct link_map *own_map(void)
{
    Dl_info info;
    struct link_map *map;
    return dladdr1((void *)own_map, &info, (void **)&map, RTLD_DL_LINKMAP)
               ? map
               : NULL;
}

/* The GNU hash table begins with the numbers of buckets, of the first symbol in
 * it, and of the words of a Bloom filter, which is skipped here. */
static ElfW(Sym) * find(const struct table *t, const char *name)
{
    uint32_t hash = 5381;
    if (!t->gnu_hash || !t->symbols || !t->names)
        return NULL;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    const uint32_t *head = t->gnu_hash;
    const uint32_t *buckets =
        (const uint32_t *)((const ElfW(Addr) *)(head + 4) + head[2]);
    const uint32_t *hashes = buckets + head[0];
    uint32_t at = head[0] ? buckets[hash % head[0]] : 0;
    for (; at >= head[1]; at++) {
        uint32_t its = hashes[at - head[1]];
        if ((its | 1) == (hash | 1) &&
            !strcmp(t->names + t->symbols[at].st_name, name))
            return &t->symbols[at];
        if (its & 1)
            return NULL;
    }
    return NULL;
}

/* Has any loaded library a function of this name? Unlike dlsym, this also finds
 * libraries that one module keeps for itself, or that are being loaded. */
static bool is_loaded(const char *name)
{
    const struct link_map *map = own_map();
    while (map && map->l_prev)
        map = map->l_prev;
    for (; map; map = map->l_next) {
        const struct table t = table_of(map);
        const ElfW(Sym) *found = find(&t, name);
        if (found && found->st_shndx != SHN_UNDEF && found->st_value)
            return true;
    }
    return false;
}

/* False where that is forbidden (SELinux): the table stays as it is. */
static bool protect(const struct table *t, int how)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)t->symbols & ~(page - 1);
    return !mprotect((void *)begin, (uintptr_t)(t->symbols + t->number) - begin,
                     how);
}

/* ------------------------------------------------ the MPI is loaded --- */

/* PMPIX_Comm_shrink for MPIX_Comm_shrink.
 * PMPI_Allgather_init for MPI_Allgather_init and for its Fortran names:
 * mpi_allgather_init (with _, __, _f08_), MPI_ALLGATHER_INIT, and
 * ompi_allgather_init_f. */
static bool below_name(const char *name, char below[LONGEST])
{
    size_t prefix = strncmp(name, "ompi_", 5) ? 4 : 5;
    if (!strncmp(name, "MPIX_", 5))
        return snprintf(below, LONGEST, "P%s", name) < LONGEST;
    if (strncasecmp(name + prefix - 4, "mpi_", 4))
        return false;
    size_t n = (size_t)snprintf(below, LONGEST, "PMPI_%s", name + prefix);
    if (n >= LONGEST)
        return false;
    for (size_t i = 6; i < n; i++)
        below[i] = (char)tolower(below[i]);
    below[5] = (char)toupper(below[5]);
    while (below[n - 1] == '_')
        below[--n] = '\0';
    if (prefix == 5 && n > 2)
        below[n - 2] = '\0';
    else if (n > 4 && !strcmp(below + n - 4, "_f08"))
        below[n - 4] = '\0';
    return true;
}

void exported_names_hide(void)
{
    const struct link_map *map = own_map();
    const struct table t = map ? table_of(map) : (struct table){0};
    char below[LONGEST];
    if (!t.number || !protect(&t, PROT_READ | PROT_WRITE))
        return;
    for (size_t i = 0; i < t.number; i++) {
        ElfW(Sym) *symbol = &t.symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
            below_name(t.names + symbol->st_name, below) && !is_loaded(below))
            symbol->st_value = 0;
    }
    protect(&t, PROT_READ);
}

/* -------------------------------------------- no MPI is loaded yet --- */

/* Without an MPI the names stay: nobody calls them, and some programs do not
 * expect that dlsym returns NULL without an error. */
static bool is_offered(const char *below)
{
    return is_loaded(below) || !is_loaded("PMPI_Init");
}

#define CALL(name)                                                             \
    static void *choose_##name(void)                                           \
    {                                                                          \
        return is_offered("PMPI_" #name) ? (void *)MPI_##name : NULL;          \
    }
PMPI_NEWER
PMPI_LARGE
#undef CALL

static void *choose_revoke(void)
{
    return is_offered("PMPIX_Comm_revoke") ? (void *)MPIX_Comm_revoke : NULL;
}

static void *choose_shrink(void)
{
    return is_offered("PMPIX_Comm_shrink") ? (void *)MPIX_Comm_shrink : NULL;
}

static const struct {
    const char *name;
    void *(*choose)(void);
} choices[] = {
#define CALL(name) {"MPI_" #name, choose_##name},
    PMPI_NEWER PMPI_LARGE
#undef CALL
    {"MPIX_Comm_revoke", choose_revoke},
    {"MPIX_Comm_shrink", choose_shrink},
};

void exported_names_defer(void)
{
    const struct link_map *map = own_map();
    const struct table t = map ? table_of(map) : (struct table){0};
    if (!t.number || !protect(&t, PROT_READ | PROT_WRITE))
        return;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        ElfW(Sym) *symbol = find(&t, choices[i].name);
        if (!symbol)
            continue;
        symbol->st_info = STB_GLOBAL << 4 | STT_GNU_IFUNC;
        symbol->st_value = (ElfW(Addr))choices[i].choose - map->l_addr;
    }
    protect(&t, PROT_READ);
}

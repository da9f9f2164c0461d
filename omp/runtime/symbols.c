/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's file; NULL: it can't be read. */
static const char *map_file(size_t *bytes)
{
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat s;
    void *p = MAP_FAILED;
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &s) && s.st_size > 0) {
        *bytes = (size_t)s.st_size;
        p = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

/* The kernel and the loader have accepted the file's head, but they do not use
 * its sections. */
static bool is_within(const ElfW(Shdr) * s, size_t bytes)
{
    return s->sh_offset <= bytes && s->sh_size <= bytes - s->sh_offset;
}

static const ElfW(Shdr) * find_table(const char *file, size_t bytes)
{
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *section = (const void *)(file + head->e_shoff);
    if (head->e_shoff > bytes ||
        head->e_shnum > (bytes - head->e_shoff) / sizeof *section)
        return NULL;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = &section[i];
        if (s->sh_type == SHT_SYMTAB && s->sh_link < head->e_shnum &&
            is_within(s, bytes) && is_within(&section[s->sh_link], bytes))
            return s;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

const struct symbol *symbols_read(size_t *count)
{
    size_t bytes = 0;
    const char *file = map_file(&bytes);
    const ElfW(Shdr) *table = file ? find_table(file, bytes) : NULL;
    *count = 0;
    if (!table)
        return NULL;
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *names =
        (const ElfW(Shdr) *)(file + head->e_shoff) + table->sh_link;
    const ElfW(Sym) *symbol = (const void *)(file + table->sh_offset);
    const size_t all = table->sh_size / sizeof *symbol;
    struct symbol *to = malloc((all + 1) * sizeof *to);
    for (size_t i = 0; to && i < all; i++) {
        const unsigned type = ELF64_ST_TYPE(symbol[i].st_info);
        if ((type == STT_FUNC || type == STT_OBJECT) && symbol[i].st_size &&
            symbol[i].st_shndx != SHN_UNDEF &&
            symbol[i].st_name < names->sh_size)
            to[(*count)++] = (struct symbol){
                symbol[i].st_value, symbol[i].st_size,
                file + names->sh_offset + symbol[i].st_name, type == STT_FUNC};
    }
    if (to)
        qsort(to, *count, sizeof *to, compare);
    return to;
}

static size_t common(const struct symbol *s, uintptr_t start, size_t bytes)
{
    const uintptr_t first = s->start > start ? s->start : start;
    const uintptr_t end = s->start + s->bytes, other = start + bytes;
    const uintptr_t last = end < other ? end : other;
    return last > first ? last - first : 0;
}

const struct symbol *symbols_in(const struct symbol *all, size_t count,
                                uintptr_t start, size_t bytes)
{
    const struct symbol *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count && all[i].start < start + bytes; i++)
        if (common(&all[i], start, bytes) > most) {
            found = &all[i];
            most = common(found, start, bytes);
        }
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/statistics/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
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

static bool are_strings(const char *file, const ElfW(Shdr) * s, size_t bytes)
{
    return is_within(s, bytes) && s->sh_size &&
           !file[s->sh_offset + s->sh_size - 1];
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
            is_within(s, bytes) &&
            are_strings(file, &section[s->sh_link], bytes))
            return s;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void find_reach(struct symbol *all, size_t count)
{
    uintptr_t reach = 0;
    for (size_t i = 0; i < count; i++) {
        const uintptr_t end = all[i].start + all[i].bytes;
        reach = end > reach ? end : reach;
        all[i].reach = reach;
    }
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
            to[(*count)++] = (struct symbol){.start = symbol[i].st_value,
                                             .bytes = symbol[i].st_size,
                                             .name = file + names->sh_offset +
                                                     symbol[i].st_name};
    }
    if (to) {
        qsort(to, *count, sizeof *to, compare);
        find_reach(to, *count);
    }
    return to;
}

static size_t common(const struct symbol *s, uintptr_t start, size_t bytes)
{
    const uintptr_t first = s->start > start ? s->start : start;
    const uintptr_t end = s->start + s->bytes, other = start + bytes;
    const uintptr_t last = end < other ? end : other;
    return last > first ? last - first : 0;
}

/* How many of them start below. */
static size_t count_below(const struct symbol *all, size_t count, uintptr_t end)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (all[middle].start < end)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

const struct symbol *symbols_in(const struct symbol *all, size_t count,
                                uintptr_t start, size_t bytes)
{
    const struct symbol *found = NULL;
    size_t most = 0;
    for (size_t i = count_below(all, count, start + bytes);
         i && all[i - 1].reach > start; i--)
        if (common(&all[i - 1], start, bytes) >= most) {
            found = &all[i - 1];
            most = common(found, start, bytes);
        }
    return most ? found : NULL;
}

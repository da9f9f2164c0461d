/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that `auto` selects by. What is accepted can be written, read
 * again, and chooses the same. */
#include "coll/select/table.h"
#include "fuzz.h"

#define RAILS "shm0,shm1"

/* Before an input that begins with a row: what this machine writes. */
static void add_head(struct content *c)
{
    char *text = NULL;
    size_t size = 0;
    const dcoll_table_t none = {0};
    FILE *file = open_memstream(&text, &size);
    must(file != NULL);
    dcoll_table_write(file, &none, RAILS, NULL);
    must(fclose(file) == 0);
    content_add(c, text, size);
    free(text);
}

static void write_and_read(const dcoll_table_t *table)
{
    struct content c;
    dcoll_table_t again;
    char why[256] = "", *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    must(file != NULL);
    dcoll_table_write(file, table, RAILS, NULL);
    must(fclose(file) == 0);
    content_open(&c);
    content_add(&c, text, size);
    must(dcoll_table_load(c.path, RAILS, &again, why, sizeof why) == 0);
    must(again.count == table->count);
    must(dcoll_table_checksum(&again) == dcoll_table_checksum(table));
    dcoll_table_free(&again);
    content_close(&c);
    free(text);
}

static void use(dcoll_table_t *table)
{
    static const unsigned begin[] = {0, 2, 4};
    const dcoll_shape_t shape = {
        .nranks = 4, .nnodes = 2, .node_begin = begin, .ports = 2};
    for (unsigned c = 0; c < DCOLL_COLLECTIVES; c++) {
        dcoll_args_t args = {
            .collective = (dcoll_collective_t)c, .bytes = 1000, .depth = 2};
        must(dcoll_table_select(table, DRAIL_ENGINE_NONTHREADED, &shape,
                                &args) != NULL);
    }
    dcoll_table_keep(table, &shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct content c;
    dcoll_table_t table;
    char why[256] = "";
    content_open(&c);
    if (size && *data != 'd') /* "dcoll-table" */
        add_head(&c);
    content_add(&c, data, size);
    if (dcoll_table_load(c.path, RAILS, &table, why, sizeof why)) {
        must(*why && !strchr(why, '\n'));
    } else {
        write_and_read(&table);
        use(&table);
    }
    dcoll_table_free(&table);
    content_close(&c);
    return 0;
}

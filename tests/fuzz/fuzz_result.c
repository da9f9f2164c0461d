/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of railbench in JSON, as `railbench diff` reads them. */
#include <math.h>

#include "bench/diff/result_read.h"
#include "fuzz.h"

static void look(const json_value_t *value)
{
    for (; value; value = value->next) {
        must(value->type != JSON_NUMBER || isfinite(value->number));
        must((value->type == JSON_STRING) == (value->string != NULL));
        look(value->first);
    }
}

static void parse(const uint8_t *data, size_t size)
{
    /* of exactly that size, so that a byte more is noticed */
    char *text = malloc(size ? size : 1);
    json_error_t error = {0};
    must(text != NULL);
    if (size)
        memcpy(text, data, size);
    json_value_t *value = json_parse(text, size, &error);
    must(value || (error.line && error.column && *error.text));
    look(value);
    json_release(value);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct content c;
    record_t record;
    char error[256] = "";
    parse(data, size);
    content_open(&c);
    content_add(&c, data, size);
    if (record_load(&record, c.path, error, sizeof error))
        must(*error);
    else
        for (unsigned i = 0; i < record.count; i++)
            for (unsigned k = 0; k < record.series[i].count; k++)
                must(isfinite(record.series[i].us[k]) &&
                     isfinite(record.series[i].MBps[k]));
    record_free(&record);
    content_close(&c);
    return 0;
}

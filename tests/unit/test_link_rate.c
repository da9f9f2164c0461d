/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/limits/link_rate.c: what several rails carry together. */
#include <math.h>
#include "unit.h"
#include "bench/limits/link_rate.h"

static void nearly(double is, double wanted)
{
    assert_true(fabs(is - wanted) < 1e-6);
}

static void ports_add_up(void **state)
{
    drail_rail_info_t rails[] = {
        {.address = "1", .adapter = "x", .nominal_MBps = 500},
        {.address = "2", .adapter = "y", .nominal_MBps = 300}};
    nearly(link_rate(rails, 1), 500);
    nearly(link_rate(rails, 2), 800);
    rails[1].nominal_MBps = 0;
    nearly(link_rate(rails, 2), 0);
}

static void port_counts_once(void **state)
{
    const drail_rail_info_t rails[] = {{.address = "1", .nominal_MBps = 500},
                                       {.address = "2", .nominal_MBps = 500},
                                       {.address = "1", .nominal_MBps = 500}};
    nearly(link_rate(rails, 3), 1000);
}

static void adapter_counts_if_it_has_a_rate(void **state)
{
    drail_rail_info_t rails[] = {
        {.address = "1", .adapter = "x", .nominal_MBps = 500},
        {.address = "2", .adapter = "x", .nominal_MBps = 500}};
    nearly(link_rate(rails, 2), 1000);
    rails[0].adapter_MBps = 300; /* the other rail does not pass it */
    nearly(link_rate(rails, 1), 300);
    nearly(link_rate(rails, 2), 800);
    rails[1].adapter_MBps = 300;
    nearly(link_rate(rails, 2), 300);
    rails[0].adapter_MBps = rails[1].adapter_MBps = 1200;
    nearly(link_rate(rails, 2), 1000);
}

/* Adapter x: two ports, 600; adapter y: 500. */
static void bus_bounds_its_adapters(void **state)
{
    drail_rail_info_t rails[] = {{.address = "1",
                                  .adapter = "x",
                                  .nominal_MBps = 500,
                                  .adapter_MBps = 600},
                                 {.address = "2",
                                  .adapter = "x",
                                  .nominal_MBps = 500,
                                  .adapter_MBps = 600},
                                 {.address = "3",
                                  .adapter = "y",
                                  .nominal_MBps = 500,
                                  .adapter_MBps = 700}};
    nearly(link_rate(rails, 3), 1100);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(rails[i].bus, sizeof rails[i].bus, "b");
        rails[i].bus_MBps = 900;
    }
    nearly(link_rate(rails, 3), 900);
    snprintf(rails[2].bus, sizeof rails[2].bus, "c");
    nearly(link_rate(rails, 3), 1100);
    rails[2].bus_MBps = 200;
    nearly(link_rate(rails, 3), 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_add_up),
        cmocka_unit_test(port_counts_once),
        cmocka_unit_test(adapter_counts_if_it_has_a_rate),
        cmocka_unit_test(bus_bounds_its_adapters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

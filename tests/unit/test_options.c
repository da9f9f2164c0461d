/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/options/options.c: what the command line accepts; a wrong one is told
 * in one line that names the option and the value. */
#include <unistd.h>
#include "unit.h"
#include "bench/options/plan.h"
#include "bench/test.h"

#define MAX_ARGS 12

static options_t opts;
static char message[1024];
static const option_table_t *parse_with = &test_bw.table;

/* Parses a line split at blanks, with stderr caught in message. */
static parsed_t parse(const char *line)
{
    char copy[512], *args[MAX_ARGS], *save = NULL;
    int nargs = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *arg = strtok_r(copy, " ", &save); arg && nargs < MAX_ARGS;
         arg = strtok_r(NULL, " ", &save))
        args[nargs++] = arg;

    FILE *caught = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(caught);
    fflush(stderr);
    dup2(fileno(caught), STDERR_FILENO);
    options_init(&opts, test_bw.sizes);
    parsed_t parsed = options_parse(&opts, parse_with, nargs, args);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(caught);
    message[fread(message, 1, sizeof message - 1, caught)] = '\0';
    fclose(caught);
    return parsed;
}

static void test_defaults(void **state)
{
    assert_int_equal(parse(""), PARSED_OK);
    assert_int_equal(opts.nengines, 3);
    assert_int_equal(opts.nrails, 2);
    assert_string_equal(opts.rails[0], "shm0");
    assert_string_equal(opts.rails[1], "shm1");
    assert_int_equal(opts.batch, 20);
    assert_int_equal(opts.nsizes, 23);
    assert_true(opts.precision == 0.025);
    assert_string_equal(message, "");
}

static void test_values(void **state)
{
    assert_int_equal(parse("--engine threaded,single --policy adaptive "
                           "--team=forkjoin"),
                     PARSED_OK);
    assert_int_equal(opts.nengines, 2);
    assert_int_equal(opts.engines[0], DRAIL_ENGINE_THREADED);
    assert_int_equal(opts.engines[1], DRAIL_ENGINE_SINGLE);
    assert_int_equal(opts.policies[0], DRAIL_POLICY_ADAPTIVE);
    assert_int_equal(opts.teams[0], DRAIL_TEAM_FORKJOIN);

    assert_int_equal(parse("--batch 7 --precision 1 --threshold 8K "
                           "--validate"),
                     PARSED_OK);
    assert_int_equal(opts.batch, 7);
    assert_true(opts.precision == 0.01);
    assert_int_equal(opts.threshold, 8192);
    assert_true(opts.validate);
    assert_int_equal(parse("--weights 2 --policy even,weighted --rails shm1"),
                     PARSED_OK);
    assert_int_equal(opts.nrails, 1);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *line, *option, *value;
    } wrong[] = {
        {"--engine warp", "--engine", "warp"},
        {"--engine single,single", "--engine", "single,single"},
        {"--engine single,", "--engine", "single,"},
        {"--policy best", "--policy", "best"},
        {"--team away", "--team", "away"},
        {"--rails nosuch", "--rails", "nosuch"},
        {"--rails shm0,shm0", "--rails", "shm0,shm0"},
        {"--rails=", "--rails", "''"},
        {"--sizes 8:4", "--sizes", "8:4"},
        {"--sizes 2G", "--sizes", "2G"},
        {"--batch 0", "--batch", "0"},
        {"--batch -1", "--batch", "-1"},
        {"--batch 1x", "--batch", "1x"},
        {"--iterations 99999999999999999999", "--iterations", "9999"},
        {"--repeat 1001", "--repeat", "1001"},
        {"--precision nan", "--precision", "nan"},
        {"--time-budget -5", "--time-budget", "-5"},
        {"--format xml", "--format", "xml"},
        {"--weights 1,2,3 --policy weighted", "--weights", "3"},
        {"--weights 0,0", "--weights", "0,0"},
        {"--weights 1,2", "--weights", "policy even"},
        {"--weights 1,2 --policy fixed,adaptive", "--weights",
         "policy fixed,adaptive"},
        {"--wait all", "--wait", "all"},
        {"--wait any,any", "--wait", "any,any"},
        {"--notify-by word", "--notify-by", "word"},
        {"--align 48", "--align", "48"},
        {"--eps 9", "--eps", "9"},
        {"--validate=yes", "--validate", "yes"},
        {"--output", "--output", "''"},
        {"--nonsense", "--nonsense", "--nonsense"},
        {"stray", "stray", "stray"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        parsed_t parsed = parse(wrong[i].line);
        char *newline = strchr(message, '\n');
        if (parsed != PARSED_WRONG || !strstr(message, wrong[i].option) ||
            !strstr(message, wrong[i].value) || !strstr(message, "allowed") ||
            !newline || newline[1])
            fail_msg("'%s': %d, \"%s\"", wrong[i].line, parsed, message);
    }
}

static void test_collectives(void **state)
{
    parse_with = &test_check.table;
    assert_int_equal(parse("--collective gather,barrier --shapes 2,8:4"),
                     PARSED_OK);
    assert_int_equal(opts.ncollectives, 2);
    assert_int_equal(opts.collectives[1], DCOLL_BARRIER);
    assert_int_equal(opts.nshapes, 2);
    assert_int_equal(opts.shapes[0].ranks, 2);
    assert_int_equal(opts.shapes[0].ppn, 0);
    assert_int_equal(opts.shapes[1].ppn, 4);
    static const char *const wrong[] = {
        "--collective gather,gather",
        "--collective all",
        "--shapes 0",
        "--shapes 4:0",
        "--shapes 4:",
        "--shapes 4:2:1",
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(parse(wrong[i]), PARSED_WRONG);

    parse_with = &test_allgather.table;
    assert_int_equal(parse("--algorithm auto,ring --zero-copy off --start "
                           "barrier --ports 3"),
                     PARSED_OK);
    assert_int_equal(opts.nalgorithms, 2);
    assert_string_equal(opts.algorithms[1], "ring");
    assert_int_equal(opts.zero_copy, ZERO_COPY_OFF);
    assert_int_equal(opts.start, START_BARRIER);
    assert_int_equal(opts.ports, 3);
    assert_int_equal(parse("--zero-copy maybe"), PARSED_WRONG);
    assert_non_null(strstr(message, "auto, on or off"));
    assert_int_equal(parse("--per-rail"), PARSED_WRONG);
    parse_with = &test_bw.table;
    assert_int_equal(parse("--algorithm ring"), PARSED_WRONG);
}

static void test_plan(void **state)
{
    plan_t plan;
    char text[128];
    assert_int_equal(parse("--policy even,adaptive --team resident,forkjoin"),
                     PARSED_OK);
    plan_make(&plan, &opts);
    /* single on 2 rails, nonthreaded x 2 policies, threaded x 2 x 2 */
    assert_int_equal(plan.count, 2 + 2 + 4);
    assert_int_equal(plan_single(&plan, 1, &plan.setups[0]), 1);
    assert_int_equal(plan_single(&plan, 2, &plan.setups[0]), -1);
    setup_rails(&plan.setups[1], &opts, text, sizeof text);
    assert_string_equal(text, "shm1");
    setup_rails(&plan.setups[2], &opts, text, sizeof text);
    assert_string_equal(text, "shm0+shm1");
    setup_label(&plan.setups[7], &opts, text, sizeof text);
    assert_string_equal(text, "threaded/forkjoin adaptive");

    /* single x 2, nonthreaded x 2, threaded: each by send and by immed */
    assert_int_equal(parse("--wait serial,any --notify-by send,immed"),
                     PARSED_OK);
    plan_make(&plan, &opts);
    assert_int_equal(plan.count, 2 * (2 + 2 + 1));
    assert_int_equal(plan_single(&plan, 1, &plan.setups[9]), 3);
    setup_label(&plan.setups[5], &opts, text, sizeof text);
    assert_string_equal(text, "nonthreaded/serial+immed");
    setup_label(&plan.setups[6], &opts, text, sizeof text);
    assert_string_equal(text, "nonthreaded/send");

    /* reads and sends know nothing of notifications */
    assert_int_equal(parse("--op send,put,get --notify-by send,immed"),
                     PARSED_OK);
    plan_make(&plan, &opts);
    assert_int_equal(plan.count, 4 * (2 + 1 + 1));
    assert_int_equal(plan_single(&plan, 1, &plan.setups[8]), 4);
    setup_label(&plan.setups[8], &opts, text, sizeof text);
    assert_string_equal(text, "nonthreaded/send-recv");
    assert_int_equal(plan.setups[8].op, OP_SEND);
    setup_label(&plan.setups[3], &opts, text, sizeof text);
    assert_string_equal(text, "single/get");

    /* all there is has room */
    assert_int_equal(
        parse("--op put,get,send "
              "--engine single,nonthreaded,threaded,auto --wait any,serial "
              "--notify-by auto,send,immed --team resident,forkjoin --policy "
              "even,weighted,adaptive,roundrobin,fixed"),
        PARSED_OK);
    plan_make(&plan, &opts);
    assert_in_range(plan.count + 9 * (DRAIL_MAX_RAILS - opts.nrails), 0,
                    PLAN_MAX);

    /* what is not compared is not told */
    assert_int_equal(parse("--engine nonthreaded --wait serial"), PARSED_OK);
    plan_make(&plan, &opts);
    setup_label(&plan.setups[0], &opts, text, sizeof text);
    assert_string_equal(text, "nonthreaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_values),
        cmocka_unit_test(test_wrong),       cmocka_unit_test(test_plan),
        cmocka_unit_test(test_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A process that ends, or a machine that loses power, at steps of everything that commits:
 * the table is the old or the new one, it is sound, and the next operation works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/fault_scenario.h"
#include "unit/test_support.h"

/* Run the scenario in a child that ends at a step. Returns its exit status. */
static int run_child(const fault_scenario *scenario, const char *folder, fault_mode mode,
                     int64_t step)
{
    pid_t child = fork();
    if (child == 0) {
        frz_error err = {0};
        fault_arm(mode, step);
        frz_env *env = scenario_env(1, NULL);
        frz_code rc = scenario_run(scenario->run, env, folder, &err);
        if (rc != FRZ_OK) {
            char text[1024];
            frz_error_format(&err, text, sizeof text);
            fprintf(stderr, "without a fault: %s\n", text);
        }
        if (rc == FRZ_OK && mode == FAULT_POWER) { /* what was reported must last */
            fault_storage_power_off();
            fault_vfs_power_off();
        }
        _exit(rc == FRZ_OK ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void end_at_each_step(fault_mode mode)
{
    for (size_t s = 0; s < scenario_count; s++) {
        int64_t step = 1, new_from = 0;
        for (int ended = FAULT_EXIT; ended == FAULT_EXIT; step = fault_next_step(step)) {
            char folder[SCENARIO_PATH];
            int was_new = 0;
            assert_int_equal(scenario_reset(&scenarios[s], folder), 0);
            ended = run_child(&scenarios[s], folder, mode, step);
            if (ended != FAULT_EXIT) {
                assert_int_equal(ended, 0);
            }
            if (scenario_check(&scenarios[s], folder, ended == 0, &was_new) != 0) {
                fail_msg("%s, ended at step %lld", scenarios[s].name, (long long)step);
            }
            new_from = was_new && new_from == 0 ? step : new_from;
        }
        printf("%s: ended at steps below %lld, the new table from step %lld on\n",
               scenarios[s].name, (long long)step, (long long)new_from);
        assert_true(step > 10);
    }
}

static void crash__a_killed_process_leaves_the_old_or_the_new_table(void **state)
{
    (void)state;
    end_at_each_step(FAULT_KILL);
}

static void crash__lost_power_leaves_the_old_or_the_new_table(void **state)
{
    (void)state;
    end_at_each_step(FAULT_POWER);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(crash__a_killed_process_leaves_the_old_or_the_new_table),
        cmocka_unit_test(crash__lost_power_leaves_the_old_or_the_new_table),
    };
    return cmocka_run_group_tests(tests, scenario_setup, scenario_teardown);
}

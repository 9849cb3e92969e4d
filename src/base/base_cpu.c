/*
 * What the processor offers beyond the baseline of its architecture, so that loops can be chosen
 * when the program runs.
 */
#include "base/base_internal.h"

#if defined(__x86_64__)

/* AVX2 machines have BMI2 too, but the first two generations of Zen deposit bits in microcode,
 * which is slower than doing without. */
static unsigned detect(void)
{
    __builtin_cpu_init();
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("znver1") &&
                !__builtin_cpu_is("znver2");
    return fast ? FRZ_CPU_AVX2 : 0;
}

#else

static unsigned detect(void)
{
    return 0;
}

#endif

frz_code frz_cpu_configure(frz_env *env, const char *spec, frz_error *err)
{
    frz_str name = frz_str_from(spec);
    if (name.len == 0 || frz_str_equal_nocase(name, FRZ_STR("auto"))) {
        env->cpu = detect();
        return FRZ_OK;
    }
    if (frz_str_equal_nocase(name, FRZ_STR("none"))) {
        env->cpu = 0;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_ARGUMENT, "FRZ_SIMD is \"%.*s\", expected auto or none",
                    FRZ_STR_ARG(name));
}

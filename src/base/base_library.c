/*
 * Libraries that are loaded on first use, because linking them would cost every process its start:
 * libcurl alone takes longer than a small update. Their headers are used, their functions are
 * looked up by name. A loaded library stays: they start threads and register handlers that outlive
 * a dlclose.
 */
#include <dlfcn.h>

#include "base/base.h"

static frz_code fail_load(const frz_library *library, const char *reason, frz_error *err)
{
    frz_code rc =
        frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s needs %s, which is not here: %s",
                 library->purpose, library->file, reason == NULL ? "no reason" : reason);
    frz_hint(err, "install the package %s", library->package);
    return rc;
}

frz_code frz_library_load(const frz_library *library, void *functions, frz_error *err)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return fail_load(library, dlerror(), err);
    }
    for (size_t i = 0; i < library->symbol_count; i++) {
        void *symbol = dlsym(handle, library->symbols[i]);
        if (symbol == NULL) {
            return fail_load(library, dlerror(), err);
        }
        memcpy((char *)functions + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return FRZ_OK;
}

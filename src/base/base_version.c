/* The library's version. */
#include "frazil/version.h"

const char *frz_version(void)
{
    return FRZ_VERSION_STRING;
}

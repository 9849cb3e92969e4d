/*
 * What requests over HTTP need without a network.
 */
#include "io/io_http.h"

#include <stdio.h>

frz_str frz_http_shown(const char *url, char *text, size_t size)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    size_t rest = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', rest);
    const char *from = at == NULL ? host : at + 1;
    int n =
        snprintf(text, size, "%.*s%.*s", (int)(host - url), url, (int)strcspn(from, "?#"), from);
    return (frz_str){text, FRZ_MIN((size_t)FRZ_MAX(n, 0), size - 1)};
}

frz_code frz_http_escape(frz_buf *out, frz_str text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < text.len && rc == FRZ_OK; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        rc = plain ? frz_buf_append_byte(out, c, err) : frz_buf_printf(out, err, "%%%02X", c);
    }
    return rc;
}

void frz_http_answer_reset(frz_http_answer *answer)
{
    frz_buf_reset(&answer->body);
}

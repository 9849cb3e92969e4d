/*
 * What showing a Parquet file as text and as JSON have in common.
 */
#include "cli_inspect.h"

#define FIRST_GUESS 256

frz_code inspect_go_on(frz_error *err)
{
    return cli_interrupted() ? cli_fail(err, FRZ_E_CANCELLED, "inspecting was cancelled") : FRZ_OK;
}

void inspect_path(cli_text *text, const frz_parquet_file *file, size_t column)
{
    size_t room = FIRST_GUESS;
    while (cli_text_reserve(text, room)) {
        size_t len = frz_parquet_column_path(file, column, text->data + text->len, room);
        if (len < room) {
            text->len += len;
            return;
        }
        room = len + 1;
    }
}

void inspect_bound(cli_text *text, const frz_parquet_file *file, size_t column,
                   frz_parquet_bytes value)
{
    size_t room = FIRST_GUESS;
    while (cli_text_reserve(text, room)) {
        size_t len = frz_parquet_bound_text(file, column, value, text->data + text->len, room);
        if (len < room) {
            text->len += len;
            return;
        }
        room = len + 1;
    }
}

const char *inspect_repetition(frz_parquet_repetition repetition)
{
    static const char *const names[] = {"required", "optional", "repeated"};
    return names[repetition];
}

bool inspect_is_utf8(frz_parquet_bytes bytes)
{
    uint32_t code;
    for (size_t at = 0; at < bytes.size;) {
        size_t size = cli_utf8_decode(bytes.data + at, bytes.size - at, &code);
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return true;
}

void inspect_json_text(cli_text *text, frz_parquet_bytes bytes)
{
    if (bytes.data == NULL) {
        cli_text_str(text, "null");
    } else if (inspect_is_utf8(bytes)) {
        cli_text_json_string(text, bytes.data, bytes.size);
    } else {
        cli_text_str(text, "{\"hex\":\"");
        cli_text_hex(text, (const uint8_t *)bytes.data, bytes.size);
        cli_text_str(text, "\"}");
    }
}

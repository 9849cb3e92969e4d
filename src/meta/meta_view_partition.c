/*
 * Partition tuples as text, in the form of partition paths: "cat=c0/ts_day=2024-01-01". Names and
 * values are encoded once, as forms encode them. spec: Partitioning
 */
#include <stdio.h>

#include "meta/meta_view.h"

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '.' || c == '_' || c == '*';
}

static frz_code put_encoded(frz_buf *out, frz_str text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < text.len && rc == FRZ_OK; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        rc = is_plain(c) ? frz_buf_append_byte(out, c, err)
             : c == ' '  ? frz_buf_append_byte(out, '+', err)
                         : frz_buf_printf(out, err, "%%%02X", c);
    }
    return rc;
}

/* Whole years since 1970, months since 1970-01, hours since 1970-01-01T00. */
static frz_code put_time_part(frz_transform_kind kind, int64_t value, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (kind == FRZ_TRANSFORM_YEAR) {
        return frz_buf_printf(out, err, "%04lld", (long long)value + 1970);
    }
    if (kind == FRZ_TRANSFORM_MONTH) {
        int64_t year = value / 12 - (value % 12 < 0), month = value - year * 12;
        return frz_buf_printf(out, err, "%04lld-%02lld", (long long)year + 1970,
                              (long long)month + 1);
    }
    int64_t days = kind == FRZ_TRANSFORM_DAY ? value : value / 24 - (value % 24 < 0);
    frz_value date = {.type = frz_type_primitive(FRZ_TYPE_DATE), .as.i32 = (int32_t)days};
    FRZ_TRY(frz_value_print(&date, out, err));
    if (kind == FRZ_TRANSFORM_HOUR) {
        FRZ_TRY(frz_buf_printf(out, err, "-%02lld", (long long)(value - days * 24)));
    }
out:
    return rc;
}

static frz_code put_value(const frz_partition_field *field, const frz_value *value, frz_buf *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_transform_kind kind = field->transform.kind;
    bool is_time = kind >= FRZ_TRANSFORM_YEAR && kind <= FRZ_TRANSFORM_HOUR;
    frz_buf text = FRZ_BUF_INIT(out->env, FRZ_BUF_NO_LIMIT);
    if (value == NULL || value->is_null) {
        return frz_buf_append_str(out, "null", err);
    }
    if (is_time && (value->type->id == FRZ_TYPE_INT || value->type->id == FRZ_TYPE_DATE)) {
        return put_time_part(kind, value->as.i32, out, err);
    }
    FRZ_TRY(frz_value_print(value, &text, err));
    FRZ_TRY(put_encoded(out, frz_buf_view(&text), err));
out:
    frz_buf_reset(&text);
    return rc;
}

static const frz_value *find_value(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->partition_count; i++) {
        if (entry->partition[i].field_id == field_id) {
            return &entry->partition[i].value;
        }
    }
    return NULL;
}

frz_code frz_entry_partition_text(const frz_table *table, const frz_entry *entry, frz_buf *out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_partition_spec *spec = frz_metadata_spec(&table->metadata, entry->spec_id);
    size_t start = out->len;
    for (size_t i = 0; spec != NULL && i < spec->field_count; i++) {
        const frz_partition_field *field = &spec->fields[i];
        if (out->len > start) {
            FRZ_TRY(frz_buf_append_byte(out, '/', err));
        }
        FRZ_TRY(put_encoded(out, field->name, err));
        FRZ_TRY(frz_buf_append_byte(out, '=', err));
        FRZ_TRY(put_value(field, find_value(entry, field->field_id), out, err));
    }
out:
    return rc;
}

frz_code meta_view_put_partition(meta_view *v, const frz_entry *entry, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = frz_entry_partition_text(v->table, entry, &text, err);
    if (rc == FRZ_OK) {
        rc = meta_view_put_str(v, text.len == 0 ? (frz_str){NULL, 0} : frz_buf_view(&text), err);
    }
    frz_buf_reset(&text);
    return rc;
}

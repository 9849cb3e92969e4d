/*
 * Steps that pass over values. Those of a record are made once and may be below themselves; a run
 * of values of which each is one number, or a known number of bytes, is one step.
 */
#include "format/avro/avro_internal.h"

static frz_code new_body(avro_plan *plan, avro_body **out, frz_error *err)
{
    avro_body *body = frz_arena_alloc(&plan->arena, sizeof *body);
    *out = body;
    return body == NULL ? frz_fail_nomem(err, sizeof *body) : FRZ_OK;
}

frz_code avro_body_add(avro_plan *plan, avro_body *body, const avro_op *op, frz_error *err)
{
    if (body->count == body->capacity) {
        size_t capacity = FRZ_MAX(body->capacity * 2, (size_t)4);
        avro_op *ops = frz_arena_array(&plan->arena, capacity, sizeof *ops);
        if (ops == NULL) {
            return frz_fail_nomem(err, capacity * sizeof *ops);
        }
        if (body->count > 0) {
            memcpy(ops, body->ops, body->count * sizeof *ops);
        }
        body->ops = ops;
        body->capacity = capacity;
    }
    body->ops[body->count++] = *op;
    return FRZ_OK;
}

/* One more value, or bytes, of what the step before may pass over, too. */
static frz_code add_run(avro_plan *plan, avro_body *body, avro_code code, size_t size,
                        frz_error *err)
{
    avro_op *last = body->count == 0 ? NULL : &body->ops[body->count - 1];
    if (size == 0) {
        return FRZ_OK;
    }
    if (last != NULL && last->code == code && frz_add_size(last->size, size, &last->size)) {
        return FRZ_OK;
    }
    return avro_body_add(plan, body, &(avro_op){.code = code, .size = size}, err);
}

static frz_code add_union(avro_plan *plan, avro_body *body, const avro_schema *schema,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *branches = frz_arena_array(&plan->arena, schema->field_count, sizeof *branches);
    if (branches == NULL) {
        return frz_fail_nomem(err, schema->field_count * sizeof *branches);
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        FRZ_TRY(avro_skip_add(plan, &branches[i], schema->fields[i].schema, err));
    }
    FRZ_TRY(avro_body_add(
        plan, body,
        &(avro_op){.code = AVRO_SKIP_UNION, .size = schema->field_count, .body = branches}, err));
out:
    return rc;
}

static frz_code add_items(avro_plan *plan, avro_body *body, const avro_schema *schema,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *item;
    FRZ_TRY(new_body(plan, &item, err));
    for (size_t i = 0; i < schema->field_count; i++) { /* a map's are a key and a value */
        item->least += schema->fields[i].schema->least;
        FRZ_TRY(avro_skip_add(plan, item, schema->fields[i].schema, err));
    }
    FRZ_TRY(avro_body_add(plan, body, &(avro_op){.code = AVRO_SKIP_ITEMS, .body = item}, err));
out:
    return rc;
}

static frz_code add_record(avro_plan *plan, avro_body *body, const avro_schema *schema,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *fields = plan->skips[schema->number];
    if (fields == NULL) {
        FRZ_TRY(new_body(plan, &fields, err));
        plan->skips[schema->number] = fields;
        for (size_t i = 0; i < schema->field_count; i++) {
            FRZ_TRY(avro_skip_add(plan, fields, schema->fields[i].schema, err));
        }
        fields->least = schema->least;
        fields->whole = true;
    }
    /* what is known by now and short stands here itself */
    if (fields->whole && fields->count == 0) {
        return FRZ_OK;
    }
    if (fields->whole && fields->count == 1 &&
        (fields->ops[0].code == AVRO_SKIP_BYTES_OF || fields->ops[0].code == AVRO_SKIP_VARINTS)) {
        return add_run(plan, body, fields->ops[0].code, fields->ops[0].size, err);
    }
    FRZ_TRY(avro_body_add(plan, body, &(avro_op){.code = AVRO_SKIP_RECORD, .body = fields}, err));
out:
    return rc;
}

frz_code avro_skip_add(avro_plan *plan, avro_body *body, const avro_schema *schema, frz_error *err)
{
    switch (schema->kind) {
    case AVRO_NULL:
        return FRZ_OK;
    case AVRO_BOOLEAN:
        return add_run(plan, body, AVRO_SKIP_BYTES_OF, 1, err);
    case AVRO_FLOAT:
        return add_run(plan, body, AVRO_SKIP_BYTES_OF, 4, err);
    case AVRO_DOUBLE:
        return add_run(plan, body, AVRO_SKIP_BYTES_OF, 8, err);
    case AVRO_FIXED:
        return add_run(plan, body, AVRO_SKIP_BYTES_OF, schema->size, err);
    case AVRO_INT:
    case AVRO_LONG:
    case AVRO_ENUM:
        return add_run(plan, body, AVRO_SKIP_VARINTS, 1, err);
    case AVRO_BYTES:
    case AVRO_STRING:
        return avro_body_add(plan, body, &(avro_op){.code = AVRO_SKIP_STRING}, err);
    case AVRO_ARRAY:
    case AVRO_MAP:
        return add_items(plan, body, schema, err);
    case AVRO_UNION:
        return add_union(plan, body, schema, err);
    case AVRO_RECORD:
        return add_record(plan, body, schema, err);
    }
    return frz_fail(err, FRZ_E_INTERNAL, "Avro has no kind %d", (int)schema->kind);
}

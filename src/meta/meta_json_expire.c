/*
 * Snapshots and references leave a metadata document, with whatever it says of them alone.
 * spec: snapshot-log; statistics files; Snapshot Retention Policy
 */
#include <stdlib.h>

#include "base/base_json.h"
#include "meta/meta_internal.h"

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_expired(const frz_expired *expired, const json_t *item)
{
    int64_t id = json_integer_value(json_object_get(item, "snapshot-id"));
    return expired->snapshot_count > 0 && bsearch(&id, expired->snapshots, expired->snapshot_count,
                                                  sizeof id, compare_ids) != NULL;
}

/* Take the items of expired snapshots out of a list, or, where order tells a history, all up to the
 * last of them. */
static bool filter(json_t *document, const char *key, const frz_expired *expired, bool is_history)
{
    json_t *list = json_object_get(document, key);
    if (!json_is_array(list)) {
        return true;
    }
    json_t *left = json_array();
    for (size_t i = 0; left != NULL && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        bool gone = is_expired(expired, item);
        if (gone && is_history) {
            (void)json_array_clear(left);
        } else if (!gone && json_array_append(left, item) != 0) {
            json_decref(left);
            left = NULL;
        }
    }
    return meta_json_put(document, key, left);
}

frz_code meta_json_expire(json_t *document, const frz_expired *expired, frz_error *err)
{
    bool ok = filter(document, "snapshots", expired, false) &&
              filter(document, "statistics", expired, false) &&
              filter(document, "partition-statistics", expired, false) &&
              filter(document, "snapshot-log", expired, true);
    json_t *refs =
        ok && expired->ref_count > 0 ? meta_json_own(document, "refs", JSON_OBJECT) : NULL;
    for (size_t i = 0; refs != NULL && i < expired->ref_count; i++) {
        (void)json_object_deln(refs, expired->refs[i].ptr, expired->refs[i].len);
    }
    return ok && (refs != NULL || expired->ref_count == 0) ? FRZ_OK : meta_json_no_memory(err);
}

/*
 * fuzz: a root manifest of a table with a column of every kind. What opens is listed and written
 * again.
 */
#include "fuzz_storage.h"
#include "meta/meta_manifest.h"

#define ROOT "file:///t/metadata/root.parquet"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In single quotes for the eye. */
static const char document[] =
    "{'format-version':4,'table-uuid':'8cff5649-77f3-5294-9913-351d87f5b508',"
    "'location':'file:///t','last-sequence-number':9,'last-updated-ms':1,'last-column-id':20,"
    "'current-schema-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':["
    "{'id':1,'name':'id','required':true,'type':'long'},"
    "{'id':2,'name':'name','required':false,'type':'string'},"
    "{'id':3,'name':'x','required':false,'type':'double'},"
    "{'id':4,'name':'d','required':false,'type':'decimal(20,2)'},"
    "{'id':5,'name':'u','required':false,'type':'uuid'},"
    "{'id':6,'name':'b','required':false,'type':'boolean'},"
    "{'id':7,'name':'t','required':false,'type':'timestamptz'},"
    "{'id':8,'name':'s','required':false,'type':{'type':'struct','fields':["
    "{'id':9,'name':'f','required':false,'type':'float'}]}},"
    "{'id':10,'name':'l','required':false,'type':{'type':'list','element-id':11,"
    "'element-required':false,'element':'int'}}]}],"
    "'partition-specs':[{'spec-id':0,'fields':[]},{'spec-id':1,'fields':[{'source-id':1,"
    "'field-id':1000,'name':'p','transform':'identity'}]}],'default-spec-id':0,"
    "'last-partition-id':1000,'sort-orders':[{'order-id':0,'fields':[]}],"
    "'default-sort-order-id':0,'next-row-id':99,'current-snapshot-id':5,"
    "'snapshots':[{'snapshot-id':5,'sequence-number':9,'timestamp-ms':1,'schema-id':0,"
    "'root-manifest':'metadata/root.parquet','first-row-id':0,'added-rows':0,"
    "'summary':{'operation':'append'}}]}";

static frz_table *open_table(const frz_env *env)
{
    char text[sizeof document];
    frz_table *table = NULL;
    for (size_t i = 0; i < sizeof document; i++) {
        text[i] = document[i] == '\'' ? '"' : document[i];
    }
    if (frz_table_parse(env, "fuzz", frz_str_from(text), NULL, &table, NULL) != FRZ_OK) {
        abort();
    }
    return table;
}

static void list_view(const frz_table *table, frz_table_view view)
{
    struct ArrowArrayStream stream = {0};
    if (frz_table_list(table, view, 0, &stream, NULL) == FRZ_OK) {
        stream.release(&stream);
    }
}

static void write_again(const frz_table *table, const frz_manifest *manifest)
{
    const frz_entry *const *live = NULL;
    size_t count = 0;
    int64_t bytes = 0;
    if (frz_manifest_live(manifest, &live, &count, NULL) == FRZ_OK) {
        (void)frz_manifest_write(table, "file:///t/metadata/new.parquet",
                                 frz_metadata_current_schema(&table->metadata), live, count, false,
                                 &bytes, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = ROOT, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = open_table(env);
    const frz_metadata *m = &table->metadata;
    frz_manifest *manifest = NULL;
    frz_error err = {0};
    if (frz_manifest_open(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                          &manifest, &err) == FRZ_OK) {
        list_view(table, FRZ_TABLE_VIEW_FILES);
        list_view(table, FRZ_TABLE_VIEW_MANIFESTS);
        write_again(table, manifest);
    }
    frz_manifest_free(manifest);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}

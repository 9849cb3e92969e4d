/*
 * What the fuzz targets of manifests share: a table with a column and a partition field of every
 * kind, whose only snapshot names one file.
 */
#ifndef FRZ_FUZZ_MANIFEST_H
#define FRZ_FUZZ_MANIFEST_H

#include "fuzz_storage.h"
#include "meta/meta_tree.h"

#define FUZZ_FILE "file:///t/metadata/file"

/* In single quotes for the eye; snapshot: the member that names the file. */
#define FUZZ_DOCUMENT(version, snapshot)                                                           \
    "{'format-version':" version ",'table-uuid':'8cff5649-77f3-5294-9913-351d87f5b508',"           \
    "'location':'file:///t','last-sequence-number':9,'last-updated-ms':1,'last-column-id':20,"     \
    "'current-schema-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':["                   \
    "{'id':1,'name':'id','required':true,'type':'long'},"                                          \
    "{'id':2,'name':'name','required':false,'type':'string'},"                                     \
    "{'id':3,'name':'x','required':false,'type':'double'},"                                        \
    "{'id':4,'name':'d','required':false,'type':'decimal(20,2)'},"                                 \
    "{'id':5,'name':'u','required':false,'type':'uuid'},"                                          \
    "{'id':6,'name':'b','required':false,'type':'boolean'},"                                       \
    "{'id':7,'name':'t','required':false,'type':'timestamptz'},"                                   \
    "{'id':8,'name':'s','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':9,'name':'f','required':false,'type':'float'}]}},"                                      \
    "{'id':10,'name':'l','required':false,'type':{'type':'list','element-id':11,"                  \
    "'element-required':false,'element':'int'}}]}],"                                               \
    "'partition-specs':[{'spec-id':0,'fields':[]},{'spec-id':1,'fields':[{'source-id':1,"          \
    "'field-id':1000,'name':'p','transform':'identity'},{'source-id':4,'field-id':1001,"           \
    "'name':'q','transform':'truncate[10]'}]}],'default-spec-id':0,"                               \
    "'last-partition-id':1001,'sort-orders':[{'order-id':0,'fields':[]}],"                         \
    "'default-sort-order-id':0,'next-row-id':99,'current-snapshot-id':5,"                          \
    "'snapshots':[{'snapshot-id':5,'sequence-number':9,'timestamp-ms':1,'schema-id':0," snapshot   \
    ",'first-row-id':0,'added-rows':0,'summary':{'operation':'append'}}]}"

#define FUZZ_DOCUMENT_MOST 4096

/* With the quotes of JSON. */
static inline frz_str fuzz_json(const char *document, char text[FUZZ_DOCUMENT_MOST])
{
    size_t len = strlen(document);
    assert(len < FUZZ_DOCUMENT_MOST);
    for (size_t i = 0; i < len; i++) {
        text[i] = document[i] == '\'' ? '"' : document[i];
    }
    return (frz_str){text, len};
}

/* The only file there is: the metadata of a table whose data is not there. */
#define FUZZ_METADATA "file:///t/metadata/v1.metadata.json"

static inline fuzz_storage fuzz_metadata(char text[FUZZ_DOCUMENT_MOST])
{
    frz_str json = fuzz_json(FUZZ_DOCUMENT("4", "'manifest-list':'file:///t/metadata/none'"), text);
    return (fuzz_storage){
        .location = FUZZ_METADATA, .data = (const uint8_t *)json.ptr, .size = json.len};
}

static inline frz_table *fuzz_table(const frz_env *env, const char *document)
{
    char text[FUZZ_DOCUMENT_MOST];
    frz_table *table = NULL;
    if (frz_table_parse(env, "fuzz", fuzz_json(document, text), NULL, &table, NULL) != FRZ_OK) {
        abort();
    }
    return table;
}

static inline frz_code fuzz_tree(const frz_table *table, frz_tree **out)
{
    static const frz_stats_choice all = {.all = true};
    const frz_metadata *m = &table->metadata;
    return frz_tree_open(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                         &all, out, NULL);
}

static inline bool fuzz_keep(void *ctx, const frz_entry *entry)
{
    (void)ctx;
    return (entry->record_count & 1) == 0 || entry->stats_count > 2;
}

/* Read all entries of a manifest; what was kept in the second reading is part of the first. */
static inline void fuzz_entries(const frz_env *env, const frz_tree *tree, size_t i, bool keep)
{
    const frz_entry_request request = {
        .stats = {.all = true}, .all_entries = !keep, .keep = keep ? fuzz_keep : NULL};
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (frz_entry_reader_open(tree, i, &request, &reader, NULL) == FRZ_OK) {
        while (frz_entry_reader_next(reader, &arena, &entries, &count, NULL) == FRZ_OK) {
            for (size_t k = 0; k < count; k++) {
                if (entries[k].location.len == 0) {
                    abort();
                }
            }
            frz_arena_reset(&arena);
        }
    }
    frz_entry_reader_close(reader);
    frz_arena_reset(&arena);
}

#endif

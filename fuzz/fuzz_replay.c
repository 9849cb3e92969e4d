/*
 * fuzz_replay: gives every file of the folders named on the command line to a fuzz target, so that
 * seeds and old crashes are ordinary tests with any compiler. The empty input is always tried. A
 * folder without files is a failure: the target would test nothing.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLAY_PATH_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;
    int failed = 1;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        goto out;
    }
    size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        goto out;
    }
    /* Of exactly this size, so that a sanitizer sees one byte too many. */
    data = malloc(size == 0 ? 1 : (size_t)size);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        goto out;
    }
    LLVMFuzzerTestOneInput(data, (size_t)size);
    failed = 0;
out:
    if (failed) {
        fprintf(stderr, "cannot read %s\n", path);
    }
    free(data);
    if (file != NULL) {
        fclose(file);
    }
    return failed;
}

static int replay_folder(const char *folder, int *files)
{
    char path[REPLAY_PATH_MAX];
    DIR *dir = opendir(folder);
    int failed = 0;

    if (dir == NULL) {
        fprintf(stderr, "cannot open %s\n", folder);
        return 1;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path) {
            failed = 1;
            continue;
        }
        failed |= replay_file(path);
        *files += 1;
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    static const uint8_t nothing[1] = {0};
    int failed = 0;
    int files = 0;

    LLVMFuzzerTestOneInput(nothing, 0);
    for (int i = 1; i < argc; i++) {
        failed |= replay_folder(argv[i], &files);
    }
    printf("%d seeds\n", files);
    return failed || files == 0 ? 1 : 0;
}

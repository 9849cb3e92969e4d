/*
 * The floor of a column update on this machine, as a whole process: compress 1.6 MB of doubles with
 * zstd 1, write and sync it, write and sync four small files, sync both folders, one commit of a
 * SQLite database. Usage: floor FOLDER. The folder must be empty.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define VALUES 200000

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fsync(fd) != 0 || close(fd) != 0) {
        die(path);
    }
}

static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || fsync(fd) != 0 || close(fd) != 0) {
        die(folder);
    }
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(1);
    }
}

/* --prepare makes the database; the measured run changes it. */
static sqlite3 *open_database(const char *folder)
{
    char path[1024];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/catalog.db", folder);
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        die(path);
    }
    run(db, "PRAGMA synchronous = EXTRA");
    return db;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--prepare") == 0) {
        sqlite3 *db = open_database(argv[2]);
        run(db, "CREATE TABLE t (name TEXT PRIMARY KEY, location TEXT)");
        run(db, "INSERT INTO t VALUES ('t', 'old')");
        return sqlite3_close(db) != SQLITE_OK;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: floor [--prepare] FOLDER\n");
        return 2;
    }
    static double values[VALUES];
    uint64_t state = 42;
    for (size_t i = 0; i < VALUES; i++) {
        state += UINT64_C(0x9E3779B97F4A7C15);
        uint64_t z = (state ^ (state >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        values[i] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    size_t room = ZSTD_compressBound(sizeof values);
    char *packed = malloc(room);
    size_t size = packed == NULL ? 0 : ZSTD_compress(packed, room, values, sizeof values, 1);
    if (size == 0 || ZSTD_isError(size)) {
        die("zstd");
    }
    write_file(argv[1], "column", packed, size);
    static const char small[4096] = "small";
    write_file(argv[1], "one", small, sizeof small);
    write_file(argv[1], "two", small, sizeof small);
    write_file(argv[1], "three", small, sizeof small);
    write_file(argv[1], "four", small, sizeof small);
    sync_folder(argv[1]);
    sync_folder(argv[1]);
    sqlite3 *db = open_database(argv[1]);
    run(db, "BEGIN IMMEDIATE; UPDATE t SET location = 'new' WHERE name = 't' AND location = 'old'; "
            "COMMIT");
    free(packed);
    return sqlite3_close(db) != SQLITE_OK;
}

/*
 * Runs a command and writes its wall-clock seconds and peak resident bytes into a file. A small
 * parent matters: the system counts the parent's pages at the moment of starting as the child's.
 * Usage: measure FILE COMMAND [ARGUMENT...]. Ends with the command's status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND [ARGUMENT...]\n");
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        return 1;
    }
    double took = now() - start;
    FILE *out = fopen(argv[1], "w");
    if (out == NULL || fprintf(out, "%.6f %ld\n", took, usage.ru_maxrss * 1024) < 0 ||
        fclose(out) != 0) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

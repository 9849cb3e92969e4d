/*
 * Progress on the terminal, and Ctrl-C. The library asks between pieces of work; the answer is no
 * to going on once an interrupt has come.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"

#define FIRST_DRAW_MS 300 /* short work shows nothing */
#define NEXT_DRAW_MS 100

/* A signal handler has no other way to speak. */
static volatile sig_atomic_t interrupted;

static struct {
    int64_t next_draw_ms;
    bool drawn;
} progress_line;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_interrupt_install(void)
{
    struct sigaction old;
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    /* Whoever started us in the background with interrupts ignored means it. */
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
        sigaction(SIGINT, &action, NULL);
    }
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void draw(const char *what, uint64_t done, uint64_t total)
{
    if (total > 0) {
        fprintf(stderr, "\r\x1b[K%s: %d %%", what, (int)((double)done * 100.0 / (double)total));
    } else {
        fprintf(stderr, "\r\x1b[K%s: %" PRIu64, what, done);
    }
    fflush(stderr);
    progress_line.drawn = true;
}

int cli_progress_show(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    (void)ctx;
    int64_t now = now_ms();
    if (progress_line.next_draw_ms == 0) {
        progress_line.next_draw_ms = now + FIRST_DRAW_MS;
    }
    if (now >= progress_line.next_draw_ms) {
        progress_line.next_draw_ms = now + NEXT_DRAW_MS;
        draw(what, done, total);
    }
    return cli_interrupted();
}

int cli_progress_hidden(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)what;
    (void)done;
    (void)total;
    return cli_interrupted();
}

void cli_progress_clear(void)
{
    if (progress_line.drawn) {
        fputs("\r\x1b[K", stderr);
        progress_line.drawn = false;
    }
}

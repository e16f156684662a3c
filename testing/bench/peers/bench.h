/* What the peers' programs share: options, the clock, and the lines of testing/bench/src/protocol.rs. */
#ifndef BENCH_H
#define BENCH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

/* How long a block may take. */
#define PATIENCE_S 40

static inline void give_up(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vfprintf(stderr, format, rest);
  va_end(rest);
  fputc('\n', stderr);
  _exit(1);
}

/* The value after `key`, or `otherwise`, which may be NULL where there must be one. */
static inline const char *option(int argc, char **argv, const char *key, const char *otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], key) == 0) return argv[i + 1];
  if (otherwise == NULL) give_up("%s is missing", key);
  return otherwise;
}

static inline void say(const char *line) {
  puts(line);
  fflush(stdout);
}

/* The block under way. One thread at a time uses it. */
typedef struct {
  size_t size, count, warm, done;
  uint32_t seq;
  uint64_t begun;
  uint64_t *ns;
} block;

/* Reads the next order; 0 at the end of the input. */
static inline int next_order(block *b) {
  char line[128];
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  if (sscanf(line, "%zu %zu %zu", &b->size, &b->count, &b->warm) != 3) give_up("no order: %s", line);
  free(b->ns);
  b->ns = (uint64_t *)calloc(b->count + 1, sizeof *b->ns);
  b->done = 0;
  b->seq = 0;
  return 1;
}

/* Notes the answer `seq` with `size` octets; whether it was the one awaited. */
static inline int note_answer(block *b, uint32_t seq, size_t size) {
  uint64_t elapsed = now_ns() - b->begun;
  if (seq != b->seq || size != b->size) return 0;
  if (b->seq > b->warm) b->ns[b->done++] = elapsed;
  return 1;
}

static inline void say_round_trips(const block *b) {
  printf("rtt_ns");
  for (size_t i = 0; i < b->done; i++) printf(" %llu", (unsigned long long)b->ns[i]);
  say("");
}

/* The next line as a number; -1 at the end of the input. */
static inline long next_number(void) {
  char line[128];
  return fgets(line, sizeof line, stdin) == NULL ? -1 : atol(line);
}

/* A burst: as testing/bench/src/stream.rs has it. */
typedef struct {
  uint64_t begun, end, rate, written, refused;
} burst;

/* Reads the next burst and begins it; 0 at the end of the input. */
static inline int next_burst(burst *b) {
  char line[128];
  unsigned long long ms, rate;
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  if (sscanf(line, "%llu %llu", &ms, &rate) != 2) give_up("no burst: %s", line);
  b->begun = now_ns();
  b->end = b->begun + ms * 1000000ull;
  b->rate = rate;
  b->written = b->refused = 0;
  return 1;
}

/* Waits until the next sample is due; 0 when the burst is over. */
static inline int is_due(const burst *b) {
  for (;;) {
    uint64_t now = now_ns();
    if (now >= b->end) return 0;
    if (b->rate == 0 || b->written * 1000000000ull <= (now - b->begun) * b->rate) return 1;
  }
}

static inline void say_sent(const burst *b) {
  printf("%llu %llu %llu", (unsigned long long)b->written, (unsigned long long)b->refused,
         (unsigned long long)(now_ns() - b->begun));
  say("");
}

/* What has arrived: one thread notes, another says. */
typedef struct {
  volatile uint64_t count, first, last;
} arrivals;

static inline void note_arrivals(arrivals *a, uint64_t count) {
  uint64_t now = now_ns();
  if (a->count == 0) a->first = now;
  a->last = now;
  a->count += count;
}

/* Answers each line with what has arrived since the last. */
static inline void say_arrivals(arrivals *a) {
  say("ready");
  char line[128];
  while (fgets(line, sizeof line, stdin) != NULL) {
    printf("%llu %llu", (unsigned long long)a->count, (unsigned long long)(a->last - a->first));
    a->count = 0;
    say("");
  }
  _exit(0);
}

static inline void stand_by(void) {
  say("ready");
  char line[128];
  while (fgets(line, sizeof line, stdin) != NULL) continue;
  _exit(0);
}
#endif

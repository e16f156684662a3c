/* The clock of every contestant: what crates/net/src/clock.rs reads, read the same way. */
#ifndef CLOCK_H
#define CLOCK_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define COUNTER() __rdtsc()
#else
#define COUNTER() 0
#endif

static struct {
  uint64_t begun, per_tick;
  int state; /* 0: not looked at, 1: the counter, 2: the system's clock */
} bench_clock;

static inline uint64_t system_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Both clocks at one moment: the quickest of some readings. */
static inline uint64_t read_both(uint64_t *counter) {
  uint64_t at = 0, quickest = UINT64_MAX;
  for (int i = 0; i < 9; i++) {
    uint64_t before = system_ns(), ticks = COUNTER(), took = system_ns() - before;
    if (took < quickest) {
      quickest = took;
      at = before + took / 2;
      *counter = ticks;
    }
  }
  return at;
}

/* Watches the counter for 20 ms, where the kernel itself keeps time by it. Call it before anybody
 * reads the clock, and not where the time to begin is measured. */
static inline void watch_counter(void) {
  char source[16] = "";
  FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
  if (file != NULL) {
    if (fgets(source, sizeof source, file) == NULL) source[0] = 0;
    fclose(file);
  }
  uint64_t first = 0, last = 0, from = read_both(&first);
  bench_clock.state = 2;
  if (COUNTER() == 0 || strncmp(source, "tsc", 3) != 0) return;
  while (system_ns() - from < 20000000ull) continue;
  uint64_t passed = read_both(&last) - from;
  if (last <= first) return;
  bench_clock.begun = first;
  bench_clock.per_tick = (uint64_t)(((unsigned __int128)passed << 32) / (last - first));
  bench_clock.state = 1;
}

/* Nanoseconds since some moment. Ends the process where nobody has watched the counter before. */
static inline uint64_t now_ns(void) {
  if (bench_clock.state == 0) abort();
  if (bench_clock.state == 2) return system_ns();
  return (uint64_t)(((unsigned __int128)(COUNTER() - bench_clock.begun) * bench_clock.per_tick) >> 32);
}
#endif

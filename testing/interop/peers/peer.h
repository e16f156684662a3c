/* What the C and C++ peers share: the command line, the lines they print, the values of a sample.
 * The contract itself is written in testing/interop/README.md; this file never knows a vendor. */
#ifndef WHIMBREL_INTEROP_PEER_H
#define WHIMBREL_INTEROP_PEER_H

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_TIMEOUT = 3, EXIT_UNSUPPORTED = 4 };
enum { KEYS_MAX = 16, PEERS_MAX = 16, KEY_BYTES_MAX = 129, POLL_MS = 2 };
enum { TOPICS_MAX = 256, MEMBERS_MAX = 16, MESH_COUNT_MAX = 512 };

typedef enum { TYPE_SHAPE, TYPE_KEYLESS, TYPE_TELEMETRY } peer_type;
typedef enum { END_NOTHING, END_DISPOSE, END_UNREGISTER } peer_end;
typedef enum { ROLE_PUBLISH, ROLE_SUBSCRIBE, ROLE_MESH } peer_role;

typedef struct {
  peer_role role;
  const char *topic;
  peer_type type;
  uint32_t domain;
  bool reliable;
  bool transient_local;
  bool keep_all;
  int32_t keep_last;
  uint32_t max_samples; /* 0: no limit */
  int xcdr; /* 0: whatever the vendor does by itself */
  uint32_t count;
  uint32_t size_bytes;
  uint32_t period_ms;
  uint32_t take_ms; /* sub: one sample at a time, and such a pause after it */
  uint32_t topics;  /* mesh */
  uint32_t members; /* mesh */
  peer_end end;
  const char *end_key;
  uint32_t wait_matched;
  uint32_t settle_ms;
  uint32_t linger_ms;
  uint32_t timeout_s;
  uint32_t lease_ms; /* 0: the vendor's default */
  const char *interface_name;
  bool multicast;
  const char *peers[PEERS_MAX];
  int peers_count;
  char keys[KEYS_MAX][KEY_BYTES_MAX];
  int keys_count;
} peer_options;

static inline void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
  fflush(stdout);
}

static inline void give_up(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("error ", stdout);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
  fflush(stdout);
  _exit(code);
}

static inline uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static inline void pause_ms(uint32_t ms) {
  struct timespec t = {(time_t)(ms / 1000u), (long)(ms % 1000u) * 1000000L};
  nanosleep(&t, NULL);
}

/* --- command line ------------------------------------------------------------------------- */

static inline const char *option_value(int argc, char **argv, int *i) {
  if (*i + 1 >= argc) give_up(EXIT_USAGE, "%s needs a value", argv[*i]);
  return argv[++*i];
}

static inline uint32_t option_number(int argc, char **argv, int *i) {
  const char *name = argv[*i], *text = option_value(argc, argv, i);
  char *end = NULL;
  unsigned long value = strtoul(text, &end, 10);
  if (end == text || *end != '\0') give_up(EXIT_USAGE, "%s: not a number: %s", name, text);
  return (uint32_t)value;
}

static inline void option_keys(peer_options *o, const char *text) {
  o->keys_count = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, ",");
    if (o->keys_count == KEYS_MAX || length == 0 || length >= KEY_BYTES_MAX)
      give_up(EXIT_USAGE, "--key: at most %d keys of 1 to 128 bytes", KEYS_MAX);
    memcpy(o->keys[o->keys_count], text, length);
    o->keys[o->keys_count++][length] = '\0';
    text += length + (text[length] == ',' ? 1 : 0);
  }
}

static inline peer_type option_type(const char *text) {
  if (strcmp(text, "shape") == 0) return TYPE_SHAPE;
  if (strcmp(text, "keyless") == 0) return TYPE_KEYLESS;
  if (strcmp(text, "telemetry") == 0) return TYPE_TELEMETRY;
  give_up(EXIT_USAGE, "--type: shape, keyless or telemetry");
  return TYPE_SHAPE;
}

static inline void option_end(peer_options *o, peer_end end, const char *key) {
  o->end = end;
  o->end_key = key;
}

static inline bool option_of_qos(peer_options *o, int argc, char **argv, int *i) {
  const char *name = argv[*i];
  if (strcmp(name, "--reliable") == 0) o->reliable = true;
  else if (strcmp(name, "--best-effort") == 0) o->reliable = false;
  else if (strcmp(name, "--transient-local") == 0) o->transient_local = true;
  else if (strcmp(name, "--keep-all") == 0) o->keep_all = true;
  else if (strcmp(name, "--keep-last") == 0) {
    o->keep_all = false;
    o->keep_last = (int32_t)option_number(argc, argv, i);
  } else if (strcmp(name, "--max-samples") == 0) o->max_samples = option_number(argc, argv, i);
  else if (strcmp(name, "--xcdr") == 0) o->xcdr = (int)option_number(argc, argv, i);
  else return false;
  return true;
}

static inline bool option_of_network(peer_options *o, int argc, char **argv, int *i) {
  const char *name = argv[*i];
  if (strcmp(name, "--domain") == 0) o->domain = option_number(argc, argv, i);
  else if (strcmp(name, "--interface") == 0) o->interface_name = option_value(argc, argv, i);
  else if (strcmp(name, "--multicast") == 0) o->multicast = true;
  else if (strcmp(name, "--lease-ms") == 0) o->lease_ms = option_number(argc, argv, i);
  else if (strcmp(name, "--peer") == 0) {
    if (o->peers_count == PEERS_MAX) give_up(EXIT_USAGE, "--peer: at most %d", PEERS_MAX);
    o->peers[o->peers_count++] = option_value(argc, argv, i);
  } else return false;
  return true;
}

static inline void option_of_run(peer_options *o, int argc, char **argv, int *i) {
  const char *name = argv[*i];
  if (strcmp(name, "--topic") == 0) o->topic = option_value(argc, argv, i);
  else if (strcmp(name, "--type") == 0) o->type = option_type(option_value(argc, argv, i));
  else if (strcmp(name, "--count") == 0) o->count = option_number(argc, argv, i);
  else if (strcmp(name, "--size") == 0) o->size_bytes = option_number(argc, argv, i);
  else if (strcmp(name, "--period-ms") == 0) o->period_ms = option_number(argc, argv, i);
  else if (strcmp(name, "--take-ms") == 0) o->take_ms = option_number(argc, argv, i);
  else if (strcmp(name, "--topics") == 0) o->topics = option_number(argc, argv, i);
  else if (strcmp(name, "--members") == 0) o->members = option_number(argc, argv, i);
  else if (strcmp(name, "--key") == 0) option_keys(o, option_value(argc, argv, i));
  else if (strcmp(name, "--dispose") == 0) option_end(o, END_DISPOSE, option_value(argc, argv, i));
  else if (strcmp(name, "--unregister") == 0)
    option_end(o, END_UNREGISTER, option_value(argc, argv, i));
  else if (strcmp(name, "--wait-matched") == 0) o->wait_matched = option_number(argc, argv, i);
  else if (strcmp(name, "--settle-ms") == 0) o->settle_ms = option_number(argc, argv, i);
  else if (strcmp(name, "--linger-ms") == 0) o->linger_ms = option_number(argc, argv, i);
  else if (strcmp(name, "--timeout-s") == 0) o->timeout_s = option_number(argc, argv, i);
  else give_up(EXIT_USAGE, "unknown option %s", name);
}

static inline peer_role option_role(int argc, char **argv) {
  const char *text = argc < 2 ? "" : argv[1];
  if (strcmp(text, "pub") == 0) return ROLE_PUBLISH;
  if (strcmp(text, "sub") == 0) return ROLE_SUBSCRIBE;
  if (strcmp(text, "mesh") == 0) return ROLE_MESH;
  give_up(EXIT_USAGE, "first argument: pub, sub or mesh");
  return ROLE_PUBLISH;
}

static inline peer_options parse_options(int argc, char **argv) {
  peer_options o;
  memset(&o, 0, sizeof o);
  o.reliable = true;
  o.keep_last = 1;
  o.count = 10;
  o.size_bytes = 64;
  o.period_ms = 10;
  o.linger_ms = 200;
  o.timeout_s = 30;
  o.interface_name = "lo";
  o.topics = 1;
  o.members = 1;
  o.role = option_role(argc, argv);
  for (int i = 2; i < argc; i++)
    if (!option_of_qos(&o, argc, argv, &i) && !option_of_network(&o, argc, argv, &i))
      option_of_run(&o, argc, argv, &i);
  if (o.topic == NULL) give_up(EXIT_USAGE, "--topic is missing");
  if (o.xcdr > 2) give_up(EXIT_USAGE, "--xcdr: 1 or 2");
  if (o.keys_count == 0) option_keys(&o, o.type == TYPE_SHAPE ? "BLUE" : "1");
  if (o.end != END_NOTHING && o.type == TYPE_KEYLESS)
    give_up(EXIT_USAGE, "keyless has no instance to dispose or unregister");
  if (o.role == ROLE_MESH && (o.type != TYPE_SHAPE || o.topics > TOPICS_MAX || o.topics == 0))
    give_up(EXIT_USAGE, "mesh: shapes, 1 to %d topics", TOPICS_MAX);
  if (o.role == ROLE_MESH && o.count > MESH_COUNT_MAX)
    give_up(EXIT_USAGE, "mesh: at most %d samples", MESH_COUNT_MAX);
  return o;
}

/* --- values of a sample ------------------------------------------------------------------- */

static inline const char *key_of_seq(const peer_options *o, uint32_t seq) {
  return o->keys[(seq - 1u) % (uint32_t)o->keys_count];
}

static inline uint8_t payload_byte(uint32_t seq, uint32_t i) {
  return (uint8_t)(seq * 31u + i * 7u);
}

static inline uint32_t tags_count(uint32_t seq) { return seq % 4u; }
static inline uint32_t window_count(uint32_t seq) { return seq % 5u; }
static inline double window_value(uint32_t seq, uint32_t i) { return seq + 0.25 * i; }
static inline double telemetry_value(uint32_t id, uint32_t seq) { return id + 0.5 * seq; }

/* CRC-32 (IEEE 802.3, as zlib's crc32) over the members in declaration order: numbers little-endian
 * in their own width, strings without terminator, no lengths. */
typedef struct {
  uint32_t crc;
  uint32_t length;
} checksum;

static inline checksum checksum_start(void) {
  checksum c = {0xffffffffu, 0};
  return c;
}

static inline void checksum_add(checksum *c, const void *bytes, size_t length) {
  static uint32_t table[256];
  if (table[1] == 0)
    for (uint32_t n = 0; n < 256; n++) {
      uint32_t value = n;
      for (int bit = 0; bit < 8; bit++)
        value = (value & 1u) ? 0xedb88320u ^ (value >> 1) : value >> 1;
      table[n] = value;
    }
  for (const uint8_t *p = (const uint8_t *)bytes, *end = p + length; p != end; p++)
    c->crc = table[(c->crc ^ *p) & 0xffu] ^ (c->crc >> 8);
  c->length += (uint32_t)length;
}

static inline void checksum_number(checksum *c, uint64_t value, int width) {
  uint8_t bytes[8];
  for (int i = 0; i < width; i++) bytes[i] = (uint8_t)(value >> (8 * i));
  checksum_add(c, bytes, (size_t)width);
}

static inline void checksum_double(checksum *c, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  checksum_number(c, bits, 8);
}

static inline void checksum_text(checksum *c, const char *text) {
  checksum_add(c, text, strlen(text));
}

static inline uint32_t checksum_end(const checksum *c) { return c->crc ^ 0xffffffffu; }

/* --- instance states, matches ------------------------------------------------------------- */

typedef enum { STATE_ALIVE, STATE_DISPOSED, STATE_NO_WRITERS } peer_state;

/* Prints each change of an instance; that a new one is alive goes without saying. */
static inline void say_state(const char *key, peer_state state) {
  enum { INSTANCES_MAX = 256 };
  static struct { char key[KEY_BYTES_MAX]; peer_state state; } known[INSTANCES_MAX];
  static int count;
  static const char *const names[] = {"alive", "disposed", "no_writers"};
  int i = 0;
  while (i < count && strcmp(known[i].key, key) != 0) i++;
  if (i == count) {
    if (count == INSTANCES_MAX) give_up(EXIT_ERROR, "more than %d instances", INSTANCES_MAX);
    snprintf(known[count].key, KEY_BYTES_MAX, "%s", key);
    known[count++].state = STATE_ALIVE;
  }
  if (known[i].state == state) return;
  known[i].state = state;
  say("state %s %s", key, names[state]);
}

static inline void say_matched(uint32_t current) {
  static uint32_t last;
  if (current == last) return;
  say("%s %u", current > last ? "matched" : "unmatched", current);
  last = current;
}

/* --- mesh: many topics, everybody writes and reads all of them --------------------------- */



typedef struct {
  uint32_t newest;
  uint8_t seen[MESH_COUNT_MAX / 8 + 1];
} mesh_numbers;

/* Takes note of a sample: none twice; in order, or else it is counted in `disorder`. */
static inline void mesh_note(const peer_options *o, uint32_t topic, const char *key, uint32_t seq,
                             bool intact, uint32_t *received, uint32_t *disorder) {
  static struct { char key[KEY_BYTES_MAX]; mesh_numbers numbers[TOPICS_MAX]; } members[MEMBERS_MAX];
  mesh_numbers *it;
  uint32_t i = 0;
  if (!intact || seq == 0 || seq > o->count)
    give_up(EXIT_ERROR, "topic %u: sample %u of %s is not as written", topic, seq, key);
  while (i < MEMBERS_MAX && members[i].key[0] != '\0' && strcmp(members[i].key, key) != 0) i++;
  if (i >= o->members || i == MEMBERS_MAX) give_up(EXIT_ERROR, "more members than agreed: %s", key);
  snprintf(members[i].key, KEY_BYTES_MAX, "%s", key);
  it = &members[i].numbers[topic];
  if (it->seen[seq / 8] & (1u << (seq % 8)))
    give_up(EXIT_ERROR, "topic %u: sample %u of %s twice", topic, seq, key);
  it->seen[seq / 8] |= (uint8_t)(1u << (seq % 8));
  if (seq != it->newest + 1) (*disorder)++;
  it->newest = seq;
  (*received)++;
}

/* What one look at a mesh found: the fewest matches of any writer and of any reader. */
typedef struct {
  uint32_t writers;
  uint32_t readers;
} mesh_matches;

/* Prints how far the mesh has come; true when all endpoints have found all others. */
static inline bool mesh_matched(const peer_options *o, mesh_matches fewest) {
  static mesh_matches last;
  if (fewest.writers != last.writers || fewest.readers != last.readers)
    say("mesh writers %u readers %u", fewest.writers, fewest.readers);
  last = fewest;
  return fewest.writers >= o->members && fewest.readers >= o->members;
}

static inline void mesh_give_up(const peer_options *o, uint32_t received) {
  give_up(EXIT_TIMEOUT, "mesh: received %u of %u", received, o->topics * o->members * o->count);
}

/* The IPv4 address of an interface name; a text that is an address already is returned as it is. */
static inline void address_of_interface(const char *name, char out[INET_ADDRSTRLEN]) {
  struct in_addr parsed;
  struct ifaddrs *all = NULL;
  snprintf(out, INET_ADDRSTRLEN, "%s", name);
  if (inet_pton(AF_INET, name, &parsed) == 1) return;
  if (getifaddrs(&all) != 0) give_up(EXIT_ERROR, "getifaddrs failed");
  for (struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
    if (strcmp(a->ifa_name, name) == 0 && a->ifa_addr != NULL &&
        a->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &((struct sockaddr_in *)a->ifa_addr)->sin_addr, out, INET_ADDRSTRLEN);
      freeifaddrs(all);
      return;
    }
  give_up(EXIT_USAGE, "--interface: no IPv4 address on %s", name);
}

#endif

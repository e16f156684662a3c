/* Cyclone DDS as a contestant, C API. Speaks the lines of testing/bench/src/protocol.rs. */
#include "bench.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include "Bench.h"
#include "dds/dds.h"
#include "dds/version.h"

/* Of the library; the headers are older. */
void dds_qset_writer_batching(dds_qos_t *qos, bool batch_updates);

static dds_entity_t writer, reader, wait_set;
static block current;
static Bench_Msg sample;
static sem_t finished;

static dds_entity_t made(dds_entity_t entity, const char *what) {
  if (entity < 0) give_up("%s: %s", what, dds_strretcode(-entity));
  return entity;
}

static void done(dds_return_t outcome, const char *what) {
  if (outcome < 0) give_up("%s: %s", what, dds_strretcode(-outcome));
}

/* Tuned: whole samples in one message where they fit, and buffers for many of them. */
static void print_configuration(char *xml, size_t room, const char *interface, int tuned) {
  snprintf(xml, room,
           "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface name=\"%s\"/>"
           "</Interfaces>%s</General>%s</Domain></CycloneDDS>",
           interface,
           tuned ? "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize>" : "",
           tuned ? "<Internal><SocketReceiveBufferSize min=\"4MB\"/>"
                   "<SocketSendBufferSize min=\"4MB\"/></Internal>"
                 : "");
}

static void configure(const char *interface, int tuned) {
  char xml[1024];
  print_configuration(xml, sizeof xml, interface, tuned);
  setenv("CYCLONEDDS_URI", xml, 1);
}

static void settings(void) {
  char usual[1024], tuned[1024];
  print_configuration(usual, sizeof usual, "the only one", 0);
  print_configuration(tuned, sizeof tuned, "the only one", 1);
  printf("%s, tuned and large %s\n", usual, tuned);
}

/* --- ping-pong --------------------------------------------------------------------------------- */

static void open_ends(int domain, const char *written, const char *read,
                      void (*callback)(dds_entity_t, void *)) {
  dds_entity_t participant = made(dds_create_participant((dds_domainid_t)domain, NULL, NULL),
                                  "participant");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
  dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
  dds_entity_t topic = made(dds_create_topic(participant, &Bench_Msg_desc, written, NULL, NULL),
                            written);
  writer = made(dds_create_writer(participant, topic, qos, NULL), "writer");
  topic = made(dds_create_topic(participant, &Bench_Msg_desc, read, NULL, NULL), read);
  dds_listener_t *listener = NULL;
  if (callback != NULL) {
    listener = dds_create_listener(NULL);
    dds_lset_data_available(listener, callback);
  }
  reader = made(dds_create_reader(participant, topic, qos, listener), "reader");
  if (callback == NULL) {
    wait_set = made(dds_create_waitset(participant), "wait set");
    dds_entity_t condition = made(dds_create_readcondition(reader, DDS_ANY_STATE), "condition");
    done(dds_waitset_attach(wait_set, condition, 0), "attach");
  }
  dds_delete_qos(qos);
}

static void meet(void) {
  for (;;) {
    dds_publication_matched_status_t published;
    dds_subscription_matched_status_t subscribed;
    dds_get_publication_matched_status(writer, &published);
    dds_get_subscription_matched_status(reader, &subscribed);
    if (published.current_count > 0 && subscribed.current_count > 0) return;
    usleep(200);
  }
}

static void wait(void) {
  dds_attach_t met[1];
  done(dds_waitset_wait(wait_set, met, 1, DDS_SECS(10)), "wait");
}

static void answer(dds_entity_t from, void *nothing) {
  (void)nothing;
  void *taken = NULL;
  dds_sample_info_t info;
  int count = dds_take(from, &taken, &info, 1, 1);
  if (count <= 0) return;
  if (info.valid_data) done(dds_write(writer, taken), "write");
  dds_return_loan(from, &taken, count);
}

static void *answer_all(void *nothing) {
  for (;;) {
    wait();
    answer(reader, nothing);
  }
  return NULL;
}

static void send_next(void) {
  sample.seq = ++current.seq;
  current.begun = now_ns();
  done(dds_write(writer, &sample), "write");
}

/* Takes one sample; whether it was the answer. */
static int take_answer(dds_entity_t from) {
  void *taken = NULL;
  dds_sample_info_t info;
  int answered = 0, count = dds_take(from, &taken, &info, 1, 1);
  if (count <= 0) return 0;
  if (info.valid_data) {
    const Bench_Msg *msg = (const Bench_Msg *)taken;
    answered = note_answer(&current, msg->seq, msg->payload._length);
  }
  dds_return_loan(from, &taken, count);
  return answered;
}

static void on_answer(dds_entity_t from, void *nothing) {
  (void)nothing;
  if (!take_answer(from)) return;
  if (current.done == current.count) sem_post(&finished);
  else send_next();
}

static void fill_sample(void) {
  free(sample.payload._buffer);
  sample.payload._buffer = (uint8_t *)malloc(current.size + 1);
  memset(sample.payload._buffer, 0x55, current.size);
  sample.payload._length = sample.payload._maximum = (uint32_t)current.size;
}

static void run_block(int listens) {
  fill_sample();
  if (listens) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PATIENCE_S;
    send_next();
    if (sem_timedwait(&finished, &deadline) != 0) give_up("stalled after %zu", current.done);
    return;
  }
  uint64_t end = now_ns() + PATIENCE_S * 1000000000ull;
  while (current.done < current.count) {
    send_next();
    do {
      wait();
      if (now_ns() > end) give_up("stalled after %zu", current.done);
    } while (!take_answer(reader));
  }
}

/* Both ends in one process; callbacks may run within the write, so the main thread writes all. */
static dds_entity_t answering_writer;

static void answer_here(dds_entity_t from, void *nothing) {
  (void)nothing;
  void *taken = NULL;
  dds_sample_info_t info;
  int count = dds_take(from, &taken, &info, 1, 1);
  if (count <= 0) return;
  if (info.valid_data) done(dds_write(answering_writer, taken), "write");
  dds_return_loan(from, &taken, count);
}

static void on_answer_here(dds_entity_t from, void *nothing) {
  (void)nothing;
  if (take_answer(from)) sem_post(&finished);
}

static void in_process(int domain) {
  sem_init(&finished, 0, 0);
  open_ends(domain, "pong", "ping", answer_here);
  answering_writer = writer;
  open_ends(domain, "ping", "pong", on_answer_here);
  meet();
  usleep(300000);
  say("ready");
  while (next_order(&current)) {
    fill_sample();
    while (current.done < current.count) {
      struct timespec deadline;
      clock_gettime(CLOCK_REALTIME, &deadline);
      deadline.tv_sec += PATIENCE_S;
      send_next();
      if (sem_timedwait(&finished, &deadline) != 0) give_up("stalled after %zu", current.done);
    }
    say_round_trips(&current);
  }
  _exit(0);
}

static void latency(int argc, char **argv) {
  const char *role = argv[2], *mode = argv[3];
  int domain = atoi(option(argc, argv, "--domain", NULL));
  int listens = strcmp(mode, "listener") == 0 || strcmp(mode, "large") == 0;
  if (strcmp(mode, "in-process") == 0) in_process(domain);
  if (!listens && strcmp(mode, "waitset") != 0) give_up("no mode %s", mode);
  if (strcmp(role, "pong") == 0) {
    open_ends(domain, "pong", "ping", listens ? answer : NULL);
    pthread_t thread;
    if (!listens) pthread_create(&thread, NULL, answer_all, NULL);
    stand_by();
  }
  sem_init(&finished, 0, 0);
  open_ends(domain, "ping", "pong", listens ? on_answer : NULL);
  meet();
  /* Only our side is known to be matched. */
  usleep(300000);
  say("ready");
  while (next_order(&current)) {
    run_block(listens);
    say_round_trips(&current);
  }
}

/* --- throughput -------------------------------------------------------------------------------- */

enum { taken_max = 400, large_bytes = 100000 };
static arrivals arrived;

static void count_all(dds_entity_t from, void *nothing) {
  static void *samples[taken_max];
  static dds_sample_info_t infos[taken_max];
  (void)nothing;
  int count;
  while ((count = dds_take(from, samples, infos, taken_max, taken_max)) > 0) {
    note_arrivals(&arrived, (uint64_t)count);
    dds_return_loan(from, samples, count);
  }
}

static void throughput(int argc, char **argv) {
  const char *mode = argv[3];
  size_t size = (size_t)atol(option(argc, argv, "--size", NULL));
  int readers = atoi(option(argc, argv, "--number", NULL));
  int reliable = strcmp(mode, "best-effort") != 0, batched = strcmp(mode, "batched") == 0;
  dds_entity_t participant = made(
      dds_create_participant((dds_domainid_t)atoi(option(argc, argv, "--domain", NULL)), NULL, NULL),
      "participant");
  dds_entity_t topic = made(dds_create_topic(participant, &Bench_Msg_desc, "stream", NULL, NULL),
                            "topic");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                       DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  if (strcmp(argv[2], "sub") == 0) {
    /* A bounded history, so that a slow reader holds back a reliable writer. */
    if (reliable)
      dds_qset_resource_limits(qos, size > large_bytes ? 64 : 4000, DDS_LENGTH_UNLIMITED,
                               DDS_LENGTH_UNLIMITED);
    dds_listener_t *listener = dds_create_listener(NULL);
    dds_lset_data_available(listener, count_all);
    made(dds_create_reader(participant, topic, qos, listener), "reader");
    say_arrivals(&arrived);
  }
  if (batched) dds_qset_writer_batching(qos, true);
  writer = made(dds_create_writer(participant, topic, qos, NULL), "writer");
  for (;;) {
    dds_publication_matched_status_t published;
    dds_get_publication_matched_status(writer, &published);
    if (published.current_count >= (uint32_t)readers) break;
    usleep(2000);
  }
  usleep(300000);
  sample.payload._buffer = (uint8_t *)calloc(size + 1, 1);
  sample.payload._length = sample.payload._maximum = (uint32_t)size;
  say("ready");
  for (burst b; next_burst(&b);) {
    while (is_due(&b)) {
      sample.seq++;
      if (dds_write(writer, &sample) == DDS_RETCODE_OK) b.written++;
      else b.refused++;
    }
    if (batched) dds_write_flush(writer);
    if (reliable) dds_wait_for_acks(writer, DDS_SECS(10));
    say_sent(&b);
  }
}

/* --- footprint --------------------------------------------------------------------------------- */

/* Takes a sample and tells that it came. */
static void tell(dds_entity_t from, void *nothing) {
  (void)nothing;
  void *taken = NULL;
  dds_sample_info_t info;
  int count = dds_take(from, &taken, &info, 1, 1);
  if (count <= 0) return;
  dds_return_loan(from, &taken, count);
  if (info.valid_data) sem_post(&finished);
}

static void footprint(int argc, char **argv) {
  int domain = atoi(option(argc, argv, "--domain", NULL));
  if (strcmp(argv[2], "match") == 0) {
    int first = strcmp(argv[3], "a") == 0;
    sem_init(&finished, 0, 0);
    open_ends(domain, first ? "a" : "b", first ? "b" : "a", first ? answer : tell);
    meet();
    if (first) stand_by();
    say("ready");
    while (next_number() >= 0) {
      done(dds_write(writer, &sample), "write");
      sem_wait(&finished);
      say("answered");
    }
    _exit(0);
  }
  dds_entity_t participant = made(dds_create_participant((dds_domainid_t)domain, NULL, NULL),
                                  "participant");
  say("ready");
  dds_entity_t topic = 0;
  for (long count; (count = next_number()) >= 0; say("ready")) {
    if (topic == 0)
      topic = made(dds_create_topic(participant, &Bench_Msg_desc, "many", NULL, NULL), "topic");
    while (count-- > 0) made(dds_create_reader(participant, topic, NULL, NULL), "reader");
  }
}

/* --- main -------------------------------------------------------------------------------------- */

/* The name of the library that was loaded, which carries its version; the headers may be older. */
static void version(void) {
  Dl_info info;
  if (dladdr((void *)dds_create_participant, &info) == 0) give_up("no library");
  char *path = realpath(info.dli_fname, NULL);
  const char *name = strrchr(path, '/');
  printf("Cyclone DDS %s, headers %s\n", name == NULL ? path : name + 1, DDS_VERSION);
  free(path);
}

int main(int argc, char **argv) {
  if (argc <= 3 && argc > 1 && strcmp(argv[1], "version") == 0) {
    version();
    return 0;
  }
  if (argc <= 3 && argc > 1 && strcmp(argv[1], "settings") == 0) {
    settings();
    return 0;
  }
  if (argc < 4) give_up("usage: bench_cyclone version | settings | BENCH ROLE MODE OPTION...");
  if (strcmp(argv[1], "footprint") != 0) watch_counter();
  configure(option(argc, argv, "--interface", NULL), strcmp(argv[3], "tuned") == 0 || strcmp(argv[3], "large") == 0);
  if (strcmp(argv[1], "latency") == 0) latency(argc, argv);
  else if (strcmp(argv[1], "throughput") == 0) throughput(argc, argv);
  else if (strcmp(argv[1], "footprint") == 0) footprint(argc, argv);
  else give_up("no bench %s", argv[1]);
  fflush(stdout);
  _exit(0);
}

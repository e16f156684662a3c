/* Live peer: Cyclone DDS, C API. Speaks the contract of testing/interop/README.md. */
#include "peer.h"

#include "Interop.h"
#include "dds/dds.h"

static peer_options options;
static uint64_t deadline_ms;

/* --- configuration ------------------------------------------------------------------------ */

static void configure(void) {
  char xml[4096], peers[2048] = "", lease[64] = "";
  size_t used = 0;
  for (int i = 0; i < options.peers_count; i++)
    used += (size_t)snprintf(peers + used, sizeof peers - used, "<Peer address=\"%s\"/>",
                             options.peers[i]);
  if (options.peers_count == 0 && !options.multicast)
    snprintf(peers, sizeof peers, "<Peer address=\"127.0.0.1\"/>");
  if (options.lease_ms != 0)
    snprintf(lease, sizeof lease, "<LeaseDuration>%u ms</LeaseDuration>", options.lease_ms);
  snprintf(xml, sizeof xml,
           "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface name=\"%s\"/>"
           "</Interfaces><AllowMulticast>%s</AllowMulticast></General><Discovery>"
           "<ParticipantIndex>auto</ParticipantIndex>"
           "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>%s<Peers>%s</Peers></Discovery>"
           "</Domain></CycloneDDS>",
           options.interface_name, options.multicast ? "true" : "false", lease, peers);
  setenv("CYCLONEDDS_URI", xml, 0);
}

static dds_entity_t made(dds_entity_t entity, const char *what) {
  if (entity == DDS_RETCODE_UNSUPPORTED || entity == DDS_RETCODE_BAD_PARAMETER)
    give_up(EXIT_UNSUPPORTED, "%s: %s", what, dds_strretcode(entity));
  if (entity < 0) give_up(EXIT_ERROR, "%s: %s", what, dds_strretcode(entity));
  return entity;
}

static dds_qos_t *endpoint_qos(void) {
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(
      qos, options.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_SECS(10));
  dds_qset_durability(
      qos, options.transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  dds_qset_history(qos, options.keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST,
                   options.keep_all ? 0 : options.keep_last);
  dds_qset_durability_service(qos, 0,
                              options.keep_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST,
                              options.keep_all ? 0 : options.keep_last, -1, -1, -1);
  if (options.max_samples != 0)
    dds_qset_resource_limits(qos, (int32_t)options.max_samples, DDS_LENGTH_UNLIMITED,
                             DDS_LENGTH_UNLIMITED);
  dds_qset_writer_data_lifecycle(qos, false);
  if (options.xcdr != 0) {
    dds_data_representation_id_t id =
        options.xcdr == 1 ? DDS_DATA_REPRESENTATION_XCDR1 : DDS_DATA_REPRESENTATION_XCDR2;
    dds_qset_data_representation(qos, 1, &id);
  }
  return qos;
}

static const dds_topic_descriptor_t *descriptor(void) {
  switch (options.type) {
    case TYPE_SHAPE: return &ShapeType_desc;
    case TYPE_KEYLESS: return &Keyless_desc;
    case TYPE_TELEMETRY: return &Telemetry_desc;
  }
  return NULL;
}

/* --- samples ------------------------------------------------------------------------------ */

typedef struct {
  uint32_t seq;
  char key[KEY_BYTES_MAX];
  checksum sum;
} facts;

static facts facts_of_shape(const ShapeType *s) {
  facts f = {.seq = (uint32_t)s->x, .sum = checksum_start()};
  snprintf(f.key, sizeof f.key, "%s", s->color);
  checksum_text(&f.sum, s->color);
  checksum_number(&f.sum, (uint32_t)s->x, 4);
  checksum_number(&f.sum, (uint32_t)s->y, 4);
  checksum_number(&f.sum, (uint32_t)s->shapesize, 4);
  return f;
}

static facts facts_of_keyless(const Keyless *s) {
  facts f = {.seq = s->seq, .key = "-", .sum = checksum_start()};
  checksum_add(&f.sum, s->payload._buffer, s->payload._length);
  return f;
}

static facts facts_of_telemetry(const Telemetry *s) {
  facts f = {.seq = s->seq, .sum = checksum_start()};
  snprintf(f.key, sizeof f.key, "%u", s->id);
  checksum_number(&f.sum, s->id, 4);
  checksum_number(&f.sum, s->seq, 4);
  checksum_number(&f.sum, s->valid ? 1 : 0, 1);
  checksum_double(&f.sum, s->value);
  checksum_text(&f.sum, s->origin.host != NULL ? s->origin.host : "");
  checksum_number(&f.sum, s->origin.port, 2);
  for (uint32_t i = 0; i < s->tags._length; i++) checksum_text(&f.sum, s->tags._buffer[i]);
  for (uint32_t i = 0; i < s->window._length; i++) checksum_double(&f.sum, s->window._buffer[i]);
  return f;
}

static facts facts_of(const void *sample) {
  switch (options.type) {
    case TYPE_SHAPE: return facts_of_shape(sample);
    case TYPE_KEYLESS: return facts_of_keyless(sample);
    case TYPE_TELEMETRY: break;
  }
  return facts_of_telemetry(sample);
}

static void *make_shape(uint32_t seq, const char *key) {
  ShapeType *s = dds_alloc(sizeof *s);
  snprintf(s->color, sizeof s->color, "%s", key);
  s->x = (int32_t)seq;
  s->y = (int32_t)(2u * seq);
  s->shapesize = (int32_t)options.size_bytes;
  return s;
}

static void *make_keyless(uint32_t seq) {
  Keyless *s = dds_alloc(sizeof *s);
  s->seq = seq;
  s->payload._buffer = dds_alloc(options.size_bytes);
  s->payload._length = s->payload._maximum = options.size_bytes;
  s->payload._release = true;
  for (uint32_t i = 0; i < options.size_bytes; i++) s->payload._buffer[i] = payload_byte(seq, i);
  return s;
}

static void *make_telemetry(uint32_t seq, const char *key) {
  Telemetry *s = dds_alloc(sizeof *s);
  char text[64];
  s->id = (uint32_t)strtoul(key, NULL, 10);
  s->seq = seq;
  s->valid = seq % 2u == 1u;
  s->value = telemetry_value(s->id, seq);
  snprintf(text, sizeof text, "host-%u", s->id);
  s->origin.host = dds_string_dup(text);
  s->origin.port = (uint16_t)seq;
  s->tags._length = s->tags._maximum = tags_count(seq);
  s->tags._buffer = dds_alloc(s->tags._length * sizeof *s->tags._buffer);
  s->tags._release = true;
  for (uint32_t i = 0; i < s->tags._length; i++) {
    snprintf(text, sizeof text, "tag-%u-%u", seq, i);
    s->tags._buffer[i] = dds_string_dup(text);
  }
  s->window._length = s->window._maximum = window_count(seq);
  s->window._buffer = dds_alloc(s->window._length * sizeof *s->window._buffer);
  s->window._release = true;
  for (uint32_t i = 0; i < s->window._length; i++) s->window._buffer[i] = window_value(seq, i);
  return s;
}

static void *make_sample(uint32_t seq, const char *key) {
  switch (options.type) {
    case TYPE_SHAPE: return make_shape(seq, key);
    case TYPE_KEYLESS: return make_keyless(seq);
    case TYPE_TELEMETRY: break;
  }
  return make_telemetry(seq, key);
}

/* --- publisher ---------------------------------------------------------------------------- */

static uint32_t readers_matched(dds_entity_t writer) {
  dds_publication_matched_status_t status;
  dds_get_publication_matched_status(writer, &status);
  say_matched(status.current_count);
  return status.current_count;
}

static void watch_writer(dds_entity_t writer, uint32_t ms) {
  for (uint64_t end = now_ms() + ms; now_ms() < end; pause_ms(POLL_MS)) readers_matched(writer);
}

static void publish_end(dds_entity_t writer) {
  void *sample;
  dds_return_t rc;
  if (options.end == END_NOTHING) return;
  sample = make_sample(options.count, options.end_key);
  rc = options.end == END_DISPOSE ? dds_dispose(writer, sample)
                                  : dds_unregister_instance(writer, sample);
  if (rc < 0) give_up(EXIT_ERROR, "end of instance: %s", dds_strretcode(rc));
  dds_sample_free(sample, descriptor(), DDS_FREE_ALL);
}

static int publish(dds_entity_t participant, dds_entity_t topic) {
  dds_qos_t *qos = endpoint_qos();
  dds_entity_t writer = made(dds_create_writer(participant, topic, qos, NULL), "writer");
  dds_delete_qos(qos);
  say("ready");
  while (readers_matched(writer) < options.wait_matched) {
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "not matched");
    pause_ms(POLL_MS);
  }
  watch_writer(writer, options.settle_ms);
  for (uint32_t seq = 1; seq <= options.count; seq++) {
    void *sample = make_sample(seq, key_of_seq(&options, seq));
    facts f = facts_of(sample);
    dds_return_t rc = dds_write(writer, sample);
    dds_sample_free(sample, descriptor(), DDS_FREE_ALL);
    if (rc < 0) give_up(EXIT_ERROR, "write: %s", dds_strretcode(rc));
    say("sent %u %s %08x", f.seq, f.key, checksum_end(&f.sum));
    watch_writer(writer, options.period_ms);
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "sent %u of %u", seq, options.count);
  }
  publish_end(writer);
  if (options.reliable) dds_wait_for_acks(writer, DDS_SECS(5));
  watch_writer(writer, options.linger_ms);
  say("done %u", options.count);
  return 0;
}

/* --- subscriber --------------------------------------------------------------------------- */

static peer_state state_of(dds_instance_state_t state) {
  switch (state) {
    case DDS_ALIVE_INSTANCE_STATE: return STATE_ALIVE;
    case DDS_NOT_ALIVE_DISPOSED_INSTANCE_STATE: return STATE_DISPOSED;
    case DDS_NOT_ALIVE_NO_WRITERS_INSTANCE_STATE: break;
  }
  return STATE_NO_WRITERS;
}

static uint32_t take(dds_entity_t reader) {
  enum { BATCH = 32 };
  void *samples[BATCH] = {NULL};
  dds_sample_info_t infos[BATCH];
  uint32_t most = options.take_ms != 0 ? 1 : BATCH;
  dds_return_t n = dds_take(reader, samples, infos, most, most);
  uint32_t received = 0;
  if (n < 0) give_up(EXIT_ERROR, "take: %s", dds_strretcode(n));
  for (dds_return_t i = 0; i < n; i++) {
    facts f;
    if (!infos[i].valid_data) continue;
    f = facts_of(samples[i]);
    say("received %u %s %08x %u", f.seq, f.key, checksum_end(&f.sum), f.sum.length);
    received++;
  }
  for (dds_return_t i = 0; i < n; i++) {
    if (options.type == TYPE_KEYLESS) continue;
    say_state(facts_of(samples[i]).key, state_of(infos[i].instance_state));
  }
  if (n > 0) dds_return_loan(reader, samples, n);
  if (received > 0) pause_ms(options.take_ms);
  return received;
}

static void watch_reader(dds_entity_t reader) {
  dds_subscription_matched_status_t status;
  dds_get_subscription_matched_status(reader, &status);
  say_matched(status.current_count);
}

static int subscribe(dds_entity_t participant, dds_entity_t topic) {
  dds_qos_t *qos = endpoint_qos();
  dds_entity_t reader = made(dds_create_reader(participant, topic, qos, NULL), "reader");
  uint32_t received = 0;
  dds_delete_qos(qos);
  say("ready");
  while (received < options.count) {
    watch_reader(reader);
    received += take(reader);
    if (now_ms() > deadline_ms)
      give_up(EXIT_TIMEOUT, "received %u of %u", received, options.count);
    pause_ms(POLL_MS);
  }
  for (uint64_t end = now_ms() + options.linger_ms; now_ms() < end; pause_ms(POLL_MS)) {
    received += take(reader);
    watch_reader(reader);
  }
  say("done %u", received);
  return 0;
}

/* --- mesh --------------------------------------------------------------------------------- */

static dds_entity_t mesh_writers[TOPICS_MAX], mesh_readers[TOPICS_MAX];

static void mesh_create(dds_entity_t participant) {
  dds_qos_t *qos = endpoint_qos();
  char name[256];
  for (uint32_t i = 0; i < options.topics; i++) {
    snprintf(name, sizeof name, "%s_%u", options.topic, i);
    dds_entity_t topic = made(dds_create_topic(participant, descriptor(), name, NULL, NULL), name);
    mesh_writers[i] = made(dds_create_writer(participant, topic, qos, NULL), "writer");
    mesh_readers[i] = made(dds_create_reader(participant, topic, qos, NULL), "reader");
  }
  dds_delete_qos(qos);
}

static mesh_matches mesh_look(void) {
  mesh_matches fewest = {UINT32_MAX, UINT32_MAX};
  for (uint32_t i = 0; i < options.topics; i++) {
    dds_publication_matched_status_t of_writer;
    dds_subscription_matched_status_t of_reader;
    dds_get_publication_matched_status(mesh_writers[i], &of_writer);
    dds_get_subscription_matched_status(mesh_readers[i], &of_reader);
    if (of_reader.current_count < fewest.writers) fewest.writers = of_reader.current_count;
    if (of_writer.current_count < fewest.readers) fewest.readers = of_writer.current_count;
  }
  return fewest;
}

static void mesh_write(uint32_t seq) {
  void *sample = make_sample(seq, options.keys[0]);
  for (uint32_t i = 0; i < options.topics; i++) {
    dds_return_t rc = dds_write(mesh_writers[i], sample);
    if (rc < 0) give_up(EXIT_ERROR, "write: %s", dds_strretcode(rc));
  }
  dds_sample_free(sample, descriptor(), DDS_FREE_ALL);
}

static void mesh_take(uint32_t *received) {
  enum { BATCH = 32 };
  uint32_t disorder = 0;
  for (uint32_t t = 0; t < options.topics; t++) {
    void *samples[BATCH] = {NULL};
    dds_sample_info_t infos[BATCH];
    dds_return_t n = dds_take(mesh_readers[t], samples, infos, BATCH, BATCH);
    if (n < 0) give_up(EXIT_ERROR, "take: %s", dds_strretcode(n));
    for (dds_return_t i = 0; i < n; i++) {
      const ShapeType *s = samples[i];
      if (!infos[i].valid_data) continue;
      mesh_note(&options, t, s->color, (uint32_t)s->x,
                s->y == 2 * s->x && s->shapesize == (int32_t)options.size_bytes, received,
                &disorder);
      if (disorder != 0) give_up(EXIT_ERROR, "topic %u: %s out of order", t, s->color);
    }
    if (n > 0) dds_return_loan(mesh_readers[t], samples, n);
  }
}

static int mesh(dds_entity_t participant) {
  uint32_t received = 0, all = options.topics * options.members * options.count;
  mesh_create(participant);
  say("ready");
  while (!mesh_matched(&options, mesh_look())) {
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "not matched");
    mesh_take(&received);
    pause_ms(5 * POLL_MS);
  }
  for (uint32_t seq = 1; seq <= options.count; seq++) {
    mesh_write(seq);
    mesh_take(&received);
    pause_ms(options.period_ms);
  }
  for (; received < all; pause_ms(POLL_MS)) {
    mesh_take(&received);
    if (now_ms() > deadline_ms) mesh_give_up(&options, received);
  }
  say("complete %u", received);
  for (uint64_t end = now_ms() + options.linger_ms; now_ms() < end; pause_ms(5 * POLL_MS))
    mesh_take(&received);
  say("done %u", received);
  return 0;
}

int main(int argc, char **argv) {
  dds_entity_t participant, topic;
  int code;
  options = parse_options(argc, argv);
  deadline_ms = now_ms() + 1000u * (uint64_t)options.timeout_s;
  configure();
  participant = made(dds_create_participant(options.domain, NULL, NULL), "participant");
  if (options.role == ROLE_MESH) {
    code = mesh(participant);
  } else {
    topic = made(dds_create_topic(participant, descriptor(), options.topic, NULL, NULL), "topic");
    code = options.role == ROLE_PUBLISH ? publish(participant, topic) : subscribe(participant, topic);
  }
  dds_delete(participant);
  return code;
}

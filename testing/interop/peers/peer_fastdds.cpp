// Live peer: Fast DDS 2.x, DDS API. Speaks the contract of testing/interop/README.md.
#include "peer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

#include "InteropPubSubTypes.h"

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastrtps::types::ReturnCode_t;

static peer_options options;
static uint64_t deadline_ms;

// --- configuration ---------------------------------------------------------------------------

static fast::DomainParticipantQos participant_qos() {
  char address[INET_ADDRSTRLEN];
  fast::DomainParticipantQos qos = fast::PARTICIPANT_QOS_DEFAULT;
  auto transport = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  address_of_interface(options.interface_name, address);
  transport->interfaceWhiteList.push_back(address);
  // An initial peer without a port is probed on this many participant indices (the default is 4).
  transport->maxInitialPeersRange = 32;
  qos.transport().use_builtin_transports = false;
  qos.transport().user_transports.push_back(transport);
  auto& builtin = qos.wire_protocol().builtin;
  rtps::Locator_t locator;
  if (!options.multicast) {
    // Any metatraffic locator of ours replaces the defaults, the multicast one with them.
    rtps::IPLocator::setIPv4(locator, address);
    builtin.metatrafficUnicastLocatorList.push_back(locator);
    if (options.peers_count == 0) options.peers[options.peers_count++] = "127.0.0.1";
  }
  for (int i = 0; i < options.peers_count; i++) {
    rtps::Locator_t peer;
    rtps::IPLocator::setIPv4(peer, options.peers[i]);
    builtin.initialPeersList.push_back(peer);
  }
  if (options.lease_ms != 0) {
    builtin.discovery_config.leaseDuration = {
        static_cast<int32_t>(options.lease_ms / 1000u), (options.lease_ms % 1000u) * 1000000u};
    uint32_t period_ms = options.lease_ms / 3u + 1u;
    builtin.discovery_config.leaseDuration_announcementperiod = {
        static_cast<int32_t>(period_ms / 1000u), (period_ms % 1000u) * 1000000u};
  }
  return qos;
}

template <typename Qos>
static void set_endpoint_qos(Qos& qos) {
  qos.reliability().kind =
      options.reliable ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = {10, 0};
  qos.durability().kind = options.transient_local ? fast::TRANSIENT_LOCAL_DURABILITY_QOS
                                                  : fast::VOLATILE_DURABILITY_QOS;
  qos.history().kind =
      options.keep_all ? fast::KEEP_ALL_HISTORY_QOS : fast::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = options.keep_all ? 1 : options.keep_last;
  // KEEP_ALL is unlimited only where the limits say so; 0 means unlimited here.
  qos.resource_limits().max_samples = 0;
  qos.resource_limits().max_instances = 0;
  qos.resource_limits().max_samples_per_instance = 0;
  if (options.max_samples != 0) {
    int32_t most = static_cast<int32_t>(options.max_samples);
    qos.resource_limits().max_samples = most;
    qos.resource_limits().max_instances = 1;
    qos.resource_limits().max_samples_per_instance = most;
    qos.resource_limits().allocated_samples = 0;
  }
  qos.data_sharing().off();
  // The generated type claims at most 100 elements per sequence; larger samples must be allowed.
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
}

static fast::DataWriterQos writer_qos() {
  fast::DataWriterQos qos = fast::DATAWRITER_QOS_DEFAULT;
  set_endpoint_qos(qos);
  qos.publish_mode().kind = fast::ASYNCHRONOUS_PUBLISH_MODE;  // the only mode that fragments
  // The default of 3 s makes every repair and every late joiner wait that long.
  qos.reliable_writer_qos().times.heartbeatPeriod = {0, 200u * 1000u * 1000u};
  qos.writer_data_lifecycle().autodispose_unregistered_instances = false;
  return qos;
}

static fast::DataReaderQos reader_qos() {
  fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
  set_endpoint_qos(qos);
  return qos;
}

static fast::TypeSupport type_support() {
  switch (options.type) {
    case TYPE_SHAPE: return fast::TypeSupport(new ShapeTypePubSubType());
    case TYPE_KEYLESS: return fast::TypeSupport(new KeylessPubSubType());
    case TYPE_TELEMETRY: break;
  }
  return fast::TypeSupport(new TelemetryPubSubType());
}

// --- samples ---------------------------------------------------------------------------------

struct Facts {
  uint32_t seq = 0;
  std::string key = "-";
  checksum sum = checksum_start();
};

static Facts facts_of(const ShapeType& s) {
  Facts f;
  f.seq = static_cast<uint32_t>(s.x());
  f.key = s.color().c_str();
  checksum_text(&f.sum, s.color().c_str());
  checksum_number(&f.sum, static_cast<uint32_t>(s.x()), 4);
  checksum_number(&f.sum, static_cast<uint32_t>(s.y()), 4);
  checksum_number(&f.sum, static_cast<uint32_t>(s.shapesize()), 4);
  return f;
}

static Facts facts_of(const Keyless& s) {
  Facts f;
  f.seq = s.seq();
  checksum_add(&f.sum, s.payload().data(), s.payload().size());
  return f;
}

static Facts facts_of(const Telemetry& s) {
  Facts f;
  f.seq = s.seq();
  f.key = std::to_string(s.id());
  checksum_number(&f.sum, s.id(), 4);
  checksum_number(&f.sum, s.seq(), 4);
  checksum_number(&f.sum, s.valid() ? 1 : 0, 1);
  checksum_double(&f.sum, s.value());
  checksum_text(&f.sum, s.origin().host().c_str());
  checksum_number(&f.sum, s.origin().port(), 2);
  for (const auto& tag : s.tags()) checksum_text(&f.sum, tag.c_str());
  for (double value : s.window()) checksum_double(&f.sum, value);
  return f;
}

static void fill(ShapeType& s, uint32_t seq, const char* key) {
  s.color(key);
  s.x(static_cast<int32_t>(seq));
  s.y(static_cast<int32_t>(2u * seq));
  s.shapesize(static_cast<int32_t>(options.size_bytes));
}

static void fill(Keyless& s, uint32_t seq, const char*) {
  s.seq(seq);
  s.payload().resize(options.size_bytes);
  for (uint32_t i = 0; i < options.size_bytes; i++) s.payload()[i] = payload_byte(seq, i);
}

static void fill(Telemetry& s, uint32_t seq, const char* key) {
  s.id(static_cast<uint32_t>(strtoul(key, nullptr, 10)));
  s.seq(seq);
  s.valid(seq % 2u == 1u);
  s.value(telemetry_value(s.id(), seq));
  s.origin().host("host-" + std::to_string(s.id()));
  s.origin().port(static_cast<uint16_t>(seq));
  s.tags().clear();
  for (uint32_t i = 0; i < tags_count(seq); i++)
    s.tags().push_back("tag-" + std::to_string(seq) + "-" + std::to_string(i));
  s.window().clear();
  for (uint32_t i = 0; i < window_count(seq); i++) s.window().push_back(window_value(seq, i));
}

// --- publisher -------------------------------------------------------------------------------

static uint32_t readers_matched(fast::DataWriter* writer) {
  fast::PublicationMatchedStatus status;
  writer->get_publication_matched_status(status);
  say_matched(static_cast<uint32_t>(status.current_count));
  return static_cast<uint32_t>(status.current_count);
}

static void watch_writer(fast::DataWriter* writer, uint32_t ms) {
  for (uint64_t end = now_ms() + ms; now_ms() < end; pause_ms(POLL_MS)) readers_matched(writer);
}

template <typename Sample>
static void publish_end(fast::DataWriter* writer) {
  if (options.end == END_NOTHING) return;
  Sample sample;
  fill(sample, options.count, options.end_key);
  ReturnCode_t rc = options.end == END_DISPOSE
                        ? writer->dispose(&sample, rtps::c_InstanceHandle_Unknown)
                        : writer->unregister_instance(&sample, rtps::c_InstanceHandle_Unknown);
  if (rc != ReturnCode_t::RETCODE_OK) give_up(EXIT_ERROR, "end of instance: %u", rc());
}

// KEEP_ALL with max_samples blocks here, but at times 2.9 says no within milliseconds.
static void write(fast::DataWriter* writer, void* sample) {
  while (!writer->write(sample)) {
    if (options.max_samples == 0 || now_ms() > deadline_ms) give_up(EXIT_ERROR, "write");
    pause_ms(POLL_MS);
  }
}

template <typename Sample>
static int publish(fast::DomainParticipant* participant, fast::Topic* topic) {
  fast::DataWriterQos qos = writer_qos();
  fast::Publisher* publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
  fast::DataWriter* writer = publisher->create_datawriter(topic, qos);
  if (writer == nullptr) give_up(EXIT_ERROR, "writer");
  say("ready");
  while (readers_matched(writer) < options.wait_matched) {
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "not matched");
    pause_ms(POLL_MS);
  }
  watch_writer(writer, options.settle_ms);
  for (uint32_t seq = 1; seq <= options.count; seq++) {
    Sample sample;
    fill(sample, seq, key_of_seq(&options, seq));
    Facts f = facts_of(sample);
    write(writer, &sample);
    say("sent %u %s %08x", f.seq, f.key.c_str(), checksum_end(&f.sum));
    watch_writer(writer, options.period_ms);
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "sent %u of %u", seq, options.count);
  }
  publish_end<Sample>(writer);
  if (options.reliable) writer->wait_for_acknowledgments({5, 0});
  watch_writer(writer, options.linger_ms);
  say("done %u", options.count);
  return 0;
}

// --- subscriber ------------------------------------------------------------------------------

// A sample without data brings no key here, only the handle, which Fast DDS 2.9 overwrites with the
// first 16 octets of a serialized key: the key is printed as `?` then.
template <typename Sample>
static uint32_t take(fast::DataReader* reader) {
  static std::map<rtps::InstanceHandle_t, std::string> key_of;
  uint32_t received = 0;
  Sample sample;
  fast::SampleInfo info;
  while (reader->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK) {
    if (info.valid_data) {
      Facts f = facts_of(sample);
      key_of[info.instance_handle] = f.key;
      say("received %u %s %08x %u", f.seq, f.key.c_str(), checksum_end(&f.sum), f.sum.length);
      received++;
      pause_ms(options.take_ms);
    }
    if (options.type == TYPE_KEYLESS) continue;
    auto known = key_of.find(info.instance_handle);
    // While samples with data are still queued, the state belongs to their end.
    if (info.valid_data && info.instance_state != fast::ALIVE_INSTANCE_STATE) continue;
    say_state(known == key_of.end() ? "?" : known->second.c_str(),
              info.instance_state == fast::ALIVE_INSTANCE_STATE                ? STATE_ALIVE
              : info.instance_state == fast::NOT_ALIVE_DISPOSED_INSTANCE_STATE ? STATE_DISPOSED
                                                                              : STATE_NO_WRITERS);
  }
  return received;
}

static void watch_reader(fast::DataReader* reader) {
  fast::SubscriptionMatchedStatus status;
  reader->get_subscription_matched_status(status);
  say_matched(static_cast<uint32_t>(status.current_count));
}

template <typename Sample>
static int subscribe(fast::DomainParticipant* participant, fast::Topic* topic) {
  fast::Subscriber* subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
  fast::DataReader* reader = subscriber->create_datareader(topic, reader_qos());
  uint32_t received = 0;
  if (reader == nullptr) give_up(EXIT_ERROR, "reader");
  say("ready");
  while (received < options.count) {
    watch_reader(reader);
    received += take<Sample>(reader);
    if (now_ms() > deadline_ms)
      give_up(EXIT_TIMEOUT, "received %u of %u", received, options.count);
    pause_ms(POLL_MS);
  }
  for (uint64_t end = now_ms() + options.linger_ms; now_ms() < end; pause_ms(POLL_MS)) {
    received += take<Sample>(reader);
    watch_reader(reader);
  }
  say("done %u", received);
  return 0;
}

// --- mesh ------------------------------------------------------------------------------------

struct Mesh {
  std::vector<fast::DataWriter*> writers;
  std::vector<fast::DataReader*> readers;
  uint32_t received = 0;
  uint32_t disorder = 0;
};

static Mesh mesh_create(fast::DomainParticipant* participant, const std::string& type) {
  Mesh all;
  fast::Publisher* publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
  fast::Subscriber* subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
  for (uint32_t i = 0; i < options.topics; i++) {
    std::string name = std::string(options.topic) + "_" + std::to_string(i);
    fast::Topic* topic = participant->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
    if (topic == nullptr) give_up(EXIT_ERROR, "topic %s", name.c_str());
    all.writers.push_back(publisher->create_datawriter(topic, writer_qos()));
    all.readers.push_back(subscriber->create_datareader(topic, reader_qos()));
    if (all.writers.back() == nullptr || all.readers.back() == nullptr)
      give_up(EXIT_ERROR, "endpoint of %s", name.c_str());
  }
  return all;
}

static mesh_matches mesh_look(const Mesh& all) {
  mesh_matches fewest = {UINT32_MAX, UINT32_MAX};
  for (uint32_t i = 0; i < options.topics; i++) {
    fast::PublicationMatchedStatus of_writer;
    fast::SubscriptionMatchedStatus of_reader;
    all.writers[i]->get_publication_matched_status(of_writer);
    all.readers[i]->get_subscription_matched_status(of_reader);
    fewest.writers = std::min(fewest.writers, static_cast<uint32_t>(of_reader.current_count));
    fewest.readers = std::min(fewest.readers, static_cast<uint32_t>(of_writer.current_count));
  }
  return fewest;
}

static void mesh_take(Mesh& all) {
  ShapeType s;
  fast::SampleInfo info;
  for (uint32_t t = 0; t < options.topics; t++)
    while (all.readers[t]->take_next_sample(&s, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data)
        mesh_note(&options, t, s.color().c_str(), static_cast<uint32_t>(s.x()),
                  s.y() == 2 * s.x() && s.shapesize() == static_cast<int32_t>(options.size_bytes),
                  &all.received, &all.disorder);
}

static int mesh(fast::DomainParticipant* participant, const std::string& type) {
  Mesh all = mesh_create(participant, type);
  say("ready");
  while (!mesh_matched(&options, mesh_look(all))) {
    if (now_ms() > deadline_ms) give_up(EXIT_TIMEOUT, "not matched");
    mesh_take(all);
    pause_ms(5 * POLL_MS);
  }
  for (uint32_t seq = 1; seq <= options.count; seq++) {
    ShapeType sample;
    fill(sample, seq, options.keys[0]);
    for (fast::DataWriter* writer : all.writers) write(writer, &sample);
    mesh_take(all);
    pause_ms(options.period_ms);
  }
  for (; all.received < options.topics * options.members * options.count; pause_ms(POLL_MS)) {
    mesh_take(all);
    if (now_ms() > deadline_ms) {
      say("disorder %u", all.disorder);
      mesh_give_up(&options, all.received);
    }
  }
  if (all.disorder != 0) say("disorder %u", all.disorder);
  say("complete %u", all.received);
  for (uint64_t end = now_ms() + options.linger_ms; now_ms() < end; pause_ms(5 * POLL_MS))
    mesh_take(all);
  say("done %u", all.received);
  return 0;
}

template <typename Sample>
static int run(fast::DomainParticipant* participant, fast::Topic* topic) {
  return options.role == ROLE_PUBLISH ? publish<Sample>(participant, topic)
                         : subscribe<Sample>(participant, topic);
}

static int run_one(fast::DomainParticipant* participant, const std::string& type) {
  fast::Topic* topic = participant->create_topic(options.topic, type, fast::TOPIC_QOS_DEFAULT);
  if (topic == nullptr) give_up(EXIT_ERROR, "topic");
  switch (options.type) {
    case TYPE_SHAPE: return run<ShapeType>(participant, topic);
    case TYPE_KEYLESS: return run<Keyless>(participant, topic);
    case TYPE_TELEMETRY: break;
  }
  return run<Telemetry>(participant, topic);
}

int main(int argc, char** argv) {
  options = parse_options(argc, argv);
  if (options.xcdr == 2) give_up(EXIT_UNSUPPORTED, "Fast DDS 2.9 writes and reads XCDR1 only");
  deadline_ms = now_ms() + 1000u * static_cast<uint64_t>(options.timeout_s);
  auto* factory = fast::DomainParticipantFactory::get_instance();
  auto* participant = factory->create_participant(options.domain, participant_qos());
  if (participant == nullptr) give_up(EXIT_ERROR, "participant");
  fast::TypeSupport type = type_support();
  type.register_type(participant);
  int code = options.role == ROLE_MESH ? mesh(participant, type.get_type_name())
                                       : run_one(participant, type.get_type_name());
  participant->delete_contained_entities();
  factory->delete_participant(participant);
  return code;
}

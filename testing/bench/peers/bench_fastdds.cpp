// Fast DDS 2.x as a contestant, DDS API. Speaks the lines of testing/bench/src/protocol.rs.
#include "bench.h"

#include <semaphore.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/config.h>

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastrtps::types::ReturnCode_t;

// --- the type ----------------------------------------------------------------------------------

// Filled in place, so that no allocation of ours is measured.
struct Msg {
  uint32_t seq;
  uint32_t length;
  uint8_t payload[1];
};

constexpr uint32_t header_bytes = 8, encapsulation_bytes = 4;

// Written by hand, which is quicker than what the type compiler makes: one copy each way.
class MsgType : public fast::TopicDataType {
 public:
  explicit MsgType(uint32_t most) : most_(most) {
    setName("Bench::Msg");
    m_typeSize = encapsulation_bytes + header_bytes + most;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, rtps::SerializedPayload_t* out) override {
    static const uint8_t little_endian[encapsulation_bytes] = {0, 1, 0, 0};
    const Msg* msg = static_cast<const Msg*>(data);
    if (msg->length > most_) return false;
    out->encapsulation = CDR_LE;
    out->length = encapsulation_bytes + header_bytes + msg->length;
    memcpy(out->data, little_endian, encapsulation_bytes);
    memcpy(out->data + encapsulation_bytes, msg, header_bytes + msg->length);
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* in, void* data) override {
    if (in->length < encapsulation_bytes + header_bytes) return false;
    uint32_t length = in->length - encapsulation_bytes - header_bytes;
    Msg* msg = static_cast<Msg*>(data);
    if (length > most_) return false;
    memcpy(msg, in->data + encapsulation_bytes, header_bytes + length);
    return msg->length <= length;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] {
      return encapsulation_bytes + header_bytes + static_cast<Msg*>(data)->length;
    };
  }
  void* createData() override { return calloc(1, header_bytes + most_ + sizeof(Msg)); }
  void deleteData(void* data) override { free(data); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }

 private:
  uint32_t most_;
};

// --- entities ----------------------------------------------------------------------------------

static fast::DataWriter* writer;
static fast::DataReader* reader;
static fast::WaitSet wait_set;
static Msg *written, *taken;
static block current;
static sem_t finished;

static fast::DomainParticipant* new_participant(int argc, char** argv, uint32_t buffer_bytes = 0) {
  fast::DomainParticipantQos qos = fast::PARTICIPANT_QOS_DEFAULT;
  auto transport = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  transport->interfaceWhiteList.push_back(option(argc, argv, "--address", nullptr));
  if (buffer_bytes != 0) transport->sendBufferSize = transport->receiveBufferSize = buffer_bytes;
  qos.transport().use_builtin_transports = false;
  qos.transport().user_transports.push_back(transport);
  auto* participant = fast::DomainParticipantFactory::get_instance()->create_participant(
      static_cast<uint32_t>(atoi(option(argc, argv, "--domain", nullptr))), qos);
  if (participant == nullptr) give_up("no participant");
  return participant;
}

template <typename Qos>
static void set_ping_pong_qos(Qos& qos) {
  qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  qos.history().kind = fast::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 1;
  qos.durability().kind = fast::VOLATILE_DURABILITY_QOS;
  qos.data_sharing().off();
}

// --- ping-pong ---------------------------------------------------------------------------------

// Larger ones need fragments, and those the asynchronous mode.
constexpr uint32_t most_in_one_message = 65000, most = 11u << 20;

// Of what is tuned.
constexpr uint32_t tuned_buffer_bytes = 4u << 20, tuned_heartbeat_period_ms = 20;

static void open_ends(int argc, char** argv, const char* write_topic, const char* read_topic,
                      fast::DataReaderListener* listener) {
  bool large = std::string(argv[3]) == "large";
  uint32_t size = large ? most : most_in_one_message;
  // With the buffers of the system its large samples wait for repair.
  auto* participant = new_participant(argc, argv, large ? tuned_buffer_bytes : 0u);
  fast::TypeSupport type(new MsgType(size));
  type.register_type(participant);
  auto topic = [&](const char* name) {
    return participant->create_topic(name, type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  };
  fast::DataWriterQos writer_qos = fast::DATAWRITER_QOS_DEFAULT;
  set_ping_pong_qos(writer_qos);
  if (large) writer_qos.publish_mode().kind = fast::ASYNCHRONOUS_PUBLISH_MODE;
  fast::DataReaderQos reader_qos = fast::DATAREADER_QOS_DEFAULT;
  set_ping_pong_qos(reader_qos);
  written = static_cast<Msg*>(type.create_data());
  taken = static_cast<Msg*>(type.create_data());
  memset(written->payload, 0x55, size);
  auto* publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
  writer = publisher->create_datawriter(topic(write_topic), writer_qos);
  auto* subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
  reader = subscriber->create_datareader(
      topic(read_topic), reader_qos, listener,
      listener != nullptr ? fast::StatusMask::data_available() : fast::StatusMask::none());
  if (writer == nullptr || reader == nullptr) give_up("no writer or reader");
  if (listener == nullptr) {
    auto& condition = reader->get_statuscondition();
    condition.set_enabled_statuses(fast::StatusMask::data_available());
    wait_set.attach_condition(condition);
  }
}

static void meet() {
  for (;;) {
    fast::PublicationMatchedStatus published;
    fast::SubscriptionMatchedStatus subscribed;
    writer->get_publication_matched_status(published);
    reader->get_subscription_matched_status(subscribed);
    if (published.current_count > 0 && subscribed.current_count > 0) return;
    usleep(200);
  }
}

static bool wait() {
  static fast::ConditionSeq met;
  return wait_set.wait(met, eprosima::fastrtps::Duration_t(10, 0)) == ReturnCode_t::RETCODE_OK;
}

static bool take() {
  fast::SampleInfo info;
  return reader->take_next_sample(taken, &info) == ReturnCode_t::RETCODE_OK && info.valid_data;
}

static void write(Msg* msg) {
  if (!writer->write(msg)) give_up("write");
}

static void answer() {
  if (take()) write(taken);
}

static void send_next() {
  written->seq = ++current.seq;
  current.begun = now_ns();
  write(written);
}

static bool take_answer() { return take() && note_answer(&current, taken->seq, taken->length); }

struct Answering : fast::DataReaderListener {
  void on_data_available(fast::DataReader*) override { answer(); }
};

struct Measuring : fast::DataReaderListener {
  void on_data_available(fast::DataReader*) override {
    if (!take_answer()) return;
    if (current.done == current.count)
      sem_post(&finished);
    else
      send_next();
  }
};

static void run_block(bool listens) {
  written->length = static_cast<uint32_t>(current.size);
  if (listens) {
    timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PATIENCE_S;
    send_next();
    if (sem_timedwait(&finished, &deadline) != 0) give_up("stalled after %zu", current.done);
    return;
  }
  while (current.done < current.count) {
    send_next();
    do {
      if (!wait()) give_up("stalled after %zu", current.done);
    } while (!take_answer());
  }
}

// Both ends in one process; callbacks may run within the write, so the main thread writes all.
static fast::DataWriter* answering_writer;

struct AnsweringHere : fast::DataReaderListener {
  Msg* room = nullptr;
  void on_data_available(fast::DataReader* from) override {
    fast::SampleInfo info;
    if (from->take_next_sample(room, &info) != ReturnCode_t::RETCODE_OK || !info.valid_data) return;
    if (!answering_writer->write(room)) give_up("write");
  }
};

struct MeasuringHere : fast::DataReaderListener {
  void on_data_available(fast::DataReader*) override {
    if (take_answer()) sem_post(&finished);
  }
};

static void in_process(int argc, char** argv) {
  static AnsweringHere answering;
  static MeasuringHere measuring;
  sem_init(&finished, 0, 0);
  open_ends(argc, argv, "pong", "ping", &answering);
  answering_writer = writer;
  answering.room = taken;
  open_ends(argc, argv, "ping", "pong", &measuring);
  meet();
  usleep(300000);
  say("ready");
  while (next_order(&current)) {
    written->length = static_cast<uint32_t>(current.size);
    while (current.done < current.count) {
      timespec deadline;
      clock_gettime(CLOCK_REALTIME, &deadline);
      deadline.tv_sec += PATIENCE_S;
      send_next();
      if (sem_timedwait(&finished, &deadline) != 0) give_up("stalled after %zu", current.done);
    }
    say_round_trips(&current);
  }
  _exit(0);
}

static void latency(int argc, char** argv) {
  std::string role = argv[2], mode = argv[3];
  bool listens = mode == "listener" || mode == "large";
  if (mode == "in-process") in_process(argc, argv);
  if (!listens && mode != "waitset") give_up("no mode %s", argv[3]);
  static Answering answering;
  static Measuring measuring;
  if (role == "pong") {
    open_ends(argc, argv, "pong", "ping", listens ? &answering : nullptr);
    if (!listens)
      std::thread([] {
        for (;;)
          if (wait()) answer();
      }).detach();
    stand_by();
  }
  sem_init(&finished, 0, 0);
  open_ends(argc, argv, "ping", "pong", listens ? &measuring : nullptr);
  meet();
  // Only our side is known to be matched.
  usleep(300000);
  say("ready");
  while (next_order(&current)) {
    if (current.size > (mode == "large" ? most : most_in_one_message))
      give_up("%zu octets are too many", current.size);
    run_block(listens);
    say_round_trips(&current);
  }
}

// --- throughput --------------------------------------------------------------------------------

constexpr uint32_t large_bytes = 100000;
static arrivals arrived;

struct Counting : fast::DataReaderListener {
  void on_data_available(fast::DataReader* from) override {
    fast::SampleInfo info;
    while (from->take_next_sample(taken, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) note_arrivals(&arrived, 1);
  }
};

template <typename Qos>
static void set_stream_qos(Qos& qos, bool reliable, uint32_t size) {
  qos.reliability().kind =
      reliable ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = {1, 0};
  qos.history().kind = fast::KEEP_ALL_HISTORY_QOS;
  qos.durability().kind = fast::VOLATILE_DURABILITY_QOS;
  int32_t most = !reliable ? fast::LENGTH_UNLIMITED : size > large_bytes ? 64 : 4000;
  qos.resource_limits().max_samples = most;
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().max_samples_per_instance = most;
  qos.resource_limits().allocated_samples = reliable ? std::min(most, 100) : 100;
  qos.data_sharing().off();
}

// Tuned: larger socket buffers, and a heartbeat that asks for repair soon.
static void throughput(int argc, char** argv) {
  std::string role = argv[2], mode = argv[3];
  bool reliable = mode != "best-effort", tuned = mode == "tuned";
  uint32_t size = static_cast<uint32_t>(atol(option(argc, argv, "--size", nullptr)));
  int readers = atoi(option(argc, argv, "--number", nullptr));
  auto* participant = new_participant(argc, argv, tuned ? tuned_buffer_bytes : 0u);
  fast::TypeSupport type(new MsgType(size));
  type.register_type(participant);
  auto* topic =
      participant->create_topic("stream", type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  taken = static_cast<Msg*>(type.create_data());
  if (role == "sub") {
    static Counting counting;
    fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
    set_stream_qos(qos, reliable, size);
    auto* subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    if (subscriber->create_datareader(topic, qos, &counting,
                                      fast::StatusMask::data_available()) == nullptr)
      give_up("reader");
    say_arrivals(&arrived);
  }
  fast::DataWriterQos qos = fast::DATAWRITER_QOS_DEFAULT;
  set_stream_qos(qos, reliable, size);
  // The only mode that fragments.
  if (size > most_in_one_message) qos.publish_mode().kind = fast::ASYNCHRONOUS_PUBLISH_MODE;
  if (tuned)
    qos.reliable_writer_qos().times.heartbeatPeriod = {0, tuned_heartbeat_period_ms * 1000u * 1000u};
  writer = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos);
  if (writer == nullptr) give_up("writer");
  for (;;) {
    fast::PublicationMatchedStatus published;
    writer->get_publication_matched_status(published);
    if (published.current_count >= readers) break;
    usleep(2000);
  }
  usleep(300000);
  taken->length = size;
  say("ready");
  for (burst b; next_burst(&b);) {
    while (is_due(&b)) {
      taken->seq++;
      if (writer->write(taken)) b.written++;
      else b.refused++;
    }
    if (reliable) writer->wait_for_acknowledgments({10, 0});
    say_sent(&b);
  }
}

// --- footprint ---------------------------------------------------------------------------------

// Takes a sample and tells that it came.
struct Telling : fast::DataReaderListener {
  void on_data_available(fast::DataReader*) override {
    if (take()) sem_post(&finished);
  }
};

static void footprint(int argc, char** argv) {
  std::string role = argv[2], side = argv[3];
  if (role == "match") {
    static Answering answering;
    static Telling telling;
    sem_init(&finished, 0, 0);
    if (side == "a") open_ends(argc, argv, "a", "b", &answering);
    else open_ends(argc, argv, "b", "a", &telling);
    meet();
    if (side == "a") stand_by();
    say("ready");
    while (next_number() >= 0) {
      write(written);
      sem_wait(&finished);
      say("answered");
    }
    _exit(0);
  }
  auto* participant = new_participant(argc, argv);
  say("ready");
  fast::Topic* topic = nullptr;
  fast::Subscriber* subscriber = nullptr;
  for (long count; (count = next_number()) >= 0; say("ready")) {
    if (topic == nullptr) {
      fast::TypeSupport type(new MsgType(256));
      type.register_type(participant);
      topic = participant->create_topic("many", type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
      subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    }
    fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
    qos.data_sharing().off();
    while (count-- > 0)
      if (subscriber->create_datareader(topic, qos) == nullptr) give_up("reader");
  }
}

// --- main --------------------------------------------------------------------------------------

static void settings() {
  printf(
      "UDPv4 alone on one address, no data sharing; samples above %u octets "
      "ASYNCHRONOUS_PUBLISH_MODE; tuned and large: sendBufferSize and receiveBufferSize %u; tuned: "
      "heartbeatPeriod %u ms\n",
      most_in_one_message, tuned_buffer_bytes, tuned_heartbeat_period_ms);
}

int main(int argc, char** argv) {
  if (argc <= 3 && argc > 1 && std::string(argv[1]) == "version") {
    printf("Fast DDS %s\n", FASTRTPS_VERSION_STR);
    return 0;
  }
  if (argc <= 3 && argc > 1 && std::string(argv[1]) == "settings") {
    settings();
    return 0;
  }
  if (argc < 4) give_up("usage: bench_fastdds version | settings | BENCH ROLE MODE OPTION...");
  if (std::string(argv[1]) != "footprint") watch_counter();
  if (std::string(argv[1]) == "latency")
    latency(argc, argv);
  else if (std::string(argv[1]) == "throughput")
    throughput(argc, argv);
  else if (std::string(argv[1]) == "footprint")
    footprint(argc, argv);
  else
    give_up("no bench %s", argv[1]);
  fflush(stdout);
  _exit(0);
}

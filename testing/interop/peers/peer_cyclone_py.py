#!/usr/bin/env python3
"""Live peer: Cyclone DDS, Python API. Speaks the contract of testing/interop/README.md."""

import argparse
import os
import struct
import sys
import time
import zlib
from dataclasses import dataclass

EXIT_ERROR, EXIT_USAGE, EXIT_TIMEOUT, EXIT_UNSUPPORTED = 1, 2, 3, 4
POLL_S = 0.002

try:
    import cyclonedds.idl as idl
    import cyclonedds.idl.annotations as annotate
    import cyclonedds.idl.types as types
    from cyclonedds.core import DDSException, InstanceState
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.internal import InvalidSample
    from cyclonedds.pub import DataWriter
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration
except ImportError as missing:
    print(f"error {missing}", flush=True)
    sys.exit(EXIT_UNSUPPORTED)


@dataclass
@annotate.final
@annotate.autoid("sequential")
class ShapeType(idl.IdlStruct, typename="ShapeType"):
    color: types.bounded_str[128]
    annotate.key("color")
    x: types.int32
    y: types.int32
    shapesize: types.int32


@dataclass
@annotate.final
@annotate.autoid("sequential")
class Keyless(idl.IdlStruct, typename="Keyless"):
    seq: types.uint32
    payload: types.sequence[types.byte]


@dataclass
@annotate.appendable
@annotate.autoid("sequential")
class Place(idl.IdlStruct, typename="Place"):
    host: str
    port: types.uint16


@dataclass
@annotate.appendable
@annotate.autoid("sequential")
class Telemetry(idl.IdlStruct, typename="Telemetry"):
    id: types.uint32
    annotate.key("id")
    seq: types.uint32
    valid: bool
    value: types.float64
    origin: Place
    tags: types.sequence[str]
    window: types.sequence[types.float64]


TYPES = {"shape": ShapeType, "keyless": Keyless, "telemetry": Telemetry}


class GiveUp(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def say(*words):
    print(*words, flush=True)


# --- command line ----------------------------------------------------------------------------


def parse_options():
    class Parser(argparse.ArgumentParser):
        def error(self, message):
            say("error", message)
            sys.exit(EXIT_USAGE)

    p = Parser(allow_abbrev=False)
    p.add_argument("role", choices=["pub", "sub", "mesh"])
    p.add_argument("--topic", required=True)
    p.add_argument("--type", choices=list(TYPES), default="shape")
    p.add_argument("--domain", type=int, default=0)
    p.add_argument("--reliable", dest="reliable", action="store_true", default=True)
    p.add_argument("--best-effort", dest="reliable", action="store_false")
    p.add_argument("--transient-local", action="store_true")
    p.add_argument("--keep-all", dest="keep_last", action="store_const", const=0)
    p.add_argument("--keep-last", dest="keep_last", type=int, default=1)
    p.add_argument("--max-samples", type=int, default=0)
    p.add_argument("--take-ms", type=int, default=0)
    p.add_argument("--topics", type=int, default=1)
    p.add_argument("--members", type=int, default=1)
    p.add_argument("--xcdr", type=int, choices=[1, 2], default=0)
    p.add_argument("--count", type=int, default=10)
    p.add_argument("--size", type=int, default=64)
    p.add_argument("--period-ms", type=int, default=10)
    p.add_argument("--key")
    p.add_argument("--dispose")
    p.add_argument("--unregister")
    p.add_argument("--wait-matched", type=int, default=0)
    p.add_argument("--settle-ms", type=int, default=0)
    p.add_argument("--linger-ms", type=int, default=200)
    p.add_argument("--timeout-s", type=int, default=30)
    p.add_argument("--lease-ms", type=int, default=0)
    p.add_argument("--interface", default="lo")
    p.add_argument("--multicast", action="store_true")
    p.add_argument("--peer", action="append", default=[])
    options = p.parse_args()
    options.keys = (options.key or ("BLUE" if options.type == "shape" else "1")).split(",")
    if options.type == "keyless" and (options.dispose or options.unregister):
        p.error("keyless has no instance to dispose or unregister")
    return options


def configure(o):
    peers = o.peer or ([] if o.multicast else ["127.0.0.1"])
    lease = f"<LeaseDuration>{o.lease_ms} ms</LeaseDuration>" if o.lease_ms else ""
    os.environ.setdefault(
        "CYCLONEDDS_URI",
        '<CycloneDDS><Domain id="any"><General><Interfaces>'
        f'<NetworkInterface name="{o.interface}"/></Interfaces>'
        f"<AllowMulticast>{'true' if o.multicast else 'false'}</AllowMulticast>"
        "</General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
        f"<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>{lease}"
        f"<Peers>{''.join(f'<Peer address={p!r}/>' for p in peers)}</Peers></Discovery>"
        "</Domain></CycloneDDS>",
    )


def endpoint_qos(o):
    history = Policy.History.KeepLast(o.keep_last) if o.keep_last else Policy.History.KeepAll
    policies = [
        Policy.Reliability.Reliable(duration(seconds=10))
        if o.reliable
        else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if o.transient_local else Policy.Durability.Volatile,
        history,
        Policy.DurabilityService(duration(seconds=0), history, -1, -1, -1),
        Policy.WriterDataLifecycle(autodispose=False),
    ]
    if o.max_samples:
        policies.append(Policy.ResourceLimits(max_samples=o.max_samples))
    if o.xcdr:
        policies.append(
            Policy.DataRepresentation(
                use_cdrv0_representation=o.xcdr == 1, use_xcdrv2_representation=o.xcdr == 2
            )
        )
    return Qos(*policies)


# --- samples ---------------------------------------------------------------------------------


def make_sample(o, seq, key):
    if o.type == "shape":
        return ShapeType(color=key, x=seq, y=2 * seq, shapesize=o.size)
    if o.type == "keyless":
        block = bytes((seq * 31 + i * 7) & 0xFF for i in range(256))
        return Keyless(seq=seq, payload=(block * (o.size // 256 + 1))[: o.size])
    return Telemetry(
        id=int(key),
        seq=seq,
        valid=seq % 2 == 1,
        value=int(key) + 0.5 * seq,
        origin=Place(host=f"host-{int(key)}", port=seq & 0xFFFF),
        tags=[f"tag-{seq}-{i}" for i in range(seq % 4)],
        window=[seq + 0.25 * i for i in range(seq % 5)],
    )


def facts_of(sample):
    """Sequence, key and the octets the checksum covers."""
    if isinstance(sample, ShapeType):
        octets = sample.color.encode() + struct.pack("<iii", sample.x, sample.y, sample.shapesize)
        return sample.x, sample.color, octets
    if isinstance(sample, Keyless):
        return sample.seq, "-", bytes(sample.payload)
    octets = struct.pack("<IIBd", sample.id, sample.seq, sample.valid, sample.value)
    octets += sample.origin.host.encode() + struct.pack("<H", sample.origin.port)
    octets += "".join(sample.tags).encode()
    octets += struct.pack(f"<{len(sample.window)}d", *sample.window)
    return sample.seq, str(sample.id), octets


def key_of(sample):
    inner = sample.key_sample if isinstance(sample, InvalidSample) else sample
    return inner.color if isinstance(inner, ShapeType) else str(inner.id)


# --- both roles ------------------------------------------------------------------------------


class Matched:
    """Prints every change of the number of matched endpoints."""

    def __init__(self):
        self.current = 0

    def note(self, status):
        if status.current_count != self.current:
            grew = status.current_count > self.current
            self.current = status.current_count
            say("matched" if grew else "unmatched", self.current)
        return self.current


def watch(ms, step):
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        step()
        time.sleep(POLL_S)


def publish(o, participant, topic, deadline):
    matched = Matched()
    writer = DataWriter(participant, topic, qos=endpoint_qos(o))
    step = lambda: matched.note(writer.get_publication_matched_status())
    say("ready")
    while step() < o.wait_matched:
        if time.monotonic() > deadline:
            raise GiveUp(EXIT_TIMEOUT, "not matched")
        time.sleep(POLL_S)
    watch(o.settle_ms, step)
    for seq in range(1, o.count + 1):
        sample = make_sample(o, seq, o.keys[(seq - 1) % len(o.keys)])
        writer.write(sample)
        number, key, octets = facts_of(sample)
        say("sent", number, key, f"{zlib.crc32(octets):08x}")
        watch(o.period_ms, step)
        if time.monotonic() > deadline:
            raise GiveUp(EXIT_TIMEOUT, f"sent {seq} of {o.count}")
    if o.dispose is not None:
        writer.dispose(make_sample(o, o.count, o.dispose))
    if o.unregister is not None:
        writer.unregister_instance(make_sample(o, o.count, o.unregister))
    if o.reliable:
        writer.wait_for_acks(duration(seconds=5))
    watch(o.linger_ms, step)
    say("done", o.count)


STATES = {
    InstanceState.Alive: "alive",
    InstanceState.NotAliveDisposed: "disposed",
    InstanceState.NotAliveNoWriters: "no_writers",
}


def subscribe(o, participant, topic, deadline):
    matched = Matched()
    states = {}
    received = 0
    reader = DataReader(participant, topic, qos=endpoint_qos(o))
    say("ready")

    def step():
        nonlocal received
        matched.note(reader.get_subscription_matched_status())
        samples = reader.take(N=1 if o.take_ms else 32)
        if samples and o.take_ms:
            time.sleep(o.take_ms / 1000)
        for sample in samples:
            if not isinstance(sample, InvalidSample):
                number, key, octets = facts_of(sample)
                say("received", number, key, f"{zlib.crc32(octets):08x}", len(octets))
                received += 1
        for sample in samples if o.type != "keyless" else []:
            key, state = key_of(sample), STATES[sample.sample_info.instance_state]
            if states.get(key, "alive") != state:
                say("state", key, state)
            states[key] = state

    while received < o.count:
        step()
        if time.monotonic() > deadline:
            raise GiveUp(EXIT_TIMEOUT, f"received {received} of {o.count}")
        time.sleep(POLL_S)
    watch(o.linger_ms, step)
    say("done", received)


class Mesh:
    """Many topics, everybody writes and reads all of them."""

    def __init__(self, o, participant):
        self.o = o
        self.writers = []
        self.readers = []
        self.newest = {}
        self.received = 0
        for i in range(o.topics):
            topic = Topic(participant, f"{o.topic}_{i}", ShapeType)
            self.writers.append(DataWriter(participant, topic, qos=endpoint_qos(o)))
            self.readers.append(DataReader(participant, topic, qos=endpoint_qos(o)))

    def look(self):
        """The fewest matches of any reader and of any writer."""
        writers = min(r.get_subscription_matched_status().current_count for r in self.readers)
        readers = min(w.get_publication_matched_status().current_count for w in self.writers)
        return writers, readers

    def write(self, seq):
        for writer in self.writers:
            writer.write(make_sample(self.o, seq, self.o.keys[0]))

    def take(self):
        for i, reader in enumerate(self.readers):
            for sample in reader.take(N=32):
                if not isinstance(sample, InvalidSample):
                    self.note(i, sample)

    def note(self, i, sample):
        """Numbers come in order, none twice."""
        seq, key, before = sample.x, sample.color, self.newest.get((i, sample.color), 0)
        if (sample.y, sample.shapesize) != (2 * seq, self.o.size):
            raise GiveUp(EXIT_ERROR, f"topic {i}: sample {seq} of {key} is not as written")
        if seq != before + 1:
            raise GiveUp(EXIT_ERROR, f"topic {i}: sample {seq} of {key} after {before}")
        self.newest[i, key] = seq
        self.received += 1


def mesh(o, participant, deadline):
    all = Mesh(o, participant)
    say("ready")
    before = (0, 0)
    while min(before) < o.members:
        found = all.look()
        if found != before:
            say("mesh writers", found[0], "readers", found[1])
        before = found
        if time.monotonic() > deadline:
            raise GiveUp(EXIT_TIMEOUT, "not matched")
        all.take()
        time.sleep(5 * POLL_S)
    for seq in range(1, o.count + 1):
        all.write(seq)
        all.take()
        time.sleep(o.period_ms / 1000)
    while all.received < o.topics * o.members * o.count:
        all.take()
        if time.monotonic() > deadline:
            wanted = o.topics * o.members * o.count
            raise GiveUp(EXIT_TIMEOUT, f"mesh: received {all.received} of {wanted}")
        time.sleep(POLL_S)
    say("complete", all.received)
    watch(o.linger_ms, all.take)
    say("done", all.received)


def main():
    o = parse_options()
    deadline = time.monotonic() + o.timeout_s
    configure(o)
    try:
        participant = DomainParticipant(o.domain)
        if o.role == "mesh":
            mesh(o, participant, deadline)
            return
        topic = Topic(participant, o.topic, TYPES[o.type])
        (publish if o.role == "pub" else subscribe)(o, participant, topic, deadline)
    except GiveUp as why:
        say("error", why)
        # The library's own clean-up may wait for peers; the run is over.
        os._exit(why.code)
    except DDSException as why:
        say("error", " ".join(str(why).split()))
        refused = (DDSException.DDS_RETCODE_UNSUPPORTED, DDSException.DDS_RETCODE_BAD_PARAMETER)
        os._exit(EXIT_UNSUPPORTED if why.code in refused else EXIT_ERROR)


if __name__ == "__main__":
    main()

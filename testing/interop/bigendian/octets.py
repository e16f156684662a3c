"""Turns little-endian RTPS datagrams into big-endian ones that mean the same.

Written from the standards (RTPS 2.5 clause 9.4, XTypes 1.3 clause 7.4), not from Whimbrel's code, so that each judges
the other. What it does not know it refuses (`Unknown`): nothing is passed on half turned.
"""

import struct


class Unknown(Exception):
    """Something whose layout is not known here."""


class Turner:
    """Walks little-endian octets and writes the same values big-endian."""

    def __init__(self, source):
        self.source = source
        self.at = 0
        self.out = bytearray()

    def left(self):
        return len(self.source) - self.at

    def raw(self, count):
        """Octets that have no order."""
        if count < 0 or count > self.left():
            raise Unknown(f"{count} octets wanted, {self.left()} left")
        taken = self.source[self.at : self.at + count]
        self.at += count
        self.out += taken
        return taken

    def number(self, width):
        value = int.from_bytes(self.raw(width), "little")
        self.out[-width:] = value.to_bytes(width, "big")
        return value

    def u16(self):
        return self.number(2)

    def u32(self):
        return self.number(4)

    def u32s(self, count):
        return [self.u32() for _ in range(count)]

    def align(self, width):
        self.raw(min(-self.at % width, self.left()))

    def rest(self):
        return self.raw(self.left())


class Cdr(Turner):
    """The same with the alignment of CDR: at most `widest` octets."""

    def __init__(self, source, widest=8):
        super().__init__(source)
        self.widest = widest

    def aligned(self, width):
        self.align(min(width, self.widest))
        return self.number(width)

    def text(self):
        return self.raw(self.aligned(4))

    def many(self, member):
        for _ in range(self.aligned(4)):
            member()


# --- submessages, RTPS 2.5 clause 9.4.5 ---------------------------------------------------------

SPDP, SEDP_WRITERS, SEDP_READERS, SEDP_TOPICS = 0x000100C2, 0x000003C2, 0x000004C2, 0x000002C2
LISTS = (SPDP, SEDP_WRITERS, SEDP_READERS, SEDP_TOPICS)
PARTICIPANT_MESSAGE = 0x000200C2


def turn(datagram, kind):
    """The datagram in big-endian; `kind` names the type of user data."""
    if datagram[:4] != b"RTPS" or len(datagram) < 20:
        raise Unknown("no RTPS message")
    out = bytearray(datagram[:20])
    vendor = datagram[6:8]
    at = 20
    while at < len(datagram):
        if at + 4 > len(datagram):
            raise Unknown("a submessage header is cut off")
        number, flags = datagram[at], datagram[at + 1]
        if not flags & 1:
            raise Unknown("this is big-endian already")
        length = int.from_bytes(datagram[at + 2 : at + 4], "little")
        to_the_end = length == 0 and number not in (0x01, 0x09)
        end = len(datagram) if to_the_end else at + 4 + length
        if end > len(datagram):
            raise Unknown("a submessage is cut off")
        if number >= 0x80:
            # What only the sender's own vendor reads goes on as it is: each submessage has a flag.
            out += datagram[at:end]
            at = end
            continue
        body = submessage(number, flags, datagram[at + 4 : end], vendor, kind)
        if len(body) != end - at - 4:
            raise Unknown("turning changed a length")
        out += bytes([number, flags & 0xFE]) + length.to_bytes(2, "big") + body
        at = end
    return bytes(out)


def submessage(number, flags, body, vendor, kind):
    t = Turner(body)
    if number in (0x15, 0x16):
        return data(t, number, flags, vendor, kind)
    if number == 0x07:
        t.raw(8)
        t.u32s(5)
        if flags & 0x08:
            raise Unknown("HEARTBEAT with group information")
    elif number == 0x06:
        t.raw(8)
        numbers(t, 2)
        t.u32()
    elif number == 0x08:
        t.raw(8)
        t.u32s(2)
        numbers(t, 2)
        if flags & 0x02:
            raise Unknown("GAP with group information")
    elif number == 0x12:
        t.raw(8)
        t.u32s(2)
        numbers(t, 1)
        t.u32()
    elif number == 0x13:
        t.raw(8)
        t.u32s(4)
    elif number == 0x09:
        if not flags & 0x02:
            t.u32s(2)
    elif number == 0x0E:
        t.raw(12)
    elif number == 0x0C:
        t.u32()
        t.raw(16)
    elif number == 0x01:
        t.rest()
    else:
        raise Unknown(f"submessage {number:#04x}")
    if t.left():
        raise Unknown(f"submessage {number:#04x} has {t.left()} octets more")
    return bytes(t.out)


def numbers(t, base_words):
    """A set of sequence or fragment numbers."""
    t.u32s(base_words)
    t.u32s((t.u32() + 31) // 32)


def data(t, number, flags, vendor, kind):
    """DATA and DATA_FRAG."""
    t.u16()
    to_inline_qos = t.u16()
    start = t.at
    t.raw(4)
    writer = int.from_bytes(t.raw(4), "big")
    t.u32s(2)
    first, fragment_bytes, sample_bytes = 1, 0, 0
    if number == 0x16:
        first, _, fragment_bytes, sample_bytes = t.u32(), t.u16(), t.u16(), t.u32()
    t.raw(start + to_inline_qos - t.at)
    if flags & 0x02:
        parameters(t, vendor)
    is_key = flags & (0x08 if number == 0x15 else 0x04)
    has_payload = number == 0x16 or flags & 0x0C
    if not has_payload:
        return bytes(t.out)
    payload = t.source[t.at :]
    whole = number == 0x15 or (first == 1 and len(payload) >= sample_bytes)
    if writer in LISTS:
        if not whole:
            raise Unknown("discovery in fragments")
        turned = parameter_payload(payload, vendor)
    elif first > 1:
        turned = bytes(payload)
        if kind != "keyless":
            raise Unknown("fragments of another type than keyless")
    elif writer == PARTICIPANT_MESSAGE:
        turned = cdr_payload(payload, participant_message, True)
    elif writer & 0xC0 == 0xC0:
        # Type lookup and what else is said in data with an encapsulation of their own.
        turned = bytes(payload)
    else:
        turned = cdr_payload(payload, KEYS[kind] if is_key else VALUES[kind], whole)
    return bytes(t.out) + turned


# --- payloads, RTPS 2.5 clause 10, XTypes 1.3 clause 7.4 ----------------------------------------

WIDEST = {0x0001: 8, 0x0007: 4, 0x0009: 4}
DELIMITED = 0x0009


def cdr_payload(payload, walk, whole):
    encapsulation = int.from_bytes(payload[:2], "big")
    if encapsulation not in WIDEST:
        raise Unknown(f"encapsulation {encapsulation:#06x}")
    c = Cdr(payload[4:], WIDEST[encapsulation])
    walk(c, encapsulation == DELIMITED)
    padding = payload[3] & 3
    if whole and c.left() > max(padding, 3) and any(c.source[c.at :]):
        raise Unknown(f"{c.left()} octets after the value")
    c.rest()
    return (encapsulation - 1).to_bytes(2, "big") + payload[2:4] + bytes(c.out)


def participant_message(c, _delimited):
    c.raw(16)
    c.raw(c.aligned(4))


def shape(c, _delimited):
    c.text()
    for _ in range(3):
        c.aligned(4)


def shape_key(c, _delimited):
    c.text()


def keyless(c, _delimited):
    c.aligned(4)
    c.aligned(4)


def telemetry(c, delimited):
    if delimited:
        c.aligned(4)
    c.aligned(4)
    c.aligned(4)
    c.raw(1)
    c.aligned(8)
    if delimited:
        c.aligned(4)
    c.text()
    c.aligned(2)
    if delimited:
        c.aligned(4)
    c.many(c.text)
    c.many(lambda: c.aligned(8))


def telemetry_key(c, delimited):
    # Cyclone DDS 0.10.2 announces a delimiter here and leaves it out.
    if delimited and c.left() >= 8:
        c.aligned(4)
    c.aligned(4)


def keyless_all(c, delimited):
    keyless(c, delimited)
    c.rest()


VALUES = {"shape": shape, "keyless": keyless_all, "telemetry": telemetry}
KEYS = {"shape": shape_key, "telemetry": telemetry_key}

# --- parameter lists, RTPS 2.5 clause 9.6.3 -----------------------------------------------------


def parameter_payload(payload, vendor):
    if payload[:2] != b"\x00\x03":
        raise Unknown("discovery that is no parameter list")
    t = Turner(payload[4:])
    parameters(t, vendor)
    t.rest()
    return b"\x00\x02" + payload[2:4] + bytes(t.out)


def parameters(t, vendor):
    while True:
        number, length = t.u16(), t.u16()
        if number == 0x0001:
            return
        value = t.source[t.at : t.at + length]
        t.raw(length)
        turned = parameter(number, value, vendor)
        if len(turned) != length:
            raise Unknown(f"turning changed the length of parameter {number:#06x}")
        if length:
            t.out[-length:] = turned


# Set by a bridge that is to pass on TypeInformation that makes no sense.
SPOIL_TYPES = False


def parameter(number, value, vendor):
    if number == 0x0075 and SPOIL_TYPES:
        return bytes(octet ^ 0x5A for octet in value)
    walk = PARAMETERS.get(number)
    if number >= 0x8000:
        walk = VENDORS.get((vendor, number))
    if walk is None:
        raise Unknown(f"parameter {number:#06x} of {vendor.hex()}")
    c = Cdr(value)
    walk(c)
    if any(c.source[c.at :]):
        raise Unknown(f"parameter {number:#06x} has {c.left()} octets more")
    c.rest()
    return bytes(c.out)


def octets(c):
    c.raw(c.aligned(4))


def words(count):
    return lambda c: c.u32s(count)


def locator(c):
    c.u32s(2)
    c.raw(16)


def identity(c):
    c.raw(16)
    c.u32s(2)


def texts(c):
    c.many(c.text)


def representations(c):
    c.many(lambda: c.aligned(2))
    if c.left() > 2:
        # Which codecs may be used, as Connext and Whimbrel add it.
        c.aligned(4)


def consistency(c):
    c.u16()
    c.raw(min(5, c.left()))


def presentation(c):
    c.u32()
    c.raw(2)


def properties(c):
    c.many(lambda: (c.text(), c.text()))
    if c.left() >= 4 and c.aligned(4) != 0:
        raise Unknown("binary properties")


def type_identifier(c):
    c.aligned(4)
    if c.raw(1)[0] not in (0xF1, 0xF2):
        raise Unknown("a type identifier that is no hash")
    c.raw(14)
    c.aligned(4)


def type_information(c):
    c.widest = 4
    c.aligned(4)
    while c.left() >= 4:
        if c.aligned(4) >> 28 & 7 != 4:
            raise Unknown("a member header of another length code")
        c.aligned(4)
        c.aligned(4)
        type_identifier(c)
        c.aligned(4)
        c.aligned(4)
        c.many(lambda: type_identifier(c))


def version_information(c):
    c.u32s(5)
    c.text()


RAW = Cdr.rest
LOCATORS = (0x002F, 0x0030, 0x0031, 0x0032, 0x0033, 0x0048)
ONE_WORD = (0x0006, 0x000F, 0x001D, 0x001F, 0x0025, 0x0034, 0x0049, 0x0044, 0x0058, 0x0060, 0x0077)
TWO_WORDS = (0x0002, 0x0004, 0x0023, 0x0027, 0x002B, 0x0040, 0x0056, 0x0063, 0x0064)
TEXTS = (0x0005, 0x0007, 0x0062, 0x4014)
AS_IT_IS = (0x0000, 0x0015, 0x0016, 0x0043, 0x0050, 0x0052, 0x0053, 0x0057, 0x005A, 0x0070, 0x0071)
PARAMETERS = {
    **{number: locator for number in LOCATORS},
    **{number: words(1) for number in ONE_WORD},
    **{number: words(2) for number in TWO_WORDS},
    **{number: Cdr.text for number in TEXTS},
    **{number: RAW for number in AS_IT_IS},
    **{number: octets for number in (0x002C, 0x002D, 0x002E)},
    0x001A: words(3),
    0x001B: words(3),
    0x001E: words(7),
    0x0021: presentation,
    0x0029: texts,
    0x0041: words(3),
    0x0059: properties,
    0x0061: identity,
    0x0073: representations,
    0x0074: consistency,
    0x0075: type_information,
}

CYCLONE, FAST_DDS, WHIMBREL = b"\x01\x10", b"\x01\x0f", b"\x01\x77"
VENDORS = {
    (CYCLONE, 0x8003): RAW,
    (CYCLONE, 0x800C): RAW,
    (CYCLONE, 0x8007): version_information,
    (CYCLONE, 0x8019): words(1),
    (FAST_DDS, 0x800F): identity,
    (WHIMBREL, 0x8C01): words(1),
    (WHIMBREL, 0x8C02): words(1),
    (WHIMBREL, 0x8C03): words(1),
    (WHIMBREL, 0x8C04): RAW,
}


# --- captures -----------------------------------------------------------------------------------

ETHERNET = 14


def turn_frame(frame, kind):
    """An Ethernet frame with what its UDP datagram says turned; None where it carries no RTPS."""
    ip = ETHERNET
    if frame[12:14] != b"\x08\x00" or frame[ip] >> 4 != 4 or frame[ip + 9] != 17:
        return None
    if int.from_bytes(frame[ip + 6 : ip + 8], "big") & 0x3FFF:
        raise Unknown("an IP fragment")
    udp = ip + 4 * (frame[ip] & 15)
    length = int.from_bytes(frame[udp + 4 : udp + 6], "big")
    payload = frame[udp + 8 : udp + length]
    if payload[:4] != b"RTPS":
        return None
    out = bytearray(frame[:udp + length])
    out[udp + 8 :] = turn(payload, kind)
    # No checksum: allowed over IPv4, and what virtual links leave in this field is unfinished.
    out[udp + 6 : udp + 8] = b"\0\0"
    return bytes(out)


def pcap_header(nanoseconds):
    return struct.pack("<IHHiIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)


def pcap_packet(seconds, fraction, frame):
    return struct.pack("<IIII", seconds, fraction, len(frame), len(frame)) + frame

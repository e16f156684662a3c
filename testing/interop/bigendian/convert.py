#!/usr/bin/env python3
"""Writes the golden datagrams of testing/vectors in big-endian.

usage: convert.py [--check]     --check: compares with what is there, writes nothing
"""

import os
import struct
import sys

import octets

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "../../vectors")
TURNED = os.path.join(VECTORS, "big-endian")
KINDS = {"telemetry": "telemetry", "fragments": "keyless", "repair": "keyless"}


def kind_of(name):
    """The type of a file's user data."""
    ending = [kind for word, kind in KINDS.items() if name.endswith(f"-{word}.pcap")]
    return ending[0] if ending else "shape"


def convert(name):
    with open(os.path.join(VECTORS, name), "rb") as file:
        capture = file.read()
    nanoseconds = struct.unpack("<I", capture[:4])[0] == 0xA1B23C4D
    out, at = octets.pcap_header(nanoseconds), 24
    while at < len(capture):
        seconds, fraction, length, _ = struct.unpack("<IIII", capture[at : at + 16])
        frame = capture[at + 16 : at + 16 + length]
        turned = octets.turn_frame(frame, kind_of(name))
        if turned is None:
            raise octets.Unknown(f"{name}: a frame without RTPS")
        out += octets.pcap_packet(seconds, fraction, turned)
        at += 16 + length
    return out


def main():
    check = sys.argv[1:] == ["--check"]
    os.makedirs(TURNED, exist_ok=True)
    names = sorted(it for it in os.listdir(VECTORS) if it.endswith(".pcap"))
    for name in names:
        path = os.path.join(TURNED, name)
        turned = convert(name)
        if not check:
            with open(path, "wb") as file:
                file.write(turned)
        with open(path, "rb") as file:
            if file.read() != turned:
                sys.exit(f"{name}: not as convert.py writes it")
    print(f"{len(names)} captures")


main()

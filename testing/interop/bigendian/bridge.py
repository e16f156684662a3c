#!/usr/bin/env python3
"""A bridge between two interfaces that passes RTPS on in big-endian, and everything else as it is.

usage: bridge.py IN OUT --type shape|keyless|telemetry [--drop PER-MILLE] [--seed N] [--capture FILE]
       [--spoil-types]

Works both ways until standard input ends. What is passed on turned is counted and captured. The last line is
`turned N dropped N`, or `unknown TEXT` with exit code 1 for a datagram whose layout the turner does not know.
"""

import argparse
import random
import select
import socket
import sys
import time

import octets

# All protocols, and the mark of frames that this very socket's host sent (packet(7)).
ALL, OUTGOING = 3, 4
FRAME_MAX = 1 << 17


def opened(interface):
    it = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    it.bind((interface, ALL))
    it.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 25)
    return it


def main():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("left")
    p.add_argument("right")
    p.add_argument("--type", default="shape")
    p.add_argument("--drop", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--capture")
    p.add_argument("--spoil-types", action="store_true")
    o = p.parse_args()
    octets.SPOIL_TYPES = o.spoil_types
    sockets = [opened(o.left), opened(o.right)]
    other = {sockets[0]: sockets[1], sockets[1]: sockets[0]}
    chance = random.Random(o.seed)
    capture = open(o.capture, "wb") if o.capture else None
    if capture:
        capture.write(octets.pcap_header(True))
    print("ready", flush=True)
    turned = dropped = 0
    while True:
        ready, _, _ = select.select([*sockets, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        for source in ready:
            frame, address = source.recvfrom(FRAME_MAX)
            if address[2] == OUTGOING:
                continue
            try:
                out = octets.turn_frame(frame, o.type)
            except octets.Unknown as why:
                print("unknown", why, frame.hex(), flush=True)
                sys.exit(1)
            if out is not None and chance.randrange(1000) < o.drop:
                dropped += 1
                continue
            if out is not None:
                turned += 1
                if capture:
                    now = time.time_ns()
                    capture.write(octets.pcap_packet(now // 10**9, now % 10**9, out))
            other[source].send(frame if out is None else out)
    if capture:
        capture.close()
    print("turned", turned, "dropped", dropped, flush=True)


main()

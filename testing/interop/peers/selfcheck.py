#!/usr/bin/env python3
"""Runs the foreign peers against each other, so that a failure against Whimbrel is Whimbrel's.

usage: selfcheck.py OUTDIR [CASE-SUBSTRING]     (OUTDIR as given to build.sh)
"""

import itertools
import os
import subprocess
import sys
import time

PEERS = ["cyclone", "cyclone_py", "fastdds"]
DOMAIN = 61

# name, options of both, of the publisher, of the subscriber, the publisher's head start in seconds,
# lines that the subscriber must print besides the samples
CASES = [
    ("shape-reliable", "--type shape --reliable --keep-all", "--key RED,BLUE", "", 0, []),
    ("shape-best-effort", "--type shape --best-effort", "--key RED,BLUE --period-ms 20", "", 0, []),
    ("keyless-64", "--type keyless --reliable --keep-all", "--size 64", "", 0, []),
    # Transient local: a volatile Cyclone reader may count a first, fragmented sample as past.
    ("keyless-1MiB", "--type keyless --reliable --keep-all --transient-local --count 4",
     "--size 1048576", "", 0, []),
    ("late-joiner", "--type shape --reliable --keep-all --transient-local",
     "--wait-matched 0 --linger-ms 4000 --period-ms 1", "", 1.0, []),
    ("dispose", "--type shape --reliable --keep-all",
     "--key RED,BLUE --dispose RED --linger-ms 4500", "", 0, ["state RED disposed"]),
    # The publisher outlives the subscriber, or its departure would end the instance as well.
    ("unregister", "--type shape --reliable --keep-all",
     "--key RED,BLUE --unregister RED --linger-ms 4500", "", 0,
     ["state RED no_writers"]),
    ("departure", "--type shape --reliable --keep-all", "", "", 0,
     ["unmatched 0", "state BLUE no_writers"]),
    ("telemetry-xcdr1", "--type telemetry --reliable --keep-all --xcdr 1", "--key 1,2", "", 0, []),
    ("telemetry-xcdr2", "--type telemetry --reliable --keep-all --xcdr 2", "--key 1,2", "", 0, []),
    ("shape-xcdr2", "--type shape --reliable --keep-all --xcdr 2", "--key RED,BLUE", "", 0, []),
]

# What the peers cannot do with each other, whoever starts it (README.md says why).
LIMITS = {
    ("dispose", "cyclone", "fastdds"): "key in the payload of at most 16 octets",
    ("dispose", "cyclone_py", "fastdds"): "key in the payload of at most 16 octets",
    ("dispose", "fastdds", "cyclone"): "MD5 key hash without the key",
    ("dispose", "fastdds", "cyclone_py"): "MD5 key hash without the key",
    ("unregister", "cyclone", "fastdds"): "key in the payload of at most 16 octets",
    ("unregister", "cyclone_py", "fastdds"): "key in the payload of at most 16 octets",
    ("unregister", "fastdds", "cyclone"): "MD5 key hash without the key",
    ("unregister", "fastdds", "cyclone_py"): "MD5 key hash without the key",
    ("departure", "cyclone", "fastdds"): "Cyclone's farewell has no key hash",
    ("departure", "cyclone_py", "fastdds"): "Cyclone's farewell has no key hash",
    ("departure", "fastdds", "fastdds"): "no state on unmatch",
    ("telemetry-xcdr1", "fastdds", "cyclone_py"): "matches, then cannot deserialize",
}


def start(out, peer, role, topic, words):
    command = [f"{out}/peer_{peer}", role, "--topic", topic, "--domain", str(DOMAIN)]
    return subprocess.Popen(command + words.split(), stdout=subprocess.PIPE, text=True)


def samples_of(lines, verb):
    """By key: order holds within an instance only (Fast DDS hands instances over one by one)."""
    samples = [tuple(line.split()[1:4]) for line in lines if line.startswith(verb)]
    return sorted(samples, key=lambda sample: sample[1])


def early(process):
    """The exit code of a process that refuses its options at once, else None."""
    try:
        return process.wait(0.7)
    except subprocess.TimeoutExpired:
        return None


def run(out, publisher, subscriber, number, case):
    name, both, pub, sub, head_start, wanted = case
    topic = f"selfcheck_{os.getpid()}_{number}"
    both += " --timeout-s 15"
    late = head_start > 0
    pub = f"{both} {pub}"
    if not late:
        pub = pub.replace(both, f"{both} --wait-matched 1 --settle-ms 1500 --linger-ms 400", 1)
    p = start(out, publisher, "pub", topic, pub)
    time.sleep(head_start)
    s = start(out, subscriber, "sub", topic, f"{both} {sub} --linger-ms {3000 if wanted else 100}")
    if 4 in (early(p), early(s)):
        p.terminate()
        s.terminate()
    sent, received = p.communicate()[0].splitlines(), s.communicate()[0].splitlines()
    if 4 in (p.returncode, s.returncode):
        return "unsupported", " / ".join(l for l in sent + received if l.startswith("error"))
    missing = [line for line in wanted if line not in received]
    if p.returncode or s.returncode or missing:
        codes = f"pub {p.returncode} {sent[-1:]} sub {s.returncode} {received[-3:]}"
        return "FAILED", f"{codes} {missing}"
    wrote, read = samples_of(sent, "sent"), samples_of(received, "received")
    if wrote != read:
        return "FAILED", f"samples differ: {wrote} {read}"
    return "ok", ""


def main():
    out, only = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    failed = 0
    numbered = itertools.count()
    for case in CASES:
        for publisher, subscriber in itertools.product(PEERS, PEERS):
            name = f"{case[0]} {publisher} -> {subscriber}"
            if only in name:
                verdict, why = run(out, publisher, subscriber, next(numbered), case)
                limit = LIMITS.get((case[0], publisher, subscriber))
                if verdict == "FAILED" and limit:
                    verdict, why = "limit", limit
                failed += verdict == "FAILED"
                print(f"{verdict:12} {name} {why}", flush=True)
    sys.exit(failed > 0)


main()

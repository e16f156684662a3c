#!/bin/sh
# Builds the peers' bench programs into OUTDIR: bench_cyclone, bench_fastdds.
# Does only what changed since the last run. A peer whose packages are missing is an error.
#
# Cyclone DDS: the C library 11.0.1 of the wheel of its Python package, with the headers and the
# type compiler of the distribution's older packages, whose C interface it keeps.
set -eu

. "$(dirname "$0")/../../peers.sh"
generated=$out/generated/bench

# The C library inside the installed Python package of Cyclone DDS.
cyclone_library() {
    python=${WHIMBREL_PEER_PYTHON:-python3}
    package=$("$python" -c 'import importlib.util as u; print(u.find_spec("cyclonedds").origin)') ||
        { echo "build.sh: no Cyclone DDS for $python: cargo xtask setup" >&2; exit 1; }
    folder=$(dirname "$(dirname "$package")")/cyclonedds.libs
    for library in "$folder"/libddsc-*.so.11.0.1; do
        [ -e "$library" ] && { echo "$library"; return 0; }
    done
    echo "build.sh: no libddsc 11.0.1 in $folder: cargo xtask setup" >&2
    exit 1
}

build_cyclone() {
    library=$(cyclone_library)
    stale "$out/bench_cyclone" "$here/Bench.idl" "$here/bench.h" "$here/clock.h" \
        "$here/bench_cyclone.c" "$here/build.sh" "$library" || return 0
    need idlc cyclonedds-tools
    need cc gcc
    mkdir -p "$generated"
    (cd "$generated" && idlc "$here/Bench.idl")
    cc -std=gnu11 -O2 -Wall -Wextra -I"$here" -I"$generated" "$here/bench_cyclone.c" \
        "$generated/Bench.c" "$library" -ldl -lpthread -Wl,-rpath,"$(dirname "$library")" \
        -o "$out/bench_cyclone.new"
    mv "$out/bench_cyclone.new" "$out/bench_cyclone"
}

build_fastdds() {
    stale "$out/bench_fastdds" "$here/bench.h" "$here/clock.h" "$here/bench_fastdds.cpp" \
        "$here/build.sh" || return 0
    need c++ g++
    c++ -std=c++14 -O2 -Wall -Wextra -I"$here" "$here/bench_fastdds.cpp" -lfastrtps -lfastcdr \
        -lpthread -o "$out/bench_fastdds.new"
    mv "$out/bench_fastdds.new" "$out/bench_fastdds"
}

build_cyclone
build_fastdds

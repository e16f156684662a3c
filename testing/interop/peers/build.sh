#!/bin/sh
# Builds the foreign peers into OUTDIR: peer_cyclone, peer_fastdds, peer_cyclone_py.
# Does only what changed since the last run. A peer whose packages are missing is an error.
set -eu

. "$(dirname "$0")/../../peers.sh"
generated=$out/generated

build_cyclone() {
    stale "$out/peer_cyclone" "$here/Interop.idl" "$here/peer.h" "$here/peer_cyclone.c" \
        "$here/build.sh" || return 0
    need idlc cyclonedds-tools
    need cc gcc
    mkdir -p "$generated/cyclone"
    (cd "$generated/cyclone" && idlc "$here/Interop.idl")
    cc -std=gnu11 -O1 -Wall -Wextra -I"$here" -I"$generated/cyclone" \
        "$here/peer_cyclone.c" "$generated/cyclone/Interop.c" -lddsc -o "$out/peer_cyclone.new"
    mv "$out/peer_cyclone.new" "$out/peer_cyclone"
}

build_fastdds() {
    stale "$out/peer_fastdds" "$here/Interop.idl" "$here/peer.h" "$here/peer_fastdds.cpp" \
        "$here/build.sh" || return 0
    need fastddsgen "fastddsgen, which wants a JRE"
    need c++ g++
    mkdir -p "$generated/fastdds"
    fastddsgen -replace -d "$generated/fastdds" "$here/Interop.idl" >/dev/null
    for unit in "$generated/fastdds/Interop" "$generated/fastdds/InteropPubSubTypes"; do
        c++ -std=c++14 -O1 -I"$generated/fastdds" -c "$unit.cxx" -o "$unit.o"
    done
    c++ -std=c++14 -O1 -Wall -Wextra -I"$here" -I"$generated/fastdds" \
        "$here/peer_fastdds.cpp" "$generated"/fastdds/*.o -lfastrtps -lfastcdr \
        -o "$out/peer_fastdds.new"
    mv "$out/peer_fastdds.new" "$out/peer_fastdds"
}

# The Python peer runs from the source folder: by OUTDIR/venv where that exists, else by
# $WHIMBREL_PEER_PYTHON, else by python3.
build_cyclone_py() {
    cat >"$out/peer_cyclone_py.new" <<EOF
#!/bin/sh
python=\${WHIMBREL_PEER_PYTHON:-python3}
[ -x "$out/venv/bin/python3" ] && python=$out/venv/bin/python3
exec "\$python" "$here/peer_cyclone_py.py" "\$@"
EOF
    chmod +x "$out/peer_cyclone_py.new"
    mv "$out/peer_cyclone_py.new" "$out/peer_cyclone_py"
}

build_cyclone
build_cyclone_py
build_fastdds

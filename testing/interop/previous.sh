#!/bin/sh
# Builds the peer program of previous releases, as previous.txt names them: OUTDIR/whimbrel-VERSION.
# Does nothing where it is there. Sources come from this repository's own history.
set -eu

[ $# -eq 1 ] || { echo "usage: previous.sh OUTDIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

grep -v '^#' "$here/previous.txt" | head -n 2 | while read -r version revision; do
    program=$out/whimbrel-$version
    stamp=$program.revision
    [ -x "$program" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$revision" ] && continue
    source=$out/source-$version
    rm -rf "$source"
    mkdir -p "$source"
    git -C "$here" --git-dir="$(git -C "$here" rev-parse --absolute-git-dir)" \
        archive --format=tar "$revision:" | tar -x -C "$source"
    (cd "$source" && CARGO_TARGET_DIR=$out/target cargo build --quiet --release --locked \
        --config 'profile.release.lto="off"' --config profile.release.codegen-units=16 \
        -p whimbrel-interop) </dev/null
    mv "$out/target/release/whimbrel-interop" "$program"
    echo "$revision" >"$stamp"
    rm -rf "$source"
done

#!/bin/sh
# The matrix of live peers; options are those of `whimbrel-interop run`.
# `cargo xtask setup` builds the peers.
set -eu
cd "$(dirname "$0")/../.."
exec cargo run --quiet --release --locked -p whimbrel-interop -- run "$@"

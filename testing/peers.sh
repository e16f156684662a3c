# Sourced by the scripts build.sh of peers: takes OUTDIR, which becomes `out`; `here` is where the
# script is.

[ $# -eq 1 ] || { echo "usage: build.sh OUTDIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

# Is target $1 older than any of the files after it, or absent?
stale() {
    target=$1
    shift
    [ -e "$target" ] || return 0
    for source in "$@"; do
        [ "$source" -nt "$target" ] && return 0
    done
    return 1
}

# Program $1 is there, else which package has it.
need() {
    command -v "$1" >/dev/null || { echo "build.sh: $1 is missing (apt: $2)" >&2; exit 1; }
}

#!/bin/sh
# Two network namespaces joined by a veth pair, for two "hosts" on one machine. Needs root.
# The host's own interfaces are never touched: both ends of the pair are born inside.
#
#   netns.sh up NAME [--no-multicast]    NAME-a with 10.77.0.1 on va, NAME-b with 10.77.0.2 on vb
#   netns.sh bridged NAME                both joined to NAME-m (ma, mb) instead: a program there
#                                        passes on what it wants; no datagram is cut
#   netns.sh down NAME                   removes both; processes inside must have ended before
#   netns.sh run NAME [--no-multicast] COMMAND...   up, COMMAND, down whatever happens
set -eu

usage() {
    sed -n '5,9s/^# *//p' "$0" >&2
    exit 2
}

down() {
    for side in a b m; do
        if ip netns list | grep -q "^$name-$side\b"; then ip netns del "$name-$side"; fi
    done
}

# One end of the pair: side $1 with address $2.
join() {
    ip -n "$name-$1" addr add "$2/24" dev "v$1"
    ip -n "$name-$1" link set lo up
    ip -n "$name-$1" link set "v$1" up
    if [ "$multicast" = on ]; then
        ip -n "$name-$1" route add 224.0.0.0/4 dev "v$1"
    else
        ip -n "$name-$1" link set dev "v$1" multicast off
        ip -n "$name-$1" route add unreachable 224.0.0.0/4
    fi
}

up() {
    down
    ip netns add "$name-a"
    ip netns add "$name-b"
    ip -n "$name-a" link add va type veth peer name vb netns "$name-b"
    join a 10.77.0.1
    join b 10.77.0.2
    running a
    running b
}

bridged() {
    down
    for side in a b m; do ip netns add "$name-$side"; done
    for side in a b; do
        ip -n "$name-$side" link add "v$side" mtu 65535 type veth \
            peer name "m$side" mtu 65535 netns "$name-m"
        ip -n "$name-m" link set dev "m$side" up
    done
    join a 10.77.0.1
    join b 10.77.0.2
    running a
    running b
}

# Waits until the kernel calls side $1's end up: programs pass over interfaces that are not.
running() {
    tries=0
    until ip -n "$name-$1" -o link show dev "v$1" | grep -q 'state UP'; do
        tries=$((tries + 1))
        if [ "$tries" -gt 100 ]; then
            echo "netns.sh: v$1 does not come up" >&2
            exit 1
        fi
        sleep 0.1
    done
}

[ $# -ge 2 ] || usage
verb=$1 name=$2 multicast=on
shift 2
if [ "${1:-}" = --no-multicast ]; then
    multicast=off
    shift
fi
case $verb in
    up) up ;;
    bridged) bridged ;;
    down) down ;;
    run)
        [ $# -ge 1 ] || usage
        trap down EXIT
        trap 'exit 130' INT TERM
        up
        "$@"
        ;;
    *) usage ;;
esac

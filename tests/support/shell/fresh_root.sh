#!/bin/sh
# Tries the README's commands on a machine that has nothing: exports the tree (no .git) into a fresh Debian 12 minbase
# root with this machine's Debian mirror, and runs ./quickstart ARGUMENTS there. Needs root and a mirror.
#   fresh_root.sh TREE [ARGUMENTS...]          KEEP=1 keeps the root and prints its folder
set -eu
tree=$1
shift
# shellcheck source=tests/support/shell/roots.sh
. "$(dirname "$0")/roots.sh"
work=$(mktemp -d /var/tmp/rocm-offline-fresh.XXXXXX)
trap '[ -n "${KEEP:-}" ] || rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM HUP
cp -a "$(debian_root bookworm)" "$work/root"
main=$(host_mirror "")
security=$(host_mirror -security)
rm -rf "$work/root/etc/apt/sources.list.d"
printf 'deb %s bookworm main\ndeb %s bookworm-updates main\ndeb %s bookworm-security main\n' "$main" "$main" "$security" \
  >"$work/root/etc/apt/sources.list"
cp /etc/resolv.conf "$work/root/etc/resolv.conf"
mkdir -p "$work/root/srv/tree"
(cd "$tree" && git ls-files -z | xargs -0 tar -cf -) | tar -C "$work/root/srv/tree" -xf -
began=$(date +%s)
status=0
# The mounts live in a namespace of their own: whatever ends this script leaves none behind.
# shellcheck disable=SC2016 # the inner shell expands its own parameters
unshare --mount --propagation slave -- sh -c '
  root=$1; shift
  # A root that is no mount point lets unshare(1) make no mount namespace inside: the e2e tests would skip.
  mount --bind "$root" "$root" && mount --rbind /proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" || exit 125
  exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    sh -c "cd /srv/tree && exec ./quickstart \"\$@\"" sh "$@"
' sh "$work/root" "$@" || status=$?
echo "fresh root $work/root: ./quickstart $*: status $status after $(($(date +%s) - began)) s" >&2
exit "$status"

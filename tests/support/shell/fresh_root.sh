#!/bin/sh
# Tries the README's commands on a machine that has nothing: exports the tree (no .git) into a fresh Debian 12 minbase
# root with this machine's apt sources, and runs ./quickstart ARGUMENTS there. Needs root and a mirror.
#   fresh_root.sh TREE [ARGUMENTS...]
set -eu
tree=$1
shift
. "$(dirname "$0")/roots.sh"
work=$(mktemp -d /var/tmp/rocm-offline-fresh.XXXXXX)
cleanup() {
  umount -l "$work/root/dev/pts" "$work/root/dev" "$work/root/proc" "$work/root/sys" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
cp -a "$(debian_root bookworm)" "$work/root"
rm -rf "$work/root/etc/apt/sources.list.d"
cp -a /etc/apt/sources.list.d "$work/root/etc/apt/sources.list.d"
if [ -e /etc/apt/sources.list ]; then cp /etc/apt/sources.list "$work/root/etc/apt/sources.list"; else : >"$work/root/etc/apt/sources.list"; fi
# Sources whose keys a minimal root does not have are of no use there.
grep -l -i -E 'nodesource|cloud.google' "$work"/root/etc/apt/sources.list.d/* 2>/dev/null | xargs -r rm -f
cp /etc/resolv.conf "$work/root/etc/resolv.conf"
mkdir -p "$work/root/srv/tree"
(cd "$tree" && git ls-files -z | xargs -0 tar -cf -) | tar -C "$work/root/srv/tree" -xf -
for folder in proc sys dev dev/pts; do mount --rbind "/$folder" "$work/root/$folder" 2>/dev/null || mount --bind "/$folder" "$work/root/$folder"; mount --make-rslave "$work/root/$folder"; done
began=$(date +%s)
status=0
chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 ROCM_OFFLINE_TEST_CACHE="${FRESH_TEST_CACHE:-}" sh -c 'cd /srv/tree && exec ./quickstart "$@"' sh "$@" || status=$?
echo "fresh root: ./quickstart $*: status $status after $(($(date +%s) - began)) s" >&2
exit "$status"

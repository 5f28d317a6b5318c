#!/bin/sh
# Boots Debian 13's own kernel in qemu, without a network: a bundle as CD-ROM and as a file on disk, and a sparse image of
# 15 GiB. What the guest saw comes out of its serial line, each line with a marker of this run.
#   debian_13.sh CREATOR MAKE_SPARSE_BUNDLE SUPPORT_FOLDER
# KEEP=1 keeps the folder with images and serial log, and prints its name.
set -eu
creator=$1
make_sparse=$2
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/support/shell/roots.sh
. "$3/roots.sh"
# shellcheck source=tests/support/shell/kernel.sh
. "$3/kernel.sh"

[ "$(id -u)" -eq 0 ] || skip "needs root for debootstrap and overlay"
for program in qemu-system-x86_64 debootstrap mkfs.ext4 bsdtar busybox xz unshare curl; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
unshare --net true 2>/dev/null || skip "no namespaces here"
busybox --list | grep -q -x switch_root || skip "busybox has no switch_root"

work=$(mktemp -d /var/tmp/rocm-offline-vm.XXXXXX)
cleanup() {
  overlay_down
  if [ -n "${KEEP:-}" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

began=$(date +%s)
step() { echo "== $(($(date +%s) - began)) s: $*"; }

root=$(debian_root trixie)
kernel=$(debian_kernel trixie)

step "create"
# shellcheck disable=SC2046 # a list of words
"$creator" create --release distro --target debian-13 --package rocminfo --mirrors-from-host $(lag_options) \
  --cache-dir "$work/cache" --log-dir "$work/logs" -o "$work/bundle.run" -q >/dev/null
# A second one, of one package more than a minimal root has: what is tried with it does not depend on what is installed.
# shellcheck disable=SC2046
"$creator" create --release distro --target debian-13 --package librocm-smi64-1 --mirrors-from-host $(lag_options) \
  --cache-dir "$work/cache" --log-dir "$work/logs" --reuse "$work/bundle.run" -o "$work/file.run" -q >/dev/null
"$make_sparse" "$work/sparse.img" >"$work/sparse.list"

step "the guest's disk"
marker=vm-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
overlay_up "$root"
mkdir -p "$work/root/vm" "$work/root/mnt"
cp "$here/guest.sh" "$work/sparse.list" "$work/root/vm/"
cp "$(command -v busybox)" "$work/root/vm/busybox"
cp "$work/file.run" "$work/root/root/rocm offline.run"
# What the kernel has to show: read out of the file by our own reader.
"$creator" extract "$work/bundle.run" "$work/tree" -q >/dev/null
(cd "$work/tree" && find . -type f -printf '%p %s\n' | sort) >"$work/root/vm/names"
(cd "$work/tree" && find . -type f -exec sha256sum {} +) >"$work/root/vm/SHA256SUMS"
rm -rf "$work/tree"
truncate -s 1500M "$work/root.img"
mkfs.ext4 -q -F -E lazy_itable_init=1,nodiscard -O ^has_journal -d "$work/root" "$work/root.img"
overlay_down
make_initramfs "$kernel" "$work/initramfs"

step "boot"
# The guest's clock is long before the bundle was made: a machine whose battery is empty.
timeout 1200 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -display none -no-reboot \
  -nic none -serial "file:$work/serial" -rtc base=2020-01-01T00:00:00 \
  -kernel "$kernel/vmlinuz" -initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1 marker=$marker" \
  -drive "file=$work/root.img,if=virtio,format=raw,cache=unsafe" \
  -drive "file=$work/sparse.img,if=virtio,format=raw,readonly=on" \
  -drive "file=$work/bundle.run,if=ide,media=cdrom,format=raw,readonly=on" </dev/null || {
  tail -n 40 "$work/serial"
  die "qemu: status $?"
}

step "what the guest said"
tr -d '\r' <"$work/serial" | sed -n "s/^.*$marker //p" >"$work/said"
cat "$work/said"
passed=true
grep -q -v -E '^(ok|end)( |$)' "$work/said" && passed=false
for name in no-network mounted-as-iso9660 names digests install-from-cd in-place starts status uninstall cd-as-device \
  install-from-file loop-mount no-mount-left file-installed uninstall-again killed-leaves-nothing sparse-sizes \
  sparse-marks sparse-last; do
  grep -q -x "ok $name" "$work/said" || { passed=false; echo "FAILED: the guest does not say 'ok $name'"; }
done
grep -q -x end "$work/said" || { passed=false; echo "FAILED: the guest did not come to its end"; }
[ "$passed" = true ] || {
  tr -d '\r' <"$work/serial" | tail -n 150
  die "the virtual machine saw something else"
}
step "passed"

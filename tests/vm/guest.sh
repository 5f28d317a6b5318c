#!/bin/sh
# Runs as the only process of the virtual machine of debian_13.sh. Says "MARKER ok NAME" or "MARKER failed NAME ..."
# on the serial line, and switches the machine off.
# shellcheck disable=SC2317 # functions that `try` calls
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /run
marker=$(sed 's/.*marker=\([^ ]*\).*/\1/' /proc/cmdline)

say() { echo "$marker $*"; }

# try NAME COMMAND...: what the command prints goes to the serial line too, without the marker.
try() {
  name=$1
  shift
  if "$@" >/vm/out 2>&1; then
    say "ok $name"
  else
    status=$?
    tail -n 60 /vm/out
    say "failed $name: status $status"
  fi
  echo "($name: second $(cut -d. -f1 /proc/uptime))"
}

no_network() { [ "$(ls /sys/class/net)" = lo ]; }

mounted() {
  # No -t: the kernel and mount(8) have to see by themselves what it is.
  mount -o ro /dev/sr0 /mnt && grep -q '^/dev/sr0 /mnt iso9660 ro' /proc/mounts
}

names() {
  (cd /mnt && find . -type f -printf '%p %s\n' | sort) >/vm/seen
  diff /vm/names /vm/seen
  [ "$(stat -c '%a %u %g' /mnt/install.sh /mnt/rocm-offline-install /mnt/manifest.json | tr '\n' ';')" = \
    "755 0 0;755 0 0;644 0 0;" ] && cmp /vm/names /vm/seen
}

digests() { (cd /mnt && sha256sum -c --quiet /vm/SHA256SUMS); }

packages() { dpkg-query -W -f '${Package} ${Version} ${Status}\n' | sort; }

newest_log() {
  # shellcheck disable=SC2012 # names of our own
  ls -t /var/log/rocm-offline/install-*.jsonl | head -n 1
}

install_from_cd() {
  packages >/vm/packages.before
  rm -rf /var/log/rocm-offline
  sh /mnt/install.sh
}
in_place() {
  log=$(newest_log) && grep -q '"install.repository.used_in_place"' "$log" &&
    ! grep -q -E '"install.repository.(copied|mounted)"' "$log"
}
# There is no GPU here: the program has to start and to say so.
starts() {
  rocminfo >/vm/rocminfo 2>&1
  [ $? -lt 126 ] && grep -i -E 'rock module|hsa' /vm/rocminfo
}
gone() {
  packages >/vm/packages.after
  diff /vm/packages.before /vm/packages.after && [ ! -e /usr/bin/rocminfo ]
}
uninstall() { sh /mnt/install.sh uninstall --purge && gone; }

# The CD without a mount: the shell reads the drive itself.
cd_as_device() { umount /mnt && sh /dev/sr0 verify; }

nothing_mounted() {
  ! grep iso9660 /proc/mounts && ! cat /sys/block/loop*/loop/backing_file 2>/dev/null
}
install_from_file() {
  rm -rf /var/log/rocm-offline
  sh "/root/rocm offline.run"
}
loop_mount() {
  log=$(newest_log) && grep -q '"install.repository.mounted"' "$log" &&
    ! grep -q -E '"install.repository.(copied|used_in_place)"' "$log"
}
file_installed() {
  packages >/vm/packages.after
  [ "$(diff /vm/packages.before /vm/packages.after | grep '^[<>]' | tee /dev/stderr | sed 's/ [0-9][^ ]*/ VERSION/')" = \
    "> librocm-smi64-1 VERSION install ok installed" ]
}
uninstall_again() { sh "/root/rocm offline.run" uninstall --purge && gone; }

# kill -9 while the image is mounted.
killed() {
  rm -rf /var/log/rocm-offline
  sh "/root/rocm offline.run" &
  i=0
  until log=$(newest_log 2>/dev/null) && grep -q '"install.repository.mounted"' "$log"; do
    i=$((i + 1))
    [ $i -lt 600 ] || return 1
    sleep 0.1
  done
  cat /sys/block/loop*/loop/backing_file || return 1
  for process in /proc/[0-9]*; do
    case $(readlink "$process/exe") in
      */rocm-offline-install | */apt-get | */dpkg) kill -9 "${process#/proc/}" ;;
    esac
  done
  i=0
  until nothing_mounted; do
    i=$((i + 1))
    [ $i -lt 100 ] || return 1
    sleep 0.1
  done
}

sparse_sizes() {
  mount -o ro /dev/vdb /mnt || return 1
  while read -r kind path size _; do
    [ "$kind" = size ] || continue
    [ "$(stat -c %s "/mnt/$path")" = "$size" ] || { echo "$path has $(stat -c %s "/mnt/$path"), not $size"; return 1; }
  done </vm/sparse.list
}
sparse_marks() {
  while read -r kind path offset text; do
    [ "$kind" = mark ] || continue
    found=$(dd if="/mnt/$path" iflag=skip_bytes,count_bytes skip="$offset" count=16 status=none)
    [ "$found" = "$text" ] || { echo "$path at $offset: '$found', not '$text'"; return 1; }
  done </vm/sparse.list
}
# Two targets' names of one extent behind 15 GiB.
sparse_last() {
  cmp /mnt/repos/debian-13/pool/f-small-last_1.0_amd64.deb /mnt/repos/ubuntu-24.04/pool/f-small-last_1.0_amd64.deb &&
    umount /mnt
}

try no-network no_network
try mounted-as-iso9660 mounted
try names names
try digests digests
try install-from-cd install_from_cd
try in-place in_place
try starts starts
try status sh /mnt/install.sh status
try uninstall uninstall
try cd-as-device cd_as_device
try install-from-file install_from_file
try loop-mount loop_mount
try no-mount-left nothing_mounted
try file-installed file_installed
try uninstall-again uninstall_again
try killed-leaves-nothing killed
try sparse-sizes sparse_sizes
try sparse-marks sparse_marks
try sparse-last sparse_last
say end
sync
/vm/busybox poweroff -f

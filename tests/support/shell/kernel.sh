# shellcheck shell=sh
# shellcheck disable=SC2154,SC2164 # `work` is the caller's; set -e ends subshells
# A Debian kernel for tests in qemu, from this machine's own mirror. Sourced after roots.sh; callers set `work`.

# Modules that a guest needs before it has a root file system, and those that read our images.
guest_modules="crc32c_generic virtio_pci virtio_blk ext4 ata_piix sr_mod isofs loop"

# Prints a folder with vmlinuz and modules/ (unpacked, with modules.dep) of suite $1's newest kernel, made on first use and
# kept in ROCM_OFFLINE_TEST_CACHE. apt runs with private folders; its signature check is that of the machine's keyrings.
debian_kernel() {
  kernel_cache=${ROCM_OFFLINE_TEST_CACHE:-/var/cache/rocm-offline-tests}
  kernel_folder=$kernel_cache/kernel-$1
  mkdir -p "$kernel_cache"
  exec 9>"$kernel_cache/kernel-$1.lock"
  flock 9
  if [ ! -e "$kernel_folder/.complete" ]; then
    kernel_mirror=$(host_mirror "")
    [ -n "$kernel_mirror" ] || skip "apt of this machine names no Debian mirror"
    rm -rf "${kernel_folder:?}"
    mkdir -p "$kernel_folder/apt/lists/partial" "$kernel_folder/apt/archives/partial"
    (
      set -e
      cd "$kernel_folder/apt"
      : >status
      echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $kernel_mirror $1 main" >sources.list
      cat >apt.conf <<CONF
Dir::Etc::SourceList "$PWD/sources.list"; Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$PWD/lists"; Dir::State::status "$PWD/status"; Dir::Cache "$PWD"; Dir::Cache::archives "$PWD/archives";
APT::Sandbox::User "root"; Acquire::Languages "none";
CONF
      APT_CONFIG=$PWD/apt.conf
      export APT_CONFIG
      apt-get update -q >log 2>&1
      apt-get download -q "$(apt-cache show linux-image-amd64 | sed -n 's/^Depends: \(linux-image-[^ ]*\).*/\1/p' | head -n 1)" >>log 2>&1
    ) 9>&- || { tail -n 5 "$kernel_folder/apt/log" >&2; die "the kernel of $1 cannot be downloaded"; }
    mkdir "$kernel_folder/tree"
    dpkg-deb -x "$kernel_folder"/apt/linux-image-*.deb "$kernel_folder/tree"
    kernel_version=$(ls "$kernel_folder/tree/usr/lib/modules")
    mv "$kernel_folder/tree/boot/vmlinuz-$kernel_version" "$kernel_folder/vmlinuz"
    mkdir -p "$kernel_folder/modules/lib/modules"
    mv "$kernel_folder/tree/usr/lib/modules/$kernel_version" "$kernel_folder/modules/lib/modules/$kernel_version"
    rm -rf "$kernel_folder/tree" "$kernel_folder/apt"
    # Few of the folders matter here, and busybox knows no compressed modules.
    (
      set -e
      cd "$kernel_folder/modules/lib/modules/$kernel_version/kernel"
      for folder in * drivers/*; do
        case $folder in
          drivers | fs | lib | crypto | arch | drivers/ata | drivers/block | drivers/cdrom | drivers/scsi | drivers/virtio) ;;
          *) rm -rf "$folder" ;;
        esac
      done
      find . -name '*.ko.xz' -exec xz -d {} +
    )
    busybox depmod -b "$kernel_folder/modules" "$kernel_version"
    touch "$kernel_folder/.complete"
  fi
  exec 9>&-
  echo "$kernel_folder"
}

# make_initramfs KERNEL_FOLDER FILE: busybox and the modules above; starts /vm/guest.sh of the ext4 file system on /dev/vda.
make_initramfs() {
  mkdir -p "$work/early/bin" "$work/early/dev" "$work/early/proc" "$work/early/root" "$work/early/sys"
  cp "$(command -v busybox)" "$work/early/bin/busybox"
  kernel_version=$(ls "$1/modules/lib/modules")
  modules=$work/early/lib/modules/$kernel_version
  mkdir -p "$modules"
  cp "$1/modules/lib/modules/$kernel_version"/modules.* "$modules/"
  for module in $guest_modules; do
    # "kernel/fs/isofs/isofs.ko: kernel/drivers/cdrom/cdrom.ko"; a module that is no file is part of the kernel.
    grep -E "(^|/)$module\.ko:" "$modules/modules.dep" | tr -d ':' | tr ' ' '\n' | grep . >"$work/early.list" || continue
    while read -r file; do
      mkdir -p "$modules/$(dirname "$file")"
      cp "$1/modules/lib/modules/$kernel_version/$file" "$modules/$file"
    done <"$work/early.list"
  done
  cat >"$work/early/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
for module in $guest_modules; do /bin/busybox modprobe \$module; done
i=0
until [ -b /dev/vda ] && [ -b /dev/sr0 ] || [ \$i -ge 300 ]; do /bin/busybox sleep 0.1; i=\$((i + 1)); done
/bin/busybox mount -t ext4 /dev/vda /root
/bin/busybox umount /proc
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /bin/sh /vm/guest.sh </root/dev/console >/root/dev/console 2>&1
INIT
  chmod 755 "$work/early/init"
  (cd "$work/early" && bsdtar --format newc -cf - .) >"$2"
}

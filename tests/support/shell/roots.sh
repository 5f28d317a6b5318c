# shellcheck shell=sh
# shellcheck disable=SC2154,SC2034,SC2016 # `work` and `upper` are shared with the caller; formats of other programs
# Real target roots for e2e tests: debootstrapped once into a cache, then overlaid so that each test has a fresh one.
# Sourced. Needs root. Callers set `work` (a private folder) first.

skip() {
  echo "SKIPPED: $*"
  exit 77
}

die() {
  echo "FAILED: $*" >&2
  exit 1
}

# Base URL of this machine's own Debian mirror, as its apt is set up. $1: suffix of the suite, "" or "-security".
host_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
    awk -v suffix="$1" '{
      release = $2; sub(/-(security|updates|backports)$/, "", release)
      if ($2 == release suffix && release ~ /^[a-z]+$/ && release != "nodistro") { sub(/\/$/, "", $1); print $1; exit }
    }'
}

# Prints the folder of a minbase root of suite $1, made on first use. ROCM_OFFLINE_TEST_CACHE keeps it between runs.
# Tests run side by side: the second one waits for the first one's debootstrap.
debian_root() {
  cache=${ROCM_OFFLINE_TEST_CACHE:-/var/cache/rocm-offline-tests}
  mkdir -p "$cache"
  exec 9>"$cache/$1.lock"
  flock 9
  if [ ! -e "$cache/$1/.complete" ]; then
    mirror=$(host_mirror "")
    [ -n "$mirror" ] || skip "apt of this machine names no Debian mirror"
    rm -rf "${cache:?}/$1"
    debootstrap --variant=minbase "$1" "$cache/$1" "$mirror" >"$cache/$1.log" 2>&1 9>&- ||
      { tail -n 20 "$cache/$1.log" >&2; die "debootstrap $1"; }
    touch "$cache/$1/.complete"
  fi
  exec 9>&-
  echo "$cache/$1"
}

# Mounts a writable view of root $1 at $work/root. $work/upper then holds exactly what was changed.
overlay_up() {
  mkdir -p "$work/root" "$work/layer"
  mkdir -p "$work/layer/upper" "$work/layer/work"
  if ! mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/layer/upper,workdir=$work/layer/work" "$work/root" 2>/dev/null; then
    # An upper layer cannot lie on an overlay itself (this test inside a container): take memory for it.
    mount -t tmpfs tmpfs "$work/layer" || skip "neither an overlay here nor a tmpfs can be mounted"
    mkdir -p "$work/layer/upper" "$work/layer/work"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/layer/upper,workdir=$work/layer/work" "$work/root" ||
      skip "no overlay can be mounted here"
  fi
  upper=$work/layer/upper
}

overlay_down() {
  umount "$work/root" 2>/dev/null || umount -l "$work/root" 2>/dev/null || true
  umount "$work/layer" 2>/dev/null || true
}

# Runs a command in $work/root as on a machine without any network, with its own /proc and /dev/pts-less /dev.
on_target() {
  unshare --net --mount --pid --fork --kill-child -- sh -c '
    root=$1; shift
    mount -t proc proc "$root/proc" && exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
  ' sh "$work/root" "$@"
}

# Path, type, mode, size and digest of everything below apt's folders in $work/root.
apt_state() {
  (cd "$work/root" && find etc/apt var/lib/apt var/cache/apt var/log/apt \
    \( -type d -printf '%p d %m\n' \) -o \( -type l -printf '%p l %l\n' \) -o \( -type f -printf '%p f %m %s ' -exec sh -c 'sha256sum <"$1"' sh {} \; \) |
    sort)
}

# Options for create where this machine's mirror lags behind its own Valid-Until; says so on standard error.
lag_options() {
  now=$(date -u +%s)
  for pocket in debian:trixie-updates: debian-security:trixie-security:-security; do
    group=${pocket%%:*}
    rest=${pocket#*:}
    suite=${rest%%:*}
    until=$(curl -fsS "$(host_mirror "${rest#*:}")/dists/$suite/InRelease" | sed -n 's/^Valid-Until: //p' | head -n 1)
    if [ -n "$until" ] && [ "$(date -u -d "$until" +%s)" -lt "$now" ]; then
      echo "the mirror lags: $suite was valid until $until; passing --allow-expired $group" >&2
      echo "--allow-expired $group"
    fi
  done
}

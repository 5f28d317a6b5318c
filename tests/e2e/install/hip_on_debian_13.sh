#!/bin/sh
# The main job on real packages: an ordinary user creates a bundle for debian-13, a Debian 13 root without any network
# installs it, its configuration stays as it was, and uninstall takes everything back.
#   hip_on_debian_13.sh CREATOR SUPPORT_FOLDER
set -eu
creator=$1
. "$2/roots.sh"

[ "$(id -u)" -eq 0 ] || skip "needs root for chroot, overlay and unshare"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --net --mount --pid --fork true 2>/dev/null || skip "no namespaces here"

work=$(mktemp -d /var/tmp/rocm-offline-e2e.XXXXXX)
chmod 755 "$work"
cleanup() {
  overlay_down
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

root=$(debian_root trixie)

# A copy: the build folder may lie where an ordinary user cannot read.
install -m 755 "$creator" "$work/rocm-offline-creator"
creator=$work/rocm-offline-creator

echo "== create, as an ordinary user with a read-only home"
mkdir "$work/home" "$work/user"
chmod 555 "$work/home"
chown 65534:65534 "$work/user"
# shellcheck disable=SC2046 # a list of words
(cd "$work/user" && setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH="$PATH" HOME="$work/home" \
  "$creator" create --release distro --target debian-13 --usecase hip --mirrors-from-host $(lag_options) \
  --cache-dir "$work/user/cache" --log-dir "$work/user/logs" -o "$work/user/rocm-offline-install.run" >"$work/user/out")
cat "$work/user/out"
[ -z "$(ls -A "$work/home")" ] || die "create wrote into a home that it was told to leave alone"
read -r file size sha256 <"$work/user/out"
[ "$(wc -l <"$work/user/out")" -eq 1 ] || die "create must end with one line on standard output"
[ "$(stat -c %s "$file")" = "$size" ] || die "create printed another size than the file has"
[ "$(sha256sum <"$file" | cut -d' ' -f1)" = "$sha256" ] || die "create printed another digest than the file has"
(cd "$work/user" && sha256sum -c --quiet rocm-offline-install.run.sha256) || die "FILE.run.sha256 does not check"
ls "$work"/user/logs/create-*.log "$work"/user/logs/create-*.jsonl >/dev/null || die "no create log"

echo "== a target with a hook, a Default-Release, a pin"
overlay_up "$root"
cp "$file" "$work/root/root/rocm offline.run"  # a space in the path
cat >"$work/root/etc/apt/apt.conf.d/99site" <<'CONF'
APT::Default-Release "no-such-release";
DPkg::Pre-Invoke { "touch /hook-acted"; };
DPkg::Post-Invoke { "touch /hook-acted"; };
APT::Update::Pre-Invoke { "touch /hook-acted"; };
CONF
cat >"$work/root/etc/apt/preferences.d/site" <<'CONF'
Package: hipcc rocminfo
Pin: version *
Pin-Priority: -1
CONF
cp "$work/root/var/lib/dpkg/status" "$work/status.before"
apt_state >"$work/apt.before"
touch "$work/mark"
(cd "$upper" && find . | sort) >"$work/upper.before"

echo "== dryrun changes nothing"
on_target sh "/root/rocm offline.run" dryrun || die "dryrun: status $?"
apt_state >"$work/apt.dryrun"
diff "$work/apt.before" "$work/apt.dryrun" || die "dryrun changed apt's folders"
cmp "$work/status.before" "$work/root/var/lib/dpkg/status" || die "dryrun changed dpkg's status"
(cd "$upper" && find . | sort) >"$work/upper.dryrun"
diff "$work/upper.before" "$work/upper.dryrun" | sed -n 's/^[<>] //p' |
  grep -v -E '^\./(proc|var|var/log|var/log/rocm-offline(/install-.*)?|var/lib|var/lib/rocm-offline(/[0-9a-f]{16}(/rocm-offline-install)?)?|tmp)$' >"$work/extra" &&
  { cat "$work/extra"; die "dryrun left files"; }

echo "== install"
on_target sh "/root/rocm offline.run" || die "install: status $?"
[ ! -e "$work/root/hook-acted" ] || die "a hook of the target acted"
apt_state >"$work/apt.after"
diff "$work/apt.before" "$work/apt.after" | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u |
  grep -v -x -E 'var/lib/apt/extended_states|var/log/apt/history.log|var/log/apt/term.log' >"$work/extra" &&
  { cat "$work/extra"; die "install changed more of apt's folders than it may"; }
ls "$work"/root/var/log/rocm-offline/install-*.log "$work"/root/var/log/rocm-offline/install-*.jsonl >/dev/null || die "no install log"

echo "== what was installed runs"
on_target hipcc --version | grep -q "HIP version" || die "hipcc --version"
status=0
on_target rocminfo >"$work/rocminfo" 2>&1 || status=$?
case "$status" in
  126 | 127) cat "$work/rocminfo"; die "rocminfo does not start" ;;
esac
grep -q -i -E "rock module|hsa" "$work/rocminfo" || { cat "$work/rocminfo"; die "rocminfo says nothing of the kernel driver or HSA"; }

echo "== status, and a second run is a no-op"
on_target sh "/root/rocm offline.run" status || die "status after install: $?"
cp "$work/root/var/lib/dpkg/status" "$work/status.installed"
on_target sh "/root/rocm offline.run" || die "second install: status $?"
cmp "$work/status.installed" "$work/root/var/lib/dpkg/status" || die "the second install changed something"

echo "== uninstall"
on_target sh "/root/rocm offline.run" uninstall --purge || die "uninstall: status $?"
names() { awk '/^Package: /{p=$2} /^Status: /{print p, $2, $3, $4}' "$1" | sort; }
names "$work/status.before" >"$work/names.before"
names "$work/root/var/lib/dpkg/status" >"$work/names.after"
diff "$work/names.before" "$work/names.after" || die "packages differ after uninstall"
status=0
on_target sh "/root/rocm offline.run" status || status=$?
[ "$status" -eq 3 ] || die "status after uninstall must exit 3, not $status"
echo "passed"

#!/bin/sh
# The installer on a real Debian 13 root: isolation, plan differences, failing scripts, kill and resume, uninstall.
#   installer_on_a_real_root.sh MAKE_TEST_BUNDLE RUNNER STUB SUPPORT_FOLDER
set -eu
make_bundle=$1
runner=$2
stub=$3
. "$4/roots.sh"

[ "$(id -u)" -eq 0 ] || skip "needs root for chroot, overlay and unshare"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --net --mount --pid --fork true 2>/dev/null || skip "no namespaces here"

work=$(mktemp -d /var/tmp/rocm-offline-install.XXXXXX)
background=
# shellcheck disable=SC2317 # called by the trap
cleanup() {
  [ -z "$background" ] || kill -9 "$background" 2>/dev/null || true
  overlay_down
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

overlay_up "$(debian_root trixie)"
root=$work/root
mkdir "$work/scratch"
"$make_bundle" "$work/bundle.run" "$work/scratch" "$stub" "$runner"
cp "$work/bundle.run" "$root/root/rocm test.run"

# Runs the bundle on the target; output in $work/out, status in $status.
bundle() {
  status=0
  on_target sh "/root/rocm test.run" "$@" >"$work/out" 2>&1 || status=$?
}
expect() {
  [ "$status" -eq "$1" ] || {
    cat "$work/out"
    die "$2: status $status, expected $1"
  }
}
says() {
  grep -q -e "$1" "$work/out" || {
    cat "$work/out"
    die "the output does not say '$1'"
  }
}
# Only apt's database of marks and its logs may differ.
expect_isolation() {
  apt_state >"$work/apt.after"
  if diff "$work/apt.before" "$work/apt.after" | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u |
    grep -v -x -E 'var/lib/apt/extended_states|var/log/apt/history.log|var/log/apt/term.log'; then
    die "$1 changed more of apt's folders than it may"
  fi
}
same_status() {
  cmp "$work/status.before" "$root/var/lib/dpkg/status" || die "$1: dpkg's status is not what it was"
}

cat >"$root/etc/apt/apt.conf.d/99site" <<'CONF'
APT::Default-Release "no-such-release";
DPkg::Pre-Invoke { "touch /hook-acted"; };
DPkg::Post-Invoke { "touch /hook-acted"; };
APT::Update::Pre-Invoke { "touch /hook-acted"; };
Acquire::http::Proxy "http://admin:secret-word@192.0.2.1:3128";
CONF
cat >"$root/etc/apt/preferences.d/site" <<'CONF'
Package: rocm-test-*
Pin: version *
Pin-Priority: -1
CONF
cp "$root/var/lib/dpkg/status" "$work/status.before"
apt_state >"$work/apt.before"

echo "== check names what will not act, and keeps its secrets"
bundle check
expect 0 check
says "hook does not run: DPkg::Pre-Invoke: touch /hook-acted"
says 'APT::Default-Release "no-such-release"'
says "pin does not act: rocm-test-\*"
! grep -q secret-word "$work/out" || die "check prints a password"

echo "== dryrun changes nothing"
bundle dryrun
expect 0 dryrun
says "rocm-test-lib 1.0-1 new"
apt_state | diff "$work/apt.before" - || die "dryrun changed apt's folders"
same_status dryrun
[ ! -e "$root/var/lib/rocm-offline" ] || die "dryrun left a state folder"

echo "== a failing maintainer script is told, and the next run continues"
touch "$root/test-broken"
bundle install
expect 7 "broken postinst"
says "^log: /var/log/rocm-offline/install-.*\.jsonl$"
bundle status
expect 3 "status of a partial installation"
says "^partial"
rm "$root/test-broken"
bundle install
expect 0 "resume after a failing script"
bundle status
expect 0 "status after the resume"
bundle uninstall --purge
expect 0 "uninstall"
same_status "uninstall after a failing script"

echo "== killed in the middle: the next run continues"
touch "$root/test-slow"
# shellcheck disable=SC2016 # the inner shell expands it
unshare --net --mount --pid --fork --kill-child -- sh -c 'mount -t proc proc "$1/proc"; exec chroot "$1" sh "/root/rocm test.run"' \
  sh "$root" >"$work/out" 2>&1 &
background=$!
i=0
until grep -q -s 'half-configured' "$root/var/lib/dpkg/status" || ls "$root"/var/lib/dpkg/updates/[0-9]* >/dev/null 2>&1; do
  i=$((i + 1))
  [ "$i" -lt 300 ] || { cat "$work/out"; die "apt did not start"; }
  sleep 0.1
done
kill -9 "$background"
wait "$background" 2>/dev/null || true
background=
rm "$root/test-slow"
bundle status
says "^partial"
bundle install --json
expect 0 "resume after a kill"
says '"resumed": true'
[ "$(on_target /usr/bin/rocm-test-app)" = app ] || die "the installed program does not run"
[ "$(grep -A 2 '^Package: rocm-test' "$root/var/lib/apt/extended_states" | grep -v ^Arch | tr '\n' ' ')" = \
  "Package: rocm-test-lib Auto-Installed: 1 " ] || die "marks are wrong after the resume"
[ ! -e "$root/hook-acted" ] || die "a hook of the target acted"
expect_isolation install

echo "== a second run is a no-op, changes are told"
cp "$root/var/lib/dpkg/status" "$work/status.installed"
bundle
expect 0 "second run"
says "nothing to do"
cmp "$work/status.installed" "$root/var/lib/dpkg/status" || die "the second run changed something"

echo "== a package that was installed later keeps what it needs"
cat >"$work/later.control" <<'CONTROL'
Package: later-package
Version: 1
Architecture: all
Maintainer: Test <test@example.org>
Depends: rocm-test-lib
Description: installed by the admin
CONTROL
mkdir -p "$work/later/DEBIAN"
cp "$work/later.control" "$work/later/DEBIAN/control"
dpkg-deb --root-owner-group -b "$work/later" "$root/root/later.deb" >/dev/null
on_target dpkg -i /root/later.deb >/dev/null
bundle uninstall --purge
expect 0 "uninstall beside a later package"
says "rocm-test-lib stays: later-package needs it"
# shellcheck disable=SC2016 # dpkg's own variable
on_target dpkg-query -W -f '${db:Status-Abbrev}' rocm-test-lib | grep -q '^ii' || die "a needed package was removed"
on_target dpkg --purge later-package rocm-test-lib >/dev/null 2>&1
same_status "after everything"
bundle uninstall
expect 3 "uninstall without a receipt"

echo "== GPU access: user, everybody, nobody by that name"
bundle --gpu-access nobody-of-that-name
expect 3 "missing user"
same_status "missing user"
on_target useradd --no-create-home ann
bundle --gpu-access ann
expect 0 "--gpu-access ann"
on_target id -nG ann | grep -q render || die "ann is not in group render"
bundle uninstall --purge
expect 0 "uninstall"
! on_target id -nG ann | grep -q render || die "ann is still in group render"
bundle --gpu-access all
expect 0 "--gpu-access all"
grep -q 'KERNEL=="kfd", MODE="0666"' "$root/etc/udev/rules.d/70-amdgpu.rules" || die "no udev rule"
bundle uninstall --purge
expect 0 "uninstall"
[ ! -e "$root/etc/udev/rules.d/70-amdgpu.rules" ] || die "the udev rule stays"

echo "== from the tree of an extracted image, in place"
bundle extract /srv/image
expect 0 extract
status=0
on_target sh /srv/image/install.sh >"$work/out" 2>&1 || status=$?
expect 0 "install.sh of a tree"
says "where the image is mounted"
status=0
on_target sh /srv/image/install.sh uninstall --purge >"$work/out" 2>&1 || status=$?
expect 0 "uninstall by install.sh"

echo "== a changed byte of a package: nothing is installed"
cp "$root/root/rocm test.run" "$work/good.run"
at=$(grep -a -b -o 'echo app' "$work/good.run" | head -n 1 | cut -d: -f1)
printf X | dd of="$root/root/rocm test.run" bs=1 seek="$at" conv=notrunc 2>/dev/null
bundle
expect 6 "damaged package"
[ ! -e "$root/usr/bin/rocm-test-app" ] || die "a damaged package was installed"
cp "$work/good.run" "$root/root/rocm test.run"

echo "== below --root, from outside"
status=0
sh "$work/bundle.run" --root "$root" >"$work/out" 2>&1 || status=$?
expect 0 "install --root"
[ -e "$root/usr/bin/rocm-test-app" ] || die "nothing was installed below --root"
sh "$work/bundle.run" status --root "$root" >"$work/out" 2>&1 || die "status --root"
sh "$work/bundle.run" uninstall --purge --root "$root" >"$work/out" 2>&1 || die "uninstall --root"
[ ! -e /var/lib/rocm-offline ] || die "--root left something on the machine itself"

echo "== refusals"
echo 'VERSION_ID="12"' >>"$root/etc/os-release"
bundle --json
expect 3 "wrong version"
says '"code": "wrong_target"'
sed -i '/VERSION_ID="12"/d' "$root/etc/os-release"
on_target setpriv --reuid=65534 --regid=65534 --clear-groups sh "/root/rocm test.run" >"$work/out" 2>&1 && die "an ordinary user may not install"
cp "$work/bundle.run" "$root/tmp/user.run"
chmod 755 "$root/tmp/user.run"
status=0
on_target setpriv --reuid=65534 --regid=65534 --clear-groups sh /tmp/user.run --log-dir /tmp >"$work/out" 2>&1 || status=$?
expect 3 "ordinary user"
says "installing needs root"
bundle --no-such-option
expect 2 "unknown option"
[ ! -e "$root/hook-acted" ] || die "a hook of the target acted"
expect_isolation "everything"
echo "passed"

#!/bin/sh
# The words of a bundle that change nothing, through the real stub and program; also in a root with busybox alone.
#   test_words.sh MAKE_TEST_BUNDLE RUNNER STUB static|dynamic
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
chmod 755 "$work"

die() {
  echo "FAILED: $*"
  [ ! -s "$work/out" ] || sed 's/^/  out: /' "$work/out"
  [ ! -s "$work/err" ] || sed 's/^/  err: /' "$work/err"
  exit 1
}

mkdir "$work/scratch" "$work/home"
"$1" "$work/a bundle.run" "$work/scratch" "$3" "$2"
chmod 755 "$work/a bundle.run"
[ "$(id -u)" -ne 0 ] || chown 65534:65534 "$work/home" "$work"

cp "$work/a bundle.run" "$work/before"
bundle() {
  expected=$1
  shift
  status=0
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/home" "$work/a bundle.run" "$@"
  else
    env HOME="$work/home" "$work/a bundle.run" "$@"
  fi >"$work/out" 2>"$work/err" </dev/null || status=$?
  [ "$status" -eq "$expected" ] || die "$*: status $status, expected $expected"
}
out_says() { grep -q -e "$1" "$work/out" || die "standard output does not say '$1'"; }
err_says() { grep -q -e "$1" "$work/err" || die "standard error does not say '$1'"; }

bundle 0 help
out_says '^usage: FILE.run'
bundle 0 install --help
out_says '^usage: FILE.run'
bundle 0 version
out_says '^target debian-13$'
id=$(sed -n 's/^bundle //p' "$work/out")
bundle 0 --version --json
out_says "\"bundle_id\": \"$id\""
bundle 0 list
[ "$(cut -d' ' -f1 "$work/out" | tr '\n' ' ')" = "rocm-test-app rocm-test-lib " ] || die "list: bare names first"
bundle 0 --verify
out_says "^sound: .*bundle $id"
bundle 0 verify --json --yes
out_says '"findings": \[\]'
bundle 6 verify --sha256 0000000000000000000000000000000000000000000000000000000000000000
bundle 0 notes
out_says 'requested: rocm-test-app'
bundle 0 logs
out_says 'no install log in'
bundle 3 status
out_says '^not-installed$'
bundle 0 extract "$work/home/tree"
cmp "$work/home/tree/rocm-offline-install" "$2" || die "extract changed the program"
bundle 2 extract "$work/home/tree"
err_says '^help: '
bundle 2 extract

# A refused command line: one document on standard output, the error and its help last on standard error.
bundle 2 --no-such-option --json
out_says '"code": "usage"'
[ "$(tail -n 1 "$work/err" | cut -c1-6)" = "help: " ] || die "the last line is not the help"
bundle 2 instal
err_says 'did you mean install'
bundle 2 verify list
bundle 2 --verify-key /x
bundle 2 dryrun list

# What an option names has to exist; a digest is compared whatever the word is.
bundle 2 check --treat-as no-such-target
err_says 'the targets are: '
bundle 2 check --root /no/such/folder
for word in check list status notes version uninstall; do
  bundle 6 $word --sha256 0000000000000000000000000000000000000000000000000000000000000000
done
bundle 6 extract "$work/home/other" --sha256 0000000000000000000000000000000000000000000000000000000000000000
[ ! -e "$work/home/other" ] || die "extract wrote the tree of a file with another digest"
bundle 0 list --sha256 "$(sha256sum <"$work/a bundle.run" | cut -d' ' -f1)"
bundle 0 help --json
out_says '"schema": "rocm-offline/help/1"'

# Standard output that takes nothing is 8, never a silent 0; closed it must not become some other file.
for word in help version list verify notes logs; do
  status=0
  sh "$work/a bundle.run" $word >/dev/full 2>"$work/err" || status=$?
  [ "$status" -eq 8 ] || die "$word on a full disk: status $status"
  err_says '^error: the result cannot be written to standard output$'
  status=0
  sh "$work/a bundle.run" $word >&- 2>"$work/err" || status=$?
  [ "$status" -eq 8 ] || die "$word with standard output closed: status $status"
done
cmp -s "$work/a bundle.run" "$work/before" || die "a closed standard output changed the bundle"

# Not root, and no place for a log: the refusal is that of the user, not of the log.
status=0
if [ "$(id -u)" -eq 0 ]; then
  setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/no/such/home "$work/a bundle.run" 2>"$work/err" >"$work/out" </dev/null || status=$?
  [ "$status" -eq 3 ] || die "install by a user without a home: status $status"
fi

# Not root: a log all the same, whose paths are the last lines.
bundle 3 install --log-dir "$work/home/logs" --json
out_says '"error": {'
for form in log jsonl; do
  ls "$work/home/logs"/install-*."$form" >/dev/null || die "no .$form"
  err_says "^log: $work/home/logs/install-.*\.$form\$"
done
grep -q "$id" "$work/home/logs"/install-*.jsonl || die "the log does not name the bundle"

# Damage of any kind.
cp "$work/a bundle.run" "$work/keep"
printf x >>"$work/a bundle.run"
bundle 6 verify
cp "$work/keep" "$work/a bundle.run"

[ "$4" = static ] || {
  echo "not tried: a root with busybox alone, the program is linked dynamically"
  exit 0
}
if file -L "$2" 2>/dev/null | grep -q 'dynamically linked'; then
  die "the program is not static"
fi
if [ "$(id -u)" -ne 0 ] || ! busybox=$(command -v busybox) || ldd "$busybox" >/dev/null 2>&1; then
  echo "not tried: a root with busybox alone needs root and busybox-static"
  exit 0
fi
mkdir -p "$work/small/bin" "$work/small/tmp" "$work/small/dev" "$work/small/etc"
cp "$busybox" "$work/small/bin/busybox"
for applet in $("$busybox" --list); do [ "$applet" = busybox ] || ln -s busybox "$work/small/bin/$applet"; done
mknod -m 666 "$work/small/dev/null" c 1 3 2>/dev/null || : >"$work/small/dev/null"
cp "$work/a bundle.run" "$work/small/x.run"
small() {
  status=0
  chroot "$work/small" /bin/sh /x.run "$@" >"$work/out" 2>"$work/err" || status=$?
}
for word in help version list verify "extract /tree"; do
  # shellcheck disable=SC2086 # a word and its argument
  small $word
  [ "$status" -eq 0 ] || die "busybox alone: $word: status $status"
done
small check
[ "$status" -eq 3 ] || die "busybox alone: check: status $status"
out_says '^fail  *distribution'
out_says '^fail  *package-manager'
echo "passed"

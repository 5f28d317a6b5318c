#!/bin/sh
# shellcheck disable=SC2317 # functions that traps and "$@" call
# The stub of a bundle under each shell of this machine, with a shell script as its runner.
#   test_stub.sh STUB
set -u
template=$1
failures=0
work=$(mktemp -d)
child=
cleanup() {
  [ -z "$child" ] || kill "$child" 2>/dev/null
  umount "$work/noexec" 2>/dev/null
  chmod -R u+rwx "$work" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# Ordinary users' places only, so that the test acts the same for root: the stable place is tried in its own case.
TMPDIR=$work/temporary
export TMPDIR
mkdir "$TMPDIR"

fail() {
  failures=$((failures + 1))
  printf 'FAILED (%s): %s\n' "${shell:-}" "$1"
  [ ! -s "$work/out" ] || sed 's/^/  out: /' "$work/out"
  [ ! -s "$work/err" ] || sed 's/^/  err: /' "$work/err"
}

expect_status() {
  [ "$1" -eq "$2" ] || fail "$3: status $1, expected $2"
}

expect_line() {
  grep -q -x -F -e "$1" "$work/out" || fail "no line '$1' on standard output"
}

expect_error() {
  grep -q -e "$1" "$work/err" || fail "no '$1' on standard error"
}

# The fake program tells what it got. Its size is no multiple of the block size.
cat >"$work/runner" <<'RUNNER'
#!/bin/sh
[ "$*" = --version ] && exit 0
echo "program $0"
for argument; do echo "argument $argument"; done
case " $* " in
  *" read-input "*) IFS= read -r line && echo "input $line" ;;
  *" wait "*)
    trap 'echo "got TERM"; exit 130' TERM
    trap 'echo "got HUP"; exit 130' HUP
    : >"$ROCM_TEST_READY"
    i=0
    while [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
    exit 1
    ;;
esac
exit 42
RUNNER

number() { printf '%020d' "$1"; }

# make_bundle FILE RUNNER: stub, program at 40960, manifest behind it.
make_bundle() {
  runner_size=$(wc -c <"$2")
  runner_sha256=$(sha256sum <"$2" | cut -d' ' -f1)
  manifest_sha256=$(printf '{}\n' | sha256sum | cut -d' ' -f1)
  manifest_offset=$((40960 + (runner_size + 4095) / 4096 * 4096))
  file_size=$((manifest_offset + 4096))
  sed -e "s/^rocm_runner_offset=.*/rocm_runner_offset=$(number 40960)/" \
    -e "s/^rocm_runner_size=.*/rocm_runner_size=$(number "$runner_size")/" \
    -e "s/^rocm_runner_sha256=.*/rocm_runner_sha256=$runner_sha256/" \
    -e "s/^rocm_manifest_offset=.*/rocm_manifest_offset=$(number "$manifest_offset")/" \
    -e "s/^rocm_manifest_size=.*/rocm_manifest_size=$(number 3)/" \
    -e "s/^rocm_manifest_sha256=.*/rocm_manifest_sha256=$manifest_sha256/" \
    -e "s/^rocm_file_size=.*/rocm_file_size=$(number "$file_size")/" "$template" >"$1"
  dd if="$2" of="$1" bs=4096 seek=10 conv=notrunc 2>/dev/null
  printf '{}\n' | dd of="$1" bs=4096 seek=$((manifest_offset / 4096)) conv=notrunc 2>/dev/null
  truncate -s "$file_size" "$1"
  chmod 755 "$1"
}

# As an ordinary user where the test runs as root, so that the temporary places are what is tested.
exec_as_user() {
  if [ "$(id -u)" -eq 0 ]; then
    exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"
  fi
  exec "$@"
}
as_user() {
  (exec_as_user "$@")
}
if [ "$(id -u)" -eq 0 ]; then
  chmod 755 "$work"
  chown 65534:65534 "$TMPDIR"
fi

shell=
[ "$(wc -c <"$template")" -lt 32768 ] || fail "the stub is larger than 32 KiB"
for name in runner_offset runner_size manifest_offset manifest_size file_size; do
  [ "$(grep -c "^rocm_$name=00000000000000000000\$" "$template")" -eq 1 ] || fail "placeholder rocm_$name"
done
for name in runner_sha256 manifest_sha256; do
  [ "$(grep -c -E "^rocm_$name=0{64}\$" "$template")" -eq 1 ] || fail "placeholder rocm_$name"
done

mkdir "$work/a folder"
bundle="$work/a folder/the bundle.run"
make_bundle "$bundle" "$work/runner"

run_cases() {
  # Arguments, spaces in paths, status.
  as_user "$@" "$bundle" list --log-dir "/a b" '' >"$work/out" 2>"$work/err"
  expect_status $? 42 "by path"
  expect_line "argument --bundle"
  expect_line "argument $bundle"
  expect_line "argument /a b"
  expect_line "argument "

  # From a working folder that cannot be written, by a relative path.
  (cd "$work/a folder" && as_user "$@" "the bundle.run" list) >"$work/out" 2>"$work/err"
  expect_status $? 42 "relative path"
  expect_line "argument $work/a folder/the bundle.run"

  # The program gets standard input, but not when it is the bundle.
  echo hello | as_user "$@" "$bundle" read-input >"$work/out" 2>"$work/err"
  expect_line "input hello"
  as_user "$@" <"$bundle" >"$work/out" 2>"$work/err"
  expect_status $? 42 "sh < FILE"
  expect_line "argument $bundle"
  as_user env -i PATH="$PATH" TMPDIR="$TMPDIR" "$@" "$bundle" >"$work/out" 2>"$work/err"
  expect_status $? 42 "empty environment"

  # A pipe is no file: a clear error, nothing else.
  # shellcheck disable=SC2002 # a pipe is meant
  cat "$bundle" | as_user "$@" >"$work/out" 2>"$work/err"
  expect_status $? 2 "from a pipe"
  expect_error "save the file"

  # Cut short.
  head -c 50000 "$bundle" >"$work/short.run"
  truncate -s 45000 "$work/short.run"
  as_user "$@" "$work/short.run" >"$work/out" 2>"$work/err"
  expect_status $? 6 "truncated"
  expect_error "incomplete"
  as_user "$@" "$work/short.run" --json >"$work/out" 2>/dev/null
  grep -q '^{"error":{"code":"bundle_damaged"' "$work/out" || fail "no JSON error document"

  # Cut off inside of the script: no part of it may run and end well.
  for size in 64 300 700 900 2500 9000 $(($(wc -c <"$template") - 3)); do
    head -c "$size" "$bundle" >"$work/short.run"
    as_user "$@" "$work/short.run" list >"$work/out" 2>"$work/err" && fail "cut to $size bytes: status 0"
    [ ! -s "$work/out" ] || fail "cut to $size bytes: something ran"
  done
  for size in 1100 2500 9000 $(($(wc -c <"$template") - 3)); do
    head -c "$size" "$bundle" >"$work/short.run"
    as_user "$@" "$work/short.run" list --json >"$work/out" 2>"$work/err"
    expect_status $? 6 "cut to $size bytes"
    expect_error "incomplete"
    grep -q '^{"error":{"code":"bundle_damaged"' "$work/out" || fail "cut to $size bytes: no JSON error document"
  done

  # One changed byte in the program.
  cp "$bundle" "$work/changed.run"
  printf X | dd of="$work/changed.run" bs=1 seek=41000 conv=notrunc 2>/dev/null
  as_user "$@" "$work/changed.run" >"$work/out" 2>"$work/err"
  expect_status $? 6 "changed program"
  expect_error "damaged"

  # The same text as /install.sh of a mounted image.
  rm -rf "$work/image"
  mkdir "$work/image"
  head -c 32768 "$bundle" | tr -d '\000' >"$work/image/install.sh"
  cp "$work/runner" "$work/image/rocm-offline-install"
  chmod 444 "$work/image/rocm-offline-install"
  printf '{}\n' >"$work/image/manifest.json"
  as_user "$@" "$work/image/install.sh" check >"$work/out" 2>"$work/err"
  expect_status $? 42 "install.sh"
  expect_line "argument $work/image"

  # --work-dir comes first.
  mkdir -p "$work/chosen place"
  [ "$(id -u)" -ne 0 ] || chown 65534:65534 "$work/chosen place"
  as_user "$@" "$bundle" --work-dir "$work/chosen place" >"$work/out" 2>"$work/err"
  grep -q "^program $work/chosen place/" "$work/out" || fail "--work-dir is not used"

  # Signals reach the program, and its status comes back. (A background command ignores SIGINT: not tried here.)
  for signal in TERM HUP; do
    rm -f "$TMPDIR/ready"
    exec_as_user env ROCM_TEST_READY="$TMPDIR/ready" "$@" "$bundle" wait >"$work/out" 2>"$work/err" &
    child=$!
    i=0
    while [ ! -e "$TMPDIR/ready" ] && [ $i -lt 100 ]; do
      sleep 0.1
      i=$((i + 1))
    done
    kill "-$signal" "$child"
    wait "$child"
    expect_status $? 130 "signal $signal"
    child=
    expect_line "got $signal"
  done
  [ -z "$(find "$TMPDIR" -mindepth 1 ! -name ready)" ] || fail "something is left in TMPDIR"
  [ -z "$(ls -A "$work/chosen place")" ] || fail "something is left in the work folder"
}

for shell in dash bash "bash --posix" "busybox sh" mksh ksh93 zsh; do
  if ! command -v "${shell%% *}" >/dev/null 2>&1; then
    echo "not tried: ${shell%% *} is not installed"
    continue
  fi
  # shellcheck disable=SC2086 # a command of one or two words
  run_cases $shell
done

# ". FILE" tells its name in none of these; bash refuses a file with NULs there, with its own message.
for shell in dash "busybox sh"; do
  command -v "${shell%% *}" >/dev/null 2>&1 || continue
  # shellcheck disable=SC2086
  as_user $shell -c ". '$bundle'" >"$work/out" 2>"$work/err"
  expect_status $? 42 "sourced"
  expect_line "argument $bundle"
done

# busybox alone: no other program in PATH.
shell="busybox only"
if command -v busybox >/dev/null 2>&1; then
  mkdir "$work/bin"
  for applet in $(busybox --list); do ln -s "$(command -v busybox)" "$work/bin/$applet"; done
  as_user env PATH="$work/bin" "$(command -v busybox)" sh "$bundle" help >"$work/out" 2>"$work/err"
  expect_status $? 42 "busybox only"
  expect_line "argument help"
fi

# Folders that cannot execute are passed over; where none can, the message says what to do.
shell="noexec places"
if [ "$(id -u)" -eq 0 ] && mkdir "$work/noexec" && mount -t tmpfs -o noexec,mode=1777 none "$work/noexec" 2>/dev/null; then
  as_user sh "$bundle" --work-dir "$work/noexec" >"$work/out" 2>"$work/err"
  expect_status $? 42 "noexec work folder"
  grep -q "^program $TMPDIR/" "$work/out" || fail "the next place is not used"
  if unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare -m sh -c 'for d in /tmp /var/tmp; do mount --bind "$1" "$d"; done
      exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent TMPDIR="$1" sh "$2"' \
      sh "$work/noexec" "$bundle" >"$work/out" 2>"$work/err"
    # The bundle itself lies below the old /tmp in some runs: then nothing can be said.
    if [ -s "$work/err" ] && grep -q "no folder was found" "$work/err"; then
      expect_error "noexec: --work-dir DIR"
    else
      case $work in
        /tmp/* | /var/tmp/*) ;;
        *) fail "noexec everywhere is not explained" ;;
      esac
    fi
  fi
  umount "$work/noexec"
else
  echo "not tried: noexec places need root and mount"
fi

# Root's place is stable, and left as it was.
if [ "$(id -u)" -eq 0 ] && [ ! -e /var/lib/rocm-offline ]; then
  shell="sh as root"
  sh "$bundle" list >"$work/out" 2>"$work/err"
  expect_status $? 42 "root"
  id=$(sed -n 's/^rocm_manifest_sha256=\(.\{16\}\).*/\1/p' "$work/image/install.sh")
  expect_line "program /var/lib/rocm-offline/$id/rocm-offline-install"
  [ ! -e /var/lib/rocm-offline ] || fail "/var/lib/rocm-offline is left behind"
fi

[ "$failures" -eq 0 ] && echo "passed"
exit "$failures"

#!/bin/sh
# One request gives one file, bit for bit: with 1 and 16 jobs, for another user, time zone, umask and locale, after kill -9 at
# 20 points, and on another release of the distribution.
#   reproducible.sh CREATOR MAKE_DEB_REPOSITORY SERVE SUPPORT_FOLDER [SEED]
set -eu
creator=$1
make_repository=$2
serve=$3
# shellcheck source=tests/support/shell/roots.sh
. "$4/roots.sh"
seed=${5:-20261201}

[ "$(id -u)" -eq 0 ] || skip "needs root: other users, a chroot"
for program in debootstrap setpriv ldd gpg; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done

work=$(mktemp -d /var/tmp/rocm-offline-same.XXXXXX)
chmod 755 "$work"
running=
cleanup() {
  [ -z "$running" ] || kill -9 "$running" 2>/dev/null || true
  exec 8>&- 7>&-
  overlay_down
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
echo "seed $seed"

# A signed repository of 24 packages, 1.2 MB each, that one package needs.
mkdir "$work/specs"
for pocket in "" -updates -security; do
  {
    printf '{"suite": "trixie%s", "codename": "trixie%s", "release_suite": "trixie%s", "packages": [' "$pocket" "$pocket" "$pocket"
    if [ -z "$pocket" ]; then
      needs=libc6
      for i in $(seq 1 24); do
        printf '{"name": "part-%s", "version": "1:%s.0+deb13", "padding": %s},' "$i" "$i" $((1200000 + i * 777))
        needs="$needs, part-$i"
      done
      printf '{"name": "libc6", "version": "2.41-12", "fields": {"Multi-Arch": "same"}},'
      printf '{"name": "base-files", "version": "13", "fields": {"Essential": "yes", "Priority": "required"}},'
      printf '{"name": "whole", "version": "1.0", "fields": {"Depends": "%s"}}' "$needs"
    fi
    printf ']}\n'
  } >"$work/specs/trixie$pocket.json"
done
"$make_repository" "$work/mirror" "$work/specs/trixie.json" "$work/specs/trixie-updates.json" \
  "$work/specs/trixie-security.json" >/dev/null
chmod -R go+rX "$work/mirror"

# Each server ends when its standard input, held by a descriptor of this script, is closed.
mkfifo "$work/hold7" "$work/hold8"
"$serve" "$work/mirror" <"$work/hold7" >"$work/url7" &
exec 7>"$work/hold7"
"$serve" "$work/mirror" 3000000 <"$work/hold8" >"$work/url8" &
exec 8>"$work/hold8"
i=0
until [ -s "$work/url7" ] && [ -s "$work/url8" ]; do
  i=$((i + 1))
  [ "$i" -lt 100 ] || die "the server does not start"
  sleep 0.1
done
fast=$(cat "$work/url7")
slow=$(cat "$work/url8")

# A copy: the build folder may lie where an ordinary user cannot read.
install -m 755 "$creator" "$work/rocm-offline-creator"
cp "$work/mirror/key.asc" "$work/key.asc"
chmod 644 "$work/key.asc"

# create FOLDER URL WORDS... : a run with a cache and a log folder of its own. Callers may put a program before it.
request() {
  echo "--release distro --target debian-13 --package whole --mirror debian=$1 --mirror debian-security=$1 -q"
}
create() {
  folder=$1
  url=$2
  shift 2
  mkdir -p "$folder"
  # shellcheck disable=SC2046 # a list of words
  "$@" $(request "$url") --keyring "debian=$work/key.asc" --keyring "debian-security=$work/key.asc" \
    --cache-dir "$folder/cache" --log-dir "$folder/logs" -o "$folder/bundle.run" >"$folder/out" 2>"$folder/err"
}
expect_same() {
  digest=$(sha256sum <"$1/bundle.run" | cut -d' ' -f1)
  [ "$digest" = "$reference" ] || {
    cmp "$work/reference/bundle.run" "$1/bundle.run" || true
    die "$2: another file"
  }
  rm -rf "$1"
  echo "same: $2"
}
must() {
  what=$1
  shift
  "$@" || {
    status=$?
    cat "$folder/err" >&2
    die "$what: status $status"
  }
}

must "the first create" create "$work/reference" "$fast" "$work/rocm-offline-creator" create --jobs 1
reference=$(sha256sum <"$work/reference/bundle.run" | cut -d' ' -f1)
must "verify" "$work/rocm-offline-creator" verify "$work/reference/bundle.run" -q >/dev/null

for jobs in 1 16; do
  must "--jobs $jobs" create "$work/jobs" "$fast" "$work/rocm-offline-creator" create --jobs "$jobs"
  expect_same "$work/jobs" "--jobs $jobs"
done
must "slow server" create "$work/slow" "$slow" "$work/rocm-offline-creator" create --jobs 16
expect_same "$work/slow" "--jobs 16 from a slow server"

mkdir "$work/user"
chown 65534:65534 "$work/user"
must "another user" create "$work/user" "$fast" setpriv --reuid=65534 --regid=65534 --clear-groups \
  env -i PATH="$PATH" HOME=/nonexistent "$work/rocm-offline-creator" create
expect_same "$work/user" "another user, an empty environment"
must "time zone" create "$work/zone" "$fast" env TZ=Pacific/Kiritimati "$work/rocm-offline-creator" create
expect_same "$work/zone" "another time zone"
must "umask" create "$work/umask" "$fast" sh -c 'umask 077; exec "$@"' sh "$work/rocm-offline-creator" create
expect_same "$work/umask" "umask 077"
other=$(locale -a 2>/dev/null | grep -v -i -E '^(c|posix|c\.utf-?8)$' | head -n 1) || true
for locale in "${other:-tr_TR.UTF-8}" C.UTF-8 C; do
  must "locale $locale" create "$work/locale" "$fast" env LANG="$locale" LC_ALL="$locale" LANGUAGE=tr \
    "$work/rocm-offline-creator" create
  expect_same "$work/locale" "locale $locale"
done

resumed=0
finished=0
# Five points at any time of the first second, before or in the transfers, and fifteen by what the journal holds by then, so
# that a slow machine is hit in the same places.
awk -v seed="$seed" 'BEGIN {
  srand(seed)
  for (i = 0; i < 5; ++i) print "after", int(100 * rand()), "hundredths"
  for (i = 0; i < 15; ++i) print "after", 1 + int(22 * rand()), "members"
}' >"$work/points"
wait_for_point() {
  if [ "$2" = hundredths ]; then
    sleep "0.$(printf '%02d' "$1")"
    return
  fi
  while kill -0 "$running" 2>/dev/null; do
    lines=$(wc -l 2>/dev/null <"$folder/bundle.run.part.journal") || lines=0
    [ "$lines" -le "$1" ] || return 0
    sleep 0.02
  done
}
while read -r _ number unit; do
  point="$number $unit"
  folder=$work/killed
  mkdir -p "$folder"
  # shellcheck disable=SC2046 # a list of words
  "$work/rocm-offline-creator" create --jobs 4 $(request "$slow") --keyring "debian=$work/key.asc" \
    --keyring "debian-security=$work/key.asc" --cache-dir "$folder/cache" --log-dir "$folder/logs" \
    -o "$folder/bundle.run" >"$folder/out" 2>"$folder/err" 7>&- 8>&- &
  running=$!
  wait_for_point "$number" "$unit"
  kill -9 "$running" 2>/dev/null || true
  status=0
  wait "$running" 2>/dev/null || status=$?
  running=
  if [ "$status" -eq 0 ]; then
    finished=$((finished + 1))
  elif [ -e "$folder/bundle.run" ]; then
    # Only the very end of a run may leave the file: it is whole then.
    cmp "$work/reference/bundle.run" "$folder/bundle.run" || die "killed after $point: a file that is not whole has the bundle's name"
  fi
  rm -rf "$folder/logs"
  must "resume after $point" create "$folder" "$slow" "$work/rocm-offline-creator" create --jobs 4
  if grep -q -s '"bundle.part.resumed"' "$folder"/logs/create-*.jsonl; then resumed=$((resumed + 1)); fi
  for left in "$folder/bundle.run.part" "$folder/bundle.run.part.journal"; do
    [ ! -e "$left" ] || die "a finished create leaves $left"
  done
  expect_same "$folder" "killed after $point, then resumed"
done <"$work/points"
echo "20 kills: $resumed continued an unfinished file, $finished came after the end"
[ "$resumed" -ge 10 ] || die "too few of the kills hit a transfer"

echo "== in a Debian 13 root"
root=$(debian_root trixie)
overlay_up "$root"
mkdir -p "$work/root/opt/creator/lib" "$work/root/opt/creator/out"
cp "$work/rocm-offline-creator" "$work/key.asc" "$work/root/opt/creator/"
# Only libraries that this release has not under the same name; all others, the C library among them, are its own.
for program in "$work/rocm-offline-creator" "$(command -v gpg)" "$(command -v gpgconf)"; do
  ldd "$program" | awk '$3 ~ /^\// { print $1, $3 }' | while read -r name file; do
    [ -n "$(find "$work/root/usr/lib/x86_64-linux-gnu" -maxdepth 1 -name "$name")" ] || cp -L "$file" "$work/root/opt/creator/lib/$name"
  done
done
cp "$(command -v gpg)" "$(command -v gpgconf)" "$work/root/usr/bin/"
status=0
# shellcheck disable=SC2046 # a list of words
chroot "$work/root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LD_LIBRARY_PATH=/opt/creator/lib \
  /opt/creator/rocm-offline-creator create $(request "$fast") --keyring debian=/opt/creator/key.asc \
  --keyring debian-security=/opt/creator/key.asc --cache-dir /opt/creator/out/cache --log-dir /opt/creator/out/logs \
  -o /opt/creator/out/bundle.run >"$work/chroot.out" 2>&1 || status=$?
[ "$status" -eq 0 ] || { cat "$work/chroot.out"; die "create in a Debian 13 root: status $status"; }
echo "own libraries of that release: $(chroot "$work/root" /usr/bin/env LD_LIBRARY_PATH=/opt/creator/lib ldd /opt/creator/rocm-offline-creator 2>/dev/null | grep -c '=> /\(usr/\)\?lib') of $(ldd "$creator" | grep -c '=>')"
expect_same "$work/root/opt/creator/out" "in a Debian 13 root"
echo "passed"

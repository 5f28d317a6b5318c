#!/bin/sh
if true rocm_stub && [ -f "$0" ] && grep -q '^if true rocm_stub ' "$0" 2>/dev/null && ! grep -q '^} # whole$' "$0"; then
  # A copy that ends within this text would only be a syntax error to the shell.
  case " $* " in
    *' --json '*)
      printf '{"error":{"code":"bundle_damaged","context":[],"details":{},"help":"copy the file again","message":"the bundle is incomplete","reason":"it ends within its first 32 KiB","stage":"verify"},"schema":"rocm-offline/error/1"}\n'
      ;;
  esac
  printf 'error: the bundle is incomplete: %s\nreason: it ends within its first 32 KiB\nhelp: copy the file again\n' "$0" >&2
  exit 6
fi
# shellcheck disable=SC2034,SC2317
{
# One command up to the last line: a file that was cut off in here is a syntax error, and nothing of it runs.
#
# ROCm offline installer. One file in three forms: this script, an ISO 9660 image, a package repository per target.
#   sh FILE.run help        says what it can do
#   mount -o loop,ro FILE.run /mnt && sh /mnt/install.sh        is the same from the mounted image
# This text copies the installer program out of the file into a folder that may execute programs, compares its
# digest, runs it with all arguments, and removes it again. It changes nothing else.

# Filled in when the bundle is written: decimal numbers and SHA-256 digests of fixed width. Some are for the program.
rocm_runner_offset=00000000000000000000
rocm_runner_size=00000000000000000000
rocm_runner_sha256=0000000000000000000000000000000000000000000000000000000000000000
rocm_manifest_offset=00000000000000000000
rocm_manifest_size=00000000000000000000
rocm_manifest_sha256=0000000000000000000000000000000000000000000000000000000000000000
rocm_file_size=00000000000000000000

rocm_bundle=
rocm_tree=
rocm_place=
rocm_program=
rocm_child=
rocm_json=
rocm_work_dir=
rocm_refusals=
rocm_denied=
rocm_stable=
rocm_signalled=
rocm_state=/var/lib/rocm-offline

# A number without its leading zeros, which arithmetic would take as octal, in rocm_number.
rocm_strip_zeros() {
  rocm_number=${1#"${1%%[!0]*}"}
  rocm_number=${rocm_number:-0}
}

rocm_json_text() {
  printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g'
}

# rocm_fail STATUS CODE STAGE MESSAGE REASON HELP
rocm_fail() {
  if [ -n "$rocm_json" ]; then
    printf '{"error":{"code":"%s","context":[],"details":{},"help":"%s","message":"%s","reason":"%s","stage":"%s"},"schema":"rocm-offline/error/1"}\n' \
      "$2" "$(rocm_json_text "$6")" "$(rocm_json_text "$4")" "$(rocm_json_text "$5")" "$3"
  fi
  {
    printf 'error: %s\n' "$4"
    [ -z "$5" ] || printf 'reason: %s\n' "$5"
    [ -z "$6" ] || printf 'help: %s\n' "$6"
  } >&2
  exit "$1"
}

# Called by the trap on exit.
rocm_clean_up() {
  if [ -n "$rocm_stable" ]; then
    # What was begun stays: after an install the receipt is there, and the program with it.
    if [ ! -e "$rocm_place/receipt.json" ]; then
      rm -f "$rocm_place/rocm-offline-install" "$rocm_place/rocm-offline-install.$$"
      rmdir "$rocm_place" "$rocm_state" 2>/dev/null
    fi
  elif [ -n "$rocm_place" ]; then
    rm -rf "$rocm_place"
  fi
  rocm_place=
}

rocm_forward() {
  rocm_signalled=yes
  if [ -n "$rocm_child" ]; then
    kill "-$1" "$rocm_child" 2>/dev/null
  else
    exit 130
  fi
}

# Size in bytes of a file, links followed, in rocm_number; empty for what is no regular file.
rocm_size_of() {
  rocm_number=
  [ -f "$1" ] || return 0
  # shellcheck disable=SC2012 # one named file; wc would read gigabytes in some implementations
  rocm_number=$(LC_ALL=C ls -Lln "$1" 2>/dev/null | {
    read -r _ _ _ _ rocm_field _
    printf '%s' "$rocm_field"
  })
}

# True when a file starts with this very script, constants included.
rocm_is_this() {
  [ -f "$1" ] || [ -b "$1" ] || return 1
  dd if="$1" bs=4096 count=8 2>/dev/null | tr -d '\000' | grep -q "^rocm_manifest_sha256=$rocm_manifest_sha256\$"
}

# The file that this script is read from, in rocm_bundle.
rocm_find_bundle() {
  # shellcheck disable=SC3028 # empty where the shell does not know it; bash needs it for ". FILE.run"
  for rocm_try in "$0" "${BASH_SOURCE:-}"; do
    case $rocm_try in
      '') continue ;;
      /*) ;;
      *) rocm_try=$PWD/$rocm_try ;;
    esac
    if rocm_is_this "$rocm_try"; then
      rocm_bundle=$rocm_try
      return 0
    fi
  done
  # "sh < FILE.run" and ". FILE.run" in shells that do not tell: the shell has the file open.
  read -r rocm_pid _ </proc/self/stat 2>/dev/null || return 1
  for rocm_try in "/proc/$rocm_pid/fd"/*; do
    [ -f "$rocm_try" ] || [ -b "$rocm_try" ] || continue
    rocm_try=$(readlink "$rocm_try") || continue
    if rocm_is_this "$rocm_try"; then
      rocm_bundle=$rocm_try
      return 0
    fi
  done
  return 1
}

# Writes the program to $1.
rocm_copy_program() {
  if [ -n "$rocm_tree" ]; then
    cat "$rocm_tree/rocm-offline-install" >"$1"
    return
  fi
  rocm_strip_zeros "$rocm_runner_offset"
  rocm_begin=$rocm_number
  rocm_strip_zeros "$rocm_runner_size"
  rocm_blocks=$((rocm_number / 4096))
  rocm_rest=$((rocm_number % 4096))
  {
    dd if="$rocm_bundle" bs=4096 skip=$((rocm_begin / 4096)) count=$rocm_blocks &&
      dd if="$rocm_bundle" bs=1 skip=$((rocm_begin + rocm_blocks * 4096)) count=$rocm_rest
  } >"$1" 2>/dev/null
}

# 6 when the digest of $1 is wrong. Without sha256sum the program checks the whole bundle itself before it uses it.
rocm_check_digest() {
  command -v sha256sum >/dev/null 2>&1 || return 0
  rocm_found=$(sha256sum <"$1") || return 0
  rocm_found=${rocm_found%% *}
  [ "$rocm_found" = "$rocm_runner_sha256" ] && return 0
  rocm_fail 6 bundle_damaged verify "the bundle is damaged: its installer program is not what was written" \
    "SHA-256 of the program is $rocm_found, expected $rocm_runner_sha256" \
    "copy the file again, and compare it with the .sha256 file that was made with it"
}

# Puts the program into folder $1, which is rocm_place, and tries it.
rocm_try_program() {
  rocm_program=$1/rocm-offline-install
  if ! rocm_copy_program "$rocm_program.$$" 2>/dev/null; then
    rocm_refusals="$rocm_refusals $1 (cannot write)"
    rm -f "$rocm_program.$$"
    return 1
  fi
  rocm_check_digest "$rocm_program.$$"
  chmod 0700 "$rocm_program.$$" && mv -f "$rocm_program.$$" "$rocm_program" || return 1
  rocm_answer=$(LC_ALL=C "$rocm_program" --version 2>&1) && return 0
  case $rocm_answer in
    *'not permitted'*) rocm_denied=${rocm_denied:-$rocm_program} ;;
  esac
  rocm_refusals="$rocm_refusals $1 (cannot execute)"
  return 1
}

# A private folder below $1 in rocm_place, 0700.
rocm_private_folder() {
  [ -d "$1" ] || return 1
  if command -v mktemp >/dev/null 2>&1; then
    rocm_place=$(mktemp -d "$1/rocm-offline.XXXXXX" 2>/dev/null) || rocm_place=
  else
    rocm_place=$1/rocm-offline.$$
    mkdir -m 0700 "$rocm_place" 2>/dev/null || rocm_place=
  fi
  [ -n "$rocm_place" ]
}

rocm_try_temporary() {
  [ -n "$1" ] || return 1
  if ! rocm_private_folder "$1"; then
    rocm_refusals="$rocm_refusals $1 (cannot write)"
    return 1
  fi
  rocm_try_program "$rocm_place" && return 0
  rm -rf "$rocm_place"
  rocm_place=
  return 1
}

# For root: a path that stays the same, because fapolicyd trusts programs by path and digest.
rocm_try_stable() {
  [ "$(id -u 2>/dev/null)" = 0 ] || return 1
  rocm_id=$(printf '%.16s' "$rocm_manifest_sha256")
  if ! mkdir -p "$rocm_state/$rocm_id" 2>/dev/null; then
    rocm_refusals="$rocm_refusals $rocm_state (cannot write)"
    return 1
  fi
  rocm_place=$rocm_state/$rocm_id
  rocm_stable=yes
  chmod 0755 "$rocm_state" "$rocm_place" 2>/dev/null
  rocm_try_program "$rocm_place" && return 0
  # A program that a policy denies stays: it is the file that has to be trusted.
  [ "$rocm_denied" = "$rocm_program" ] && rocm_place=
  [ -z "$rocm_place" ] || rocm_clean_up
  rocm_stable=
  return 1
}

rocm_find_place() {
  rocm_try_temporary "$rocm_work_dir" ||
    rocm_try_stable ||
    rocm_try_temporary "${TMPDIR:-}" ||
    rocm_try_temporary /tmp ||
    rocm_try_temporary /var/tmp ||
    rocm_try_temporary "${HOME:-}"
}

# Loops here end by themselves: one that counts on `shift` or `break` runs forever where a changed byte broke that word.
rocm_read_arguments() {
  rocm_before=
  for rocm_argument; do
    case $rocm_before/$rocm_argument in
      */--json) rocm_json=yes ;;
      */--work-dir=*) rocm_work_dir=${rocm_argument#--work-dir=} ;;
      --work-dir/*) rocm_work_dir=$rocm_argument ;;
    esac
    rocm_before=$rocm_argument
  done
}

rocm_check_machine() {
  rocm_system=$(uname -s 2>/dev/null)
  rocm_machine=$(uname -m 2>/dev/null)
  case $rocm_system/$rocm_machine in
    Linux/x86_64 | Linux/amd64) ;;
    *)
      rocm_fail 3 wrong_target check "this machine is no 64-bit x86 Linux" \
        "uname says '$rocm_system' and '$rocm_machine'; ROCm exists for x86_64 Linux only" \
        "run the file on the machine that ROCm is for"
      ;;
  esac
}

rocm_check_bundle() {
  rocm_strip_zeros "$rocm_file_size"
  rocm_expected=$rocm_number
  rocm_size_of "$rocm_bundle"
  # Beside the program and the manifest this is /install.sh of a mounted or extracted image.
  rocm_folder=${rocm_bundle%/*}
  if [ -n "$rocm_number" ] && [ "$rocm_number" -le 32768 ] && [ -f "$rocm_folder/rocm-offline-install" ] &&
    [ -f "$rocm_folder/manifest.json" ]; then
    rocm_tree=${rocm_folder:-/}
    return 0
  fi
  # A block device (a CD, a stick written with dd) has no size here; the program checks it.
  if [ -n "$rocm_number" ] && [ "$rocm_number" -lt "$rocm_expected" ]; then
    rocm_fail 6 bundle_damaged verify "the bundle is incomplete: $rocm_bundle" \
      "it has $rocm_number bytes of $rocm_expected: the copy or download was cut short" \
      "copy the file again; a FAT32 stick cannot hold files of 4 GiB or more"
  fi
}

# In rocm_status. A signal ends wait(1) early; the program still has to put things in order.
rocm_wait() {
  wait "$rocm_child"
  rocm_status=$?
  if [ -n "$rocm_signalled" ] && kill -0 "$rocm_child" 2>/dev/null; then
    rocm_signalled=
    rocm_wait
  fi
}

rocm_run() {
  # A program started with & has neither standard input nor, in some shells, the default SIGINT; the first is given
  # back here, the second the program sets itself.
  "$rocm_program" --bundle "${rocm_tree:-$rocm_bundle}" "$@" <&3 &
  rocm_child=$!
  exec 3<&-
  rocm_wait
  rocm_child=
  return "$rocm_status"
}

rocm_main() {
  # A service, or su without "-", may have no PATH or a useless one: the system's programs are found all the same.
  PATH=${PATH:-}${PATH:+:}/usr/sbin:/usr/bin:/sbin:/bin
  export PATH
  rocm_read_arguments "$@"
  umask 022
  rocm_check_machine
  if ! rocm_find_bundle; then
    rocm_fail 2 file_missing bundle "cannot tell which file this script is read from" \
      "it was not started as a file: the installer program and the packages are in the rest of the file" \
      "save the file and start it by its path: sh ./FILE.run"
  fi
  rocm_check_bundle
  trap rocm_clean_up EXIT
  trap 'rocm_forward INT' INT
  trap 'rocm_forward TERM' TERM
  trap 'rocm_forward HUP' HUP
  if ! rocm_find_place; then
    if [ -n "$rocm_denied" ]; then
      rocm_fail 3 check_failed check "the installer program may not be executed: $rocm_denied" \
        "a security policy of this machine denies it (fapolicyd trusts programs by path and digest); tried:$rocm_refusals" \
        "as root, trust it and start this file again: fapolicyd-cli --file add $rocm_denied && fapolicyd-cli --update"
    fi
    rocm_fail 3 check_failed check "no folder was found where the installer program can be executed" \
      "tried:$rocm_refusals" \
      "name a folder on a file system that is not mounted noexec: --work-dir DIR"
  fi
  # With "sh < FILE.run" standard input is the bundle, which the program must not read from.
  if rocm_is_this /dev/fd/0 2>/dev/null || rocm_is_this /proc/self/fd/0 2>/dev/null; then
    exec 3</dev/null
  elif (exec 3<&0) 2>/dev/null; then
    exec 3<&0
  else
    exec 3</dev/null
  fi
  rocm_run "$@"
  exit "$rocm_status"
}

rocm_main "$@"
exit 1
} # whole

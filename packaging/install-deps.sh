#!/bin/sh
# Installs what building needs (default), what the tests need (--tests) and what bench/run needs (--bench), with the
# distribution's package manager.
# Only what is missing is installed. Needs root; run by ./quickstart.
#   packaging/install-deps.sh [--tests] [--bench] [--print]
# Debian 12 is where this list is tested; the dnf and zypper lists name the same libraries and are not tested yet.
set -eu

tests=false
bench=false
print=false
for argument in "$@"; do
  case "$argument" in
    --tests) tests=true ;;
    --bench) bench=true ;;
    --print) print=true ;;
    *)
      echo "usage: packaging/install-deps.sh [--tests] [--bench] [--print]" >&2
      exit 2
      ;;
  esac
done

apt_build="g++ cmake ninja-build pkg-config libsolv-dev libsolvext-dev libarchive-dev libcurl4-openssl-dev
  libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libgpgmepp-dev libgpgme-dev libssl-dev libexpected-dev libvalijson-dev
  libtomlplusplus-dev liblzma-dev libzstd-dev liblz4-dev libbz2-dev zlib1g-dev gnupg ca-certificates"
apt_tests="catch2 nginx-light gnupg gpgv sqv debootstrap xorriso genisoimage libarchive-tools 7zip fuseiso fuse3
  busybox-static qemu-system-x86 shellcheck dash mksh xz-utils zstd lz4 bzip2 curl openssl iproute2 util-linux tmux"
apt_bench="makeself dpkg-dev xfsprogs nginx-light debootstrap curl gnupg openssl util-linux"

dnf_build="gcc-c++ cmake ninja-build pkgconf-pkg-config libsolv-devel libarchive-devel libcurl-devel spdlog-devel
  fmt-devel cli11-devel json-devel gpgmepp-devel gpgme-devel openssl-devel openssl-static glibc-static libstdc++-static
  expected-devel valijson-devel tomlplusplus-devel gnupg2"
dnf_tests="catch2-devel nginx gnupg2 debootstrap xorriso genisoimage bsdtar 7zip fuseiso busybox qemu-system-x86
  ShellCheck dash mksh xz zstd lz4 bzip2 curl openssl iproute util-linux tmux"

zypper_build="gcc-c++ cmake ninja pkgconf-pkg-config libsolv-devel libarchive-devel libcurl-devel spdlog-devel
  fmt-devel cli11-devel nlohmann_json-devel libgpgmepp-devel gpgme-devel libopenssl-devel glibc-devel-static tl-expected-devel
  valijson-devel tomlplusplus-devel gpg2"
zypper_tests="Catch2-2-devel nginx gpg2 debootstrap xorriso mkisofs bsdtar 7zip fuseiso busybox-static qemu-x86
  ShellCheck dash mksh xz zstd lz4 bzip2 curl openssl iproute2 util-linux tmux"

if command -v apt-get >/dev/null 2>&1; then
  family=apt
  packages=$apt_build
  [ "$tests" = false ] || packages="$packages $apt_tests"
  [ "$bench" = false ] || packages="$packages $apt_bench"
elif command -v dnf >/dev/null 2>&1; then
  family=dnf
  packages=$dnf_build
  [ "$tests" = false ] || packages="$packages $dnf_tests"
elif command -v zypper >/dev/null 2>&1; then
  family=zypper
  packages=$zypper_build
  [ "$tests" = false ] || packages="$packages $zypper_tests"
else
  echo "error: no apt-get, dnf or zypper here" >&2
  echo "help: install the libraries named in packaging/install-deps.sh by hand" >&2
  exit 3
fi

is_installed() {
  case "$family" in
    apt) [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
    *) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
  esac
}

missing=
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
if [ "$print" = true ]; then
  # shellcheck disable=SC2086 # a list of words
  printf '%s\n' $missing
  exit 0
fi
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "error: these packages are missing, and installing them needs root:$missing" >&2
  echo "help: run packaging/install-deps.sh as root once" >&2
  exit 3
fi
echo "installing:$missing" >&2
# shellcheck disable=SC2086 # lists of words
case "$family" in
  apt)
    apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2
    ;;
  dnf) dnf install -y $missing >&2 ;;
  zypper) zypper --non-interactive install --no-recommends $missing >&2 ;;
esac

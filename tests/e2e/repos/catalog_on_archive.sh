#!/bin/sh
# The catalogue against the real archive: apt accepts the archive's signatures with our pinned keys alone, and finds and
# can install every package that release 'distro' names. Needs no root: apt runs in a private folder.
#   catalog_on_archive.sh SOURCE_TREE
set -eu
tree=$1
# shellcheck source=tests/support/shell/roots.sh
. "$tree/tests/support/shell/roots.sh"
command -v apt-get >/dev/null || skip "apt-get is not installed"
main=$(host_mirror "")
security=$(host_mirror -security)
if [ -z "$main" ] || [ -z "$security" ]; then
  skip "apt of this machine names no Debian mirror"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/rocm-offline-catalog.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# Package names of a target in the release's use cases: the strings of the arrays named after it.
packages_of() {
  awk -v opening="\"$1\": [" 'index($0, opening) { inside = 1; next } /\]/ { inside = 0 } inside' \
    "$tree/repos/catalog/releases/distro.json" | tr -d ' ",' | sort -u
}

for pair in debian-12:bookworm debian-13:trixie; do
  target=${pair%%:*}
  suite=${pair#*:}
  apt=$work/$suite
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/etc"
  : >"$apt/state/status"
  keys=$tree/repos/keyrings/debian-archive-$suite
  {
    echo "deb [arch=amd64 signed-by=$keys-automatic.asc] $main $suite main"
    echo "deb [arch=amd64 signed-by=$keys-automatic.asc] $main $suite-updates main"
    echo "deb [arch=amd64 signed-by=$keys-security-automatic.asc] $security $suite-security main"
  } >"$apt/etc/sources.list"
  # A mirror may lag: its age is not what this test is about.
  cat >"$apt/apt.conf" <<CONF
Dir::Etc::Main "/dev/null"; Dir::Etc::Parts "/dev/null";
Dir "$apt"; Dir::Etc "etc"; Dir::State "state"; Dir::State::status "$apt/state/status"; Dir::Cache "cache";
Dir::Log "$apt"; APT::Sandbox::User "root"; APT::Architecture "amd64"; APT::Architectures "amd64"; Acquire::Languages "none";
Acquire::Check-Valid-Until "false"; APT::Get::List-Cleanup "false";
CONF
  APT_CONFIG=$apt/apt.conf apt-get update >"$apt/update.log" 2>&1 || { cat "$apt/update.log" >&2; die "apt-get update"; }
  if grep -E '^(W|E|Err):' "$apt/update.log" >&2; then
    die "apt does not accept $suite with our keys alone"
  fi
  names=$(packages_of "$target")
  [ "$(echo "$names" | wc -l)" -ge 10 ] || die "too few package names were found for $target"
  # shellcheck disable=SC2086 # a list of words
  APT_CONFIG=$apt/apt.conf apt-get -s --no-install-recommends install $names >"$apt/install.log" 2>&1 ||
    { tail -n 20 "$apt/install.log" >&2; die "not every package of $target is installable"; }
  echo "$target: $(echo "$names" | wc -l) names, $(grep -c '^Inst ' "$apt/install.log") packages from an empty root"
done

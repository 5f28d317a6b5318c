#!/bin/sh
# HTTP/2: `create` from an https mirror of nginx on a free loopback port uses it, and gives a whole file.
#   test_http2.sh CREATOR MAKE_DEB_REPOSITORY
set -eu
creator=$1
make_repository=$2
PATH=$PATH:/usr/sbin
for program in nginx openssl; do
  command -v "$program" >/dev/null || { echo "SKIPPED: there is no $program here"; exit 77; }
done
work=$(mktemp -d /tmp/rocm-test-http2-XXXXXX)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir home mirror
repository() { # FOLDER SUITE PACKAGES
  cat >spec.json <<EOF
{"suite": "$2", "release_suite": "$2", "codename": "$2", "packages": [$3]}
EOF
  "$make_repository" "mirror/$1" spec.json >fingerprint
  cat "mirror/$1/key.asc" >>"$1.asc"
}
repository debian trixie '{"name": "hipcc", "version": "1.0", "padding": 300000, "fields": {"Depends": "libhip"}}, {"name": "libhip", "version": "1.0", "padding": 100000}'
repository debian trixie-updates ''
repository security trixie-security ''

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
  -keyout key.pem -out cert.pem 2>openssl.log
attempt=0
while :; do
  port=$((20000 + ($$ * 7 + attempt * 131) % 40000))
  cat >nginx.conf <<EOF
daemon off;
master_process off;
pid $work/nginx.pid;
error_log $work/error.log;
events {}
http {
  log_format protocol '\$server_protocol \$status \$uri';
  access_log $work/access.log protocol;
  client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
  uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
  server {
    listen 127.0.0.1:$port ssl http2;
    ssl_certificate $work/cert.pem;
    ssl_certificate_key $work/key.pem;
    root $work/mirror;
  }
}
EOF
  nginx -e "$work/error.log" -c "$work/nginx.conf" -p "$work" >nginx.out 2>&1 &
  server=$!
  sleep 1
  if kill -0 "$server" 2>/dev/null; then
    break
  fi
  attempt=$((attempt + 1))
  [ "$attempt" -lt 5 ] || { cat nginx.out error.log; echo "nginx does not start"; exit 1; }
done

HOME=$work/home "$creator" create --target debian-13 --release distro --package hipcc \
  --mirror "debian=https://127.0.0.1:$port/debian" --mirror "debian-security=https://127.0.0.1:$port/security" \
  --keyring debian=debian.asc --keyring debian-security=security.asc --cacert cert.pem --proxy '' \
  --cache-dir cache --log-dir logs -o x.run >out 2>err || { cat err error.log; exit 1; }
"$creator" verify x.run >verified 2>&1 || { cat verified; exit 1; }
grep -q '^HTTP/2.0 200 /debian/pool/.*hipcc' access.log || { echo "no HTTP/2:"; cat access.log; exit 1; }
if grep -v '^HTTP/2.0 ' access.log; then
  echo "the lines above are not HTTP/2"
  exit 1
fi
echo "$(grep -c . access.log) requests by HTTP/2"

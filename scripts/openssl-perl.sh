#!/bin/sh
# Stands in for perl where OpenSSL is built into the static binary (OPENSSL_SRC_PERL): a static build passes `-static` to
# OpenSSL's Configure, which then turns threads off, and an OpenSSL without threads crashes in librdkafka's. The flag
# says nothing to a compiler that makes a library.
for word in "$@"; do
  shift
  [ "$word" = -static ] || set -- "$@" "$word"
done
exec perl "$@"

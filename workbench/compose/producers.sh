#!/usr/bin/env bash
# Writes the topics of the provisioned dashboard, a few records a second each, until it is stopped.
# It needs Kafka's command line tools and the address of a broker in BOOTSTRAP.
set -euo pipefail
tools=${KAFKA_BIN:-/opt/kafka/bin}

for topic in sensors orders logs; do
  "$tools/kafka-topics.sh" --bootstrap-server "$BOOTSTRAP" --create --if-not-exists --topic "$topic" --partitions 1
done

records() { # records TOPIC: its records, one a line, without end
  local n=0
  while sleep 0.2; do
    n=$((n + 1))
    awk -v topic="$1" -v n="$n" -v seed="$RANDOM" 'BEGIN {
      srand(seed)
      if (topic == "sensors") {
        printf "{\"temperature\":%.2f,\"humidity\":%.2f,\"ok\":true}\n", 21 + 4 * sin(n / 40) + rand(), 50 + 10 * cos(n / 60) + rand()
      } else if (topic == "orders") {
        printf "{\"id\":%d,\"customer\":{\"name\":\"customer-%d\",\"vip\":%s},\"amount\":%.2f}\n", n, n % 7, n % 7 ? "false" : "true", 5 + 95 * rand()
      } else {
        printf "order %d was packed in %d ms\n", n, 20 + 80 * rand()
      }
    }'
  done
}

for topic in sensors orders logs; do
  records "$topic" | "$tools/kafka-console-producer.sh" --bootstrap-server "$BOOTSTRAP" --topic "$topic" &
done
trap 'kill $(jobs -p)' EXIT
wait

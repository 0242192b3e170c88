package gohost

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// produce writes one record a value to partition 0. The broker makes the topic.
func produce(t testing.TB, topic string, values ...string) {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(need(t, "STREAMSCOPE_KAFKA")),
		kgo.AllowAutoTopicCreation(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, value := range values {
		record := &kgo.Record{Topic: topic, Value: []byte(value)}
		if err := client.ProduceSync(deadline(t), record).FirstErr(); err != nil {
			t.Fatalf("producing to %s: %v", topic, err)
		}
	}
}

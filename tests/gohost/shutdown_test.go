package gohost

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
)

// Grafana waits two seconds for a plugin that does not end, then kills it.
func TestShutdown(t *testing.T) {
	name := topic("shutdown")
	produce(t, name, `{"n":0}`)
	for _, c := range []struct {
		name string
		busy func(h *host)
	}{
		{"idle", func(*host) {}},
		{"after a health check", func(h *host) {
			_, err := h.diagnostics.CheckHealth(deadline(t), &pluginv2.CheckHealthRequest{PluginContext: pluginContext(t, nil)})
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"mid-stream", func(h *host) {
			answer := h.query(t, nil, map[string]any{"topicName": name, "autoOffsetReset": "earliest"})
			packets := h.run(t, liveOf(t, answer.Frames[0]))
			produce(t, name, `{"n":1}`)
			packets.next(t)
		}},
	} {
		var took []time.Duration
		for range 5 {
			h := start(t)
			c.busy(h)
			begin := time.Now()
			h.client.Kill()
			took = append(took, time.Since(begin))
			if text := h.log.text(); strings.Contains(text, "failed to exit gracefully") {
				t.Errorf("%s: killed:\n%s", c.name, text)
			}
			if code := h.command.ProcessState.ExitCode(); code != 0 {
				t.Errorf("%s: exit code %d", c.name, code)
			}
		}
		slices.Sort(took)
		t.Logf("%s: median %v of %v", c.name, took[2], took)
		if took[2] >= 100*time.Millisecond {
			t.Errorf("%s: shutdown takes %v, expected less than 100 ms", c.name, took[2])
		}
	}
}

// go-plugin reads the plugin's standard error as hclog JSON; a line that is not is logged as it stands, without a level.
func TestLogLinesAreHclog(t *testing.T) {
	h := start(t)
	h.query(t, map[string]any{"bootstrapServers": "127.0.0.1:1"}, map[string]any{"topicName": "t"})
	h.client.Kill()
	for line := range strings.Lines(h.log.text()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not JSON: %s", line)
		}
		if message, _ := entry["@message"].(string); strings.HasPrefix(message, "{") {
			t.Errorf("a line that go-plugin could not read: %s", line)
		}
	}
}

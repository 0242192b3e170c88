package gohost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
)

func TestSubscribeRefusesAnotherQueryOnAKnownPath(t *testing.T) {
	h := start(t)
	name := topic("subscribe")
	produce(t, name, `{"a":1}`)
	model := map[string]any{"topicName": name, "autoOffsetReset": "latest"}
	stream := liveOf(t, h.query(t, nil, model).Frames[0])

	var other map[string]any
	if err := json.Unmarshal(stream.Data, &other); err != nil {
		t.Fatal(err)
	}
	other["topicName"] = "another"
	for _, c := range []struct {
		name   string
		path   string
		data   []byte
		status pluginv2.SubscribeStreamResponse_Status
	}{
		{"its own", stream.Path, stream.Data, pluginv2.SubscribeStreamResponse_OK},
		{"another query", stream.Path, encode(t, other), pluginv2.SubscribeStreamResponse_PERMISSION_DENIED},
		{"another path", stream.Path + "x", stream.Data, pluginv2.SubscribeStreamResponse_PERMISSION_DENIED},
		{"no data", stream.Path, nil, pluginv2.SubscribeStreamResponse_PERMISSION_DENIED},
	} {
		answer, err := h.stream.SubscribeStream(deadline(t), &pluginv2.SubscribeStreamRequest{
			PluginContext: pluginContext(t, nil), Path: c.path, Data: c.data,
		})
		if err != nil || answer.Status != c.status {
			t.Errorf("%s: %v %v", c.name, answer, err)
		}
	}
	answer, err := h.stream.PublishStream(deadline(t), &pluginv2.PublishStreamRequest{
		PluginContext: pluginContext(t, nil), Path: stream.Path, Data: []byte(`{}`),
	})
	if err != nil || answer.Status != pluginv2.PublishStreamResponse_PERMISSION_DENIED {
		t.Errorf("publish: %v %v", answer, err)
	}
}

func TestAStreamGoesOnWhereTheAnswerEnded(t *testing.T) {
	h := start(t)
	name := topic("stream")
	produce(t, name, `{"n":0,"s":"a"}`, `{"n":1}`)
	response := h.query(t, nil, map[string]any{"topicName": name, "autoOffsetReset": "earliest"})
	if values := column(t, response.Frames[0], "n"); !slices.Equal(values, []string{"0", "1"}) {
		t.Fatalf("QueryData: %v", values)
	}
	packets := h.run(t, liveOf(t, response.Frames[0]))
	produce(t, name, `{"n":2,"s":"b"}`, `{"n":"text"}`, `broken`, `{"n":5,"x":true}`)

	var offsets, numbers []string
	types := map[string]data.FieldType{}
	for len(offsets) < 4 {
		frame := packets.next(t)
		offsets = append(offsets, column(t, frame, "offset")...)
		if frame.Rows() > 0 {
			numbers = append(numbers, column(t, frame, "n")...)
		}
		for _, field := range frame.Fields {
			if known, ok := types[field.Name]; ok && known != field.Type() {
				t.Errorf("%s was %v and is %v", field.Name, known, field.Type())
			}
			types[field.Name] = field.Type()
		}
		if frame.Name != name || frame.Fields[0].Name != "time" {
			t.Errorf("name %q, first column %q", frame.Name, frame.Fields[0].Name)
		}
	}
	if expected := []string{"2", "3", "4", "5"}; !slices.Equal(offsets, expected) {
		t.Errorf("offsets %v, expected %v", offsets, expected)
	}
	if expected := []string{"2", "null", "null", "5"}; !slices.Equal(numbers, expected) {
		t.Errorf("n %v, expected %v", numbers, expected)
	}
	if _, ok := types["_error"]; !ok {
		t.Errorf("no _error in %v", types)
	}
}

func TestEveryPacketHasTheSchemaAndIsValidJSON(t *testing.T) {
	h := start(t)
	name := topic("packets")
	produce(t, name, `{"n":0}`)
	packets := h.run(t, liveOf(t, h.query(t, nil, map[string]any{"topicName": name, "autoOffsetReset": "earliest"}).Frames[0]))
	for round := range 3 {
		produce(t, name, fmt.Sprintf(`{"n":%d,"text":"line\nbreak \"quoted\" é"}`, round))
		packet := packets.raw(t)
		var parts struct {
			Schema struct{ Fields []struct{ Name, Type string } }
			Data   struct{ Values [][]any }
		}
		if err := json.Unmarshal(packet, &parts); err != nil {
			t.Fatalf("%v: %s", err, packet)
		}
		if len(parts.Schema.Fields) == 0 || len(parts.Schema.Fields) != len(parts.Data.Values) {
			t.Errorf("%d fields, %d columns: %s", len(parts.Schema.Fields), len(parts.Data.Values), packet)
		}
	}
}

// packets are those of one run.
type packets struct {
	stream pluginv2.Stream_RunStreamClient
	cancel context.CancelFunc
}

// run subscribes as Grafana does, and runs the stream.
func (h *host) run(t testing.TB, stream live) packets {
	t.Helper()
	answer, err := h.stream.SubscribeStream(deadline(t), &pluginv2.SubscribeStreamRequest{
		PluginContext: pluginContext(t, nil), Path: stream.Path, Data: stream.Data,
	})
	if err != nil || answer.Status != pluginv2.SubscribeStreamResponse_OK {
		t.Fatalf("SubscribeStream: %v %v", answer, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	running, err := h.stream.RunStream(ctx, &pluginv2.RunStreamRequest{
		PluginContext: pluginContext(t, nil), Path: stream.Path, Data: stream.Data,
	})
	if err != nil {
		t.Fatalf("RunStream: %v", err)
	}
	return packets{running, cancel}
}

func (p packets) raw(t testing.TB) []byte {
	t.Helper()
	packet, err := p.stream.Recv()
	if err != nil {
		t.Fatalf("the stream ended: %v", err)
	}
	return packet.Data
}

func (p packets) next(t testing.TB) *data.Frame {
	t.Helper()
	packet := p.raw(t)
	frame, err := decodePacket(packet)
	if err != nil {
		t.Fatalf("%v: %s", err, packet)
	}
	return frame
}

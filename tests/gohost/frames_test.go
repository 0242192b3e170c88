package gohost

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
)

// live is what a frame of QueryData says about the stream behind it.
type live struct {
	Path string          `json:"path"`
	Data json.RawMessage `json:"data"`
	Key  string          `json:"key"`
}

// query runs one query and decodes its answer, as the SDK does for Grafana.
func (h *host) query(t testing.TB, settings map[string]any, model map[string]any) backend.DataResponse {
	t.Helper()
	request := &pluginv2.QueryDataRequest{
		PluginContext: pluginContext(t, settings),
		Queries: []*pluginv2.DataQuery{{
			RefId:         "A",
			MaxDataPoints: 500,
			IntervalMS:    1000,
			TimeRange:     &pluginv2.TimeRange{FromEpochMS: 0, ToEpochMS: 4_000_000_000_000},
			Json:          encode(t, model),
		}},
	}
	answer, err := h.data.QueryData(deadline(t), request)
	if err != nil {
		t.Fatalf("QueryData: %v", err)
	}
	decoded, err := backend.FromProto().QueryDataResponse(answer)
	if err != nil {
		t.Fatalf("the SDK cannot decode the answer: %v", err)
	}
	response, ok := decoded.Responses["A"]
	if !ok {
		t.Fatalf("no response for A: %v", decoded.Responses)
	}
	return response
}

// liveOf reads meta.custom.live.
func liveOf(t testing.TB, frame *data.Frame) live {
	t.Helper()
	var custom struct {
		Live live `json:"live"`
	}
	if frame.Meta == nil {
		t.Fatal("the frame has no meta")
	}
	if err := json.Unmarshal(encode(t, frame.Meta.Custom), &custom); err != nil {
		t.Fatal(err)
	}
	if custom.Live.Path == "" || len(custom.Live.Data) == 0 || custom.Live.Key == "" {
		t.Fatalf("no live in %v", frame.Meta.Custom)
	}
	return custom.Live
}

// decodePacket decodes a packet as the SDK does. Its reader panics on some frames: that is a failed test, not a dead one.
func decodePacket(packet []byte) (frame *data.Frame, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the SDK's decoder panics: %v", reason)
		}
	}()
	frame = &data.Frame{}
	err = json.Unmarshal(packet, frame)
	return frame, err
}

// column returns a field's values as text, "null" where there is none.
func column(t testing.TB, frame *data.Frame, name string) []string {
	t.Helper()
	field, _ := frame.FieldByName(name)
	if field == nil {
		names := make([]string, 0, len(frame.Fields))
		for _, field := range frame.Fields {
			names = append(names, field.Name)
		}
		t.Fatalf("no column %q in %q", name, names)
	}
	values := make([]string, field.Len())
	for row := range values {
		values[row] = "null"
		if value, ok := field.ConcreteAt(row); ok {
			values[row] = fmt.Sprint(value)
		}
	}
	return values
}

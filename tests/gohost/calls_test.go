package gohost

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
)

func TestHealth(t *testing.T) {
	h := start(t)
	for _, c := range []struct {
		name     string
		settings map[string]any
		status   pluginv2.CheckHealthResponse_HealthStatus
		says     string
	}{
		{"a broker", nil, pluginv2.CheckHealthResponse_OK, ""},
		{"nothing listens", map[string]any{"bootstrapServers": "127.0.0.1:1"}, pluginv2.CheckHealthResponse_ERROR, "127.0.0.1:1"},
		{"no address", map[string]any{"bootstrapServers": ""}, pluginv2.CheckHealthResponse_ERROR, "bootstrap"},
	} {
		answer, err := h.diagnostics.CheckHealth(deadline(t), &pluginv2.CheckHealthRequest{
			PluginContext: pluginContext(t, c.settings),
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if answer.Status != c.status || !strings.Contains(strings.ToLower(answer.Message), c.says) {
			t.Errorf("%s: %v %q", c.name, answer.Status, answer.Message)
		}
	}
}

func TestResources(t *testing.T) {
	h := start(t)
	name := topic("resources")
	produce(t, name, `{"a":1}`)
	for _, c := range []struct {
		path, params string
		status       int32
		body         string
	}{
		{"topics", "search=" + name + "&limit=1", 200, `{"topics":["` + name + `"],"prefix":"` + name + `","limit":1}`},
		{"partitions", "topic=" + name, 200, `{"partitions":[0],"topic":"` + name + `"}`},
		{"partitions", "topic=" + name + "-missing", 404, ""},
		{"partitions", "", 400, ""},
		{"nothing", "", 404, ""},
	} {
		status, body := h.get(t, c.path, c.params)
		if status != c.status {
			t.Errorf("%s?%s: status %d, expected %d: %s", c.path, c.params, status, c.status, body)
		}
		if c.status != 200 {
			var failure struct{ Error string }
			if json.Unmarshal(body, &failure) != nil || failure.Error == "" {
				t.Errorf("%s?%s: no error in %s", c.path, c.params, body)
			}
		} else if !sameJSON(body, []byte(c.body)) {
			t.Errorf("%s?%s: %s, expected %s", c.path, c.params, body, c.body)
		}
	}
}

func (h *host) get(t testing.TB, path, params string) (int32, []byte) {
	t.Helper()
	request := &pluginv2.CallResourceRequest{
		PluginContext: pluginContext(t, nil),
		Path:          path,
		Method:        "GET",
		Url:           (&url.URL{Path: path, RawQuery: params}).String(),
	}
	answers, err := h.resource.CallResource(deadline(t), request)
	if err != nil {
		t.Fatal(err)
	}
	first, err := answers.Recv()
	if err != nil {
		t.Fatal(err)
	}
	body := first.Body
	for {
		next, err := answers.Recv()
		if err == io.EOF {
			return first.Code, body
		}
		if err != nil {
			t.Fatal(err)
		}
		body = append(body, next.Body...)
	}
}

func sameJSON(a, b []byte) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	l, _ := json.Marshal(left)
	r, _ := json.Marshal(right)
	return string(l) == string(r)
}

func TestQueryDataAsArrow(t *testing.T) {
	h := start(t)
	name := topic("arrow")
	produce(t, name, `{"f":1.5,"s":"x","b":true}`, `{"f":2,"n":{"deep":"y"}}`, `not json`, `{"f":null,"s":"z"}`)
	response := h.query(t, nil, map[string]any{"topicName": name, "autoOffsetReset": "earliest", "messageFormat": "json"})
	if response.Error != nil || len(response.Frames) != 1 {
		t.Fatalf("%v, %d frames", response.Error, len(response.Frames))
	}
	frame := response.Frames[0]
	if frame.Name != name || frame.RefID != "A" {
		t.Errorf("name %q, refId %q", frame.Name, frame.RefID)
	}
	for _, c := range []struct {
		name   string
		kind   data.FieldType
		values []string
	}{
		{"partition", data.FieldTypeNullableInt32, []string{"0", "0", "0", "0"}},
		{"offset", data.FieldTypeNullableInt64, []string{"0", "1", "2", "3"}},
		{"b", data.FieldTypeNullableBool, []string{"true", "null", "null", "null"}},
		{"f", data.FieldTypeNullableFloat64, []string{"1.5", "2", "null", "null"}},
		{"n.deep", data.FieldTypeNullableString, []string{"null", "y", "null", "null"}},
		{"s", data.FieldTypeNullableString, []string{"x", "null", "null", "z"}},
	} {
		field, _ := frame.FieldByName(c.name)
		if field == nil || field.Type().NullableType() != c.kind {
			t.Errorf("%s: %v, expected %v", c.name, field, c.kind)
			continue
		}
		if values := column(t, frame, c.name); !slices.Equal(values, c.values) {
			t.Errorf("%s: %v, expected %v", c.name, values, c.values)
		}
	}
	if first, last := frame.Fields[0], frame.Fields[len(frame.Fields)-1]; first.Name != "time" || last.Name != "_error" {
		t.Errorf("first %q, last %q", first.Name, last.Name)
	}
	if kind := frame.Fields[0].Type().NullableType(); kind != data.FieldTypeNullableTime {
		t.Errorf("time is %v", kind)
	}
	if text := column(t, frame, "_error"); text[2] == "null" || text[0] != "null" {
		t.Errorf("_error: %v", text)
	}
	liveOf(t, frame)
}

func TestQueryDataSaysWhatIsWrong(t *testing.T) {
	h := start(t)
	for _, c := range []struct {
		name     string
		settings map[string]any
		model    map[string]any
		says     string
		live     bool
	}{
		{"no such topic", nil, map[string]any{"topicName": topic("missing")}, "topic", false},
		{"no topic", nil, map[string]any{"topicName": ""}, "topic", false},
		{"no broker", map[string]any{"bootstrapServers": "127.0.0.1:1"}, map[string]any{"topicName": "t"}, "127.0.0.1:1", true},
	} {
		response := h.query(t, c.settings, c.model)
		if response.Error == nil || !strings.Contains(response.Error.Error(), c.says) {
			t.Errorf("%s: error %v", c.name, response.Error)
			continue
		}
		if c.live {
			if response.ErrorSource != backend.ErrorSourceDownstream {
				t.Errorf("%s: error source %q", c.name, response.ErrorSource)
			}
			if len(response.Frames) != 1 {
				t.Errorf("%s: %d frames, expected one with live", c.name, len(response.Frames))
				continue
			}
			liveOf(t, response.Frames[0])
		}
	}
}

// Package gohost holds the built plugin against Grafana's own libraries: hashicorp/go-plugin starts it, the plugin SDK
// calls it and decodes its frames. Nothing here knows how the plugin is made.
//
// GPX_STREAMSCOPE is the path of the plugin's executable, STREAMSCOPE_KAFKA the address of a broker:
// `make test-gohost` gives both.
package gohost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/grpcplugin"
	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
)

const patience = 20 * time.Second

// host is one plugin process and the clients of its services.
type host struct {
	client      *plugin.Client
	command     *exec.Cmd
	log         *log
	data        grpcplugin.DataClient
	diagnostics grpcplugin.DiagnosticsClient
	resource    grpcplugin.ResourceClient
	stream      grpcplugin.StreamClient
}

// log is what the host logs, the plugin's own lines in it, a JSON object a line.
type log struct {
	lock  sync.Mutex
	lines bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.lines.Write(line)
}

func (l *log) text() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.lines.String()
}

// need reads a variable that a test cannot do without: without it the test fails, it is not skipped.
func need(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run `make test-gohost`", name)
	}
	return value
}

// start starts the plugin as Grafana does; the end of the test ends it.
func start(t testing.TB) *host {
	t.Helper()
	h := &host{command: exec.Command(need(t, "GPX_STREAMSCOPE")), log: &log{}}
	h.client = plugin.NewClient(&plugin.ClientConfig{
		Cmd: h.command,
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  grpcplugin.ProtocolVersion,
			MagicCookieKey:   grpcplugin.MagicCookieKey,
			MagicCookieValue: grpcplugin.MagicCookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{grpcplugin.ProtocolVersion: {
			"data":        &grpcplugin.DataGRPCPlugin{},
			"diagnostics": &grpcplugin.DiagnosticsGRPCPlugin{},
			"resource":    &grpcplugin.ResourceGRPCPlugin{},
			"stream":      &grpcplugin.StreamGRPCPlugin{},
		}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: h.log, JSONFormat: true}),
	})
	t.Cleanup(h.client.Kill)
	protocol, err := h.client.Client()
	if err != nil {
		t.Fatalf("the plugin does not start: %v\n%s", err, h.log.text())
	}
	h.data = dispense[grpcplugin.DataClient](t, protocol, "data")
	h.diagnostics = dispense[grpcplugin.DiagnosticsClient](t, protocol, "diagnostics")
	h.resource = dispense[grpcplugin.ResourceClient](t, protocol, "resource")
	h.stream = dispense[grpcplugin.StreamClient](t, protocol, "stream")
	return h
}

func dispense[C any](t testing.TB, protocol plugin.ClientProtocol, name string) C {
	t.Helper()
	raw, err := protocol.Dispense(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return raw.(C)
}

// pluginContext is that of a viewer with a data source on the broker, `settings` on top.
func pluginContext(t testing.TB, settings map[string]any) *pluginv2.PluginContext {
	t.Helper()
	all := map[string]any{"bootstrapServers": need(t, "STREAMSCOPE_KAFKA")}
	for key, value := range settings {
		all[key] = value
	}
	return backend.ToProto().PluginContext(backend.PluginContext{
		OrgID:    1,
		PluginID: "streamscope-kafka-datasource",
		User:     &backend.User{Login: "viewer", Role: "Viewer"},
		DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{
			ID: 1, UID: "gohost", Name: "Kafka", Type: "streamscope-kafka-datasource",
			JSONData: encode(t, all), Updated: time.UnixMilli(1_700_000_000_000),
		},
	})
}

func encode(t testing.TB, value any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// topic names a topic that no other run has.
func topic(name string) string {
	return fmt.Sprintf("gohost-%s-%d", name, time.Now().UnixNano())
}

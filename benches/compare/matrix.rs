//! Every fixture and sink: what the core does, how many times faster than the plain twin that is, and than the Go plugin.

use std::process::ExitCode;

use statrs::statistics::Statistics;

use crate::runs::{Effort, Run, SINKS, Side, median};

/// The least times the twin, from a record's bytes to a finished packet, by fixture.
const LEAST: [(&str, f64); 10] = [
    ("plaintext", 4.0),
    ("lineprotocol", 12.0),
    ("avro", 7.0),
    ("avro_30fields", 11.0),
    ("protobuf", 6.0),
    ("protobuf_30fields", 8.0),
    ("json_20fields", 12.0),
    ("json_100fields", 14.0),
    ("json_nested", 5.0),
    ("json_shuffled", 3.0),
];

/// The Go plugin (hoptical/grafana-kafka-datasource 1.7.1), measured in November 2026 on an x86-64 machine with two cores, its
/// logging muted: nanoseconds a record to a finished packet, by its own benchmark, whose JSON is parsed already, and from bytes.
const GO_PLUGIN: [(&str, f64, f64); 6] = [
    ("plaintext", 3_300.0, 4_070.0),
    ("lineprotocol", 91_500.0, 93_600.0),
    ("avro", 7_200.0, 8_510.0),
    ("protobuf", 7_070.0, 8_100.0),
    ("json_20fields", 17_100.0, 26_900.0),
    ("json_100fields", 76_200.0, 111_000.0),
];

/// Prints the matrix; `parse` is the program that reads JSON into nothing.
pub(crate) fn print(sample: &str, parse: &str, effort: &Effort) {
    println!(
        "| fixture | sink | ns a record | msg/s | in MB/s | packets/s | out MB/s | allocations a record | bytes allocated | twin ns | times the twin | at least |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut packets = Vec::new();
    for fixture in fixtures(sample, effort) {
        for sink in SINKS {
            let (core, twin, parse) = if sink != "noop" && fixture.starts_with("json") {
                let (core, twin) = (Side::core(sample), Side::twin(sample));
                let sides = [&core, &twin, &Side::core(parse)];
                let [core, twin, parse] = effort.alternate(sides, &fixture, sink);
                (core, twin, Some(median(&parse, nanoseconds)))
            } else {
                let [core, twin] = measure(sample, effort, &fixture, sink);
                (core, twin, None)
            };
            let of = |what: fn(&Run) -> f64| median(&core, what);
            let (ns, twin_ns) = (median(&core, nanoseconds), median(&twin, nanoseconds));
            let least = match sink {
                "noop" => String::new(),
                _ => least(&fixture).to_string(),
            };
            println!(
                "| {fixture} | {sink} | {ns:.0} | {:.0} | {:.1} | {:.0} | {:.1} | {:.2} | {:.0} | {twin_ns:.0} | {:.1} | {least} |",
                of(|run| run.records),
                of(|run| run.read),
                of(|run| run.packets),
                of(|run| run.out),
                of(|run| run.allocations),
                of(|run| run.allocated),
                twin_ns / ns,
            );
            if sink != "noop" {
                let fixture = fixture.clone();
                packets.push(Packets { fixture, ns, parse });
            }
        }
    }
    if packets.iter().any(|of| of.parse.is_some()) {
        print_parsed(&packets);
    }
    if packets.iter().any(|of| of.go_plugin().is_some()) {
        print_go_plugin(&packets);
    }
}

/// Is what a fixture's records take on their way to finished packets: nanoseconds each.
struct Packets {
    fixture: String,
    ns: f64,
    /// What reading them takes where nothing is kept, if they are JSON.
    parse: Option<f64>,
}

impl Packets {
    /// Gives what is left without reading: a difference of two measurements.
    fn parsed(&self) -> Option<f64> {
        self.parse.map(|parse| self.ns - parse)
    }

    /// Gives the Go plugin's two figures.
    fn go_plugin(&self) -> Option<[f64; 2]> {
        let mut known = GO_PLUGIN.iter();
        let (_, own, bytes) = known.find(|(name, ..)| *name == self.fixture)?;
        Some([*own, *bytes])
    }
}

/// Prints how much of JSON's way to a packet is reading it.
fn print_parsed(packets: &[Packets]) {
    println!("\n| fixture | ns a record | parsing alone | after parsing, the difference |");
    println!("|---|--:|--:|--:|");
    for of in packets {
        if let (Some(parse), Some(parsed)) = (of.parse, of.parsed()) {
            println!(
                "| {} | {:.0} | {parse:.0} | {parsed:.0} |",
                of.fixture, of.ns
            );
        }
    }
}

/// Prints the Go plugin's figures beside ours.
fn print_go_plugin(packets: &[Packets]) {
    println!(
        "\n| fixture | ns a record | the Go plugin from bytes | times | after parsing | its own benchmark | times | times from bytes |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut times = [const { Vec::new() }; 3];
    for of in packets {
        let Some([own, bytes]) = of.go_plugin() else {
            continue;
        };
        // What is no JSON, its own benchmark reads from bytes, as all of ours do.
        let parsed = of.parsed().unwrap_or(of.ns);
        let row = [bytes / of.ns, own / parsed, own / of.ns];
        println!(
            "| {} | {:.0} | {bytes:.0} | {:.0} | {parsed:.0} | {own:.0} | {:.0} | {:.0} |",
            of.fixture, of.ns, row[0], row[1], row[2]
        );
        for (times, of) in times.iter_mut().zip(row) {
            times.push(of);
        }
    }
    let [bytes, parsed, own] = times.map(Statistics::geometric_mean);
    println!("| geometric mean | | | {bytes:.0} | | | {parsed:.0} | {own:.0} |");
}

/// Fails where the core is less times the twin than it has to be, each at its best, which other work on the machine changes least.
pub(crate) fn check(sample: &str, effort: &Effort) -> ExitCode {
    let mut slow = Vec::new();
    for fixture in fixtures(sample, effort) {
        let [core, twin] = measure(sample, effort, &fixture, "sendframe_json")
            .map(|runs| runs.iter().map(nanoseconds).fold(f64::INFINITY, f64::min));
        let (times, least) = (twin / core, least(&fixture));
        println!("{fixture:18} {times:5.1} times the twin, at least {least}");
        if times < least {
            slow.push(fixture);
        }
    }
    if slow.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{}: slower beside the plain twin than it has to be; `make profile CASE={}` shows where the time goes",
        slow.join(", "),
        slow[0]
    );
    ExitCode::FAILURE
}

fn fixtures(sample: &str, effort: &Effort) -> Vec<String> {
    let mut names = Side::core(sample).names();
    names.retain(|name| effort.covers(name));
    names
}

fn measure(sample: &str, effort: &Effort, fixture: &str, sink: &str) -> [Vec<Run>; 2] {
    effort.alternate([&Side::core(sample), &Side::twin(sample)], fixture, sink)
}

fn nanoseconds(run: &Run) -> f64 {
    1e9 / run.records
}

fn least(fixture: &str) -> f64 {
    let known = LEAST.iter().find(|(name, _)| *name == fixture);
    known.expect("each fixture has to be some times the twin").1
}

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

/// Prints the matrix.
pub(crate) fn print(sample: &str, effort: &Effort) {
    println!(
        "| fixture | sink | ns a record | msg/s | in MB/s | packets/s | out MB/s | allocations a record | bytes allocated | twin ns | times the twin | at least |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut packets = Vec::new();
    for fixture in fixtures(sample, effort) {
        for sink in SINKS {
            let [core, twin] = measure(sample, effort, &fixture, sink);
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
                packets.push((fixture.clone(), ns));
            }
        }
    }
    print_go_plugin(&packets);
}

/// Prints the Go plugin's figures beside nanoseconds a record to a finished packet.
fn print_go_plugin(packets: &[(String, f64)]) {
    let both: Vec<_> = packets
        .iter()
        .filter_map(|(fixture, ns)| {
            let (_, own, bytes) = *GO_PLUGIN.iter().find(|(name, ..)| name == fixture)?;
            Some((fixture, *ns, own, bytes))
        })
        .collect();
    println!(
        "\n| fixture | ns a record | the Go plugin's own benchmark | times | from bytes | times |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (fixture, ns, own, bytes) in &both {
        let times = [own / ns, bytes / ns];
        println!(
            "| {fixture} | {ns:.0} | {own:.0} | {:.0} | {bytes:.0} | {:.0} |",
            times[0], times[1]
        );
    }
    let own = both.iter().map(|(_, ns, own, _)| own / ns);
    let bytes = both.iter().map(|(_, ns, _, bytes)| bytes / ns);
    println!(
        "| geometric mean | | | {:.0} | | {:.0} |",
        own.geometric_mean(),
        bytes.geometric_mean()
    );
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

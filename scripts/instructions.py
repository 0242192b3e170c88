#!/usr/bin/env python3
"""Instructions a record, from bytes to finished packet, by callgrind.

instructions.py [FIXTURE…]           prints a table of the core and its plain twin
instructions.py --check [FIXTURE…]   fails where the core takes over 5% more than benches/instructions.json says
instructions.py --record [FIXTURE…]  writes down what the core takes now

Each program runs over N and over 2N records, so that what its start costs falls out. What a record takes depends on the compiler,
on the C library and on the processor's features, by which libraries choose their code (valgrind shows them its own processor): each
such machine has its own figures, and an unknown one records them and says so.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "benches/instructions.json"
MOST = 1.05
RECORDS = {"core": 6400, "twin": 640}


def text(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def build():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    cargo = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "benches", "--bin", "instructions"]
    subprocess.run(cargo, check=True, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return target / "release/instructions"


def machine(run):
    features = text("valgrind", "-q", "--tool=none", run, "features")
    rustc = " ".join(text("rustc", "-V").split()[:2])
    return ", ".join([features, rustc, " ".join(platform.libc_ver()), text("valgrind", "--version")])


def collected(run, who, fixture, records):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", run, who, fixture, str(records)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(said.rsplit("Collected : ", 1)[1].split()[0])


def instructions(run, who, fixture):
    records = RECORDS[who]
    return (collected(run, who, fixture, 2 * records) - collected(run, who, fixture, records)) // records


def table(run, fixtures):
    print(f"{'fixture':16} {'core':>10} {'twin':>10}")
    for fixture in fixtures:
        core, twin = (instructions(run, who, fixture) for who in RECORDS)
        print(f"{fixture:16} {core:10} {twin:10}", flush=True)


def write(baseline):
    BASELINE.write_text(json.dumps(baseline, indent=2, sort_keys=True) + "\n")


def check(run, fixtures, record):
    baseline = json.loads(BASELINE.read_text())
    here = machine(run)
    known = baseline.setdefault(here, {})
    if not known and not record:
        print(f"no figures yet for this machine ({here}): they are recorded in {BASELINE.relative_to(ROOT)}, and nothing is compared")
    slower = []
    for fixture in fixtures:
        now, before = instructions(run, "core", fixture), known.get(fixture)
        print(f"{fixture:16} {now:10} {'new' if before is None else f'{100 * now / before - 100:+.1f}%'}", flush=True)
        if before is None or record:
            known[fixture] = now
        elif now > before * MOST:
            slower.append(fixture)
    write(baseline)
    if slower:
        sys.exit(
            f"{', '.join(slower)}: over {MOST - 1:.0%} more instructions a record than {BASELINE.relative_to(ROOT)} says. "
            "If that is on purpose, `make bench-instructions RECORD=1` writes the new figures, and the commit says why"
        )


def main():
    options = {"--check", "--record"} & set(sys.argv[1:])
    run = build()
    fixtures = [name for name in sys.argv[1:] if name not in options] or text(run, "list").split()
    if options:
        check(run, fixtures, "--record" in options)
    else:
        table(run, fixtures)


main()

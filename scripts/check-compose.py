#!/usr/bin/env python3
"""Checks docker-compose.yml and what it provisions against this repository: every path, port and name in them is true."""
import json
import pathlib
import re
import subprocess
import sys

import yaml

root = pathlib.Path(__file__).resolve().parent.parent
compose = yaml.safe_load((root / 'docker-compose.yml').read_text())
plugin = json.loads((root / 'plugin.json').read_text())['id']
faults = []


def check(holds, fault):
    if not holds:
        faults.append(fault)


services = compose['services']
for name, service in services.items():
    check(re.fullmatch(r'[\w./-]+:[\w.-]+', service['image']), f'{name}: the image has no version')
    for other in service.get('depends_on', {}):
        check(other in services, f'{name}: depends on {other}, which is no service')
    for volume in service.get('volumes', []):
        source = volume.split(':')[0]
        made = source in ('./dist', './.compose/workbench')  # by `make compose`
        check(made or (root / source).exists(), f'{name}: {source} is not here')

grafana = services['grafana']
check(plugin in grafana['environment']['GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS'], 'Grafana does not allow the plugin')
check(any(v.split(':')[1].endswith(f'/plugins/{plugin}') for v in grafana['volumes']), 'dist/ is not mounted as the plugin')

listeners = services['kafka']['environment']['KAFKA_ADVERTISED_LISTENERS']
inside = re.search(r'INTERNAL://([^,]+)', listeners)[1]
producers = services['producers']['command']
option = lambda name: producers[producers.index(name) + 1]
check(option('--kafka') == inside, 'the producers write to another broker')
check(re.match(r'http://([^:/]+)', option('--registry'))[1] in services, 'the producers register in another registry')

sources = {}
for file in (root / 'provisioning/datasources').glob('*.yaml'):
    for source in yaml.safe_load(file.read_text())['datasources']:
        sources[source['uid']] = source
        check(source['type'] == plugin, f'{file.name}: type {source["type"]} is not {plugin}')
        check(source['jsonData']['bootstrapServers'] == inside, f'{file.name}: bootstrapServers is not {inside}')
        check(source['jsonData']['schemaRegistryUrl'] == option('--registry'), f'{file.name}: the schema registry is not the producers\'')

feeds = {}
for file in (root / 'workbench/src/producers').glob('*.rs'):
    for topic in re.findall(r'topic: "(\w+)"', file.read_text()):
        feeds[topic] = file.read_text()
formats = set()
for file in (root / 'provisioning/dashboards').glob('*.yaml'):
    for provider in yaml.safe_load(file.read_text())['providers']:
        path = provider['options']['path'].replace('/etc/grafana/provisioning', str(root / 'provisioning'))
        dashboards = list(pathlib.Path(path).glob('*.json'))
        check(dashboards, f'{file.name}: no dashboard in {provider["options"]["path"]}')
        for dashboard in dashboards:
            for panel in json.loads(dashboard.read_text())['panels']:
                for target in panel['targets']:
                    check(target['datasource']['uid'] in sources, f'{dashboard.name}: {panel["title"]} asks an unknown data source')
                    topic = target['topicName']
                    check(topic in feeds, f'{dashboard.name}: nobody writes {topic}')
                    formats |= {target['messageFormat'], 'key: ' + target['keyFormat']}
                    schema = target.get('avroSchema', '')
                    check(schema in feeds.get(topic, ''), f'{dashboard.name}: the schema of {topic} is not the one that is written')
shown = {'json', 'plaintext', 'avro', 'protobuf', 'lineprotocol', 'key: avro'}
check(formats >= shown, f'no panel shows {shown - formats}')

if subprocess.run(['docker', 'compose', 'version'], capture_output=True).returncode == 0:
    check(subprocess.run(['docker', 'compose', '-f', root / 'docker-compose.yml', 'config', '-q']).returncode == 0, 'docker compose refuses the file')

for fault in faults:
    print('compose:', fault, file=sys.stderr)
sys.exit(bool(faults))

"""Avro, by Confluent's serializer and by fastavro."""
import datetime as dt
import decimal
import io
import json
import uuid

import fastavro
from common import main, register, registry
from confluent_kafka.schema_registry import Schema, SchemaReference, record_subject_name_strategy
from confluent_kafka.schema_registry import topic_record_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer


def record(name, *fields, **more):
    return {'type': 'record', 'name': name, 'fields': [{'name': field, 'type': kind} for field, kind in fields], **more}


def serializer(schema, **conf):
    return AvroSerializer(registry, json.dumps(schema), conf=conf or None)


def raw(schema, value):
    """The body alone, as fastavro writes it."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), value)
    return body.getvalue()


def evolved(topic):
    """Two versions of a schema, their records in turns: a producer was updated, another was not."""
    old = serializer(record('Reading', ('a', 'int')))
    new = serializer(record('Reading', ('b', 'string'), ('a', 'int')))
    for n in range(4):
        value = {'a': n} if n % 2 == 0 else {'a': n, 'b': f'b{n}'}
        topic.write((old if n % 2 == 0 else new)(value, topic.as_value()))


def references(topic):
    """A schema that names a type of another subject, which names one of a third."""
    point = register(f'{topic.name}-point', json.dumps(record('Point', ('x', 'double'), ('y', 'double'), namespace='acme.geo')), 'AVRO')
    place = record('Place', ('name', 'string'), ('at', 'acme.geo.Point'), namespace='acme')
    place = register(f'{topic.name}-place', json.dumps(place), 'AVRO', [('acme.geo.Point', *point)])
    trip = record('Trip', ('start', 'Place'), ('stop', ['null', 'Place']), namespace='acme')
    named = [SchemaReference('acme.Place', *place), SchemaReference('acme.geo.Point', *point)]
    write = AvroSerializer(registry, Schema(json.dumps(trip), 'AVRO', named))
    home = {'name': 'home', 'at': {'x': 1.5, 'y': -2.0}}
    for stop in (None, {'name': 'sea', 'at': {'x': 0.25, 'y': 8.0}}):
        topic.write(write({'start': home, 'stop': stop}, topic.as_value()))


LOGICAL = record(
    'Logical',
    ('price', {'type': 'bytes', 'logicalType': 'decimal', 'precision': 10, 'scale': 2}),
    ('rate', {'type': 'fixed', 'name': 'Rate', 'size': 6, 'logicalType': 'decimal', 'precision': 12, 'scale': 4}),
    ('id', {'type': 'string', 'logicalType': 'uuid'}),
    ('day', {'type': 'int', 'logicalType': 'date'}),
    ('clock_ms', {'type': 'int', 'logicalType': 'time-millis'}),
    ('clock_us', {'type': 'long', 'logicalType': 'time-micros'}),
    ('at_ms', {'type': 'long', 'logicalType': 'timestamp-millis'}),
    ('at_us', {'type': 'long', 'logicalType': 'timestamp-micros'}),
    ('wall_ms', {'type': 'long', 'logicalType': 'local-timestamp-millis'}),
    ('wall_us', {'type': 'long', 'logicalType': 'local-timestamp-micros'}),
    ('maybe', ['null', {'type': 'long', 'logicalType': 'timestamp-millis'}]),
)


def logical_values():
    utc, moment = dt.timezone.utc, dt.datetime(2026, 3, 29, 1, 30, 15, 123456)
    common = {'id': uuid.UUID('6f9619ff-8b86-d011-b42d-00cf4fc964ff')}
    yield common | {
        'price': decimal.Decimal('-123.45'),
        'rate': decimal.Decimal('0.0001'),
        'day': dt.date(2026, 3, 29),
        'clock_ms': dt.time(23, 59, 59, 999000),
        'clock_us': dt.time(1, 2, 3, 4),
        'at_ms': moment.replace(tzinfo=utc),
        'at_us': moment.replace(tzinfo=utc),
        'wall_ms': moment,
        'wall_us': moment,
        'maybe': None,
    }
    before = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    yield common | {
        'price': decimal.Decimal('99999999.99'),
        'rate': decimal.Decimal('-99999999.9999'),
        'day': dt.date(1969, 12, 31),
        'clock_ms': dt.time(),
        'clock_us': dt.time(),
        'at_ms': before.replace(microsecond=999000, tzinfo=utc),
        'at_us': before.replace(tzinfo=utc),
        'wall_ms': before.replace(microsecond=999000),
        'wall_us': before,
        'maybe': moment.replace(tzinfo=utc),
    }


def logical(topic):
    """Logical types, framed."""
    write = serializer(LOGICAL)
    for value in logical_values():
        topic.write(write(value, topic.as_value()))


def logical_raw(topic):
    """The same without a frame; prints the schema, which the query has to know."""
    for value in logical_values():
        topic.write(raw(LOGICAL, value))
    print(json.dumps(LOGICAL))


SHAPES = record(
    'Shapes',
    ('on', 'boolean'),
    ('small', 'int'),
    ('large', 'long'),
    ('single', 'float'),
    ('double', 'double'),
    ('blob', 'bytes'),
    ('tag', {'type': 'fixed', 'name': 'Tag', 'size': 3}),
    ('text', 'string'),
    ('suit', {'type': 'enum', 'name': 'Suit', 'symbols': ['HEARTS', 'SPADES']}),
    ('list', {'type': 'array', 'items': 'int'}),
    ('by_name', {'type': 'map', 'values': record('Level', ('n', 'int'))}),
    ('either', ['null', 'string', 'long']),
    ('shape', [record('Circle', ('r', 'double')), record('Square', ('side', 'double'))]),
    namespace='acme',
)


def shapes(topic):
    """Each type of the specification; unions by the branch that was written, not by what the value looks like."""
    write = serializer(SHAPES)
    one = {
        'on': True,
        'small': -2_147_483_648,
        'large': 9_007_199_254_740_991,
        'single': 0.5,
        'double': -1e300,
        'blob': b'\x00\xff',
        'tag': b'abc',
        'text': 'Malmö 🫖',
        'suit': 'SPADES',
        'list': [1, 2, 3],
        'by_name': {'plain': {'n': 1}, 'a.b': {'n': 2}, '': {'n': 3}},
        'either': None,
        'shape': ('acme.Circle', {'r': 1.0}),
    }
    two = one | {'on': False, 'list': [], 'by_name': {}, 'either': 'x', 'shape': ('acme.Square', {'side': 2.0})}
    three = two | {'suit': 'HEARTS', 'either': 5}
    for value in (one, two, three):
        topic.write(write(value, topic.as_value()))


def recursive(topic):
    """A type that holds itself."""
    node = record('Node', ('label', 'string'), ('next', ['null', 'Node']))
    write = serializer(node)
    topic.write(write({'label': 'a', 'next': {'label': 'b', 'next': {'label': 'c', 'next': None}}}, topic.as_value()))


def empty(topic):
    """A record without fields: five bytes, all of them frame."""
    write = serializer(record('Nothing'))
    for _ in range(2):
        topic.write(write({}, topic.as_value()))


def keys(topic):
    """Key and value in Avro, each with a schema of its own."""
    key = serializer(record('Device', ('id', 'long'), ('site', 'string')))
    value = serializer(record('Reading', ('celsius', 'double')))
    for n, site in enumerate(('north', 'south')):
        topic.write(
            value({'celsius': 20.5 + n}, topic.as_value()),
            key=key({'id': n, 'site': site}, topic.as_key()),
        )
    topic.write(None, key=key({'id': 0, 'site': 'north'}, topic.as_key()))


def key_of_json(topic):
    """An Avro key, a JSON value."""
    key = serializer('long')
    for n in (7, -7):
        topic.write(json.dumps({'n': n}).encode(), key=key(n, topic.as_key()))


def strategies(topic):
    """Two kinds of records in one topic, their subjects named after the record, and after topic and record."""
    started = serializer(record('Started', ('at', 'long'), namespace='acme'), **{'subject.name.strategy': record_subject_name_strategy})
    ended = serializer(record('Ended', ('code', 'int'), namespace='acme'), **{'subject.name.strategy': topic_record_subject_name_strategy})
    topic.write(started({'at': 5}, topic.as_value()))
    topic.write(ended({'code': 3}, topic.as_value()))


def raw_of_subjects(topic):
    """Bodies without a frame, their schema registered under the subject of each strategy, `<topic>-explicit` among them."""
    schema = record('Sample', ('v', 'int'), namespace=topic.name.replace('-', '_'))
    full_name = f'{schema["namespace"]}.Sample'
    for subject in (f'{topic.name}-value', full_name, f'{topic.name}-{full_name}', f'{topic.name}-explicit'):
        register(subject, json.dumps(schema), 'AVRO')
    for v in (1, -1):
        topic.write(raw(schema, {'v': v}))
    print(full_name)


def mixed_with_garbage(topic):
    """Good records around one of an id that nobody registered, one cut short, and one that is text."""
    write = serializer(record('Reading', ('a', 'string')))
    good = write({'a': 'first'}, topic.as_value())
    for value in (good, b'\x00\x7f\xff\xff\xff\x02a', good[:7], b'hello', None, write({'a': 'last'}, topic.as_value())):
        topic.write(value)


main(
    evolved, references, logical, logical_raw, shapes, recursive, empty, keys, key_of_json, strategies, raw_of_subjects,
    mixed_with_garbage,
)

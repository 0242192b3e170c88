"""Protobuf, by protoc and Confluent's serializer."""
import base64

from common import main, registry
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from google.protobuf import json_format
from messages import compiled, compiled_text


def serializer(kind):
    return ProtobufSerializer(kind, registry)


def readings(topic):
    """A schema with imports and all well-known types; the second record has nothing, the third zeros, present."""
    acme = compiled('common', 'reading')
    full = json_format.ParseDict({
        'device': 'd1',
        'at': {'lat': 51.5, 'lon': -0.125},
        'measured': '2026-01-01T12:00:00.250Z',
        'took': '1.500s',
        'maybe': 2.5,
        'more': {'list': ['x', None, 1.5]},
        'any': {'@type': 'type.googleapis.com/acme.Other', 'z': 'inside'},
        'state': 'RUNNING',
        'samples': [1, -1, 300],
        'tags': ['a', ''],
        'limits': {'plain': {'high': 1.5}, 'a.b': {}},
        'codes': {'-7': 'minus'},
        'code': 404,
        'checked': False,
        'blob': base64.b64encode(b'\x00\xff').decode(),
        'signed': '-9007199254740991',
        'fixed': '1',
        'single': 0.5,
        'large': '9007199254740991',
    }, acme.Reading())
    zeros = json_format.ParseDict({
        'at': {}, 'measured': '1970-01-01T00:00:00Z', 'took': '0s', 'maybe': 0, 'error': '', 'checked': True,
    }, acme.Reading())
    zeros.state = 7
    write = serializer(acme.Reading)
    for message in (full, acme.Reading(), zeros):
        topic.write(write(message, topic.as_value()))


def indexes(topic):
    """The messages of one file: the second one, a nested one, one nested twice."""
    acme = compiled('common', 'reading')
    for message in (acme.Other(z='second'), acme.Reading.Inner(label='nested'), acme.Reading.Inner.Deep(n=5)):
        topic.write(serializer(type(message))(message, topic.as_value()))


def plain_indexes(frame):
    """Writes a frame's message indexes as clients did before they agreed on signed numbers (zigzag)."""
    at, left, indexes = 5, None, []
    while left != 0:
        indexes.append(frame[at] >> 1)
        left = indexes[0] if left is None else left - 1
        at += 1
    return frame[:5] + bytes(indexes) + frame[at:]


def indexes_of_old_clients(topic):
    """The same with indexes as some clients once wrote them: plain numbers."""
    acme = compiled('common', 'reading')
    for message in (acme.Other(z='second'), acme.Reading.Inner(label='nested'), acme.Reading.Inner.Deep(n=5)):
        topic.write(plain_indexes(serializer(type(message))(message, topic.as_value())))


def legacy(topic):
    """proto2: defaults, packed and loose lists, a group, an enum without a zero."""
    acme = compiled('legacy')
    write = serializer(acme.Order)
    full = acme.Order(id=1, currency='SEK', packed=[1, 2], loose=[3, 4], kind=acme.Order.WHOLESALE)
    full.customer.name = 'Ada'
    for message in (full, acme.Order(id=2)):
        topic.write(write(message, topic.as_value()))


def evolved(topic):
    """Two versions of a message, their records in turns: the new one has another field and a type made wider."""
    old = source_of(topic, 'v1', 'message Sample { int32 a = 1; }')
    new = source_of(topic, 'v2', 'message Sample { int64 a = 1; string b = 2; }')
    for n in range(4):
        kind = old if n % 2 == 0 else new
        message = kind.Sample(a=n) if n % 2 == 0 else kind.Sample(a=n, b='x')
        topic.write(serializer(kind.Sample)(message, topic.as_value()))


def source_of(topic, version, message):
    """Compiles a file that is written here, in a package of its version, so that one process has both."""
    return compiled_text(f'sample_{version}', f'syntax = "proto3"; package acme.{version}; {message}')


def keys(topic):
    """A key in Protobuf, a value in JSON."""
    acme = compiled('key')
    write = serializer(acme.Key)
    for n, site in enumerate(('north', 'south')):
        topic.write(b'{"n":%d}' % n, key=write(acme.Key(id=n, site=site), topic.as_key()))


def bodies(topic):
    """Messages without a frame; prints a descriptor of their file in base64, as protoc writes it."""
    acme = compiled('key')
    for n in range(2):
        topic.write(acme.Key(id=n - 1, site='x').SerializeToString())
    print(base64.b64encode(acme.DESCRIPTOR.serialized_pb).decode())


main(readings, indexes, indexes_of_old_clients, legacy, evolved, keys, bodies)

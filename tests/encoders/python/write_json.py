"""JSON, by Confluent's serializer for JSON Schema: a frame, then the text."""
import json

from common import main, register, registry
from confluent_kafka.schema_registry import Schema, SchemaReference
from confluent_kafka.schema_registry.json_schema import JSONSerializer


def schema(title, properties, **more):
    return {'$schema': 'http://json-schema.org/draft-07/schema#', 'title': title, 'type': 'object', 'properties': properties, **more}


def serializer(of):
    return JSONSerializer(json.dumps(of), registry)


def evolved(topic):
    """Two versions of a schema, their records in turns."""
    old = serializer(schema('Reading', {'a': {'type': 'integer'}}))
    new = serializer(schema('Reading', {'a': {'type': 'integer'}, 'b': {'type': 'string'}}))
    for n in range(3):
        topic.write((old if n % 2 == 0 else new)({'a': n} if n % 2 == 0 else {'a': n, 'b': 'x'}, topic.as_value()))


def references(topic):
    """A schema that refers to one of another subject; keys are framed too."""
    point = {'$id': 'https://acme.example/point.json', **schema('Point', {'x': {'type': 'number'}})}
    named = register(f'{topic.name}-point', json.dumps(point), 'JSON')
    place = schema('Place', {'name': {'type': 'string'}, 'at': {'$ref': 'https://acme.example/point.json'}})
    write = JSONSerializer(Schema(json.dumps(place), 'JSON', [SchemaReference(point['$id'], *named)]), registry)
    key = serializer(schema('Id', {'id': {'type': 'integer'}}))
    for n in range(2):
        topic.write(
            write({'name': f'p{n}', 'at': {'x': n + 0.5}}, topic.as_value()),
            key=key({'id': n}, topic.as_key()),
        )


main(evolved, references)

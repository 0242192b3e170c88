"""Ids in headers, beside a body that begins at once: GUIDs by Confluent's serializers, numbers of 8 bytes by Apicurio's.

Confluent's own registry gives GUIDs, others do not, so they are given here; what each is of is printed, for the registry that the
plugin asks.
"""
import json
import os
import uuid

from apicurio_serdes import ApicurioRegistryClient
from apicurio_serdes import avro as apicurio_avro
from apicurio_serdes import serialization as apicurio_serialization
from common import main
from confluent_kafka.schema_registry import RegisteredSchema, SchemaRegistryClient
from confluent_kafka.schema_registry import header_schema_id_serializer, topic_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from messages import compiled

IN_HEADERS = {'schema.id.serializer': header_schema_id_serializer, 'subject.name.strategy': topic_subject_name_strategy}


class Registry(SchemaRegistryClient):
    """Gives each schema the GUID that its text has, the same one each time."""

    def __init__(self):
        super().__init__({'url': 'http://registry.invalid'})
        self.given = {}

    def register_schema_full_response(self, subject_name, schema, normalize_schemas=False):
        guid = str(uuid.uuid5(uuid.NAMESPACE_OID, schema.schema_str))
        self.given[guid] = {'guid': guid, 'type': schema.schema_type, 'schema': schema.schema_str}
        return RegisteredSchema(schema_id=len(self.given), guid=guid, subject=subject_name, version=1, schema=schema)

    def print(self):
        print(json.dumps(list(self.given.values())))


def avro(topic):
    """Two versions of a value, and keys."""
    registry = Registry()
    field = lambda name, kind: {'name': name, 'type': kind}
    write = [
        AvroSerializer(registry, json.dumps({'type': 'record', 'name': 'Reading', 'fields': fields}), conf=IN_HEADERS)
        for fields in ([field('a', 'int')], [field('b', 'string'), field('a', 'int')])
    ]
    key = AvroSerializer(registry, '"long"', conf=IN_HEADERS)
    for n in range(3):
        headers = []
        written = key(n, topic.as_key(headers))
        value = write[n % 2]({'a': n, 'b': f'b{n}'}, topic.as_value(headers))
        topic.write(value, written, headers)
    registry.print()


def protobuf(topic):
    """The messages of one file: the first one, and one nested twice, whose indexes stand behind the GUID."""
    registry, acme = Registry(), compiled('nested')
    for message in (acme.First(n=5), acme.Second.Inner.Deep(label='deep')):
        headers = []
        write = ProtobufSerializer(type(message), registry, IN_HEADERS)
        topic.write(write(message, topic.as_value(headers)), None, headers)
    registry.print()


def json_schema(topic):
    """A text that stands alone."""
    registry, headers = Registry(), []
    schema = json.dumps({'title': 'Reading', 'type': 'object', 'properties': {'a': {'type': 'integer'}}})
    write = JSONSerializer(schema, registry, conf=IN_HEADERS)
    topic.write(write({'a': 5}, topic.as_value(headers)), None, headers)
    registry.print()


def apicurio(topic):
    """Both kinds of Apicurio's ids in headers, and one before the body; two versions of a schema, registered by its own API."""
    client = ApicurioRegistryClient(os.environ['STREAMSCOPE_APICURIO'], group_id='default')
    context = apicurio_serialization.SerializationContext(topic.name, apicurio_serialization.MessageField.VALUE)
    forms = apicurio_serialization.WireFormat
    field = lambda name, kind: {'name': name, 'type': kind}
    for n, (use_id, form, fields) in enumerate([
        ('globalId', forms.KAFKA_HEADERS, [field('a', 'int')]),
        ('contentId', forms.KAFKA_HEADERS, [field('b', 'string'), field('a', 'int')]),
    ]):
        schema = {'type': 'record', 'name': 'Reading', 'fields': fields}
        write = apicurio_avro.AvroSerializer(
            client, f'{topic.name}-{n}', schema=schema, auto_register=True, use_id=use_id, wire_format=form
        )
        written = write.serialize({'a': n, 'b': f'b{n}'}, context)
        topic.write(written.payload, None, list(written.headers.items()))


main(avro, protobuf, json_schema, apicurio)

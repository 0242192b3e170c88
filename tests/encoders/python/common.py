"""What the scripts share: a topic to write to, the registry, and which case to run."""
import os
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.serialization import MessageField, SerializationContext

registry = SchemaRegistryClient({'url': os.environ['STREAMSCOPE_REGISTRY'], 'timeout': 10})


class Topic:
    """Writes records to partition 0, a second apart, from 1 January 2026 on."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.refused = []
        self.producer = Producer({'bootstrap.servers': os.environ['STREAMSCOPE_KAFKA'], 'enable.idempotence': True})

    def write(self, value, key=None, headers=None):
        self.producer.produce(
            self.name,
            value=value,
            key=key,
            headers=headers,
            partition=0,
            timestamp=1_767_225_600_000 + 1_000 * self.count,
            on_delivery=self._delivered,
        )
        self.count += 1

    def as_value(self, headers=None):
        """The context in which a serializer writes a value of this topic."""
        return SerializationContext(self.name, MessageField.VALUE, headers)

    def as_key(self, headers=None):
        """The context in which a serializer writes a key of this topic."""
        return SerializationContext(self.name, MessageField.KEY, headers)

    def _delivered(self, error, _record):
        if error:
            self.refused.append(str(error))

    def finish(self):
        left = self.producer.flush(60)
        if left or self.refused:
            sys.exit(f'{left} records did not leave; refused: {self.refused}')


def register(subject, text, kind, references=()):
    """Registers a schema as a producer's build would; gives the reference that another schema names it by."""
    named = [SchemaReference(*reference) for reference in references]
    registry.register_schema(subject, Schema(text, kind, named))
    return subject, registry.get_latest_version(subject).version


def main(*cases):
    """Runs the case that the command line names: CASE TOPIC."""
    by_name = {case.__name__: case for case in cases}
    name, topic = sys.argv[1:]
    topic = Topic(topic)
    by_name[name](topic)
    topic.finish()

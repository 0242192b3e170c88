"""Line protocol, by the Influx client."""
import datetime as dt

from common import main
from influxdb_client import Point, WritePrecision


def noon(later=0):
    return dt.datetime(2026, 1, 1, 12, 0, later, 123456, tzinfo=dt.timezone.utc)


def types(topic):
    """Each type of field, a point a record."""
    for n in range(2):
        point = (
            Point('cpu').tag('host', f'web-{n}').field('user', 12.5 + n).field('cores', 8).field('busy', n == 1)
            .field('note', 'all "good", \\ said\nthe kernel').time(noon(n), WritePrecision.NS)
        )
        topic.write(point.to_line_protocol())


def escapes(topic):
    """Names and values with all that has to be escaped."""
    point = Point('my m,x=y').tag('t=g, h', 'a b,c=d').field('f,1 =', 1).field('quoted', 'a b,c=d').time(noon(), WritePrecision.NS)
    topic.write(point.to_line_protocol())


def batch(topic):
    """Several lines a record, of two measurements with fields of their own."""
    points = [
        Point('cpu').tag('host', 'a').field('user', 1.5).field('system', 0.5).time(noon(), WritePrecision.NS),
        Point('cpu').tag('host', 'b').field('user', 2.5).field('system', 1.5).time(noon(), WritePrecision.NS),
        Point('mem').tag('host', 'a').field('free', 1024).time(noon(), WritePrecision.NS),
    ]
    topic.write('\n'.join(point.to_line_protocol() for point in points))


def precisions(topic):
    """The same moment in seconds, milliseconds, microseconds and nanoseconds."""
    for precision in (WritePrecision.S, WritePrecision.MS, WritePrecision.US, WritePrecision.NS):
        topic.write(Point('m').field('v', 1.0).time(noon(), precision).to_line_protocol())


main(types, escapes, batch, precisions)

"""Reads an MCAP file twice, by its index and from front to back, and prints topic, schema and both counts of messages."""

import json
import sys
from collections import Counter

from mcap.reader import NonSeekingReader, make_reader


def topics(messages):
    counts = Counter()
    for schema, channel, message in messages:
        value = json.loads(message.data)
        if schema.name == "foxglove.SceneUpdate":
            assert value["entities"][0]["frame_id"] == "map", channel.topic
        counts[channel.topic, schema.name] += 1
    return counts


with open(sys.argv[1], "rb") as file:
    reader = make_reader(file)
    summary = reader.get_summary()
    indexed = topics(reader.iter_messages())
    assert summary.statistics.message_count == sum(indexed.values())
    assert len(summary.chunk_indexes) == summary.statistics.chunk_count > 0
with open(sys.argv[1], "rb") as file:
    streamed = topics(NonSeekingReader(file).iter_messages())
for (topic, schema), count in sorted(indexed.items()):
    print(topic, schema, count, streamed[topic, schema])

# SPDX-License-Identifier: GPL-2.0-or-later
"""Decodes of a protobuf watch event what a test needs: its type, and the object's name, node and
phase.
"""


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(message):
    """{number: last value}: bytes, or the number of a varint."""
    found, at = {}, 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 == 0:
            found[tag >> 3], at = _varint(message, at)
        else:
            size, at = {1: lambda a: (8, a), 2: lambda a: _varint(message, a), 5: lambda a: (4, a)}[
                tag & 7
            ](at)
            found[tag >> 3], at = message[at : at + size], at + size
    return found


def _text(message, number):
    return fields(message).get(number, b"").decode()


def event(frame):
    """{"type":, "object": {"metadata": {"name":}, "spec": {"nodeName":}, "status": {"phase":}}} of
    an event of pods; of a Status no fields.
    """
    outer = fields(frame)
    unknown = fields(fields(outer[2])[1].removeprefix(b"k8s\0"))
    pod = fields(unknown[2]) if _text(unknown[1], 2) == "Pod" else {}
    return {
        "type": outer[1].decode(),
        "object": {
            "metadata": {"name": _text(pod.get(1, b""), 1)},
            "spec": {"nodeName": _text(pod.get(2, b""), 10)},
            "status": {"phase": _text(pod.get(3, b""), 1)},
        },
    }


def split(data):
    """(complete frames, each with its length prefix; the rest)"""
    frames = []
    while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], "big")):
        frames.append(data[:end])
        data = data[end:]
    return frames, data

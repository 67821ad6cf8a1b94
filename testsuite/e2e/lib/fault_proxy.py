# SPDX-License-Identifier: GPL-2.0-or-later
"""Proxies between the agent and the real kube-apiserver and slurmctld, which inject chosen faults.

ApiProxy  terminates TLS and speaks HTTP/1.1, one request per connection (libcurl adapts to that).
          For requests:
    before  held before the server has seen the request
    after   held when the server has acted, before its answer is passed on
    answer  the argument is the whole answer, the server sees nothing
    said    the same, but the server has acted
    lose    the server acts, its answer is lost
      and for the events of a watch:
    event   this event and all after it are held
    twice   the event is sent twice
    late    the event is sent after the next one
    cut     the connection breaks in the middle of the event
RpcProxy  passes one RPC per connection to slurmctld: before, after and lose as above
    reset   slurmctld has the request, but cannot deliver its answer
"""
import asyncio
import json
import re
import socket
import ssl
import struct
import time

from . import protobuf
from .fault_rules import Dropped, Proxy, Rule

# Slurm's numbers, the same in all versions.
SUBMIT, COMPLETE, CANCEL, PING = 4001, 5017, 5032, 1008


def answer(status, reason, message="", headers=(), code=None):
    """An HTTP answer with a Status object, as the API server writes them."""
    body = json.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": message or reason,
            "reason": reason,
            "code": code or status,
        }
    )
    lines = [
        f"HTTP/1.1 {status} {reason}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def _lines(data):
    """(complete lines with their newlines, the rest)"""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines], rest


class ApiProxy(Proxy):
    REQUESTS = ("before", "after", "answer", "said", "lose")
    EVENTS = ("event", "twice", "late", "cut")

    def __init__(self, plane, port):
        self.upstream = plane.port
        self.client_tls = ssl.create_default_context(cafile=str(plane.dir / "pki/ca.crt"))
        server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_tls.load_cert_chain(plane.dir / "pki/server.crt", plane.dir / "pki/server.key")
        self.stalled, self.seen, self.times, self.statuses = (
            False,
            [],
            [],
            [],
        )  # seen: (method, path) of all requests; times: their times; statuses: of all answers
        super().__init__(port, server_tls)

    def rule(self, do, method="", path="", body="", count=1, argument=None):
        """A rule for requests: the method, and regular expressions that path and body must
        contain.
        """
        return self.add(
            Rule(
                do,
                lambda m, p, b: method in ("", m) and re.search(path, p) and re.search(body, b),
                count,
                argument,
            )
        )

    def event_rule(self, do, matches, count=1):
        """A rule for events: matches(type, object); of a pod only name, node and phase are
        available.
        """
        return self.add(Rule(do, matches, count))

    def place(self, method, path, since=0):
        """The index in seen and times of the first such request whose path contains the text."""
        return next(
            i for i, (m, p) in enumerate(self.seen[since:], since) if m == method and path in p
        )

    async def _go_on(self):
        while self.stalled:
            await asyncio.sleep(0.01)

    async def serve(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ")
        length = sum(
            int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")
        )
        body = await reader.readexactly(length)
        self.times.append(time.monotonic())
        self.seen.append((method, path))
        await self._go_on()
        rule = self.find(self.REQUESTS, method, path, body.decode(errors="replace"))
        if rule and rule.do == "answer":
            writer.write(rule.argument)
            await writer.drain()
            return
        if rule and rule.do == "before":
            await rule.stand()
        up_reader, up = await asyncio.open_connection(
            "127.0.0.1", self.upstream, ssl=self.client_tls, limit=1 << 24
        )
        self.writers.add(up)
        try:
            up.write("\r\n".join([first, "Connection: close", *lines]).encode() + body)
            if "watch=1" in path:
                await self._stream(up_reader, writer)
            else:
                await self._answer(up_reader, writer, rule)
        finally:
            self.writers.discard(up)
            up.transport.abort()

    async def _answer(self, up, writer, rule):
        whole = await up.read(-1)
        await self._go_on()
        if rule and rule.do == "after":
            await rule.stand()
        self.statuses.append(int(whole[9:12] or 0))
        if not whole or (rule and rule.do == "lose"):
            raise Dropped("no answer")
        writer.write(rule.argument if rule and rule.do == "said" else whole)
        await writer.drain()

    async def _stream(self, up, writer):
        head = await up.readuntil(b"\r\n\r\n")
        self.statuses.append(int(head[9:12]))
        writer.write(head)
        if b"chunked" not in head.lower():
            writer.write(await up.read(-1))
            return
        rest, kept, split, read = b"", [], _lines, json.loads
        if b"protobuf" in head.lower():
            split, read = protobuf.split, lambda frame: protobuf.event(frame[4:])
        while size := int(await up.readuntil(b"\r\n"), 16):
            rest += (await up.readexactly(size + 2))[:-2]
            frames, rest = split(rest)
            for frame in frames:
                await self._event(frame, read(frame), writer, kept)
        writer.write(b"0\r\n\r\n")

    async def _event(self, frame, event, writer, kept):
        """kept: an event that is held until the next one."""
        rule = self.find(self.EVENTS, event["type"], event["object"])
        await self._go_on()
        if rule and rule.do == "late":
            kept.append(frame)
            return
        if rule and rule.do == "event":
            await rule.stand()
        if rule and rule.do == "cut":
            self._chunk(writer, frame[: len(frame) // 2])
            await writer.drain()
            raise Dropped("cut")
        for out in [frame] + ([frame] if rule and rule.do == "twice" else []) + kept:
            self._chunk(writer, out)
        kept.clear()
        await writer.drain()

    @staticmethod
    def _chunk(writer, data):
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))


class RpcProxy(Proxy):
    RPCS = ("before", "after", "lose", "reset")

    def __init__(self, slurmctld_port, port):
        self.upstream = slurmctld_port
        super().__init__(port)

    def rule(self, do, kind, text="", count=1):
        """A rule for messages of a kind whose body contains the text."""
        return self.add(
            Rule(do, lambda number, body: number == kind and text.encode() in body, count)
        )

    @staticmethod
    async def _message(reader):
        """The whole message with its length; raises an error if the connection ends before."""
        length = await reader.readexactly(4)
        return length + await reader.readexactly(struct.unpack(">I", length)[0])

    @staticmethod
    def _cork(writer):
        """Keeps what is written until the end of the stream (tcp(7), TCP_CORK): slurmctld cannot
        answer before it can see that the connection has ended.
        """
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)

    async def serve(self, reader, writer):
        request = await self._message(reader)
        rule = self.find(self.RPCS, struct.unpack(">H", request[8:10])[0], request)
        if rule and rule.do == "before":
            await rule.stand()
        up_reader, up = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            if rule and rule.do == "reset":
                self._cork(up)  # one segment carries the request and the end of the connection
                up.write(request)
                up.write_eof()
                await up_reader.read(-1)
                raise Dropped("reset")
            up.write(request)
            await up.drain()
            reply = await self._message(up_reader)
            if rule and rule.do == "after":
                await rule.stand()
            if rule and rule.do == "lose":
                raise Dropped("lost")
            writer.write(reply)
            await writer.drain()
        finally:
            up.transport.abort()

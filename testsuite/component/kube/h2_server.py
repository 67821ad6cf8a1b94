# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTP/2 server that controls how frames are placed in TLS records and TCP segments, which
kube-apiserver leaves to chance. It implements RFC 9113 as far as one client needs it.

The server reads nothing of a request but its existence. Each request gets status 200 when the test
says so.
"""
import socket
import ssl
import struct
import threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STATUS_200 = b"\x88"  # HPACK: entry 8 of the static table


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class H2Server:
    """One connection. streams: the requests that have arrived and were not taken yet, in order."""

    def __init__(self, plane, port):
        self.port, self.streams, self.lock = port, [], threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(plane.path("pki/server.crt"), plane.path("pki/server.key"))
        context.set_alpn_protocols(["h2"])
        self.received, self.to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.received, self.to_send, server_side=True)
        self.listener = socket.create_server(("127.0.0.1", port))
        self.peer = None
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        for one in (self.peer, self.listener):
            if one:
                one.close()

    def answer(self, stream, *sizes):
        """Sends one DATA frame per size, the last of which ends the stream, in one write to the
        socket.
        """
        frames = [frame(HEADERS, END_HEADERS, stream, STATUS_200)]
        frames += [frame(DATA, 0, stream, b"x" * size) for size in sizes[:-1]]
        self._send(b"".join(frames) + frame(DATA, END_STREAM, stream, b"x" * sizes[-1]))

    def take(self):
        """The streams that have arrived since the last call."""
        with self.lock:
            taken, self.streams = self.streams, []
        return taken

    def answer_others_meanwhile(self, action):
        """Returns action(); requests that arrive until it returns are answered at once."""
        done = threading.Event()

        def answer_all():
            while not done.wait(0.01):
                for stream in self.take():
                    self.answer(stream, 2)

        helper = threading.Thread(target=answer_all)
        helper.start()
        try:
            return action()
        finally:
            done.set()
            helper.join()

    def _send(self, data=b""):
        with self.lock:
            if data:
                self.tls.write(data)
            if self.to_send.pending:
                self.peer.sendall(self.to_send.read())

    def _run(self):
        try:
            self.peer, _ = self.listener.accept()
            self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._do(self.tls.do_handshake)
            self._exactly(len(PREFACE))
            self._send(frame(SETTINGS, 0, 0))
            while True:
                head = self._exactly(9)
                kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
                self._exactly(int.from_bytes(head[:3], "big"))
                if kind == SETTINGS and not flags & ACK:
                    self._send(frame(SETTINGS, ACK, 0))
                if kind == HEADERS:
                    with self.lock:
                        self.streams.append(stream)
        except (OSError, ssl.SSLError):
            pass  # the client has closed the connection

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            data += self._do(lambda: self.tls.read(count - len(data)))  # noqa: B023: called at once
        return data

    def _do(self, action):
        while True:
            try:
                with self.lock:
                    return action()
            except ssl.SSLWantReadError:
                self._send()
                bytes_of_peer = self.peer.recv(65536)
                if not bytes_of_peer:
                    raise OSError("the client has gone") from None
                self.received.write(bytes_of_peer)

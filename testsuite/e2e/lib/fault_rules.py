# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong between the agent and its servers, and when: rules that a proxy asks for each
request, message or event.

A window is held open by a rule, not by a sleep: wait() returns when something stands in it,
release() lets it go on, drop() breaks its connection. Rules are made by the test's thread and met
on the proxy's loop.
"""
import asyncio
import threading


class Dropped(OSError):
    """The test wants this connection to break here."""


class Rule:
    """For the next count that match. do names the fault (see the proxies), argument is what it
    needs.
    """

    def __init__(self, do, matches, count=1, argument=None):
        self.do, self.matches, self.left, self.argument = do, matches, count, argument
        self.met = 0
        self._standing, self._verdict = threading.Event(), None

    def take(self, *seen):
        """Whether it is for this one; counts it then."""
        if self.left <= 0 or not self.matches(*seen):
            return False
        self.left -= 1
        self.met += 1
        return True

    def wait(self, what="", timeout=60):
        assert self._standing.wait(timeout), f"nothing came into the window {what} for {timeout} s"

    def is_open(self):
        return self._standing.is_set()

    def release(self):
        self._verdict = "go"

    def drop(self):
        self._verdict = "drop"

    async def stand(self):
        """On the loop: what came stays here until the test has decided."""
        self._standing.set()
        while self._verdict is None:
            await asyncio.sleep(0.005)
        if self._verdict == "drop":
            raise Dropped("dropped by the test")


class Proxy:
    """A listener on 127.0.0.1:port with a thread of its own; serve(reader, writer) is what a kind
    of proxy does with a connection.
    """

    def __init__(self, port, tls=None):
        self.port, self.rules, self.writers, self.refuses = port, [], set(), False
        self.loop, started = asyncio.new_event_loop(), threading.Event()
        self.thread = threading.Thread(target=self._run, args=(tls, started), daemon=True)
        self.thread.start()
        assert started.wait(10), "the proxy does not start"

    def _run(self, tls, started):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(
            asyncio.start_server(
                self._accept, "127.0.0.1", self.port, ssl=tls, limit=1 << 24, backlog=512
            )
        )
        self.loop.call_soon(started.set)
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def _accept(self, reader, writer):
        self.writers.add(writer)
        try:
            if not self.refuses:
                await self.serve(reader, writer)
            writer.close()
        except (OSError, EOFError, ValueError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self.writers.discard(writer)

    async def serve(self, reader, writer):
        raise NotImplementedError

    def add(self, rule):
        self.rules.append(rule)
        return rule

    def find(self, kinds, *seen):
        return next(
            (rule for rule in list(self.rules) if rule.do in kinds and rule.take(*seen)), None
        )

    def cut_all(self):
        """Breaks every connection that is open now."""
        self.loop.call_soon_threadsafe(lambda: [w.transport.abort() for w in list(self.writers)])

    def clear(self):
        """No more faults; what still stands somewhere goes on."""
        rules, self.rules = self.rules, []
        for rule in rules:
            rule.release()

    def stop(self):
        self.clear()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

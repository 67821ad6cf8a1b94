# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults between the agent and its servers, and when they occur: rules that a proxy checks for
each request, message or event.

A rule, not a sleep, keeps a race window open: wait() returns when something is held in it,
release() lets that continue, drop() breaks its connection. The test's thread creates rules, and the
proxy's event loop applies them.
"""
import asyncio
import threading


class Dropped(OSError):
    """The test breaks this connection here."""


class Rule:
    """Applies to the next count matching items. do names the fault (see the proxies), argument is
    its parameter.
    """

    def __init__(self, do, matches, count=1, argument=None):
        self.do, self.matches, self.left, self.argument = do, matches, count, argument
        self.met = 0
        self._standing, self._verdict = threading.Event(), None

    def take(self, *seen):
        """True if the rule applies to this item, which is then counted."""
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
        """Runs on the event loop: holds the item until the test has decided."""
        self._standing.set()
        while self._verdict is None:
            await asyncio.sleep(0.005)
        if self._verdict == "drop":
            raise Dropped("dropped by the test")


class Proxy:
    """A listener on 127.0.0.1:port with its own thread; serve(reader, writer) handles a connection
    of the respective kind of proxy.
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
        """Breaks every open connection."""
        self.loop.call_soon_threadsafe(lambda: [w.transport.abort() for w in list(self.writers)])

    def clear(self):
        """Removes all rules; held items continue."""
        rules, self.rules = self.rules, []
        for rule in rules:
            rule.release()

    def stop(self):
        self.clear()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

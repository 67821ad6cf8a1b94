# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, driven over the WebDriver protocol of Debian's chromedriver."""

import json
import re
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # what the protocol calls an element
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


class Browser:
    """A session with a window of the given size; is_phone: it also behaves like a phone's."""

    def __init__(self, width, height, is_phone=False):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.base = f"http://127.0.0.1:{self._port()}/session"
        metrics = {"width": width, "height": height, "pixelRatio": 2, "mobile": True, "touch": True}
        chrome = {"args": [*ARGUMENTS, f"--window-size={width},{height}"]}
        if is_phone:
            chrome["mobileEmulation"] = {"deviceMetrics": metrics}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": chrome,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }
        created = self._call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/" + created["sessionId"]

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return found.group(1)
        raise RuntimeError("chromedriver ended")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].split("\n")[0]) from e

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def url(self):
        return self._call("GET", "/url")

    def run(self, script, *arguments):
        """The result of a JavaScript function body."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=10):
        """Waits until the script returns something true, and returns that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {script.strip()}")

    def type(self, selector, text):
        element = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def log(self, kind):
        return self._call("POST", "/se/log", {"type": kind})

    def requested(self):
        """The addresses that pages have asked for since the last call."""
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                yield message["params"]["request"]["url"]

    def errors(self):
        """What pages have complained about since the last call."""
        return [entry["message"] for entry in self.log("browser") if entry["level"] == "SEVERE"]

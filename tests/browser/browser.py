"""A headless Chromium spoken to over the DevTools protocol: the standard library only."""

import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--hide-scrollbars",
    "--mute-audio", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-port=0",
    # Nothing is reachable, not even by mistake.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def find():
    """The path of a Chromium, or None."""
    given = os.environ.get("CHROMIUM")
    return shutil.which(given) if given else next((p for p in map(shutil.which, NAMES) if p), None)


class Socket:
    """The client half of a websocket: text frames to and from one address."""

    def __init__(self, url, timeout):
        parts = urllib.parse.urlsplit(url)
        self.stream = socket.create_connection((parts.hostname, parts.port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall((
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError(f"no websocket at {url}: {head[:80]!r}")

    def _more(self):
        chunk = self.stream.recv(1 << 16)
        if not chunk:
            raise OSError("the browser closed the connection")
        self.buffer += chunk

    def _frame(self, opcode, data):
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        # A mask of zeros is a mask.
        self.stream.sendall(head + b"\0\0\0\0" + data)

    def send(self, text):
        self._frame(1, text.encode())

    def _exactly(self, size):
        while len(self.buffer) < size:
            self._more()
        out, self.buffer = self.buffer[:size], self.buffer[size:]
        return out

    def receive(self, timeout):
        """The next message; raises TimeoutError when none arrives. A message that was begun is always finished."""
        parts = []
        while True:
            if not parts and not self.buffer:
                self.stream.settimeout(max(timeout, 0.001))
                self._more()
            self.stream.settimeout(60)
            first, second = self._exactly(2)
            size = second & 127
            if size == 126:
                (size,) = struct.unpack("!H", self._exactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._exactly(8))
            data = self._exactly(size)
            opcode = first & 15
            if opcode == 8:
                raise OSError("the browser closed the connection")
            if opcode == 9:
                self._frame(10, data)
            elif opcode in (0, 1):
                parts.append(data)
                if first & 0x80:
                    return b"".join(parts).decode()

    def close(self):
        self.stream.close()


class Browser:
    """A browser with a profile of its own, ended on leaving the `with` block."""

    def __init__(self, path, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="quadrat-browser-")
        self.process = subprocess.Popen(
            [path, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self.socket = Socket(self._address(), timeout)
        except Exception:
            self.end()
            raise
        self.last = 0
        self.events = []

    def _address(self):
        notice = os.path.join(self.profile, "DevToolsActivePort")
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise OSError(f"the browser ended with {self.process.returncode}")
            try:
                with open(notice, encoding="ascii") as file:
                    lines = file.read().split("\n")
                if len(lines) >= 2 and lines[1]:
                    return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            except FileNotFoundError:
                pass
            time.sleep(0.05)
        raise OSError("the browser did not start")

    def call(self, method, session=None, **params):
        """One command; its result. Events that arrive meanwhile are kept."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            reply = self._receive(end - time.monotonic())
            if reply is None:
                continue
            if reply.get("id") == self.last:
                if "error" in reply:
                    raise OSError(f"{method}: {reply['error'].get('message')}")
                return reply["result"]
            self.events.append(reply)
        raise OSError(f"{method}: no reply in {self.timeout} s")

    def _receive(self, timeout):
        try:
            return json.loads(self.socket.receive(timeout))
        except (TimeoutError, socket.timeout):
            return None

    def wait(self, seconds):
        """Collects events for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            reply = self._receive(left)
            if reply is not None:
                self.events.append(reply)

    def end(self):
        """Ends the browser and removes its profile."""
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGTERM)
                self.process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait(10)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.end()


class Page:
    """One tab."""

    def __init__(self, browser, width, height=900, mobile=False):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.size(width, height, mobile)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def evaluate(self, expression):
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise OSError(f"{expression[:60]}: {reply['exceptionDetails'].get('text')}")
        return reply["result"].get("value")

    def events(self):
        """The events of this tab so far."""
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def screenshot(self, path):
        """The full page, however long."""
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                          clip={**{k: v for k, v in self.call("Page.getLayoutMetrics")["cssContentSize"].items()}, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

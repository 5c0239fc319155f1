# SPDX-License-Identifier: MIT
"""Runs programs, some at a time, each within its time, and leaves none behind."""

import os
import select
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

# Of what a program says, this much is kept; it is ended when it says more.
OUTPUT_MAX = 8 << 20


class Stopped(Exception):
    """The pool was told to end."""


class Ended:
    """How a program ended: "exit 0", "signal 11" or "too long"; what it said."""

    def __init__(self, status, output):
        self.status, self.output = status, output

    def succeeded(self):
        return self.status == "exit 0"


def _read_until(descriptor, deadline):
    """All that is written there; with it, whether the writers were done in time."""
    chunks, size = [], 0
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and size < OUTPUT_MAX:
        if not poll.poll(left * 1000):
            break
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            return b"".join(chunks), True
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks), False


class Pool:
    """Some workers, each with a folder of its own that is empty for each task."""

    def __init__(self, jobs, folder):
        self.jobs, self.folder = jobs, folder
        self.lock = threading.Lock()
        self.groups = set()
        self.stopping = False
        self.local = threading.local()
        self.workers = 0

    def stop(self):
        """Ends whatever runs. For signal handlers: waits for nobody but the lock,
        which is never held for long, nor by the thread that handles signals."""
        self.stopping = True
        with self.lock:
            for group in self.groups:
                _kill(group)

    def run(self, command, seconds, folder, environment=None):
        """Ends what is left of the command's process group, too."""
        process = self._start(command, folder, environment)
        try:
            with process.stdout:
                deadline = time.monotonic() + seconds
                output, done = _read_until(process.stdout.fileno(), deadline)
            try:
                process.wait(max(deadline - time.monotonic(), 0.001) if done else 0.001)
            except subprocess.TimeoutExpired:
                return Ended("too long", output)
            return Ended(_status(process.returncode), output)
        finally:
            _kill(process.pid)
            process.wait()
            with self.lock:
                self.groups.discard(process.pid)

    def _start(self, command, folder, environment):
        with self.lock:
            if self.stopping:
                raise Stopped
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
            self.groups.add(process.pid)
            return process

    def _task(self, function, argument):
        if not hasattr(self.local, "folder"):
            with self.lock:
                self.workers += 1
                self.local.folder = os.path.join(self.folder, f"worker-{self.workers}")
        os.makedirs(self.local.folder)
        try:
            return argument, function(argument, self.local.folder)
        finally:
            shutil.rmtree(self.local.folder, ignore_errors=True)

    def map(self, function, arguments):
        """Yields each argument with function(argument, folder), as they are done."""
        waiting = list(reversed(arguments))
        with ThreadPoolExecutor(self.jobs) as executor:
            running = set()
            while waiting or running:
                while waiting and len(running) < 2 * self.jobs:
                    running.add(executor.submit(self._task, function, waiting.pop()))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()


def _kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _status(code):
    return f"signal {-code}" if code < 0 else f"exit {code}"

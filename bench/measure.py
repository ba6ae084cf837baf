"""Run one program and measure all of its process tree: CPU seconds, wall seconds, peak memory."""

import ctypes
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.1
ORPHAN_SECONDS = 60
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Usage:
    exit_code: int
    user_seconds: float
    system_seconds: float
    wall_seconds: float
    peak_bytes: int

    @property
    def cpu_seconds(self):
        return self.user_seconds + self.system_seconds


def run(command, log, timeout=None, environment=None):
    """Run `command` with its output in the file `log`."""
    adopt_orphans()
    with open(log, "wb") as out:
        started = time.monotonic()
        # A session of its own tells the processes of this program from all others.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True, env=environment,
        )
        watch = MemoryWatch(process.pid, timeout)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait for it again
    watch.stop()
    usages = [usage, *reap_orphans(process.pid)]
    return Usage(
        exit_code=process.returncode,
        user_seconds=sum(u.ru_utime for u in usages),
        system_seconds=sum(u.ru_stime for u in usages),
        wall_seconds=wall,
        # The kernel's figure is exact but for one process; the samples see the sum of all.
        peak_bytes=max(watch.peak_bytes, *(u.ru_maxrss * 1024 for u in usages)),
    )


def adopt_orphans():
    """Processes that outlive their parent (Spark's JVM) become ours to wait for, and their CPU time counts."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(session):
    usages, deadline = [], time.monotonic() + ORPHAN_SECONDS
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return usages
        if pid:
            usages.append(usage)
        elif time.monotonic() > deadline:
            kill_session(session)
        else:
            time.sleep(0.05)


def kill_session(session):
    for pid in processes_of(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def processes_of(session):
    for name in os.listdir("/proc"):
        if name.isdigit() and session_of(name) == session:
            yield int(name)


def session_of(pid):
    try:
        # The command in parentheses may hold spaces; the session is the fourth field behind it.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return None


def resident_bytes(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class MemoryWatch:
    """Samples the resident memory of a session, summed over its processes, and ends it after a time limit."""

    def __init__(self, session, timeout):
        self.peak_bytes = 0
        self._session = session
        self._deadline = time.monotonic() + timeout if timeout else None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def _watch(self):
        while not self._stop.wait(SAMPLE_SECONDS):
            now = sum(map(resident_bytes, processes_of(self._session)))
            self.peak_bytes = max(self.peak_bytes, now)
            if self._deadline and time.monotonic() > self._deadline:
                kill_session(self._session)

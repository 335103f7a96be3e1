"""A worker process as its fleet sees it: started, sent orders, ended."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe

import msgspec

from sweep.errors import SweepError
from sweep.load.roll import Roll
from sweep.load.shard import Order
from sweep.model import Health
from sweep.records import EMPTY, Records

START_S = 30.0
# `-c` instead of multiprocessing's spawn: that would import the caller's main module anew in every worker.
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from sweep.load.worker import main; main(*json.loads(sys.argv[1]))"


@dataclass(slots=True)
class Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    roll: Roll
    open: Records = EMPTY
    ended: int = 0  # requests of this cell that it has reported as ended, and the chunks they had
    events: int = 0
    health: Health | None = None
    ready: bool = False

    def order(self, order: Order) -> None:
        try:
            self.connection.send_bytes(msgspec.msgpack.encode(order))
        except OSError:
            return  # it died; reading from it says so

    def close(self, within_s: float = 0.0) -> None:
        """Ends the process, by force after `within_s`."""
        self.connection.close()
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.roll.close()

    def begin_cell(self) -> None:
        """Forgets the cell before."""
        self.open, self.ended, self.events, self.health = EMPTY, 0, 0, None
        self.roll.restart()

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None or self.connection.closed

    def await_ready(self) -> None:
        """Returns when it has started; SweepError when it does not."""
        while not self.ready:
            try:
                if not self.connection.poll(START_S):
                    raise EOFError
                self.ready = self.connection.recv_bytes() is not None
            except (EOFError, OSError):
                raise SweepError("a worker process did not start", "see what it says above; please report it") from None


def spawn(material_fd: int | None) -> Worker:
    """A worker in a session of its own: Ctrl-C at the terminal reaches the fleet, which then decides."""
    roll = Roll()
    ours, theirs = Pipe()
    with theirs:
        fds = [theirs.fileno(), roll.fd, material_fd]
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(fds), json.dumps(sys.path)],
            pass_fds=[fd for fd in fds if fd is not None],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    return Worker(process, ours, roll)

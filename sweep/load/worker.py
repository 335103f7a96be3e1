"""A worker process: measures the shards it is sent, one after the other, and obeys what it is told meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue

import msgspec

from sweep.load.descriptors import raise_limit, widen_table
from sweep.load.drive import ShardRun
from sweep.load.look import Look
from sweep.load.material import learn
from sweep.load.roll import Roll
from sweep.load.shard import Order, Shard
from sweep.load.wire import Wire
from sweep.prompt.text import compose

READY = b"ready"  # a worker's first message


async def run_shard(shard: Shard, connection: Connection, reports: SimpleQueue[bytes | None], roll: Roll, look: Look) -> None:
    """Runs `shard`, obeying what arrives on `connection`; ends at once when the other side is gone."""
    loop = asyncio.get_running_loop()
    gc.collect()
    gc.freeze()
    gc.disable()
    run = ShardRun(shard, reports, roll, look)

    def hear() -> None:
        try:
            run.obey(msgspec.msgpack.decode(connection.recv_bytes(), type=Order))
        except (EOFError, OSError):
            loop.remove_reader(connection.fileno())
            run.obey(Order(command="abort"))

    loop.add_reader(connection.fileno(), hear)
    try:
        await run.run()
    finally:
        gc.enable()
        gc.unfreeze()
        loop.remove_reader(connection.fileno())


def _measure(shard: Shard, connection: Connection, reports: SimpleQueue[bytes | None], roll: Roll) -> None:
    look = Look()
    roll.restart()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(look)) as runner:
        runner.run(run_shard(shard, connection, reports, roll, look))


def main(fd: int, roll_fd: int, material_fd: int | None) -> None:
    """A worker process: measures the shards it is sent on the connection `fd` until that closes."""
    raise_limit()
    widen_table()
    compose("prose", 2, 0, 0, "")  # builds the words while preflight is under way
    if material_fd is not None:
        learn(material_fd)
    connection, roll = Connection(fd), Roll(roll_fd)
    stamps = Wire().socket((socket.AF_INET, socket.SOCK_STREAM, 0))  # the kernel stamps while one socket asks for it
    reports: SimpleQueue[bytes | None] = SimpleQueue()

    def post() -> None:
        """Writes in a thread of its own: a fleet that is slow to read never delays the loop."""
        with contextlib.suppress(OSError):
            while (report := reports.get()) is not None:
                connection.send_bytes(report)

    poster = threading.Thread(target=post, daemon=True)
    poster.start()
    reports.put(READY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            order = msgspec.msgpack.decode(connection.recv_bytes(), type=Order)
            if order.shard is not None:  # anything else is late for a cell that has ended
                _measure(order.shard, connection, reports, roll)
    stamps.close()
    reports.put(None)
    poster.join(timeout=1)

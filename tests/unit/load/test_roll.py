"""What a worker wrote down is there for the fleet, whatever became of the worker."""

from __future__ import annotations

from sweep.load import roll
from sweep.load.roll import Begun, Roll


def test_the_reader_finds_what_was_not_reported(monkeypatch) -> None:
    monkeypatch.setattr(roll, "PLACES", 8)
    reader = Roll()
    writer = Roll(reader.fd)
    assert reader.after(0) == []
    for request in range(5):
        writer.add(request, 10 * request, 3, 4)
    assert [begun.request for begun in reader.after(2)] == [2, 3, 4]
    assert reader.after(4) == [Begun(request=4, planned_ns=40, isl_asked=3, osl_asked=4)]
    for request in range(5, 20):
        writer.add(request, 0, 1, 1)
    assert [begun.request for begun in reader.after(0)] == list(range(12, 20))
    reader.restart()
    writer.restart()
    assert reader.after(0) == []
    writer.add(7, 0, 1, 1)
    assert [begun.request for begun in reader.after(0)] == [7]
    reader.close()

"""The public API of the package itself."""

from __future__ import annotations

from importlib import import_module

import pytest

import sweep


@pytest.mark.parametrize("room", ["load", "run"])
def test_a_function_is_not_hidden_by_the_room_of_its_name(room: str) -> None:
    import_module(f"sweep.{room}")
    assert getattr(sweep, room).__name__ == room
    assert callable(getattr(sweep, room))


def test_all_that_is_promised_is_there() -> None:
    for name in sweep.__all__:
        assert getattr(sweep, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = sweep.absent

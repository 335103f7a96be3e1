from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from engines import llamacpp


@pytest.fixture(scope="session")
def llama() -> Iterator[llamacpp.Engine]:
    with llamacpp.running() as engine:
        yield engine

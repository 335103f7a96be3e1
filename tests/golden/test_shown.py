"""What a person sees of a known curve, word for word. After a wanted change: SWEEP_REGENERATE=1 pytest tests/golden/test_shown.py"""

from __future__ import annotations

import os
import re
from io import StringIO
from pathlib import Path

import pytest
import sample_curves
from rich.console import Console

from sweep.report import page, text

HERE = Path(__file__).parent


def terminal() -> str:
    console = Console(file=StringIO(), width=80, color_system=None, highlight=False)
    text.show(console, sample_curves.curve(), {"curve": Path("reports/a/a.curve.json"), "page": Path("reports/a/a.html")})
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def page_without_picture() -> str:
    """Nor script nor data, which tests/unit/report and tests/browser look at."""
    html = page.render(sample_curves.curve())
    html = re.sub(r"(<script[^>]*>).*?</script>", r"\1</script>", html, flags=re.DOTALL)
    html = re.sub(r"sha256-[\w+/=]+'", "sha256-…'", html)
    return re.sub(r"<svg.*?</svg>", "<svg></svg>", html, flags=re.DOTALL)


@pytest.mark.parametrize(("name", "made"), [("shown.txt", terminal), ("shown.html", page_without_picture)])
def test_shown_as_before(name: str, made) -> None:
    golden = HERE / name
    if os.environ.get("SWEEP_REGENERATE"):
        golden.write_text(made(), encoding="utf-8")
    assert made() == golden.read_text(encoding="utf-8")

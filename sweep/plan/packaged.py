"""Where the data that travels with the program lies."""

from __future__ import annotations

from pathlib import Path

import sweep

PRESETS_FILE = "slo.toml"


def profiles_dir() -> Path:
    """Beside the modules in an installed wheel, beside the package in an editable install."""
    package = Path(sweep.__file__).parent
    inside = package / "profiles"
    return inside if inside.is_dir() else package.parent / "profiles"


def profile_names() -> list[str]:
    return sorted(path.stem for path in profiles_dir().glob("*.toml") if path.name != PRESETS_FILE)

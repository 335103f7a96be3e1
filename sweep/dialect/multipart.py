"""Forms with files in them, `multipart/form-data` (RFC 7578), as far as the APIs of this package use it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# The same in every request, and longer than chance puts into an audio file: one in 2^100 of a terabyte.
BOUNDARY = b"----sweep-8f2c61d0b7a94e35"
CONTENT_TYPE = f"multipart/form-data; boundary={BOUNDARY.decode()}"
_NAME = re.compile(rb'\bname="([^"]*)"')


def encode(fields: Mapping[str, str], name: str, file_name: str, file_type: str, file: bytes) -> bytes:
    """`fields`, then one file under `name`."""
    parts = [b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (BOUNDARY, key.encode(), value.encode())
             for key, value in fields.items()]  # fmt: skip
    place = f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"\r\nContent-Type: {file_type}\r\n\r\n'
    return b"".join([*parts, b"--%b\r\n%b" % (BOUNDARY, place.encode()), file, b"\r\n--%b--\r\n" % BOUNDARY])


def decode(body: bytes) -> dict[str, bytes]:
    """The parts by name, of whatever boundary the body begins with. ValueError when it is no form."""
    mark = body.partition(b"\r\n")[0]
    if not mark.startswith(b"--") or len(mark) < 3:
        raise ValueError("not understood: no multipart form")
    found: dict[str, bytes] = {}
    for part in (b"\r\n" + body).split(b"\r\n" + mark)[1:-1]:
        head, blank, value = part.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if not blank or name is None:
            raise ValueError("not understood: a part of the form has no name")
        found[name[1].decode("utf-8", "replace")] = value
    return found

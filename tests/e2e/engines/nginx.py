"""nginx before an engine, as gateways stand before theirs: TLS, buffering with gzip, a limit (429), an impatient proxy (504)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from engines.engine import CannotRun, command, free_port, serving

_CONF = """
worker_processes 1; daemon off; pid {folder}/pid; error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_read_timeout 600s; client_max_body_size 64m;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  limit_conn_zone $server_port zone=busy:1m; limit_conn_status 429;
  server {{ listen 127.0.0.1:{tls} ssl; ssl_certificate {folder}/crt; ssl_certificate_key {folder}/key;
    location / {{ proxy_pass http://{behind}; proxy_buffering off; }} }}
  server {{ listen 127.0.0.1:{gzip};
    location = /ready {{ return 204; }}
    location / {{ proxy_pass http://{behind}; proxy_ignore_headers X-Accel-Buffering; proxy_hide_header X-Accel-Buffering;
      gzip on; gzip_types text/event-stream application/json; gzip_min_length 1; }} }}
  server {{ listen 127.0.0.1:{limited}; error_page 429 @busy;
    location / {{ limit_conn busy 2; proxy_pass http://{behind}; proxy_buffering off; }}
    location @busy {{ internal; add_header Retry-After 1 always; default_type application/json;
      return 429 '{{"error":{{"message":"busy","type":"rate_limit"}}}}'; }} }}
  server {{ listen 127.0.0.1:{impatient}; location / {{ proxy_pass http://{behind}; proxy_buffering off; proxy_read_timeout 4s; }} }}
}}
"""
PLACES = ("tls", "gzip", "limited", "impatient")


@contextmanager
def running(engine_url: str) -> Iterator[dict[str, str]]:
    """The URL of each of `PLACES`. CannotRun without nginx and openssl."""
    for program, package in (("nginx", "nginx-light"), ("openssl", "openssl")):
        if shutil.which(program) is None:
            raise CannotRun(f"{program} is not installed (apt-get install {package})")
    ports = {place: free_port() for place in PLACES}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        certificate = [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ]
        command(["openssl", "req", "-x509", *certificate, "-keyout", folder / "key", "-out", folder / "crt"])
        conf = folder / "nginx.conf"
        conf.write_text(_CONF.format(folder=folder, behind=urlsplit(engine_url).netloc, **ports))
        with serving("nginx", ["nginx", "-p", folder, "-c", conf], f"http://127.0.0.1:{ports['gzip']}", "/ready"):
            yield {place: f"{'https' if place == 'tls' else 'http'}://127.0.0.1:{port}" for place, port in ports.items()}

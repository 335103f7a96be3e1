"""Every way to hold it wrong: the exit code, one `error:` line that says what happened, one `hint:` line that says what to do."""

from __future__ import annotations

import os
import pty
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import servers
from conftest import CLEAN, COMMAND
from servers import Answer, Certificates, Site, always, running

import sweep
from sweep.cli import main
from sweep.load import preflight

KEY = "sk-a-very-secret-key-0123456789"
HTML = Answer(body=b"<html><title>Welcome</title></html>", kind="text/html")


@dataclass(frozen=True)
class Ended:
    code: int
    error: str
    hint: str
    out: str
    err: str


Try = Callable[..., Ended]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def attempt(capfd: pytest.CaptureFixture[str]) -> Try:
    """Runs a command line that must fail as users expect: no traceback, one line, one hint."""

    def call(*arguments: str | Path, code: int) -> Ended:
        returned = main.run([str(each) for each in arguments])
        out, err = capfd.readouterr()
        return _ended(returned, out, err, code)

    return call


def _ended(returned: int, out: str, err: str, code: int) -> Ended:
    assert returned == code, err
    assert "Traceback" not in err
    lines = err.rstrip("\n").split("\n")
    told = [line for line in lines if line.startswith(("error: ", "hint: "))]
    assert len(told) == 2, err
    assert lines[-2:] == told, err
    error, hint = told
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    assert KEY not in out + err
    return Ended(code, error.removeprefix("error: "), hint.removeprefix("hint: "), out, err)


@pytest.fixture
def site() -> Iterator[Site]:
    with running() as one:
        yield one


def http(site: Site) -> str:
    return f"http://127.0.0.1:{site.port}"


# --- arguments -------------------------------------------------------------------------------------------------------

SIM = ["--endpoint", "sim"]
DEMO = str(Path(__file__).parents[2] / "reports" / "examples" / "demo.curve.json")
TWO = ["compare", DEMO, DEMO]


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        (["--profile", "demo"], 2, "which endpoint?", "--endpoint"),
        (["--endpoint", "ftp://host/v1"], 2, "must be an http or https URL", "http://localhost:8000"),
        (["--endpoint", "http://[::1"], 2, "not a URL", "http://localhost:8000"),
        (["--endpoint", "http://host:99999"], 2, "not a URL", "http://localhost:8000"),
        (["--endpoint", "http://host/v1?key=1"], 2, "must not have a query", "--header"),
        (["--endpoint", "sim:warp-drive"], 2, "warp-drive", "synthetic-8b-bf16"),
        (["--endpoint", "http://host", "--virtual"], 2, "--virtual needs the simulated endpoint", "--endpoint sim"),
        ([*SIM, "--profile", "1k-9k"], 2, "unknown profile '1k-9k'", "1k-8k"),
        ([*SIM, "--profile", "absent.toml"], 2, "profile absent.toml: no such file", "known"),
        ([*SIM, "--profile", "0/5"], 2, "$.isl.mean", "tokens"),
        ([*SIM, "--profile", "1k/lots"], 2, "neither a file nor ISL/OSL", "1k/8k"),
        ([*SIM, "--profile", "demo", "--profile", "demo"], 2, "profile demo is given twice", "--repeat"),
        ([*SIM, "--slo", "ttfb<=1s"], 2, "ttfb", "ttft"),
        ([*SIM, "--slo", "ttft<=0.5"], 2, "0.5", "0.5s"),
        ([*SIM, "--slo", "mlperf-llama2-71b"], 2, "mlperf-llama2-71b", "mlperf-llama2-70b"),
        ([*SIM, "--grid", "1,0"], 2, "0 is not a load", "--grid 1,2,4"),
        ([*SIM, "--grid", "1,,2"], 2, "a level is missing", "--grid 1,2,4"),
        ([*SIM, "--grid", "1,2.5"], 2, "2.5 is not a whole number", "--grid 1,2,4"),
        ([*SIM, "--grid", "2,2"], 2, "2 appears twice", "--repeat"),
        ([*SIM, "--grid", "100000"], 2, "more than one client can hold open", "--grid"),
        ([*SIM, "--grid", "1,64", "--max-concurrency", "8"], 2, "grid asks for 64", "--max-concurrency"),
        ([*SIM, "--grid", "1", "--rate", "1"], 2, "exclude each other", "--rate"),
        ([*SIM, "--rate", "-1"], 2, "rate '-1': -1 is not a load", "--rate"),
        ([*SIM, "--rate", "nan"], 2, "nan is not a load", "--rate"),
        ([*SIM, "--rate", "1e308"], 2, "out of range", "--rate"),
        ([*SIM, "--rate", "1e-300"], 2, "out of range", "--rate"),
        ([*SIM, "--arrivals", "constant"], 2, "--arrivals says nothing without --rate", "leave --arrivals out"),
        ([*SIM, "--junit", "x.xml"], 2, "--junit says nothing without --gate", "--gate"),
        ([*SIM, "--summary", "x.md"], 2, "--summary says nothing without --gate", "--gate"),
        ([*SIM, "--gate", "/dev/null"], 2, "/dev/null: File exists", "--gate"),
        ([*SIM, "--name", ""], 2, "an argument is empty", "not set"),
        ([*SIM, "--name", ".."], 2, "--name: expected letters or digits, got '..'", "folder"),
        ([*SIM, "--seed", "-1"], 2, "--seed: expected a whole number from 0, got '-1'", "--help"),
        ([*SIM, "--seed", "9007199254740993"], 2, "--seed", "--help"),
        ([*SIM, "--repeat", "0"], 2, "--repeat: expected a whole number from 1 to 1000", "--help"),
        ([*SIM, "--workers", "0"], 2, "--workers: expected a whole number from 1 to 1024", "--help"),
        ([*SIM, "--requests", "99999999999999"], 2, "--requests", "--help"),
        ([*SIM, "--max-concurrency", "100000"], 2, "--max-concurrency", "--help"),
        ([*SIM, "--effort", "hard"], 2, "--effort: expected quick, standard or rigorous, got 'hard'", "--help"),
        ([*SIM, "--budget", "-5s"], 2, "--budget: expected a time from 1ms", "5m"),
        ([*SIM, "--idle-timeout", "0.0001ms"], 2, "--idle-timeout: expected a time from 1ms", "5m"),
        ([*SIM, "--cap", "999999h"], 2, "--cap: expected a time from 1ms to 720h", "5m"),
        ([*SIM, "--slo", "ttft_p101<=1s"], 2, "p101 is no percentile", "p99.9"),
        ([*SIM, "--slo", "a" * 5000], 2, "unknown SLO", "ttft"),
        ([*SIM, "--describe", "/dev/full"], 2, "/dev/full: too big", "file"),
        ([*SIM, "--set", "hardware.accelerator_count=1.5"], 2, "expected a whole number from 1, got 1.5", "leave it out"),
        (["probe", "sim:warp-drive"], 2, "warp-drive", "synthetic-8b-bf16"),
        (["probe", "sim:"], 2, "unknown preset ''", "synthetic-8b-bf16"),
        (["--endpoint", "sim:", "--virtual", "--yes"], 2, "unknown preset ''", "synthetic-8b-bf16"),
        (["probe", "sim", "--dialect", "telepathy"], 2, "unknown dialect 'telepathy'", "chat"),
        (["show", ""], 2, "an argument is empty", "not set"),
        (["pick", DEMO, "--interp", "cubic"], 2, "--interp: expected pchip, steffen or step, got 'cubic'", "--help"),
        (["pick", DEMO, "--axis", "speed"], 2, "--axis: unknown axis 'speed'", "--axis interactivity"),
        (["compare", DEMO], 2, "needs two curves", "sweep compare"),
        ([*TWO, "--at", "20,"], 2, "--at: expected a number above zero, got ''", "--help"),
        ([*TWO, "--delta", "0"], 2, "--delta: expected a number from 0.001 to 1, got '0'", "--help"),
        ([*TWO, "--max-cost", "nan"], 2, "--max-cost: expected a number above zero, got 'nan'", "--help"),
        ([*TWO, "--price", "A=1", "--price", "A=2"], 2, "--price: A is given twice", "once"),
        ([*TWO, "--price", "A=-1"], 2, "--price A=-1", "A=2.5"),
        ([*TWO, "--accelerators", "A=1.5"], 2, "--accelerators: expected a whole number", "A=8"),
        ([*TWO, "--accelerators", "A=1e18"], 2, "--accelerators: expected a whole number", "A=8"),
        (["describe", DEMO, "--set", "hardware.accelerator_count=0"], 2, "expected a whole number from 1", "leave it out"),
        (["merge", DEMO, "--out", "all.curve.json"], 2, "only one file", "two"),
        (["merge", DEMO, DEMO, "--out", "all.json"], 2, "not the name of a curve file", "all.curve.json"),
        (["regress", "absent"], 2, "absent: no such file or folder", "folder"),
        (["regress", DEMO, "--baseline", "absent"], 4, "absent: No such file", ".curve.json"),
        (["regress", DEMO, "--baseline", "last:7"], 2, "last:N with N of 8", "last:20"),
        (["regress", DEMO, "--nights-per-alarm", "0"], 2, "--nights-per-alarm: expected a whole number from 1", "--help"),
        (["regress", DEMO, "--metric", "speed"], 2, "unknown metric 'speed'", "output_tok_per_s"),
        (["sim", "--noise", "99"], 2, "--noise: 99 cannot be", "at most 3"),
        (["sim", "--port", "x"], 2, "--port: expected a whole number, got 'x'", "--help"),
        (["sim", "--time-scale", "nan"], 2, "--time-scale: expected a number, got 'nan'", "--help"),
        ([*SIM, "--rate", "1", "--arrivals", "bursts"], 2, "expected poisson or constant, got 'bursts'", "--help"),
        ([*SIM, "--duration", "30"], 2, "--duration", "30s"),
        ([*SIM, "--duration", "0s"], 2, "--duration", "30s"),
        ([*SIM, "--cap", "soon"], 2, "--cap", "5m"),
        ([*SIM, "--max-tokens", "many"], 2, "--max-tokens", "5M"),
        ([*SIM, "--requests", "0"], 2, "--requests: expected a whole number from 1", "--help"),
        ([*SIM, "--header", "no colon"], 2, "'Name: value'", "Authorization"),
        ([*SIM, "--header", "Name: a\r\nInjected: b"], 2, "'Name: value'", "Authorization"),
        ([*SIM, "--dialect", "telepathy"], 2, "unknown dialect 'telepathy'", "chat"),
        ([*SIM, "--describe", "absent.toml"], 2, "absent.toml: No such file", "file"),
        ([*SIM, "--set", "colour=red"], 2, "colour", "="),
        ([*SIM, "--colour", "red"], 2, "no such option: --colour", "sweep run --help"),
        (["swep"], 2, "no such command 'swep'", "sweep --help"),
        (["resume"], 2, "missing argument", "sweep resume --help"),
        (["resume", "absent"], 4, "absent: no journal", "folder"),
        (["show", "absent.curve.json"], 4, "absent.curve.json: No such file", ".curve.json"),
        (["check", "."], 2, "no curve file in this folder", "curve.json"),
        (["sim", "--fault", "gremlins"], 2, "gremlins", "truncated"),
        (["sim", "--fault", "stall=2"], 2, "between 0 and 1", "truncated=0.05"),
    ],
    ids=lambda value: " ".join(value).replace(DEMO, "demo")[:60] if isinstance(value, list) else None,
)
def test_arguments(attempt: Try, arguments: list[str], code: int, error: str, hint: str) -> None:
    ended = attempt(*arguments, code=code)
    assert error in ended.error
    assert hint in ended.hint
    assert ended.out == ""
    assert list(Path.cwd().iterdir()) == [], "nothing is written for a command that cannot be carried out"


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ('isl.mean = 128\nosl.mean = "8k"\n', '$.osl.mean: expected int, got "8k"', "whole tokens"),
        ("isl.mean = 128\nosl.men = 8\n", "$.osl", "mean"),
        ("isl.mean = 128\n", "osl", "fields"),
        ("isl.mean = 128\nosl.mean = 0\n", "$.osl.mean: 0 tokens", "1 to"),
        ("isl.mean = \n", "not TOML", "packaged profiles"),
        ('isl.mean = 1\nosl.mean = 1\nslos = ["ttfb<=1s"]\n', "$.slos[0]", "ttft"),
        ('isl.mean = 1\nosl.mean = 1\ndialect = "telepathy"\n', "telepathy", "chat"),
        ('isl.mean = 1\nosl.mean = 1\ntext = "verse"\n', "$.text", "prose"),
    ],
)
def test_a_profile_says_where_it_is_wrong(attempt: Try, tmp_path: Path, text: str, error: str, hint: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    ended = attempt(*SIM, "--profile", "mine.toml", code=2)
    assert ended.error.startswith("profile mine")
    assert error in ended.error
    assert hint in ended.hint


# --- the output ------------------------------------------------------------------------------------------------------


def test_an_output_folder_that_cannot_be(attempt: Try, tmp_path: Path, site: Site) -> None:
    (tmp_path / "file").write_text("in the way")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        ended = attempt("--endpoint", http(site), "--out", out, code=2)
        assert str(out) in ended.error
        assert "--out" in ended.hint
    assert site.asked == [], "found before anything is asked of the endpoint"


def test_a_full_disk_is_found_before_the_run(attempt: Try, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sweep.curve.folder.LEAST_FREE_BYTES", 1 << 62)
    ended = attempt("--endpoint", http(site), "--out", tmp_path, code=2)
    assert "MB are free" in ended.error
    assert site.asked == []


def test_a_name_that_is_taken(attempt: Try, tmp_path: Path, site: Site) -> None:
    (tmp_path / "mine" / "journal").mkdir(parents=True)
    (tmp_path / "mine" / "journal" / "header.json").write_text("{}")
    ended = attempt("--endpoint", http(site), "--out", tmp_path, "--name", "mine", code=2)
    assert "already holds a sweep" in ended.error
    assert "sweep resume" in ended.hint
    assert site.asked == []


@pytest.mark.parametrize(
    "header", [b"", b"[]", b"{", b'{"schema":"sweep.journal/1"}', b'{"schema":"sweep.journal/9"}', b"\xff\xfe"]
)
def test_a_journal_that_is_none(attempt: Try, tmp_path: Path, header: bytes) -> None:
    (tmp_path / "run" / "journal").mkdir(parents=True)
    (tmp_path / "run" / "journal" / "header.json").write_bytes(header)
    ended = attempt("resume", tmp_path / "run", code=4)
    assert "header.json" in ended.error


HOSTILE = {
    "empty": b"",
    "text": b"no JSON at all",
    "list": b"[1,2,3]",
    "other schema": b'{"schema":"sweep.curve/99"}',
    "not text": b"\xff\xfe\x00\x01" * 100,
    "deep": b'{"a":' * 100_000,
    "digest": b'{"schema":"sweep.curve/1","digest":"sha256:0"}',
    "escapes": b'{"schema":"\\u001b[2Jsweep\\nerror: no"}',
    "numbers": b'{"schema":"sweep.curve/1","points":[' + b"1e999," * 1000 + b"0]}",
}


@pytest.mark.parametrize("command", ["show", "check", "pick", "compare", "describe", "merge", "regress"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_curve(attempt: Try, tmp_path: Path, command: str, name: str) -> None:
    path = tmp_path / "bad.curve.json"
    path.write_bytes(HOSTILE[name])
    more = {"compare": [DEMO], "merge": [DEMO, "--out", "all.curve.json"]}.get(command, [])
    ended = attempt(command, path, *more, code=2 if command == "regress" else 4)
    assert "bad.curve.json" in ended.error
    assert "\x1b" not in ended.err
    assert len(ended.error) < 400


def test_a_file_larger_than_any_curve_is_not_read_to_its_end(attempt: Try, tmp_path: Path) -> None:
    path = tmp_path / "bad.curve.json"
    with path.open("wb") as file:
        file.write(b'{"schema":"sweep.curve/1","points":[')
        file.truncate(200 << 20)
    for command in (["show", path], ["check", path], ["pick", path], ["compare", DEMO, path]):
        ended = attempt(*command, code=4)
        assert "too big for a curve file" in ended.out + ended.error


@pytest.mark.parametrize("command", [["show", "-"], ["pick", "-"], ["compare", DEMO, "-"]])
def test_standard_input_that_is_no_curve(command: list[str]) -> None:
    done = subprocess.run([*COMMAND, *command], input="", capture_output=True, text=True, env=CLEAN, timeout=60)
    assert _ended(done.returncode, done.stdout, done.stderr, 4).error.startswith("-: ")


@pytest.mark.parametrize("name", ["with space", "-dashed", "größe", "new\nline", "'quoted'"])
def test_any_file_name_will_do(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f"{name}.curve.json").write_bytes(Path(DEMO).read_bytes())
    for command in ("show", "check", "pick"):
        assert main.run([command, "--", f"{name}.curve.json"]) in (0, 1)
        assert "Traceback" not in capfd.readouterr().err


# --- the endpoint ----------------------------------------------------------------------------------------------------


def test_nobody_there(attempt: Try) -> None:
    with socket.socket() as taken:  # bound, not listening: refused, and nobody else's
        taken.bind(("127.0.0.1", 0))
        ended = attempt("--endpoint", f"http://127.0.0.1:{taken.getsockname()[1]}", code=3)
    assert "nothing answers at 127.0.0.1:" in ended.error
    assert "port" in ended.hint


@pytest.mark.parametrize(
    ("host", "known_as"), [("nowhere.invalid", "nowhere.invalid"), ("nówhere.invalid", "xn--nwhere-bxa.invalid")]
)
def test_no_such_host(attempt: Try, host: str, known_as: str) -> None:
    ended = attempt("--endpoint", f"http://{host}:8000", code=3)
    assert ended.error == f"there is no host called {known_as}"
    assert "name" in ended.hint


def test_a_host_that_is_silent(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "GET_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ended = attempt("--endpoint", f"http://127.0.0.1:{silent.getsockname()[1]}", code=3)
    assert "does not answer" in ended.error


def test_something_that_is_not_http(attempt: Try) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        child = subprocess.Popen(
            ["python3", "-c", "import sys,socket;s=socket.socket(fileno=int(sys.argv[1]));c,_=s.accept();c.sendall(b'SSH-2.0-x\\r\\n\\r\\n');c.recv(9)", str(listener.fileno())],
            pass_fds=[listener.fileno()],
        )  # fmt: skip
        ended = attempt("--endpoint", f"http://127.0.0.1:{port}", code=3)
        child.kill()
        child.wait()
    assert "does not speak HTTP" in ended.error


@pytest.mark.parametrize(
    ("behaviour", "more", "code", "error", "hint"),
    [
        (always(Answer(401, b'{"error":"no key"}')), [], 3, "wants a key (HTTP 401)", "SWEEP_API_KEY"),
        (always(Answer(401, f'{{"error":"bad key {KEY}"}}'.encode())), ["--header", f"Authorization: Bearer {KEY}"], 3, "refuses the key (HTTP 401)", "SWEEP_API_KEY"),
        (always(Answer(403, KEY.encode())), ["--header", f"x-api-key: {KEY}", "--model", "m"], 3, "refuses the key (HTTP 403)", "SWEEP_API_KEY"),
        (always(Answer(404, b"nothing here")), [], 2, "names no model", "--model"),
        (always(Answer(404, b"nothing here")), ["--model", "m"], 3, "is not there (HTTP 404)", "path"),
        (always(HTML), [], 3, "answers with a web page", "URL"),
        (always(HTML), ["--model", "m"], 3, "text/html", "log"),
        (always(Answer(500, f"<html><title>Oops {KEY}</title>".encode())), ["--model", "m", "--header", f"K: {KEY}"], 3, "HTTP 500: Oops <hidden>", "curl"),
        (always(Answer(429, b"busy", headers={"Retry-After": "7"})), ["--model", "m"], 3, "HTTP 429", "wait, then try again"),
        (always(Answer(body=b'{"data":[]}')), [], 2, "names no model", "--model"),
        (always(Answer(body=b'{"data":[{"id":"one"},{"id":"two"}]}')), [], 2, "serves 2 models: one, two", "--model"),
    ],
)  # fmt: skip
def test_refusals(attempt: Try, behaviour: servers.Behaviour, more: list[str], code: int, error: str, hint: str) -> None:
    with running(behaviour) as refusing:
        ended = attempt("--endpoint", http(refusing), *more, code=code)
    assert error in ended.error
    assert hint in ended.hint
    assert not Path("reports").exists() or list(Path("reports").iterdir()) == []


def test_the_key_of_the_environment_is_used_and_never_shown(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP_API_KEY", KEY)
    with running(lambda asked: Answer(401, asked.headers["authorization"].encode())) as refusing:
        ended = attempt("--endpoint", http(refusing), "--model", "m", code=3)
        assert {asked.headers["authorization"] for asked in refusing.asked} == {f"Bearer {KEY}"}
    assert "refuses the key" in ended.error


def test_a_model_that_is_not_served(attempt: Try) -> None:
    def refuse(asked: servers.Asked) -> Answer | None:
        return Answer(404, b'{"error":{"message":"The model `gpt-9` does not exist"}}') if asked.method == "POST" else None

    with running(refuse) as site:
        ended = attempt("--endpoint", http(site), "--model", "gpt-9", code=2)
    assert "does not serve 'gpt-9'" in ended.error
    assert "--model" in ended.hint


def test_a_context_too_short_names_the_profiles_that_fit(attempt: Try) -> None:
    with running(models=({"id": "small", "max_model_len": 2500},)) as site:
        ended = attempt("--endpoint", http(site), "--profile", "1k-8k", code=2)
    assert ended.error == "profile 1k-8k needs 9216 tokens, small holds 2500"
    assert ended.hint.startswith("these fit: ")
    assert {"1k-1k", "demo"} <= set(ended.hint.removeprefix("these fit: ").split(", "))
    assert "8k-1k" not in ended.hint


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("named", [True, False])
def test_a_redirect_is_never_followed(attempt: Try, status: int, named: bool) -> None:
    with running() as other:
        place = f"http://localhost:{other.port}/v1/models?token={KEY}"
        with running(always(Answer(status, b"", headers={"Location": place}))) as site:
            more = ["--model", "m"] if named else []
            ended = attempt("--endpoint", http(site), "--header", f"Authorization: Bearer {KEY}", *more, code=3)
        assert other.asked == [], "the other host has seen nothing"
    assert f"redirects (HTTP {status})" in ended.error
    assert f"localhost:{other.port}" in ended.error
    assert "not followed" in ended.hint


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return servers.certificates(tmp_path_factory.mktemp("tls"))


def command(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: which authorities are trusted is settled when it starts."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=CLEAN | environ,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("other_host", "Hostname mismatch"),
        ("expired", "certificate has expired"),
        ("self_signed", "self-signed certificate"),
    ],
)
def test_a_certificate_that_is_not_trusted(certificates: Certificates, which: str, says: str) -> None:
    with running(tls=getattr(certificates, which)) as site:
        done = command("--endpoint", f"https://localhost:{site.port}", SSL_CERT_FILE=str(certificates.authority))
        assert site.asked == []
    ended = _ended(done.returncode, done.stdout, done.stderr, 3)
    assert f"the certificate of localhost:{site.port} is not trusted" in ended.error
    assert says.lower().replace("-", " ") in ended.error.lower().replace("-", " ")
    assert "--insecure" in ended.hint


def test_a_server_without_tls(attempt: Try, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "GET_TIMEOUT_S", 1.0)
    ended = attempt("--endpoint", f"https://localhost:{site.port}", code=3)
    assert "http" in ended.hint or "port" in ended.hint


def test_http_to_a_server_with_tls(attempt: Try, certificates: Certificates) -> None:
    with running(tls=certificates.good) as site:
        ended = attempt("--endpoint", f"http://localhost:{site.port}", code=3)
    assert "https" in ended.hint


@pytest.mark.parametrize(("which", "more"), [("good", []), ("self_signed", ["--insecure"])])
def test_tls_that_works_is_recorded(certificates: Certificates, tmp_path: Path, which: str, more: list[str]) -> None:
    with running(tls=getattr(certificates, which)) as site:
        plan = ["--profile", "8/4", "--grid", "1", "--duration", "1s", "--out", tmp_path, "--name", "tls", *more]
        done = command("--endpoint", f"https://localhost:{site.port}", *plan, SSL_CERT_FILE=str(certificates.authority))
    assert done.returncode in (0, 4), done.stderr
    curve = sweep.load(tmp_path / "tls" / "tls.curve.json").curve
    insecure = which == "self_signed"
    assert (curve.endpoint.verified_tls, curve.endpoint.insecure) == (not insecure, insecure)
    assert ("insecure" in {finding.code for finding in curve.findings}) is insecure
    assert curve.points[0].outcomes_all["ok"] > 0


# --- proxies ---------------------------------------------------------------------------------------------------------


def test_a_proxy_of_the_environment_is_used_and_recorded_without_its_password(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:pass-{KEY}@127.0.0.1:{site.port}")
    plan = ["--profile", "8/4", "--grid", "1", "--duration", "1s", "--out", tmp_path, "--name", "proxied"]
    assert main.run([str(each) for each in ("--endpoint", "http://endpoint.test:8000", *plan)]) in (0, 4)
    curve = sweep.load(tmp_path / "proxied" / "proxied.curve.json").curve
    assert curve.endpoint.url == "http://endpoint.test:8000/v1"
    assert curve.endpoint.proxy == f"http://127.0.0.1:{site.port}"
    assert curve.endpoint.loopback is False
    assert curve.points[0].outcomes_all["ok"] > 0
    assert all(asked.headers["host"] == "endpoint.test:8000" for asked in site.asked)
    assert all("proxy-authorization" in asked.headers for asked in site.asked)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes(), path


def test_this_machine_is_never_asked_through_a_proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an endpoint on it nor the embedded one."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for endpoint in (http(site), "sim"):
        assert main.run(["--endpoint", endpoint, "--profile", "8/4", "--grid", "1", "--dry-run"]) == 0
    assert site.asked


def test_a_proxy_that_is_not_there(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:{KEY}@127.0.0.1:9")
    ended = attempt("--endpoint", "http://endpoint.test:8000", code=3)
    assert ended.error == "the proxy http://127.0.0.1:9 does not let us through to endpoint.test:8000"
    assert "proxy" in ended.hint


# --- the question ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "goes_on"), [("n\n", False), ("\n", False), ("y\n", True)])
def test_an_expensive_plan_is_asked_about(site: Site, tmp_path: Path, typed: str, goes_on: bool) -> None:
    """On a terminal, for an endpoint that is not this machine: here one behind a proxy."""
    ours, theirs = pty.openpty()
    plan = ["--endpoint", "http://endpoint.test", "--profile", "1k-8k", "--out", str(tmp_path)]
    proxy = {"http_proxy": f"http://127.0.0.1:{site.port}"}
    process = subprocess.Popen([*COMMAND, *plan], stdin=theirs, stderr=theirs, stdout=theirs, env=CLEAN | proxy)
    os.close(theirs)
    try:
        shown = _until(ours, b"[y/N] ")
        assert b"http://endpoint.test/v1" in shown
        assert all(asked.preflight for asked in site.asked)
        os.write(ours, typed.encode())
        if goes_on:
            limit = time.monotonic() + 20
            while all(asked.preflight for asked in site.asked) and time.monotonic() < limit:
                time.sleep(0.05)
            assert not all(asked.preflight for asked in site.asked)
        else:
            assert process.wait(20) == 0
            assert all(asked.preflight for asked in site.asked), "nothing is sent after a no"
            assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _until(terminal: int, mark: bytes) -> bytes:
    shown, limit = b"", time.monotonic() + 20
    while mark not in shown:
        assert time.monotonic() < limit, shown
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536)
    return shown

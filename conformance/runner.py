"""Runs the scenarios of both SDKs and of the MCP runner, each in a process and a home of its own, and judges the outcome."""

import argparse
import concurrent.futures
import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED_FAILURES = HERE / "expected-failures.txt"
MARK = "TILLERMAN_CONFORMANCE"
# Processes get this long to follow a scenario that has ended.
GRACE_SECONDS = 5


@dataclass(frozen=True)
class Scenario:
    name: str
    command: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    scenario: Scenario
    # None when the scenario passed.
    failure: str | None
    seconds: float


def players(arguments):
    """The programs that play scenarios, one for each SDK and one for the MCP runner."""
    return [
        (sys.executable, str(HERE / "python" / "play.py")),
        ("node", str(HERE / "typescript" / "play.mjs"), arguments.modules),
        ("node", str(HERE / "mcp" / "play.mjs"), arguments.mcp_modules),
    ]


def find_scenarios(arguments):
    found = []
    for player in players(arguments):
        listing = subprocess.run([*player, "--list"], check=True, capture_output=True, text=True)
        for line in listing.stdout.splitlines():
            name, seconds = line.split()
            found.append(Scenario(name, (*player, name), float(seconds)))
    return found


def read_expected_failures(known):
    """Names of scenarios that must fail. A name that no scenario has is a mistake."""
    names = set()
    for line in EXPECTED_FAILURES.read_text().splitlines():
        name = line.split("#")[0].strip()
        if name:
            names.add(name)
    if stale := sorted(names - known):
        sys.exit(f"{EXPECTED_FAILURES.name} lists scenarios that do not exist: {', '.join(stale)}; remove them")
    return names


def environment(directory, arguments):
    """What a scenario may see: nothing of the caller's own settings, credentials or sessions."""
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    return {
        **kept,
        "HOME": f"{directory}/home",
        "CLAUDE_CONFIG_DIR": f"{directory}/config",
        "TMPDIR": f"{directory}/tmp",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "ANTHROPIC_API_KEY": "conformance-key",
        # Permissions may be bypassed as root here: everything happens in a temporary directory.
        "IS_SANDBOX": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CONFORMANCE_BINARY": arguments.binary,
        "CONFORMANCE_SERVER": arguments.server,
        "CONFORMANCE_TRANSCRIPTS": str(HERE / "transcripts"),
        MARK: directory,
    }


def play(scenario, arguments, root):
    directory = os.path.realpath(f"{root}/{scenario.name}")
    shutil.rmtree(directory, ignore_errors=True)
    for part in ("home", "config", "work", "tmp"):
        os.makedirs(f"{directory}/{part}")
    began = time.monotonic()
    with open(f"{directory}/log.txt", "w") as log:
        process = subprocess.Popen(
            scenario.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment(directory, arguments),
            cwd=f"{directory}/work",
            start_new_session=True,
        )
        try:
            code = process.wait(scenario.seconds * arguments.patience)
        except subprocess.TimeoutExpired:
            code = None
            end_group(process.pid)
            process.wait()
    seconds = time.monotonic() - began
    left_behind = end_stragglers(directory)
    if code is None:
        failure = f"not finished after {scenario.seconds * arguments.patience:g} s"
    elif code != 0:
        failure = last_line(f"{directory}/log.txt")
    elif left_behind:
        failure = "left processes behind: " + ", ".join(left_behind)
    else:
        failure = None
    if not arguments.keep:
        shutil.rmtree(directory, ignore_errors=True)
    return Outcome(scenario, failure, seconds)


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_stragglers(directory):
    """Ends processes that a scenario started and left running, and returns what they were."""
    deadline = time.monotonic() + GRACE_SECONDS
    while (stragglers := marked_processes(directory)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in stragglers:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return [f"{pid} ({name})" for pid, name in stragglers.items()]


def marked_processes(directory):
    """Processes of a scenario by their id; the mark in their environment tells them."""
    mark = f"{MARK}={directory}".encode()
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            continue
    return found


def last_line(path):
    lines = [line for line in Path(path).read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "ended without a word"


def report(outcome, expected, times):
    """Prints the line of a scenario and returns whether the outcome was expected."""
    name = outcome.scenario.name
    if outcome.failure is None and name not in expected:
        line, good = f"ok {name}", True
    elif outcome.failure is None:
        line, good = f"FAIL {name}: passes, but {EXPECTED_FAILURES.name} lists it; remove it there", False
    elif name in expected:
        line, good = f"expected {name}: {outcome.failure}", True
    else:
        line, good = f"FAIL {name}: {outcome.failure}", False
    print(line + (f" ({outcome.seconds:.1f} s)" if times else ""), flush=True)
    return good


def parse_arguments():
    parser = argparse.ArgumentParser(prog="conformance/run BINARY")
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--modules", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--mcp-modules", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("--keep", metavar="DIR", help="keep logs, files and captured requests there")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="scenarios at a time")
    parser.add_argument("--patience", type=float, default=1, help="factor on all time limits")
    parser.add_argument("--times", action="store_true", help="print how long each scenario took")
    parser.add_argument("names", nargs="*", help="names or globs; everything when left out")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    scenarios = find_scenarios(arguments)
    expected = read_expected_failures({scenario.name for scenario in scenarios})
    for pattern in arguments.names:
        if not fnmatch.filter([scenario.name for scenario in scenarios], pattern):
            sys.exit(f"no scenario is called {pattern}; --list prints the names")
    if arguments.names:
        wanted = lambda name: any(fnmatch.fnmatchcase(name, pattern) for pattern in arguments.names)
        scenarios = [scenario for scenario in scenarios if wanted(scenario.name)]
    if arguments.list:
        print("\n".join(scenario.name for scenario in scenarios))
        return 0
    root = arguments.keep or tempfile.mkdtemp(prefix="conformance-")
    os.makedirs(root, exist_ok=True)
    passed = failed = foreseen = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
            jobs = [pool.submit(play, scenario, arguments, root) for scenario in scenarios]
            for job in concurrent.futures.as_completed(jobs):
                outcome = job.result()
                good = report(outcome, expected, arguments.times)
                failed += not good
                passed += good and outcome.failure is None
                foreseen += good and outcome.failure is not None
    finally:
        if not arguments.keep:
            shutil.rmtree(root, ignore_errors=True)
    print(f"{foreseen} failed as expected")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

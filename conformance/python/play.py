"""Plays one scenario of the Python SDK; `--list` prints the names with their time limits."""

import asyncio
import importlib
import os
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from stage import SCENARIOS, Stage  # noqa: E402


def load():
    for file in sorted((HERE / "scenarios").glob("*.py")):
        importlib.import_module(f"scenarios.{file.stem}")


def place(error):
    """Where in the scenarios an error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "scenarios" in Path(frame.filename).parts] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"


async def play(name):
    function, seconds = SCENARIOS[name]
    stage = Stage()
    try:
        # A little less than the runner allows, so that the place where it hangs is known.
        await asyncio.wait_for(function(stage), seconds - 2)
        await stage.close()
    finally:
        stage.abandon()


def main():
    load()
    if sys.argv[1] == "--list":
        for name, (_, seconds) in SCENARIOS.items():
            print(name, seconds)
        return 0
    try:
        asyncio.run(play(sys.argv[1]))
    except BaseException as error:
        traceback.print_exc()
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        text = " ".join(str(error).split()) or "failed"
        print(f"{place(error)}: {kind}{text[:600]}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)

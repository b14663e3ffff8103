#!/usr/bin/env python3
"""A desktop shell in a terminal: starts `tillerman ipc` and talks to it.

Usage: shell.py [PATH_OF_TILLERMAN] [ARGUMENTS FOR tillerman ipc …]

Type messages; `/image FILE` sends a picture with the next one, an empty line ends. Questions about
permission are answered with y or n. docs/ipc.md describes the protocol.
"""

import base64
import itertools
import json
import mimetypes
import subprocess
import sys

ENDINGS = ("done", "error")


class Host:
    """The process behind the shell."""

    def __init__(self, program, arguments):
        command = [program, "ipc", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.numbers = itertools.count(1)
        ready = self.hear()
        if ready.get("type") != "ready":
            raise SystemExit(f"the host is not ready: {ready}")

    def hear(self):
        """The next response; what is too long for a line is in a file."""
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the host has ended")
        response = json.loads(line)
        if "file" in response:
            with open(response["file"], encoding="utf-8") as file:
                response = json.load(file)
        return response

    def tell(self, kind, **fields):
        """Sends a request and returns its id."""
        request = f"request-{next(self.numbers)}"
        self.process.stdin.write(json.dumps({"id": request, "kind": kind, **fields}) + "\n")
        self.process.stdin.flush()
        return request

    def ask(self, kind, **fields):
        """Sends a request and shows everything about it, up to its end."""
        request = self.tell(kind, **fields)
        while True:
            response = self.hear()
            if response["type"] == "permission_request":
                self.decide(response)
            elif response["id"] == request:
                show(response)
                if response["type"] in ENDINGS:
                    return response

    def decide(self, question):
        """Has the user decide about a call."""
        print(f"\n? {question['title']}", *question["lines"], sep="\n  ")
        allowed = input("  allow? [y/N] ").strip().lower() == "y"
        self.tell(
            "permission_response",
            permission_id=question["permission_id"],
            decision="allow" if allowed else "deny",
        )

    def close(self):
        """Lets the host finish."""
        self.process.stdin.close()
        return self.process.wait(timeout=30)


def show(response):
    """Prints a response for people."""
    kind = response["type"]
    if kind == "token":
        print(response["token"], end="", flush=True)
    elif kind == "tool_use":
        print(f"\n> {response['tool_name']} {json.dumps(response['tool_input'])}")
    elif kind == "tool_result":
        mark = "!" if response["is_error"] else "<"
        print(f"{mark} {response['content'][:500]}")
    elif kind == "tool_progress":
        print(f"… {response['tool_name']}: {response['elapsed_time_seconds']:.0f} s")
    elif kind == "notice":
        print(f"\n({response['notice']})")
    elif kind == "error":
        print(f"\nerror: {response['error']}")
    elif kind == "done":
        print()


def read_image(path):
    """A picture as the host takes it."""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode("ascii")
    mime_type = mimetypes.guess_type(path)[0] or "image/png"
    return {"data": data, "mime_type": mime_type, "name": path}


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "tillerman"
    host = Host(program, sys.argv[2:])
    images = []
    while True:
        try:
            message = input("you: ").strip()
        except EOFError:
            break
        if not message:
            break
        if message.startswith("/image "):
            images.append(read_image(message.removeprefix("/image ").strip()))
            continue
        host.ask("user_message", message=message, images=images)
        images = []
    raise SystemExit(host.close())


if __name__ == "__main__":
    main()

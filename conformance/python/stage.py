"""What scenarios of the Python SDK stand on: the binary, a scripted model, and questions about both."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

SCENARIOS = {}


def scenario(function=None, *, seconds=40):
    """Registers a scenario under the name of its function."""

    def register(function):
        SCENARIOS[f"py_{function.__name__}"] = (function, seconds)
        return function

    return register(function) if function else register


def say(text, **more):
    """A reply of the model that is text."""
    return {"text": text, **more}


def use(name, **input):
    """A reply of the model that calls one tool."""
    return {"tools": [{"name": name, "input": input}]}


def shell(command):
    """A reply of the model that runs a command."""
    return use("Bash", command=command, description="a command of the scenario")


def equal(actual, expected, what="value"):
    assert actual == expected, f"{what} is {actual!r}, expected {expected!r}"


def contains(whole, part, what="value"):
    assert part in whole, f"{what} lacks {part!r}: {str(whole)[:500]!r}"


def lacks(whole, part, what="value"):
    assert part not in whole, f"{what} should not have {part!r}: {str(whole)[:500]!r}"


def plain(content):
    """All text in the content of a message, that of tool results included."""
    if isinstance(content, str):
        return content
    texts = []
    for block in content or []:
        if block.get("type") == "text":
            texts.append(block["text"])
        elif block.get("type") == "tool_result":
            texts.append(plain(block.get("content")))
    return "\n".join(texts)


class Request:
    """One request that reached the model."""

    def __init__(self, captured):
        self.body = captured["body"]
        self.headers = captured["headers"]
        self.messages = self.body["messages"]
        self.model = self.body["model"]

    @property
    def system(self):
        return plain(self.body.get("system"))

    @property
    def tools(self):
        return [tool["name"] for tool in self.body.get("tools") or []]

    def said_by(self, role):
        return [plain(message["content"]) for message in self.messages if message["role"] == role]

    @property
    def user_text(self):
        return "\n".join(self.said_by("user"))

    def blocks(self, kind):
        contents = [message["content"] for message in self.messages if isinstance(message["content"], list)]
        return [block for content in contents for block in content if block["type"] == kind]

    @property
    def results(self):
        """What tools answered, as text."""
        return [plain(block.get("content")) for block in self.blocks("tool_result")]


class Capture:
    """Everything the model server was asked."""

    def __init__(self, data):
        self.requests = [Request(captured) for captured in data["requests"]]
        self.outcomes = data["outcomes"]
        self.problems = data["problems"]
        self.prefix_violation = data["prefix_violation"]
        self.left_over = data["left_over"]

    @property
    def last(self):
        return self.requests[-1]


class Model:
    """The scripted model server, as a process of its own."""

    def __init__(self, replies, name):
        script = Path(os.environ["TILLERMAN_CONFORMANCE"], f"{name}.json")
        script.write_text(json.dumps({"replies": replies}))
        self.capture_file = script.with_suffix(".capture.json")
        command = [os.environ["CONFORMANCE_SERVER"], str(script), "--capture", str(self.capture_file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the model server did not start"
        self.capture = None

    def finish(self):
        """Stops the server and returns what it was asked."""
        if self.capture is None:
            self.process.stdin.close()
            self.process.wait(10)
            self.capture = Capture(json.loads(self.capture_file.read_text()))
        return self.capture

    def verify(self):
        capture = self.finish()
        assert not capture.problems, f"the API would refuse: {capture.problems[0]}"
        assert capture.prefix_violation is None, f"the prompt cache is lost: {capture.prefix_violation}"
        assert capture.left_over == 0, f"{capture.left_over} replies of the script were never asked for"


class Run(list):
    """The messages of a run, with the questions scenarios ask about them."""

    def of(self, *kinds):
        return [message for message in self if isinstance(message, kinds)]

    def system(self, subtype):
        return [message.data for message in self.of(SystemMessage) if message.subtype == subtype]

    @property
    def init(self):
        return self.system("init")[0]

    @property
    def results(self):
        return self.of(ResultMessage)

    @property
    def result(self):
        assert self.results, "there is no result among " + ", ".join(type(m).__name__ for m in self)
        return self.results[-1]

    def blocks(self, kind):
        contents = [m.content for m in self.of(AssistantMessage, UserMessage) if isinstance(m.content, list)]
        return [block for content in contents for block in content if isinstance(block, kind)]

    @property
    def text(self):
        return "".join(block.text for m in self.of(AssistantMessage) for block in m.content if isinstance(block, TextBlock))

    @property
    def calls(self):
        return self.blocks(ToolUseBlock)

    @property
    def tool_results(self):
        return self.blocks(ToolResultBlock)

    @property
    def outputs(self):
        return [plain(block.content) for block in self.tool_results]

    @property
    def events(self):
        return [message.event for message in self.of(StreamEvent)]

    def succeeded(self):
        result = self.result
        assert result.subtype == "success" and not result.is_error, f"failed: {result.subtype} {result.result} {result.errors}"
        return self


class Stage:
    """A directory, the binary, and the model it talks to."""

    def __init__(self):
        self.binary = os.environ["CONFORMANCE_BINARY"]
        self.config = os.environ["CLAUDE_CONFIG_DIR"]
        self.cwd = os.path.realpath(os.getcwd())
        self.stderr = []
        self.models = []

    def model(self, *replies):
        """Starts a model that says this and makes the binary talk to it."""
        model = Model(list(replies), f"model-{len(self.models)}")
        self.models.append(model)
        os.environ["ANTHROPIC_BASE_URL"] = model.url
        return model

    def path(self, name):
        return os.path.join(self.cwd, name)

    def write(self, name, text):
        path = Path(self.cwd, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def read(self, name):
        return Path(self.cwd, name).read_text()

    def exists(self, name):
        return os.path.exists(self.path(name))

    def transcript(self, session_id):
        found = list(Path(self.config, "projects").glob(f"*/{session_id}.jsonl"))
        assert len(found) == 1, f"session {session_id} has {len(found)} files"
        return found[0]

    def options(self, **chosen):
        return ClaudeAgentOptions(**{"cwd": self.cwd, "cli_path": self.binary, "stderr": self.stderr.append, **chosen})

    async def ask(self, prompt, **chosen):
        """Runs a query to its end."""
        run = Run()
        async for message in query(prompt=prompt, options=self.options(**chosen)):
            run.append(message)
        return run

    async def ask_and_fail(self, prompt, **chosen):
        """Runs a query that the SDK ends with an exception: the messages before it, and the exception."""
        run = Run()
        try:
            async for message in query(prompt=prompt, options=self.options(**chosen)):
                run.append(message)
        except Exception as error:
            return run, error
        raise AssertionError("the SDK raised nothing")

    def client(self, **chosen):
        return ClaudeSDKClient(self.options(**chosen))

    async def turn(self, client, prompt):
        """Sends a prompt and reads up to its result."""
        await client.query(prompt)
        return Run([message async for message in client.receive_response()])

    async def close(self):
        """What every scenario ends with: the model was used as scripted and as the API allows."""
        for model in self.models:
            model.verify()
        if self.stderr:
            print("stderr of the binary:", *self.stderr[-50:], sep="\n")

    def abandon(self):
        for model in self.models:
            if model.process.poll() is None:
                model.process.kill()


async def eventually(condition, what, seconds=10):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def user_message(content, **more):
    """A user message as hosts stream them."""
    return {"type": "user", "session_id": "", "parent_tool_use_id": None, "message": {"role": "user", "content": content}, **more}

"""MCP servers: inside the SDK, and of the official Python package over every transport."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

from claude_agent_sdk import create_sdk_mcp_server, tool
from stage import contains, equal, eventually, say, scenario, use

SERVER = '''
import sys
from mcp.server import MCPServer

server = MCPServer("notes", version="3.1.4")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails"""
    raise RuntimeError("never shown")


@server.resource("note://today")
def today() -> str:
    return "buy milk"


@server.prompt()
def greet(who: str) -> str:
    return f"Say hello to {who}, please"


kind, port = sys.argv[1], int(sys.argv[2])
server.run(kind, **({} if kind == "stdio" else {"port": port}))
'''


@scenario
async def mcp_sdk_server(stage):
    @tool("double", "Doubles a number", {"number": int})
    async def double(arguments):
        return {"content": [{"type": "text", "text": f"twice is {arguments['number'] * 2}"}]}

    server = create_sdk_mcp_server("sums", "1.0.0", [double])
    model = stage.model(use("mcp__sums__double", number=21), say("forty-two"))
    run = (await stage.ask("double 21", mcp_servers={"sums": server}, allowed_tools=["mcp__sums__double"])).succeeded()
    equal([(s["name"], s["status"]) for s in run.init["mcp_servers"]], [("sums", "connected")], "servers")
    contains(model.finish().last.results[0], "twice is 42", "tool result")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_open(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


async def use_everything(stage, server):
    model = stage.model(
        use("mcp__notes__add", a=40, b=2),
        use("mcp__notes__fail"),
        use("ListMcpResourcesTool"),
        use("ReadMcpResourceTool", server="notes", uri="note://today"),
        say("all used"),
        say("hello"),
    )
    allowed = ["mcp__notes", "ListMcpResourcesTool", "ReadMcpResourceTool"]
    async with stage.client(mcp_servers={"notes": server}, allowed_tools=allowed) as client:
        run = (await stage.turn(client, "use everything")).succeeded()
        equal([(s["name"], s["status"]) for s in run.init["mcp_servers"]], [("notes", "connected")], "servers")
        contains(run.init["slash_commands"], "mcp__notes__greet", "commands")
        (await stage.turn(client, "/mcp__notes__greet Ada")).succeeded()
        status = (await client.get_mcp_status())["mcpServers"][0]
    equal(status["serverInfo"], {"name": "notes", "version": "3.1.4"}, "what the server says it is")
    equal(sorted(tool["name"] for tool in status["tools"]), ["add", "fail"], "tools")
    capture = model.finish()
    results = capture.requests[4].results
    contains(results[0], "42", "sum")
    contains(results[1], "Error executing tool fail", "failure")
    contains(results[2], "note://today", "resources")
    contains(results[3], "buy milk", "resource")
    contains(capture.last.user_text, "Say hello to Ada, please", "rendered prompt")


@scenario
async def mcp_package_stdio(stage):
    script = stage.path("server.py")
    stage.write("server.py", SERVER)
    await use_everything(stage, {"command": sys.executable, "args": [script, "stdio", "0"]})


@contextlib.asynccontextmanager
async def listening(stage, kind):
    stage.write("server.py", SERVER)
    port = free_port()
    process = subprocess.Popen([sys.executable, stage.path("server.py"), kind, str(port)], stderr=subprocess.DEVNULL)
    try:
        await eventually(lambda: is_open(port), "the server to listen", 20)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@scenario
async def mcp_package_http(stage):
    async with listening(stage, "streamable-http") as url:
        await use_everything(stage, {"type": "http", "url": f"{url}/mcp"})


@scenario
async def mcp_package_sse(stage):
    async with listening(stage, "sse") as url:
        await use_everything(stage, {"type": "sse", "url": f"{url}/sse"})


def until_init(stage, servers):
    """Seconds from the start of the process to its first init frame, with these servers of the user's."""
    Path(stage.config, ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    model = stage.model(say("done"))
    prompt = {"type": "user", "session_id": "", "message": {"role": "user", "content": "go"}}
    flags = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
    began = time.monotonic()
    with subprocess.Popen([stage.binary, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as session:
        session.stdin.write(json.dumps(prompt).encode() + b"\n")
        session.stdin.flush()
        while json.loads(line := session.stdout.readline()).get("subtype") != "init":
            assert line, "the session ended before it began"
        elapsed = time.monotonic() - began
        listed = json.loads(line)["mcp_servers"]
        session.communicate()
    equal(session.returncode, 0, "exit code")
    equal(len(listed), len(servers), "servers in init")
    model.finish()
    return elapsed


@scenario
async def mcp_ten_servers_start(stage):
    sleepers = {f"s{number}": {"command": "sleep", "args": ["600"]} for number in range(10)}
    # The best of several, because other work on the machine only ever adds to a measurement.
    rounds = [(until_init(stage, sleepers), until_init(stage, {})) for _ in range(7)]
    with_servers, without = (min(times) * 1000 for times in zip(*rounds))
    print(f"init after {with_servers:.1f} ms with ten servers, {without:.1f} ms without")
    assert with_servers < without + 20, f"ten servers that nobody waits for cost {with_servers - without:.1f} ms"

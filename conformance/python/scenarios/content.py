"""What goes through unharmed: thoughts, pictures, other scripts, large outputs, system prompts."""

import base64
import struct
import zlib

from claude_agent_sdk import ThinkingBlock, get_session_messages
from stage import contains, equal, say, scenario, shell, use, user_message


def picture():
    """A PNG of one red pixel."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


@scenario
async def thinking_round_trip(stage):
    model = stage.model({"thinking": "first I look", **shell("echo seen")}, say("done"), say("later"))
    async with stage.client(permission_mode="bypassPermissions", thinking={"type": "enabled", "budget_tokens": 4000}, model="claude-sonnet-4-5") as client:
        run = (await stage.turn(client, "look")).succeeded()
        [thought] = run.blocks(ThinkingBlock)
        equal(thought.thinking, "first I look", "thought")
        assert thought.signature, "a thought has a signature"
        (await stage.turn(client, "and later")).succeeded()
    requests = model.finish().requests
    equal(requests[0].body["thinking"]["budget_tokens"], 4000, "budget")
    for request in requests[1:]:
        equal([(block["thinking"], block["signature"]) for block in request.blocks("thinking")], [(thought.thinking, thought.signature)], "thoughts sent back")


@scenario
async def image_input(stage):
    model = stage.model(say("red"))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture()}}

    async def prompts():
        yield user_message([image, {"type": "text", "text": "which colour?"}])

    (await stage.ask(prompts())).succeeded()
    [seen] = model.finish().last.blocks("image")
    equal(seen["source"], image["source"], "picture")


@scenario
async def image_from_a_file(stage):
    with open(stage.path("dot.png"), "wb") as file:
        file.write(base64.b64decode(picture()))
    model = stage.model(use("Read", file_path=stage.path("dot.png")), say("a dot"))
    (await stage.ask("look at dot.png")).succeeded()
    [result] = model.finish().last.blocks("tool_result")
    equal([block["source"]["media_type"] for block in result["content"] if block["type"] == "image"], ["image/png"], "pictures in the result")


@scenario
async def unicode_text(stage):
    text = "Grüße, 世界! 👩‍👩‍👧 שלום \u2028line\u2029 e\u0301 \U0001d11e \\ \" tab\tend"
    name = "naïve 文件 🎼.txt"
    model = stage.model(use("Write", file_path=stage.path(name), content=text), use("Read", file_path=stage.path(name)), shell("cat *.txt"), say(text, delta_chars=1))
    run = (await stage.ask(text, permission_mode="bypassPermissions", include_partial_messages=True)).succeeded()
    equal(run.result.result, text, "answer")
    equal(stage.read(name), text, "file")
    last = model.finish().last
    equal(last.said_by("user")[0], text, "prompt")
    contains(last.results[2], text, "output of the shell")
    deltas = [event["delta"].get("text", "") for event in run.events if event["type"] == "content_block_delta"]
    equal("".join(deltas), text, "text of the deltas")
    (again,) = [message for message in await read_back(stage, run) if message.type == "user" and message.message["content"] == text]
    assert again.uuid, "the prompt is on disk"


async def read_back(stage, run):
    return get_session_messages(run.result.session_id, stage.cwd)


@scenario
async def large_tool_output(stage):
    """Two megabytes of output neither break the SDK's line limit nor flood the model."""
    model = stage.model(shell("yes 0123456789abcdef | head -c 2000000"), say("that was long"))
    run = (await stage.ask("print a lot", permission_mode="bypassPermissions")).succeeded()
    equal(run.result.result, "that was long")
    shown = model.finish().last.results[0]
    assert 100 < len(shown) < 100_000, f"the model saw {len(shown)} characters"
    contains(shown, "0123456789abcdef", "what the model saw")


@scenario
async def large_prompt(stage):
    text = "a line of a very long prompt\n" * 20_000
    model = stage.model(say("read"))
    (await stage.ask(text)).succeeded()
    equal(len(model.finish().last.said_by("user")[0].strip()), len(text.strip()), "length of the prompt")


@scenario
async def large_file(stage):
    """Writing and reading back half a megabyte of text keeps lines and memory in bounds."""
    text = "".join(f"line {n} of a large file\n" for n in range(20_000))
    model = stage.model(use("Write", file_path=stage.path("large.txt"), content=text), use("Read", file_path=stage.path("large.txt"), offset=19_990, limit=5), say("done"))
    (await stage.ask("write it", permission_mode="acceptEdits")).succeeded()
    equal(stage.read("large.txt"), text, "file")
    contains(model.finish().last.results[1], "line 19991 of a large file", "what was read back")


@scenario
async def system_prompt_string(stage):
    model = stage.model(say("arr"))
    (await stage.ask("hello", system_prompt="You are a pirate.")).succeeded()
    contains(model.finish().last.system, "You are a pirate.", "system prompt")


@scenario
async def system_prompt_preset(stage):
    model = stage.model(say("one"), say("two"), say("three"))
    preset = {"type": "preset", "preset": "claude_code"}
    (await stage.ask("first", system_prompt=preset)).succeeded()
    (await stage.ask("second", system_prompt={**preset, "append": "Answer in verse."})).succeeded()
    (await stage.ask("third")).succeeded()
    plain, appended, empty = [request.system for request in model.finish().requests]
    assert len(plain) > 500, "the preset is a prompt of its own"
    contains(appended, "Answer in verse.", "system prompt")
    assert len(appended) > len(plain), "the addition comes on top"
    assert len(empty) < len(plain) / 2, "without a choice the prompt is empty but for the environment"


@scenario
async def system_prompt_file(stage):
    model = stage.model(say("aye"))
    file = stage.write("prompt.md", "You are a lighthouse keeper.")
    (await stage.ask("hello", system_prompt={"type": "file", "path": file})).succeeded()
    contains(model.finish().last.system, "You are a lighthouse keeper.", "system prompt")


@scenario
async def model_options(stage):
    """Choices about the model reach the request."""
    model = stage.model(say("quick"))
    (await stage.ask("hello", model="claude-haiku-4-5", thinking={"type": "disabled"}, betas=["context-1m-2025-08-07"])).succeeded()
    request = model.finish().last
    contains(request.model, "haiku-4-5", "model")
    assert (request.body.get("thinking") or {"type": "disabled"})["type"] == "disabled", request.body.get("thinking")
    contains(request.headers.get("anthropic-beta", ""), "context-1m-2025-08-07", "betas")

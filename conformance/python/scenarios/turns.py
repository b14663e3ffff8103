"""Prompts and answers: one-shot queries, streamed prompts, clients, raw events, interrupts."""

import asyncio

from claude_agent_sdk import AssistantMessage, PermissionResultAllow, ResultMessage, StreamEvent, SystemMessage, query
from stage import Run, contains, equal, eventually, lacks, say, scenario, shell, user_message


@scenario
async def query_string(stage):
    usage = {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 500}
    model = stage.model(say("Forty-two.", usage=usage))
    run = (await stage.ask("What is the answer?")).succeeded()
    kinds = [type(message) for message in run if not (isinstance(message, SystemMessage) and message.subtype != "init")]
    equal(kinds, [SystemMessage, AssistantMessage, ResultMessage], "kinds of messages")
    result = run.result
    equal(result.result, "Forty-two.")
    equal(result.num_turns, 1, "turns")
    equal(result.stop_reason, "end_turn", "stop reason")
    equal((result.usage["input_tokens"], result.usage["output_tokens"]), (1200, 34), "tokens")
    equal(result.usage["cache_read_input_tokens"], 500, "tokens read from the cache")
    assert 0 < result.total_cost_usd < 1, f"cost {result.total_cost_usd}"
    (spent,) = result.model_usage.values()
    equal((spent["inputTokens"], spent["outputTokens"]), (1200, 34), "tokens of the model")
    equal({message.session_id for message in run.of(AssistantMessage, ResultMessage)}, {run.init["session_id"]}, "session ids")
    equal(run.init["cwd"], stage.cwd, "directory")
    request = model.finish().last
    equal(request.said_by("user"), ["What is the answer?"], "what the model saw")
    equal(request.headers["x-api-key"], "conformance-key", "key")


@scenario
async def query_iterable(stage):
    model = stage.model(say("first answer"), say("second answer"))
    answered = asyncio.Event()

    async def prompts():
        yield user_message("first prompt")
        await answered.wait()
        yield user_message([{"type": "text", "text": "second prompt"}])

    results = []
    async for message in query(prompt=prompts(), options=stage.options()):
        if isinstance(message, ResultMessage):
            results.append(message)
            answered.set()
    equal([result.result for result in results], ["first answer", "second answer"], "results")
    equal(len({result.session_id for result in results}), 1, "sessions")
    equal(model.finish().last.said_by("assistant"), ["first answer"], "what the model had said")


@scenario
async def multi_turn(stage):
    model = stage.model(say("red"), shell("echo from-the-shell"), say("green"), say("blue"))
    async with stage.client(permission_mode="bypassPermissions") as client:
        runs = [(await stage.turn(client, f"prompt {number}")).succeeded() for number in range(3)]
    equal([run.result.result for run in runs], ["red", "green", "blue"], "results")
    equal(len({run.result.session_id for run in runs}), 1, "sessions")
    equal(len({run.init["session_id"] for run in runs}), 1, "every turn has an init of the same session")
    last = model.finish().last
    equal(last.said_by("user")[0], "prompt 0")
    contains(last.results[0], "from-the-shell", "tool result")
    costs = [run.result.total_cost_usd for run in runs]
    assert costs == sorted(costs) and costs[0] < costs[2], f"costs add up over the session: {costs}"


@scenario
async def partial_messages(stage):
    words = "Partial messages let a host show text while it is written."
    stage.model({"thinking": "think first", "text": words, "tools": [{"name": "Bash", "input": {"command": "true"}}], "delta_chars": 7}, say("end"))
    run = (await stage.ask("go", include_partial_messages=True, permission_mode="bypassPermissions")).succeeded()
    deltas = [event["delta"] for event in run.events if event["type"] == "content_block_delta"]
    equal("".join(delta.get("text", "") for delta in deltas), words + "end", "text of the deltas")
    equal("".join(delta.get("thinking", "") for delta in deltas), "think first", "thoughts of the deltas")
    open_blocks, seen = set(), []
    for message in run:
        if isinstance(message, AssistantMessage):
            seen.append("whole")
            assert open_blocks, "a whole block comes before its stop event"
        elif isinstance(message, StreamEvent):
            kind, index = message.event["type"], message.event.get("index")
            if kind == "content_block_start":
                assert index not in open_blocks, "a block starts once"
                open_blocks.add(index)
            elif kind == "content_block_stop":
                open_blocks.remove(index)
            assert kind != "ping", "pings stay inside"
    equal(len(seen), 4, "one whole message for each block")
    assert not open_blocks, f"blocks {open_blocks} never stop"


@scenario
async def prompt_during_a_tool(stage):
    """A prompt that arrives while a call waits for permission is told to the model in the same turn."""
    model = stage.model(shell("touch noted; echo tool-output"), say("heard both"))
    client = stage.client(can_use_tool=None)

    async def allow(name, input, context):
        await client.query("one more thing: be brief")
        return PermissionResultAllow()

    client.options.can_use_tool = allow
    async with client:
        run = (await stage.turn(client, "run it")).succeeded()
    equal(run.result.result, "heard both")
    requests = model.finish().requests
    equal(len(requests), 2, "requests")
    contains(requests[1].results[0], "tool-output", "tool result")
    contains(requests[1].user_text, "one more thing: be brief", "what the model saw")
    lacks(requests[0].user_text, "one more thing", "the first request")


@scenario
async def prompts_queue_up(stage):
    """Prompts during an answer are answered after it, none is lost."""
    model = stage.model(say("a long answer", pauses=[{"after_events": 4, "ms": 2000}]), say("the rest"))
    async with stage.client(include_partial_messages=True) as client:
        await client.query("first")
        run, sent = Run(), False
        async for message in client.receive_messages():
            run.append(message)
            if not sent and isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                sent = True
                await client.query("second")
                await client.query("third")
            if len(run.results) == 2:
                break
    equal([result.result for result in run.results], ["a long answer", "the rest"], "results")
    last = model.finish().last
    contains(last.user_text, "second", "what the model saw")
    contains(last.user_text, "third", "what the model saw")


@scenario
async def interrupt_while_streaming(stage):
    model = stage.model(say("one two three four", delta_chars=4, hang_after_events=5), say("still here"))
    async with stage.client(include_partial_messages=True) as client:
        await client.query("count")
        run, asked = Run(), False
        async for message in client.receive_messages():
            run.append(message)
            if not asked and isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                asked = True
                await client.interrupt()
            if isinstance(message, ResultMessage):
                break
        equal((run.result.subtype, run.result.is_error), ("error_during_execution", True), "interrupted result")
        equal(run.result.terminal_reason, "aborted_streaming", "reason")
        (await stage.turn(client, "are you there?")).succeeded()
    capture = model.finish()
    equal(capture.outcomes[0], "client_gone", "the request is given up")
    contains(capture.last.user_text, "are you there?", "the next request")
    contains(capture.last.user_text, "count", "the next request")


@scenario
async def interrupt_while_a_tool_runs(stage):
    model = stage.model(shell("echo $$ > pid; sleep 300"), say("fine"))
    async with stage.client(permission_mode="bypassPermissions") as client:
        await client.query("sleep")
        await eventually(lambda: stage.exists("pid") and stage.read("pid").strip(), "the start of the command")
        await client.interrupt()
        run = Run([message async for message in client.receive_response()])
        equal((run.result.subtype, run.result.terminal_reason), ("error_during_execution", "aborted_tools"), "interrupted result")
        pid = int(stage.read("pid"))
        await eventually(lambda: not is_alive(pid), "the end of the command")
        (await stage.turn(client, "go on")).succeeded()
    equal(len(model.finish().last.results), 1, "the call is answered")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@scenario
async def slow_stream(stage):
    """A model that pauses in the middle is waited for."""
    stage.model(say("slow and steady", delta_chars=5, pauses=[{"after_events": n, "ms": 1200} for n in (0, 3, 5)]))
    run = (await stage.ask("take your time")).succeeded()
    equal(run.result.result, "slow and steady")
    assert run.result.duration_ms >= 3000, f"took {run.result.duration_ms} ms"


@scenario
async def slash_command(stage):
    model = stage.model(say("an answer", usage={"input_tokens": 1000000, "output_tokens": 0}))
    async with stage.client() as client:
        (await stage.turn(client, "ask something")).succeeded()
        run = (await stage.turn(client, "/cost")).succeeded()
    contains(run.result.result, "$", "the cost")
    equal(run.result.num_turns, 0, "turns of a command")
    equal(len(model.finish().requests), 1, "requests")


@scenario(seconds=60)
async def sixty_turns(stage):
    model = stage.model(*[reply for n in range(60) for reply in (shell(f"echo output-{n}"), say(f"answer {n}"))])
    async with stage.client(permission_mode="bypassPermissions") as client:
        for number in range(60):
            run = (await stage.turn(client, f"prompt {number}")).succeeded()
            equal(run.result.result, f"answer {number}")
    last = model.finish().last
    equal(len(last.results), 60, "tool results in the last request")
    equal([text.strip() for text in last.results], [f"output-{n}" for n in range(60)], "tool results")


@scenario(seconds=60)
async def parallel_sessions(stage):
    """Ten sessions at once do not see each other."""
    replies = [reply for n in range(10) for reply in ({**shell(f"echo out-{n}"), "when": f"colour-{n}."}, say(f"done-{n}", when=f"colour-{n}."))]
    model = stage.model(*replies)
    runs = await asyncio.gather(*[stage.ask(f"mix colour-{n}.", permission_mode="bypassPermissions") for n in range(10)])
    equal([run.succeeded().result.result for run in runs], [f"done-{n}" for n in range(10)], "results")
    equal(len({run.result.session_id for run in runs}), 10, "sessions")
    for request in model.finish().requests:
        equal(sum(f"colour-{n}." in request.user_text for n in range(10)), 1, "conversations in a request")

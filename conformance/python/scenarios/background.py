"""Work in the background: commands that are watched, looked at and stopped, and what a resumed session says of them."""

from claude_agent_sdk import ResultMessage
from stage import contains, equal, eventually, lacks, say, scenario, use

FREE = {"permission_mode": "bypassPermissions"}


async def next_result(messages):
    """What comes until the next result, and the result."""
    run = []
    async for message in messages:
        run.append(message)
        if isinstance(message, ResultMessage):
            return run, message
    raise AssertionError("the stream ended without a result")


@scenario
async def monitor(stage):
    """Each line wakes the session; the end does too."""
    script = "echo ready; until [ -e go ]; do sleep 0.05; done; echo gone"
    model = stage.model(
        use("Monitor", command=script, description="the door"),
        say("watching"),
        say("it is ready"),
        say("it is gone"),
    )
    async with stage.client(**FREE) as client:
        await client.query("watch the door")
        messages = client.receive_messages()
        _, watching = await next_result(messages)
        _, ready = await next_result(messages)
        stage.write("go", "")
        run, gone = await next_result(messages)
    equal([watching.result, ready.result, gone.result], ["watching", "it is ready", "it is gone"], "results")
    subtypes = [getattr(message, "subtype", None) for message in run]
    contains(subtypes, "task_notification", "what is shown")
    requests = model.finish().requests
    contains(requests[2].user_text, "> ready", "the first line")
    contains(requests[3].user_text, "> gone", "the second line")
    contains(requests[3].user_text, "exit code 0", "the end")


@scenario
async def monitor_after_the_input_closed(stage):
    """A one-shot query is read to the end of what it watches."""
    model = stage.model(
        use("Monitor", command="sleep 0.5; echo late", description="the post"),
        say("watching"),
        say("it came"),
    )
    run = await stage.ask("watch the post", **FREE)
    equal([result.result for result in run.results], ["watching", "it came"], "results")
    contains(model.finish().last.user_text, "> late", "the line")


@scenario
async def monitor_is_judged_like_bash(stage):
    """What Bash may not run, Monitor may not watch."""
    model = stage.model(
        use("Monitor", command="touch made; tail -f made", description="sly"),
        say("refused"),
    )
    run = (await stage.ask("watch it", disallowed_tools=["Bash(touch *)"], **FREE)).succeeded()
    equal(run.result.result, "refused")
    contains(model.finish().last.results[0], "deny rule", "the answer")
    assert not stage.exists("made"), "nothing ran"
    model = stage.model(say("none"))
    run = (await stage.ask("what have you?", disallowed_tools=["Bash"], **FREE)).succeeded()
    lacks(run.init["tools"], "Monitor", "tools")
    lacks(model.finish().last.tools, "Monitor", "tools")


@scenario
async def stop_task(stage):
    """A command in the background is stopped on request, and the model need not hear of it."""
    command = "echo $$ >pid; exec sleep 60"
    model = stage.model(use("Bash", command=command, run_in_background=True), say("started"), say("well"))
    async with stage.client(**FREE) as client:
        run = (await stage.turn(client, "start it")).succeeded()
        (started,) = run.system("task_started")
        equal(started["task_type"], "local_bash", "kind of task")
        await eventually(lambda: stage.exists("pid"), "the command to run")
        await client.stop_task(started["task_id"])
        run = (await stage.turn(client, "how is it?")).succeeded()
    equal([frame["status"] for frame in run.system("task_notification")], ["stopped"], "its end")
    equal(len(model.finish().requests), 3, "requests")
    lacks(model.finish().last.user_text, "task-notification", "what the model hears")


@scenario
async def compact_and_context(stage):
    """Commands of the session work as prompts."""
    model = stage.model(say("the code is 1234"), say("A code was given: 1234."), say("1234", moves_prefix="compacted"))
    async with stage.client() as client:
        (await stage.turn(client, "what is the code?")).succeeded()
        context = (await stage.turn(client, "/context")).succeeded()
        compacted = (await stage.turn(client, "/compact keep the code")).succeeded()
        (await stage.turn(client, "again?")).succeeded()
    contains(context.result.result.lower(), "tokens", "the context")
    (boundary,) = compacted.system("compact_boundary")
    equal(boundary["compact_metadata"]["trigger"], "manual", "trigger")
    requests = model.finish().requests
    contains(requests[1].user_text, "keep the code", "what is to be kept")
    contains(requests[2].user_text, "A code was given: 1234.", "the summary")

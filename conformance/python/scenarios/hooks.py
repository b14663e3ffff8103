"""Hooks that live in the host."""

import asyncio

from claude_agent_sdk import HookMatcher, PermissionResultDeny
from stage import contains, equal, lacks, say, scenario, shell


def hook(event, answer, matcher=None, **more):
    """Hooks of one event that answer always the same, and the list of what they were told."""
    log = []

    async def callback(input, tool_use_id, context):
        log.append((input, tool_use_id))
        return answer(input) if callable(answer) else answer

    return {event: [HookMatcher(matcher=matcher, hooks=[callback], **more)]}, log


@scenario
async def pre_tool_use_deny(stage):
    model = stage.model(shell("touch made"), say("understood"))
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the moon is full"}
    hooks, log = hook("PreToolUse", {"hookSpecificOutput": decision}, matcher="Bash")
    (await stage.ask("make it", hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    assert not stage.exists("made"), "a hook's denial holds in every mode"
    contains(model.finish().last.results[0], "the moon is full", "tool result")
    [(input, tool_use_id)] = log
    equal((input["tool_name"], input["tool_input"]["command"]), ("Bash", "touch made"), "what the hook saw")
    equal((input["hook_event_name"], input["cwd"]), ("PreToolUse", stage.cwd), "what the hook saw")
    equal(input["tool_use_id"], tool_use_id, "id of the call")
    assert input["session_id"] and input["transcript_path"], "what the hook saw"


@scenario
async def pre_tool_use_updated_input(stage):
    stage.model(shell("touch original"), say("done"))
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "touch replaced"}}
    hooks, _ = hook("PreToolUse", {"hookSpecificOutput": decision})
    (await stage.ask("make it", hooks=hooks)).succeeded()
    assert stage.exists("replaced") and not stage.exists("original"), "the updated input runs"


@scenario
async def matchers(stage):
    """A matcher chooses by the name of the tool."""
    stage.model(shell("true"), say("done"))
    other, unheard = hook("PreToolUse", {}, matcher="Write|Edit")
    pattern, heard = hook("PreToolUse", {}, matcher="^Ba.*")
    (await stage.ask("go", hooks={"PreToolUse": other["PreToolUse"] + pattern["PreToolUse"]}, permission_mode="bypassPermissions")).succeeded()
    equal((len(unheard), len(heard)), (0, 1), "calls heard")


@scenario
async def post_tool_use_context(stage):
    model = stage.model(shell("echo plain-output"), say("done"))
    hooks, log = hook("PostToolUse", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "the build is red"}})
    (await stage.ask("go", hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    last = model.finish().last
    contains(last.results[0], "plain-output", "tool result")
    contains(last.user_text, "the build is red", "what the model saw")
    contains(str(log[0][0]["tool_response"]), "plain-output", "what the hook saw")


@scenario
async def post_tool_use_failure(stage):
    stage.model(shell("exit 3"), say("done"))
    failed, heard = hook("PostToolUseFailure", {})
    succeeded, unheard = hook("PostToolUse", {})
    (await stage.ask("go", hooks={**failed, **succeeded}, permission_mode="bypassPermissions")).succeeded()
    equal((len(heard), len(unheard)), (1, 0), "calls heard")
    assert heard[0][0]["error"], "the hook is told the error"


@scenario
async def user_prompt_submit_context(stage):
    model = stage.model(say("noted"))
    hooks, log = hook("UserPromptSubmit", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "today is a holiday"}})
    (await stage.ask("plan my day", hooks=hooks)).succeeded()
    equal(log[0][0]["prompt"], "plan my day", "what the hook saw")
    contains(model.finish().last.user_text, "today is a holiday", "what the model saw")
    contains(model.finish().last.user_text, "plan my day", "what the model saw")


@scenario
async def user_prompt_submit_block(stage):
    """A prompt that a hook blocks never reaches the model, then or later."""
    model = stage.model(say("hello"))
    hooks, _ = hook("UserPromptSubmit", lambda input: {"decision": "block", "reason": "no passwords here"} if "password" in input["prompt"] else {})
    async with stage.client(hooks=hooks) as client:
        run = await stage.turn(client, "my password is tulip")
        contains(str(run.result.result) + str([m for m in run]), "no passwords here", "what the host hears")
        (await stage.turn(client, "hello")).succeeded()
    lacks(model.finish().last.user_text, "tulip", "what the model saw")


@scenario
async def stop_block(stage):
    model = stage.model(say("I am done"), say("now I am done"))
    hooks, log = hook("Stop", lambda input: {} if input["stop_hook_active"] else {"decision": "block", "reason": "run the tests first"})
    run = (await stage.ask("work", hooks=hooks)).succeeded()
    equal(run.result.result, "now I am done")
    contains(model.finish().last.user_text, "run the tests first", "what the model saw")
    equal([input["stop_hook_active"] for input, _ in log], [False, True], "stop_hook_active")
    equal(log[0][0]["last_assistant_message"], "I am done", "what the hook saw")


@scenario
async def failing_hook(stage):
    """A hook that raises has no opinion, unless it was registered to block."""
    model = stage.model(shell("touch one"), say("done"), shell("touch two"), say("blocked"))

    async def broken(input, tool_use_id, context):
        raise RuntimeError("hook out of order")

    for on_failure, prompt in ((None, "make one"), ("block", "make two")):
        hooks = {"PreToolUse": [HookMatcher(hooks=[broken], on_failure=on_failure)]}
        (await stage.ask(prompt, hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    assert stage.exists("one") and not stage.exists("two"), "only on_failure block stops the call"
    equal(len(model.finish().requests), 4, "requests")


@scenario
async def hook_timeout(stage):
    """A gate that does not answer in time stays shut."""
    stage.model(shell("touch made"), say("understood"))

    async def forgetful(input, tool_use_id, context):
        await asyncio.sleep(60)
        return {}

    hooks = {"PreToolUse": [HookMatcher(hooks=[forgetful], timeout=0.5)]}
    (await stage.ask("make it", hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    assert not stage.exists("made"), "the call ran without the hook's answer"


@scenario
async def pre_tool_use_ask_reason(stage):
    """Whoever is asked because of a hook hears why."""
    stage.model(shell("touch made"), say("understood"))
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "it is Friday"}
    hooks, _ = hook("PreToolUse", {"hookSpecificOutput": decision})
    heard = []

    async def decide(name, input, context):
        heard.append(context.decision_reason)
        return PermissionResultDeny(message="not today")

    (await stage.ask("make it", hooks=hooks, can_use_tool=decide, allowed_tools=["Bash(touch *)"])).succeeded()
    equal(heard, ["it is Friday"], "reasons")
    assert not stage.exists("made"), "the call was denied"


@scenario
async def wrong_answer_blocks(stage):
    """With on_failure "block" an answer that nobody understands keeps the call from running."""
    stage.model(shell("touch made"), say("understood"))
    hooks, _ = hook("PreToolUse", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "Deny"}}, on_failure="block")
    (await stage.ask("make it", hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    assert not stage.exists("made"), "the call did not run"


@scenario
async def post_tool_use_updated_output(stage):
    """An output is replaced for the model and the host alike; one of another form is left out."""
    model = stage.model(shell("echo secret"), shell("echo plain"), say("done"))
    answers = [{"stdout": "veiled", "stderr": "", "interrupted": False}, "no form at all"]
    hooks, _ = hook("PostToolUse", lambda input: {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": answers.pop(0)}})
    run = (await stage.ask("go", hooks=hooks, permission_mode="bypassPermissions")).succeeded()
    results = model.finish().last.results
    equal(results[0], "veiled", "what the model saw")
    contains(results[1], "plain", "what the model saw")
    shown = [message.tool_use_result for message in run if getattr(message, "tool_use_result", None)]
    equal([output["stdout"] for output in shown], ["veiled", "plain"], "what the host saw")


@scenario
async def stop_remark(stage):
    """What a Stop hook adds is read before the agent stops."""
    model = stage.model(say("done"), say("done indeed"))
    hooks, log = hook("Stop", lambda input: {} if input["stop_hook_active"] else {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "mind the tests"}})
    run = (await stage.ask("go", hooks=hooks)).succeeded()
    equal((run.result.result, len(log)), ("done indeed", 2), "result and hooks")
    contains(model.finish().last.user_text, "mind the tests", "what the model saw")

"""Who may do what: the callback, rules, modes, tools and directories."""

import json
import os
import tempfile

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, PermissionUpdate
from claude_agent_sdk.types import PermissionRuleValue
from stage import contains, equal, lacks, say, scenario, shell, use


def asked(answer):
    """A callback that answers always the same, and the list of what it was asked."""
    log = []

    async def callback(name, input, context):
        log.append((name, input, context))
        return answer(input) if callable(answer) else answer

    return callback, log


@scenario
async def can_use_tool_allow(stage):
    model = stage.model(shell("echo granted > made.txt; cat made.txt"), say("done"))
    callback, log = asked(PermissionResultAllow())
    (await stage.ask("make it", can_use_tool=callback)).succeeded()
    [(name, input, context)] = log
    equal(name, "Bash")
    equal(input["command"], "echo granted > made.txt; cat made.txt", "command in the question")
    assert context.tool_use_id, "the question names its call"
    contains(model.finish().last.results[0], "granted", "tool result")


@scenario
async def can_use_tool_updated_input(stage):
    model = stage.model(shell("touch original"), say("done"))
    callback, _ = asked(lambda input: PermissionResultAllow(updated_input={**input, "command": "touch replaced"}))
    (await stage.ask("make it", can_use_tool=callback)).succeeded()
    assert stage.exists("replaced") and not stage.exists("original"), "the updated input runs"
    equal(len(model.finish().last.results), 1, "results")


@scenario
async def can_use_tool_updated_permissions(stage):
    """A rule that comes with the answer spares the next question."""
    stage.model(shell("touch one"), shell("touch two"), say("done"))
    rule = PermissionUpdate(type="addRules", rules=[PermissionRuleValue(tool_name="Bash", rule_content="touch:*")], behavior="allow", destination="session")
    callback, log = asked(PermissionResultAllow(updated_permissions=[rule]))
    (await stage.ask("make them", can_use_tool=callback)).succeeded()
    assert stage.exists("one") and stage.exists("two"), "both commands run"
    equal(len(log), 1, "questions")


@scenario
async def can_use_tool_deny(stage):
    model = stage.model(shell("touch made"), say("understood"))
    callback, _ = asked(PermissionResultDeny(message="not on a Sunday"))
    run = (await stage.ask("make it", can_use_tool=callback)).succeeded()
    assert not stage.exists("made"), "a denied command ran"
    contains(model.finish().last.results[0], "not on a Sunday", "tool result")
    assert run.tool_results[0].is_error, "a denial is an error to the model"
    [denial] = run.result.permission_denials
    equal((denial["tool_name"], denial["tool_input"]["command"]), ("Bash", "touch made"), "denial")


@scenario
async def can_use_tool_deny_and_interrupt(stage):
    model = stage.model(shell("touch made"), say("and now?"))
    callback, _ = asked(PermissionResultDeny(message="stop everything", interrupt=True))
    async with stage.client(can_use_tool=callback) as client:
        run = await stage.turn(client, "make it")
        equal((run.result.subtype, run.result.is_error), ("error_during_execution", True), "result")
        assert not stage.exists("made"), "a denied command ran"
        (await stage.turn(client, "next")).succeeded()
    equal(len(model.finish().requests), 2, "requests")


@scenario
async def can_use_tool_raises(stage):
    """A callback that fails is a denial that says so."""
    model = stage.model(shell("touch made"), say("understood"))

    async def callback(name, input, context):
        raise RuntimeError("the approver is out of order")

    (await stage.ask("make it", can_use_tool=callback)).succeeded()
    assert not stage.exists("made"), "the command ran without an answer"
    contains(model.finish().last.results[0], "out of order", "tool result")


@scenario
async def ask_user_question(stage):
    question = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": [{"label": "Teal", "description": "calm"}, {"label": "Red", "description": "loud"}]}
    model = stage.model(use("AskUserQuestion", questions=[question]), say("teal it is"))
    callback, log = asked(lambda input: PermissionResultAllow(updated_input={**input, "answers": {"Which colour?": "Teal"}}))
    (await stage.ask("paint", can_use_tool=callback)).succeeded()
    equal([name for name, _, _ in log], ["AskUserQuestion"], "questions")
    contains(model.finish().last.results[0], "Teal", "answer")


@scenario
async def allow_and_deny_rules(stage):
    """A deny rule wins over an allow rule, and both come from options and settings alike."""
    settings = {"permissions": {"allow": ["Bash(echo:*)"], "deny": ["Bash(echo secret)"]}}
    model = stage.model(shell("echo plain"), shell("echo secret"), shell("echo option"), say("done"))
    (await stage.ask("run", settings=json.dumps(settings), allowed_tools=["Bash(echo secret)"])).succeeded()
    plain, secret, option = model.finish().last.results
    contains(plain, "plain", "allowed output")
    assert secret.strip() != "secret", "a denied command ran"
    contains(option, "option", "allowed output")


@scenario
async def settings_files(stage):
    """Only sources that were named are read, and a project can refuse but not approve."""
    with open(f"{stage.config}/settings.json", "w") as file:
        json.dump({"permissions": {"allow": ["Bash(touch one)", "Bash(touch two)"]}}, file)
    project = {"permissions": {"deny": ["Bash(touch two)"], "allow": ["Bash(touch three)"]}}
    stage.write(".claude/settings.json", json.dumps(project))
    names = ("one", "two", "three")
    cases = (([], set()), (["user"], {"one", "two"}), (["user", "project"], {"one"}))
    stage.model(*[reply for _ in cases for reply in (*[shell(f"touch {name}") for name in names], say("done"))])
    for sources, expected in cases:
        (await stage.ask(f"with {sources}", setting_sources=sources)).succeeded()
        made = {name for name in names if stage.exists(name)}
        equal(made, expected, f"files with {sources}")
        for name in made:
            os.unlink(stage.path(name))


@scenario
async def tools_option(stage):
    stage.write("note.txt", "from the note")
    model = stage.model(use("Read", file_path=stage.path("note.txt")), say("read"), say("no tools at all"))
    run = (await stage.ask("read", tools=["Read"])).succeeded()
    equal(run.init["tools"], ["Read"], "tools in init")
    (await stage.ask("talk only", tools=[])).succeeded()
    requests = model.finish().requests
    equal(requests[0].tools, ["Read"], "tools the model sees")
    contains(requests[1].results[0], "from the note", "tool result")
    equal(requests[2].tools, [], "tools the model sees")


@scenario
async def disallowed_tools(stage):
    model = stage.model(use("Write", file_path=stage.path("made"), content="x"), say("cannot"))
    run = (await stage.ask("write", disallowed_tools=["Write"], permission_mode="bypassPermissions")).succeeded()
    assert not stage.exists("made"), "a removed tool ran"
    lacks(run.init["tools"], "Write", "tools in init")
    lacks(model.finish().requests[0].tools, "Write", "tools the model sees")
    contains(model.finish().requests[0].tools, "Read", "tools the model sees")


@scenario
async def additional_directories(stage):
    outside = tempfile.mkdtemp()
    with open(f"{outside}/far.txt", "w") as file:
        file.write("far away")
    model = stage.model(
        use("Read", file_path=f"{outside}/far.txt"), say("not allowed"),
        use("Read", file_path=f"{outside}/far.txt"), use("Write", file_path=f"{outside}/near.txt", content="near"), say("allowed"),
    )  # fmt: skip
    (await stage.ask("look there")).succeeded()
    (await stage.ask("look there now", add_dirs=[outside], permission_mode="acceptEdits")).succeeded()
    requests = model.finish().requests
    lacks(requests[1].results[0], "far away", "reading outside without permission")
    contains(requests[3].results[0], "far away", "reading in an added directory")
    with open(f"{outside}/near.txt") as file:
        equal(file.read(), "near", "file in an added directory")
    contains(requests[2].system, outside, "system prompt")

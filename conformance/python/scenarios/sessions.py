"""Sessions on disk and in stores, read and changed by the SDK's own helpers."""

import json
import os
import uuid
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    HookMatcher,
    InMemorySessionStore,
    ResultError,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    get_session_messages_from_store,
    list_sessions,
    project_key_for_directory,
    rename_session,
    tag_session,
)
from stage import contains, equal, lacks, say, scenario, shell


async def first(stage, prompt="the first prompt", **chosen):
    return (await stage.ask(prompt, **chosen)).succeeded()


@scenario
async def resume(stage):
    model = stage.model(shell("echo remembered"), say("first answer"), say("second answer"))
    before = await first(stage, permission_mode="bypassPermissions")
    after = (await stage.ask("go on", resume=before.result.session_id, permission_mode="bypassPermissions")).succeeded()
    equal(after.result.session_id, before.result.session_id, "session")
    last = model.finish().last
    equal(last.said_by("user")[0], "the first prompt", "what the model saw")
    contains(last.results[0], "remembered", "tool result")
    contains(last.said_by("assistant"), "first answer", "what the model had said")
    assert after.result.total_cost_usd > before.result.total_cost_usd, "costs go on with the session"


@scenario
async def resume_unknown(stage):
    nobody = str(uuid.uuid4())
    _, error = await stage.ask_and_fail("hello?", resume=nobody)
    assert isinstance(error, ResultError), f"the SDK raised {error!r}"
    contains(str(error), nobody, "the error")


@scenario
async def fork(stage):
    model = stage.model(say("first answer"), say("in the copy"), say("in the original", moves_prefix="the copy went another way"))
    before = await first(stage)
    copy = (await stage.ask("take the other road", resume=before.result.session_id, fork_session=True)).succeeded()
    assert copy.result.session_id != before.result.session_id, "a fork has an id of its own"
    (await stage.ask("stay on this one", resume=before.result.session_id)).succeeded()
    capture = model.finish()
    contains(capture.requests[1].user_text, "the first prompt", "the copy")
    lacks(capture.requests[2].user_text, "the other road", "the original")
    equal(len(list_sessions(stage.cwd)), 2, "sessions")


@scenario
async def continue_newest(stage):
    model = stage.model(say("one"), say("two"), say("three"))
    await first(stage, "an older matter")
    newer = await first(stage, "a newer matter")
    run = (await stage.ask("where were we?", continue_conversation=True)).succeeded()
    equal(run.result.session_id, newer.result.session_id, "session")
    contains(model.finish().last.user_text, "a newer matter", "what the model saw")
    lacks(model.finish().last.user_text, "an older matter", "what the model saw")


@scenario
async def chosen_session_id(stage):
    stage.model(say("hello"))
    chosen = str(uuid.uuid4())
    run = await first(stage, session_id=chosen)
    equal(run.result.session_id, chosen, "session")
    equal(os.stat(stage.transcript(chosen)).st_mode & 0o777, 0o600, "mode of the file")
    _, error = await stage.ask_and_fail("again", session_id=chosen)
    contains(str(error) + "\n".join(stage.stderr), chosen, "the refusal")


@scenario
async def resume_at_a_message(stage):
    model = stage.model(say("answer one"), say("answer two"), say("answer three", moves_prefix="the second answer is forgotten"))
    async with stage.client() as client:
        one = (await stage.turn(client, "question one")).succeeded()
        (await stage.turn(client, "question two")).succeeded()
    at = one.of(AssistantMessage)[-1].uuid
    (await stage.ask("question three", resume=one.result.session_id, resume_session_at=at)).succeeded()
    last = model.finish().last
    equal(last.said_by("user"), ["question one", "question three"], "what the model saw")


@scenario
async def session_helpers(stage):
    model = stage.model({"thinking": "hm", "tools": [{"name": "Bash", "input": {"command": f"echo {n}"}} for n in range(3)]}, say("all three ran"), say("after the rename"), say("in the copy"))
    run = await first(stage, "please run three commands", permission_mode="bypassPermissions")
    session = run.result.session_id
    [info] = list_sessions(stage.cwd)
    equal((info.session_id, info.first_prompt, info.cwd), (session, "please run three commands", stage.cwd), "info")
    assert info.created_at and info.file_size > 0 and info.last_modified >= info.created_at - 1000, info
    messages = get_session_messages(session, stage.cwd)
    blocks = [block["type"] for message in messages if isinstance(message.message["content"], list) for block in message.message["content"]]
    equal((blocks.count("tool_use"), blocks.count("tool_result")), (3, 3), "calls and results on disk")
    streamed = [message.uuid for message in run.of(AssistantMessage)]
    equal([message.uuid for message in messages if message.type == "assistant"], streamed, "uuids in the stream and on disk")
    rename_session(session, "Three commands", stage.cwd)
    tag_session(session, "demo", stage.cwd)
    (await stage.ask("and now", resume=session, permission_mode="bypassPermissions")).succeeded()
    info = get_session_info(session, stage.cwd)
    equal((info.custom_title, info.summary, info.tag), ("Three commands", "Three commands", "demo"), "title and tag")
    fork = fork_session(session, stage.cwd, title="A copy")
    (await stage.ask("in the copy", resume=fork.session_id, permission_mode="bypassPermissions")).succeeded()
    contains(model.finish().last.user_text, "please run three commands", "what the model saw in the copy")
    equal({info.custom_title for info in list_sessions(stage.cwd)}, {"Three commands", "A copy"}, "titles")
    delete_session(session, stage.cwd)
    equal([info.session_id for info in list_sessions(stage.cwd)], [fork.session_id], "sessions after deletion")


@scenario
async def helper_fork_up_to_a_message(stage):
    model = stage.model(say("answer one"), say("answer two"), say("answer three", moves_prefix="the second answer is forgotten"))
    async with stage.client() as client:
        one = (await stage.turn(client, "question one")).succeeded()
        (await stage.turn(client, "question two")).succeeded()
    fork = fork_session(one.result.session_id, stage.cwd, up_to_message_id=one.of(AssistantMessage)[-1].uuid)
    (await stage.ask("question three", resume=fork.session_id)).succeeded()
    equal(model.finish().last.said_by("user"), ["question one", "question three"], "what the model saw")


@scenario
async def session_store(stage):
    """Every entry reaches the store, and a session goes on from the store alone."""
    model = stage.model(shell("echo stored"), say("kept"), say("found again"))
    store = InMemorySessionStore()
    before = await first(stage, "keep this", session_store=store, permission_mode="bypassPermissions")
    session = before.result.session_id
    equal(before.system("mirror_error"), [], "mirror errors")
    entries = await store.load({"project_key": project_key_for_directory(stage.cwd), "session_id": session})
    on_disk = [json.loads(line) for line in stage.transcript(session).read_text().splitlines()]
    chain = lambda entries: [entry["uuid"] for entry in entries if entry.get("uuid")]
    equal(chain(entries), chain(on_disk), "entries in the store and on disk")
    os.unlink(stage.transcript(session))
    after = (await stage.ask("and this", session_store=store, resume=session, permission_mode="bypassPermissions")).succeeded()
    equal(after.result.session_id, session, "session")
    contains(model.finish().last.results[0], "stored", "tool result from the store")
    messages = await get_session_messages_from_store(store, session, stage.cwd)
    equal([message.type for message in messages], ["user", "assistant", "user", "assistant", "user", "assistant"], "messages in the store")


@scenario
async def resume_a_foreign_transcript(stage):
    """A session that another program of the same format wrote is resumed from its last summary on."""
    session = "5f0c2a64-9d1b-4c58-8a34-2f1f6b7c9e10"
    project = Path(stage.config, "projects", project_key_for_directory(stage.cwd))
    project.mkdir(parents=True)
    source = Path(os.environ["CONFORMANCE_TRANSCRIPTS"], "foreign.jsonl").read_text()
    (project / f"{session}.jsonl").write_text(source.replace("@CWD@", stage.cwd))
    model = stage.model(say("I remember the port"))
    run = (await stage.ask("which port was it?", resume=session)).succeeded()
    equal(run.result.session_id, session, "session")
    request = model.finish().last
    everything = json.dumps(request.messages)
    contains(request.user_text, "Summary of the work so far", "the summary")
    lacks(everything, "before the boundary", "what was summarised")
    lacks(everything, "sidechain", "what a subagent did")
    lacks(everything, "abandoned", "an abandoned branch")
    calls = {block["id"] for block in request.blocks("tool_use")}
    equal(calls, {"toolu_read_a", "toolu_read_b", "toolu_read_c"}, "parallel calls")
    equal({block["tool_use_id"] for block in request.blocks("tool_result")}, calls, "their results")
    equal([block["signature"] for block in request.blocks("thinking")], ["Zm9yZWlnbg=="], "thoughts")
    contains(request.said_by("assistant")[-1], "The port is 8460", "last answer")
    equal(request.said_by("user")[-1], "which port was it?", "the prompt")
    kept = (project / f"{session}.jsonl").read_text()
    assert kept.startswith(source.replace("@CWD@", stage.cwd)), "the file was only added to"
    contains([info.session_id for info in list_sessions(stage.cwd)], session, "sessions")
    contains(json.dumps([message.message for message in get_session_messages(session, stage.cwd)]), "I remember the port", "messages")


@scenario
async def continue_from_nothing(stage):
    """Whoever always continues begins somewhere."""
    model = stage.model(say("begun"), say("continued"))
    before = (await stage.ask("the first prompt", continue_conversation=True)).succeeded()
    after = (await stage.ask("go on", continue_conversation=True)).succeeded()
    equal(after.result.session_id, before.result.session_id, "session")
    contains(model.finish().last.user_text, "the first prompt", "what the model saw")


@scenario
async def resume_by_title(stage):
    stage.model(say("first answer"), say("second answer"))
    before = await first(stage)
    rename_session(before.result.session_id, "The long road", stage.cwd)
    after = (await stage.ask("go on", resume="The long road")).succeeded()
    equal(after.result.session_id, before.result.session_id, "session")


@scenario
async def deferred_call_resumed(stage):
    """A call that a hook put off is taken up when the session is resumed."""
    stage.model(shell("touch made"), say("it is made"))

    async def defer(input, tool_use_id, context):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}

    before = await first(stage, hooks={"PreToolUse": [HookMatcher(hooks=[defer])]}, permission_mode="bypassPermissions")
    equal(before.result.deferred_tool_use.name, "Bash", "deferred call")
    assert not stage.exists("made"), "a deferred call does not run"
    after = (await stage.ask("well?", resume=before.result.session_id, permission_mode="bypassPermissions")).succeeded()
    assert stage.exists("made"), "the call was taken up"
    equal(after.result.result, "it is made", "result")

"""Capabilities that are still to come; each of these is listed in expected-failures.txt until then."""

from claude_agent_sdk import AgentDefinition
from stage import contains, equal, say, scenario, use


@scenario
async def structured_output(stage):
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    stage.model(use("StructuredOutput", colour="teal"))
    run = (await stage.ask("pick a colour", output_format={"type": "json_schema", "schema": schema})).succeeded()
    equal(run.result.structured_output, {"colour": "teal"}, "structured output")


@scenario
async def subagent(stage):
    scout = AgentDefinition(description="looks around", prompt="You are a scout.", tools=["Read"])
    model = stage.model(
        {**use("Agent", description="look around", prompt="look for tracks", subagent_type="scout"), "when": "send the scout"},
        say("no tracks", when="look for tracks"),
        say("the scout found nothing", when="no tracks"),
    )
    run = (await stage.ask("send the scout", agents={"scout": scout})).succeeded()
    equal(run.result.result, "the scout found nothing")
    contains([request.system for request in model.finish().requests][1], "You are a scout.", "system prompt of the subagent")


@scenario
async def rewind_files(stage):
    stage.write("draft.txt", "before")
    stage.model(use("Read", file_path=stage.path("draft.txt")), use("Write", file_path=stage.path("draft.txt"), content="after"), say("changed"))
    options = {"enable_file_checkpointing": True, "permission_mode": "acceptEdits", "extra_args": {"replay-user-messages": None}}
    async with stage.client(**options) as client:
        run = (await stage.turn(client, "change it")).succeeded()
        prompt = next(message.uuid for message in run if type(message).__name__ == "UserMessage" and isinstance(message.content, str))
        await client.rewind_files(prompt)
    equal(stage.read("draft.txt"), "before", "file")

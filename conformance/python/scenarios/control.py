"""What hosts ask a running session: another model, another mode, how it is doing."""

from stage import contains, equal, lacks, say, scenario, shell, use


@scenario
async def set_model(stage):
    model = stage.model(say("one"), say("two"), say("three"))
    async with stage.client(model="claude-sonnet-4-5") as client:
        (await stage.turn(client, "first")).succeeded()
        await client.set_model("claude-opus-4-5")
        run = (await stage.turn(client, "second")).succeeded()
        contains(run.init["model"], "opus", "model in init")
        await client.set_model(None)
        (await stage.turn(client, "third")).succeeded()
    models = [request.model for request in model.finish().requests]
    contains(models[0], "sonnet-4-5", "first model")
    contains(models[1], "opus-4-5", "second model")
    lacks(models[2], "opus-4-5", "third model")


@scenario
async def set_permission_mode(stage):
    made = stage.path("made.txt")
    stage.model(use("Write", file_path=made, content="x"), say("refused"), use("Write", file_path=made, content="y"), say("written"))
    async with stage.client() as client:
        run = (await stage.turn(client, "write")).succeeded()
        assert not stage.exists("made.txt"), "nobody allowed the first call"
        equal([denial["tool_name"] for denial in run.result.permission_denials], ["Write"], "denials")
        equal(len(run.system("permission_denied")), 1, "frames about the denial")
        await client.set_permission_mode("acceptEdits")
        run = (await stage.turn(client, "write again")).succeeded()
        equal(run.init["permissionMode"], "acceptEdits", "mode")
    equal(stage.read("made.txt"), "y", "file")


@scenario
async def bypass_must_be_launched(stage):
    stage.model(shell("touch made"), say("refused"))
    async with stage.client() as client:
        try:
            await client.set_permission_mode("bypassPermissions")
        except Exception as error:
            contains(str(error), "dangerously-skip-permissions", "the refusal")
        else:
            raise AssertionError("bypassPermissions was granted")
        (await stage.turn(client, "try")).succeeded()
    assert not stage.exists("made"), "the call ran all the same"


@scenario
async def server_info(stage):
    async with stage.client() as client:
        info = await client.get_server_info()
    commands = {command["name"]: command for command in info["commands"]}
    contains(commands, "cost", "commands")
    assert all(command["description"] for command in info["commands"]), "a command without a description"
    assert info["models"] and all(model["value"] and model["displayName"] for model in info["models"]), "models"
    assert info["account"]["apiKeySource"], "account"
    assert info["claude_code_version"] and info["tillerman_version"], "versions"
    equal(info["output_style"], "default", "output style")


@scenario
async def mcp_status(stage):
    async with stage.client() as client:
        equal(await client.get_mcp_status(), {"mcpServers": []}, "status without servers")


@scenario
async def context_usage(stage):
    stage.model(say("an answer", usage={"input_tokens": 5000, "cache_read_input_tokens": 20000, "output_tokens": 100}))
    async with stage.client() as client:
        before = await client.get_context_usage()
        (await stage.turn(client, "fill it")).succeeded()
        after = await client.get_context_usage()
    for usage in (before, after):
        equal(sum(part["tokens"] for part in usage["categories"]), usage["maxTokens"], "all categories together")
        assert {part["kind"] for part in usage["categories"]} <= {"used", "free", "buffer", "deferred"}, usage["categories"]
        contains(usage, "isAutoCompactEnabled", "usage")
    assert 25000 <= after["totalTokens"] < 26000, f"{after['totalTokens']} tokens"
    assert before["totalTokens"] < after["totalTokens"] and after["percentage"] > 0


@scenario
async def stderr_callback(stage):
    """Mistakes in settings are told, not swallowed."""
    stage.write(".claude/settings.json", "{ broken")
    stage.model(say("fine"))
    (await stage.ask("hello", setting_sources=["project"])).succeeded()
    contains("\n".join(stage.stderr), "settings.json", "stderr")


@scenario
async def environment(stage):
    """Variables that the host sets reach commands; its keys do not."""
    model = stage.model(shell("echo colour=$CHOSEN_COLOUR key=$ANTHROPIC_API_KEY."), say("fine"))
    await stage.ask("show", env={"CHOSEN_COLOUR": "teal"}, permission_mode="bypassPermissions")
    contains(model.finish().last.results[0], "colour=teal", "output")
    lacks(model.finish().last.results[0], "conformance-key", "output")

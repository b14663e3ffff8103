"""Limits, failures of the API, and how the SDK reports the end of the process."""

from claude_agent_sdk import AssistantMessage, ProcessError, ResultError
from stage import contains, equal, say, scenario, shell


@scenario
async def max_turns(stage):
    model = stage.model(shell("echo 1"), shell("echo 2"))
    run, error = await stage.ask_and_fail("loop", max_turns=2, permission_mode="bypassPermissions")
    assert isinstance(error, ResultError), f"the SDK raised {error!r}"
    equal((error.subtype, error.exit_code), ("error_max_turns", 1), "error")
    equal((run.result.subtype, run.result.terminal_reason), ("error_max_turns", "max_turns"), "result")
    equal(len(run.tool_results), 2, "results of calls")
    equal(len(model.finish().requests), 2, "requests")


@scenario
async def budget(stage):
    model = stage.model({**shell("echo 1"), "usage": {"input_tokens": 3_000_000, "output_tokens": 10}})
    run, error = await stage.ask_and_fail("spend", max_budget_usd=0.5, permission_mode="bypassPermissions")
    equal((run.result.subtype, error.subtype), ("error_max_budget_usd", "error_max_budget_usd"), "result")
    assert run.result.total_cost_usd > 0.5, "cost"
    equal(len(model.finish().requests), 1, "requests")


@scenario
async def api_error(stage):
    stage.model({"status": 400, "message": "the prompt is too odd"})
    run, error = await stage.ask_and_fail("something odd")
    assert isinstance(error, ResultError), f"the SDK raised {error!r}"
    equal((error.api_error_status, error.terminal_reason, error.exit_code), (400, "api_error", 1), "error")
    contains(run.result.result, "the prompt is too odd", "result")
    equal(run.of(AssistantMessage)[-1].error, "invalid_request", "kind of error")


@scenario
async def api_error_then_recovery(stage):
    """A failed turn does not end a client's session."""
    model = stage.model({"status": 400, "message": "not now"}, say("now it works"))
    async with stage.client() as client:
        run = await stage.turn(client, "first")
        assert run.result.is_error, "the first turn fails"
        (await stage.turn(client, "second")).succeeded()
    contains(model.finish().last.user_text, "second", "the second request")


@scenario
async def retries(stage):
    model = stage.model({"status": 529}, {"status": 500, "retry_after": 1}, say("third time lucky"))
    run = (await stage.ask("try")).succeeded()
    retries = run.system("api_retry")
    equal([(frame["attempt"], frame["error_status"]) for frame in retries], [(1, 529), (2, 500)], "retries")
    assert retries[1]["retry_delay_ms"] >= 1000, "the delay that the API asked for"
    equal(len(model.finish().requests), 3, "requests")


@scenario
async def retries_run_out(stage):
    model = stage.model({"status": 503}, {"status": 503})
    run, error = await stage.ask_and_fail("try", env={"CLAUDE_CODE_MAX_RETRIES": "1"})
    equal((run.result.api_error_status, error.api_error_status), (503, 503), "status")
    equal(len(model.finish().requests), 2, "requests")


@scenario
async def broken_stream(stage):
    """A connection that breaks in the middle of an answer is made again."""
    model = stage.model(say("never finished", delta_chars=5, cut_after_events=5), say("whole answer"))
    run = (await stage.ask("try")).succeeded()
    contains(run.result.result, "whole answer", "result")
    equal(len(model.finish().requests), 2, "requests")


@scenario
async def overloaded_model(stage):
    """A model that is overloaded three times in a row gives way to the fallback."""
    model = stage.model({"status": 529}, {"status": 529}, {"status": 529}, say("from the fallback"))
    run = (await stage.ask("try", model="claude-opus-4-5", fallback_model="claude-haiku-4-5")).succeeded()
    equal(run.result.result, "from the fallback")
    equal(["haiku" in request.model for request in model.finish().requests], [False, False, False, True], "models")


@scenario
async def fallback_model(stage):
    model = stage.model({"status": 529}, say("from the fallback"))
    run = (await stage.ask("try", model="claude-opus-4-5", fallback_model="claude-haiku-4-5", env={"CLAUDE_CODE_MAX_RETRIES": "0"})).succeeded()
    equal(run.result.result, "from the fallback")
    models = [request.model for request in model.finish().requests]
    contains(models[0], "opus-4-5", "first model")
    contains(models[1], "haiku-4-5", "second model")
    assert any("haiku" in name for name in run.result.model_usage), run.result.model_usage


@scenario
async def wrong_credentials(stage):
    stage.model({"status": 401, "message": "invalid x-api-key", "should_retry": False})
    run, error = await stage.ask_and_fail("try", env={"CLAUDE_CODE_MAX_RETRIES": "0"})
    equal(run.of(AssistantMessage)[-1].error, "authentication_failed", "kind of error")
    equal(error.api_error_status, 401, "status")


@scenario
async def no_credentials(stage):
    """Under stream-json nothing pretends to be a model."""
    run, error = await stage.ask_and_fail("try", env={"ANTHROPIC_API_KEY": ""})
    assert run.result.is_error, "a run without a key fails"
    equal(run.of(AssistantMessage)[-1].error, "authentication_failed", "kind of error")
    contains(run.result.result, "ANTHROPIC_API_KEY", "result")
    assert isinstance(error, ProcessError), f"the SDK raised {error!r}"


@scenario
async def bad_flag(stage):
    """What is wrong with a command line is said on stderr, with exit code 1."""
    _, error = await stage.ask_and_fail("hello", extra_args={"no-such-flag": None})
    assert isinstance(error, ProcessError), f"the SDK raised {error!r}"
    equal(error.exit_code, 1, "exit code")
    contains("\n".join(stage.stderr), "no-such-flag", "stderr")


@scenario
async def missing_directory(stage):
    _, error = await stage.ask_and_fail("hello", cwd=stage.path("nowhere"))
    contains(str(error), "nowhere", "the error")

"""A small MCP server on standard streams that misbehaves on request."""
import base64
import json
import os
import subprocess
import sys
import time

conduct = sys.argv[1] if len(sys.argv) > 1 else "well"
note = sys.argv[2] if len(sys.argv) > 2 else os.devnull
extra_tools = []
asked = {}

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n-not-really").decode()


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def log(text):
    with open(note, "a") as file:
        file.write(text + "\n")


def tool(name, **more):
    return {"name": name, "description": name + " things", "inputSchema": {"type": "object"}, **more}


def tools():
    named = ["echo", "env", "slow", "big", "pic", "sound", "fail", "structured", "die", "noise", "flood",
             "progress", "ask", "grow", "odd", "storm", "pid"]
    listed = [tool(name) for name in named]
    listed[0]["annotations"] = {"readOnlyHint": True}
    listed.append(tool("we.ird näme"))
    listed.append({"name": "either", "inputSchema": {"anyOf": [
        {"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "number"}}}]}})
    listed.append(tool("roomy", _meta={"anthropic/maxResultSizeChars": 300000}))
    return listed + extra_tools


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def call(ident, params):
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text("ECHO:" + str(arguments.get("t")))
    if name == "env":
        return text(str(os.environ.get(arguments["name"])))
    if name == "pid":
        return text(str(os.getpid()))
    if name in ("big", "roomy"):
        return text("x" * arguments["chars"])
    if name == "pic":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": PNG}, {"type": "text", "text": "caption"}]}
    if name == "sound":
        return {"content": [{"type": "audio", "mimeType": "audio/wav", "data": PNG}]}
    if name == "fail":
        return text("it broke", isError=True)
    if name == "structured":
        return {"content": [], "structuredContent": {"answer": 42}}
    if name == "we.ird näme":
        return text("weird")
    if name == "odd":
        return {"content": [{"type": "hologram", "data": "?"}]}
    if name == "die":
        print("I have had enough", file=sys.stderr)
        sys.exit(3)
    if name == "noise":
        sys.stdout.write("this is no message\n" * 200000)
        sys.stdout.flush()
        return None
    if name == "flood":
        chunk = "y" * (1 << 20)
        for _ in range(100):
            sys.stdout.write(chunk)
        sys.stdout.write("\n")
        sys.stdout.flush()
        return None
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 2, "message": "step"}})
        return text(str(params["_meta"].get("claudecode/toolUseId")))
    if name == "ask":
        asked["q1"] = ident
        send({"id": "q1", "method": "elicitation/create", "params": {"mode": "form", "message": "Your name?", "requestedSchema": {
            "type": "object", "properties": {"name": {"type": "string", **arguments}}}}})
        return None
    if name == "page":
        for done in arguments.get("before", []):
            send({"method": "notifications/elicitation/complete", "params": {"elicitationId": done}})
        asked["p1"] = ident
        send({"id": "p1", "method": "elicitation/create", "params": {"mode": "url", "message": "Sign in.",
            "elicitationId": "e1", "url": "https://shop.example/in"}})
        return None
    if name == "done":
        for done in arguments["ids"]:
            send({"method": "notifications/elicitation/complete", "params": {"elicitationId": done}})
        return text("ok")
    if name in ("roots", "sample"):
        asked[name] = ident
        wanted = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 9}
        send({"id": name, "method": "roots/list"} if name == "roots" else
             {"id": name, "method": "sampling/createMessage", "params": wanted})
        return None
    if name == "approve":
        log("approve %s %s" % (arguments["tool_name"], arguments["tool_use_id"]))
        if arguments["tool_name"] == "Write":
            return text(json.dumps({"behavior": "deny", "message": "nothing is written today"}))
        if "odd" in json.dumps(arguments["input"]):
            return text("perhaps")
        return text(json.dumps({"behavior": "allow", "updatedInput": arguments["input"]}))
    if name == "hang":
        return None
    if name == "grow":
        extra_tools.append(tool("grown"))
        send({"method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "storm":
        for _ in range(500):
            send({"method": "notifications/tools/list_changed"})
        return text("calm")
    return None


def answer(message):
    method, ident, params = message["method"], message["id"], message.get("params") or {}
    if method == "initialize":
        if conduct == "mute":
            return None
        if conduct == "old":
            return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "0.1"}}
        told = {"instructions": "Ask for roots first. " + "x" * 5000} if conduct == "asking" else {}
        return {**told, "protocolVersion": params["protocolVersion"], "serverInfo": {"name": "scripted", "version": "1.2.3"},
                "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}}
    if method == "tools/list":
        log("list")
        page = tools()
        if conduct == "pages":
            start = int(params.get("cursor") or 0)
            more = {"nextCursor": str(start + 5)} if start + 5 < len(page) else {}
            return {"tools": page[start:start + 5], **more}
        if conduct == "circle":
            return {"tools": page[:3], "nextCursor": "again"}
        return {"tools": page}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "description": "greets", "arguments": [{"name": "who", "required": True}, {"name": "how"}]}]}
    if method == "prompts/get":
        given = params.get("arguments") or {}
        return {"messages": [{"role": "user", "content": {"type": "text", "text": "Greet %s %s" % (given.get("who"), given.get("how"))}}]}
    if method == "resources/list":
        return {"resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}]}
    if method == "resources/read":
        if params["uri"] != "note://one":
            return {"_error": {"code": -32002, "message": "no such note"}}
        return {"contents": [{"uri": "note://one", "mimeType": "text/plain", "text": "first note"}]}
    if method == "tools/call":
        return call(ident, params)
    if method == "ping":
        return {}
    return {"_error": {"code": -32601, "message": "no such method"}}


if conduct == "die-at-once":
    print("cannot find my config", file=sys.stderr)
    sys.exit(7)
if conduct == "noise":
    while True:
        print("bla bla bla", flush=True)
if conduct == "flood":
    while True:
        sys.stdout.write("z" * (1 << 20))
if conduct == "asking":
    extra_tools.extend(tool(name) for name in ("roots", "sample", "approve", "hang", "page", "done"))
if conduct == "family":
    child = subprocess.Popen(["sleep", "600"])
    log("child %d" % child.pid)
if conduct == "stubborn":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
log("start %d" % os.getpid())
if conduct == "chatty":
    print("Welcome to the server!", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        if message.get("id") in asked:
            result = message.get("result") or message.get("error")
            send({"id": asked.pop(message["id"]), "result": text(json.dumps(result, sort_keys=True))})
        continue
    if "id" not in message:
        log(message["method"])
        continue
    result = answer(message)
    if result is None:
        continue
    if "_error" in result:
        send({"id": message["id"], "error": result["_error"]})
    else:
        send({"id": message["id"], "result": result})
if conduct == "stubborn":
    time.sleep(600)

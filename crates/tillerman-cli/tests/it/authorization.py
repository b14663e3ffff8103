"""An authorization server and the MCP server it protects, on the loopback."""

import base64
import hashlib
import json
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ACCESS, REFRESH = "access-token-of-the-test", "refresh-token-of-the-test"
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
asked = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, headers=()):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/.well-known/oauth-authorization-server":
            metadata = {"issuer": BASE, "code_challenge_methods_supported": ["S256"]}
            for name in ("authorization", "token", "registration"):
                metadata[name + "_endpoint"] = f"{BASE}/{name}"
            self.answer(200, metadata)
        elif path == "/authorization":
            asked.update(urllib.parse.parse_qsl(query))
            back = urllib.parse.urlencode({"code": "code-of-the-test", "state": asked["state"]})
            self.answer(302, headers=[("location", f"{asked['redirect_uri']}?{back}")])
        elif path == "/mcp":
            is_known = self.headers.get("authorization") == f"Bearer {ACCESS}"
            self.answer(405 if is_known else 401, headers=[("www-authenticate", "Bearer")])
        else:
            self.answer(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path == "/registration":
            uris = json.loads(body)["redirect_uris"]
            self.answer(201, {"client_id": "client", "redirect_uris": uris})
        elif self.path == "/token":
            self.token(dict(urllib.parse.parse_qsl(body)))
        elif self.headers.get("authorization") != f"Bearer {ACCESS}":
            self.answer(401, headers=[("www-authenticate", "Bearer")])
        else:
            self.mcp(json.loads(body))

    def token(self, sent):
        proof = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        if sent["code"] != "code-of-the-test" or challenge != asked["code_challenge"]:
            return self.answer(400, {"error": "invalid_grant"})
        tokens = {"access_token": ACCESS, "refresh_token": REFRESH, "id_token": "id-of-the-test"}
        self.answer(200, {**tokens, "token_type": "Bearer", "expires_in": 3600})

    def mcp(self, message):
        if "id" not in message:
            return self.answer(202)
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "protected", "version": "0"},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "let in"}]},
        }
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            reply["result"] = results[message["method"]]
        else:
            reply["error"] = {"code": -32601, "message": "no such method"}
        self.answer(200, reply)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
BASE = f"http://127.0.0.1:{server.server_port}"
print(BASE, flush=True)
server.serve_forever()

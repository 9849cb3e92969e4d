"""A REST catalog of the tests' own, that misbehaves on request."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class RestServerDouble:
    """tables: (levels, name) -> metadata JSON. faults: path -> list of functions, each answers one
    request instead of the server. seen: (method, path with query, headers, body)."""

    def __init__(self, tables, prefix="", separator="%1F", token=None, credential=None, page=None):
        self.tables, self.prefix, self.separator = tables, prefix, separator
        self.token, self.credential, self.page = token, credential, page
        self.overrides, self.defaults = {}, {}
        self.faults, self.seen, self.tokens_given = {}, [], 0
        self.expires_in = 3600
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                double.seen.append((self.command, self.path, dict(self.headers), body))
                faults = double.faults.get(urlsplit(self.path).path, [])
                if faults:
                    faults.pop(0)(self)
                else:
                    double.answer(self, body)

            do_GET = do_POST = handle_one

            def log_message(self, *_):
                pass

            def say(self, status, body, kind="application/json", **headers):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def error(handler, status, kind, message):
        handler.say(status, {"error": {"message": message, "type": kind, "code": status}})

    def answer(self, handler, body):
        url = urlsplit(handler.path)
        query = parse_qs(url.query, keep_blank_values=True)
        parts = url.path.strip("/").split("/")
        if parts[1:] == ["oauth", "tokens"]:
            return self.give_token(handler, parse_qs(body))
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self.error(handler, 401, "NotAuthorizedException", "who are you?")
        if parts[1:] == ["config"]:
            overrides = {**({"prefix": self.prefix} if self.prefix else {}), **self.overrides}
            if self.separator != "%1F":
                overrides["namespace-separator"] = self.separator
            return handler.say(200, {"defaults": self.defaults, "overrides": overrides})
        if self.prefix and parts[1] != self.prefix:
            return self.error(handler, 404, "NotFound", "wrong prefix")
        rest = parts[2 if self.prefix else 1:]
        if rest == ["namespaces"]:
            return self.list_namespaces(handler, query)
        levels = tuple(unquote(x) for x in rest[1].split(self.separator))
        if rest[2:] == ["tables"]:
            found = [{"namespace": list(l), "name": n} for l, n in self.tables if l == levels]
            return self.say_page(handler, "identifiers", found, query)
        table = self.tables.get((levels, unquote(rest[3])))
        if table is None:
            return self.error(handler, 404, "NoSuchTableException", "no such table")
        handler.say(200, {"metadata-location": table[0], "metadata": table[1], "config": {}})

    def list_namespaces(self, handler, query):
        parent = query.get("parent", [None])[0]
        # parse_qs has decoded the separator already
        raw = () if parent is None else tuple(parent.split(unquote(self.separator)))
        depth = len(raw) + 1
        found = {l[:depth] for l, _ in self.tables if l[:len(raw)] == raw and len(l) >= depth}
        self.say_page(handler, "namespaces", [list(l) for l in sorted(found)], query)

    def say_page(self, handler, key, items, query):
        start = int((query.get("pageToken") or ["0"])[0] or 0)
        end = len(items) if self.page is None else start + self.page
        answer = {key: items[start:end]}
        if end < len(items):
            answer["next-page-token"] = str(end)
        handler.say(200, answer)

    def give_token(self, handler, form):
        id, secret = self.credential.split(":", 1)
        if form.get("client_id") != [id] or form.get("client_secret") != [secret]:
            return handler.say(401, {"error": "invalid_client", "error_description": "bad secret"})
        self.tokens_given += 1
        self.token = f"token-{self.tokens_given}"
        handler.say(200, {"access_token": self.token, "token_type": "bearer",
                          "expires_in": self.expires_in})


# ---- faults ----


def status(code, **headers):
    return lambda handler: handler.say(code, {"error": {"message": "not now", "code": code}},
                                       **headers)


def html(code):
    return lambda handler: handler.say(code, b"<html>gateway</html>", "text/html")


def cut(handler):
    """Say half of an answer and close the connection."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Content-Length: 1000\r\n\r\n{\"a")
    handler.close_connection = True


def silent(seconds):
    def fault(handler):
        time.sleep(seconds)
        handler.close_connection = True
    return fault


def trickle(handler):
    """An answer that comes, but a byte at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Content-Length: 1000\r\n\r\n{")
    for _ in range(50):
        time.sleep(0.1)
        try:
            handler.wfile.write(b" ")
        except OSError:
            break
    handler.close_connection = True


def text(body, kind="application/json"):
    return lambda handler: handler.say(200, body.encode(), kind)

"""REST catalogs: names, tokens, pages and prefixes; servers that are busy, slow, cut connections or
are no catalogs at all. Named catalogs in catalogs.json."""
import json
import os
import subprocess
import time

import pytest

import rest_server_double
from frazil import BUILD, Warehouse, generate
from rest_server_double import RestServerDouble


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """(metadata location, metadata) of a table with three rows."""
    folder = tmp_path_factory.mktemp("rest")
    generate(folder / "wide.parquet", rows=3, columns=2)
    warehouse = Warehouse(folder / "warehouse")
    warehouse.run("import", "db.wide", str(folder / "wide.parquet"))
    location = warehouse.table("db.wide").location
    metadata, = (folder / "warehouse").rglob("*.metadata.json")
    return f"file://{metadata}", json.loads(metadata.read_text())


@pytest.fixture
def serve(table):
    made = []

    def make(tables=((("db",), "wide"),), **options):
        made.append(RestServerDouble({key: table for key in tables}, **options))
        return made[-1]

    yield make
    for server in made:
        server.close()


def start(catalog, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FRAZIL_")}
    environment |= {"XDG_CONFIG_HOME": "/nonexistent", **variables}
    command = [BUILD / "bin" / "frazil", "--catalog", catalog, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)


def run(catalog, *arguments, **variables):
    done = start(catalog, *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def config(folder, **catalogs):
    path = folder / "catalogs.json"
    path.write_text(json.dumps(catalogs))
    return {"FRAZIL_CATALOGS": str(path)}


def rows(catalog, name="db.wide", **variables):
    return len(run(catalog, "scan", name, "--format", "jsonl", **variables).splitlines())


def test_a_table_is_listed_and_read(serve):
    server = serve()
    assert run(server.uri, "tables").split() == ["db.wide"]
    assert rows(server.uri) == 3
    assert rows(server.uri + "/") == 3


def test_what_is_not_there(serve):
    server = serve()
    done = start(server.uri, "scan", "db.wid")
    assert done.returncode == 3 and "there is no table db.wid" in done.stderr
    assert "did you mean db.wide" in done.stderr


@pytest.mark.parametrize("separator", ["%1F", "%2E", "%2F", "-"])
def test_levels_are_joined_by_the_servers_separator(serve, separator):
    names = [(("a", "b", "c"), "t"), (("a",), "t"), (("a", "x"), "u")]
    server = serve(names, separator=separator)
    assert run(server.uri, "tables").split() == ["a.t", "a.b.c.t", "a.x.u"]
    assert rows(server.uri, "a.b.c.t") == 3


def test_names_that_need_escaping(serve):
    names = [(("ns",), "a/b"), (("ns",), "dot.ted"), (("sp ace",), "ü%20?#&+")]
    server = serve(names)
    assert set(run(server.uri, "tables").splitlines()) >= {'ns."a/b"', 'ns."dot.ted"'}
    for name in ['ns."a/b"', 'ns."dot.ted"', '"sp ace"."ü%20?#&+"']:
        assert rows(server.uri, name) == 3


def test_a_level_with_a_dot(serve):
    server = serve([(("a.b", "c"), "t")])
    assert run(server.uri, "tables").split() == ['"a.b".c.t']
    assert rows(server.uri, '"a.b".c.t') == 3


def test_pages(serve):
    names = [((f"n{i}",), f"t{j}") for i in range(3) for j in range(5)]
    server = serve(names, page=2)
    assert len(run(server.uri, "tables").split()) == 15


def test_the_servers_prefix_and_overrides(serve, tmp_path):
    server = serve(prefix="main")
    assert rows(server.uri) == 3
    other = serve()
    other.overrides = {"uri": server.uri, "prefix": "main"}
    assert rows(other.uri) == 3
    variables = config(tmp_path, prod={"uri": server.uri, "warehouse": "s3://w/x y"})
    assert rows("prod", **variables) == 3
    assert any("warehouse=s3%3A%2F%2Fw%2Fx%20y" in path for _, path, _, _ in server.seen)


# ---- tokens ----


def test_a_bearer_token_and_headers(serve, tmp_path):
    server = serve(token="s3cret")
    assert start(server.uri, "tables").returncode == 1
    variables = config(tmp_path, prod={"uri": server.uri, "token": {"env": "T"}, "header.X-Y": "z"})
    assert rows("prod", T="s3cret", **variables) == 3
    assert server.seen[-1][2]["X-Y"] == "z"
    done = start("prod", "tables", T="wr0ng-token", FRZ_LOG="trace", **variables)
    assert done.returncode == 1 and "who are you?" in done.stderr and "wr0ng" not in done.stderr
    done = start("prod", "tables", **variables)
    assert done.returncode == 2 and "variable T is not set" in done.stderr


def test_client_credentials(serve, tmp_path):
    server = serve(token="none yet", credential="id:se:cr&et")
    catalog = {"uri": server.uri, "credential": "id:se:cr&et", "scope": "a b"}
    variables = config(tmp_path, prod=catalog, bad={**catalog, "credential": "id:wr0ng"})
    assert rows("prod", **variables) == 3
    assert server.tokens_given == 1
    assert "scope=a%20b" in server.seen[0][3]
    done = start("bad", "tables", FRZ_LOG="trace", **variables)
    assert done.returncode == 1 and "bad secret" in done.stderr and "wr0ng" not in done.stderr


def test_a_token_that_runs_out_is_asked_for_again(serve, tmp_path):
    server = serve(token="none yet", credential="id:secret")
    variables = config(tmp_path, prod={"uri": server.uri, "credential": "id:secret"})
    # taken back before its time
    server.faults["/v1/namespaces"] = [rest_server_double.status(401)]
    assert run("prod", "tables", **variables).split() == ["db.wide"]
    assert server.tokens_given == 2
    # known to have run out: asked for before the request
    server.expires_in = 1
    server.faults["/v1/namespaces"] = [lambda handler: (time.sleep(1.1), server.answer(handler, ""))]
    assert run("prod", "tables", **variables).split() == ["db.wide"]
    assert server.tokens_given == 4
    # refused for good: no loop
    server.faults["/v1/namespaces"] = [rest_server_double.status(401)] * 10
    assert start("prod", "tables", **variables).returncode == 1
    assert len(server.faults["/v1/namespaces"]) == 8


# ---- servers in trouble ----


def test_a_busy_server_is_asked_again(serve):
    server = serve()
    for fault in [rest_server_double.status(429, Retry_After="0"), rest_server_double.status(503, Retry_After="1"),
                  rest_server_double.status(502), rest_server_double.html(504), rest_server_double.cut]:
        server.faults["/v1/namespaces/db/tables/wide"] = [fault]
        begin = time.monotonic()
        assert rows(server.uri) == 3
        assert server.faults["/v1/namespaces/db/tables/wide"] == []
        if fault.__closure__ and "1" in str(fault.__closure__[-1].cell_contents):
            assert time.monotonic() - begin >= 1


def test_a_wait_beyond_the_limit_is_not_waited_for(serve):
    server = serve()
    server.faults["/v1/config"] = [rest_server_double.status(503, Retry_After="3600")]
    done = start(server.uri, "tables")
    assert done.returncode == 1 and "status 503: not now" in done.stderr


@pytest.mark.parametrize("fault", [rest_server_double.silent(5), rest_server_double.trickle])
@pytest.mark.parametrize("path", ["/v1/config", "/v1/namespaces"])
def test_a_silent_or_slow_server(serve, tmp_path, fault, path):
    server = serve()
    server.faults[path] = [fault] * 10
    limit = {"rest.client.socket-timeout-ms": "500"}
    done = start("slow", "tables", **config(tmp_path, slow={"uri": server.uri, **limit}))
    assert done.returncode == 1 and "no answer within the time limit" in done.stderr


def test_nobody_listens():
    done = start("http://127.0.0.1:1", "tables")
    assert done.returncode == 1 and "http://127.0.0.1:1/v1/config" in done.stderr


@pytest.mark.parametrize("fault,words", [
    (rest_server_double.html(200), "expected JSON, found text/html (status 200)"),
    (rest_server_double.html(404), "expected JSON, found text/html (status 404)"),
    (rest_server_double.text("[1]"), "expected JSON"),
    (rest_server_double.text("{\"metadata\": 5}"), "has no metadata"),
    (rest_server_double.text("{\"metadata\": {}}"), "format-version"),
    (rest_server_double.text("{}" * 2), "expected JSON"),
    (rest_server_double.status(400), "status 400: not now"),
    (rest_server_double.status(418), "status 418: not now"),
])
def test_answers_that_are_no_tables(serve, fault, words):
    server = serve()
    server.faults["/v1/namespaces/db/tables/wide"] = [fault]
    done = start(server.uri, "scan", "db.wide")
    assert done.returncode not in (0, 2) and words in done.stderr, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("path,body", [
    ("/v1/namespaces", "{\"namespaces\": [[5]]}"),
    ("/v1/namespaces", "{\"namespaces\": [[\"\"]]}"),
    ("/v1/namespaces/db/tables", "{\"identifiers\": [{}]}"),
    ("/v1/namespaces", "{\"namespaces\": {\"db\": 1}}"),
    ("/v1/namespaces/db/tables", "{\"identifiers\": \"wide\"}"),
    ("/v1/namespaces", "{\"namespaces\": [], \"next-page-token\": 5}"),
])
def test_listings_that_make_no_sense(serve, path, body):
    server = serve()
    server.faults[path] = [rest_server_double.text(body)]
    done = start(server.uri, "tables")
    assert done.returncode == 5 and ("in the list" in done.stderr or "in the answer" in done.stderr)


def test_pages_that_come_again_and_that_end_with_an_empty_token(serve):
    server = serve()
    again = rest_server_double.text("{\"namespaces\": [], \"next-page-token\": \"x\"}")
    server.faults["/v1/namespaces"] = [again] * 5
    done = start(server.uri, "tables")
    assert done.returncode == 5 and "the same page again" in done.stderr
    assert len(server.faults["/v1/namespaces"]) == 3
    ends = rest_server_double.text("{\"namespaces\": [[\"db\"]], \"next-page-token\": \"\"}")
    server.faults["/v1/namespaces"] = [ends]
    assert run(server.uri, "tables").split() == ["db.wide"]


def test_a_server_that_repeats_its_namespaces(serve):
    """Nested ones are listed as if they were at the top: no endless descent."""
    server = serve()
    server.faults["/v1/namespaces"] = [rest_server_double.text("{\"namespaces\": [[\"db\"]]}")] * 5
    assert run(server.uri, "tables").split() == ["db.wide"]


def test_changes_are_refused(serve, tmp_path):
    server = serve()
    done = start(server.uri, "sql", "UPDATE db.wide SET c_1 = 0")
    assert done.returncode == 1 and "unsupported: changing tables through http://" in done.stderr


# ---- named catalogs ----


def test_named_catalogs_of_any_kind(tmp_path):
    generate(tmp_path / "wide.parquet", rows=3, columns=2)
    uri = f"sqlite:///{tmp_path}/c.db"
    variables = config(tmp_path, local={"uri": uri, "warehouse": str(tmp_path / "w")})
    run("local", "import", "db.wide", str(tmp_path / "wide.parquet"), **variables)
    assert rows("local", **variables) == 3 and rows(uri) == 3
    done = start("lokal", "tables", **variables)
    assert done.returncode == 3


@pytest.mark.parametrize("text,words", [
    ("{", "catalogs.json"), ("[]", "expected an object"), ("{\"a\": {\"warehouse\": \"w\"}}", "no uri"),
    ("{\"a\": {\"uri\": 5}}", "expected a text"), ("{\"a\": {\"uri\": \"x\", \"token\": {}}}", "token"),
])
def test_a_bad_catalogs_file(tmp_path, text, words):
    (tmp_path / "catalogs.json").write_text(text)
    done = start("a", "tables", FRAZIL_CATALOGS=str(tmp_path / "catalogs.json"))
    assert done.returncode == 5 and words in done.stderr, done.stderr

#!/usr/bin/env python3
"""ClickHouse's HTTP interface on top of an in-process chDB engine (ClickHouse as a library). For tests only.

usage: clickhouse_http.py --path DIR --tmp DIR [--host 127.0.0.1] [--port N] [--user NAME:PASSWORD]... [--faults]

Prints `ready on HOST:PORT` when it listens; ends on TERM. A request's body is kept in a file while its insert runs, so a
body that breaks off inserts nothing. With --faults, `POST /_fault?kind=K&code=N&count=N&match=TEXT` makes the next
`count` statements that contain `match` go wrong:
  error, drop              before the statement runs: answer `code`; close the connection
  error_after, drop_after  the same after it has run ("applied, but the answer was lost")
  hidden                   nothing runs; status 200 with the exception's header and text
  delay                    waits `code` milliseconds, then runs
`POST /_fault?clear=1` forgets them.
"""
import argparse, base64, email.parser, email.policy, json, os, re, shutil, signal, struct, sys, threading, time, uuid, zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit, parse_qsl
import chdb
import lz4.block
from clickhouse_cityhash.cityhash import CityHash128

MIB = 1 << 20
# Names whose HTTP status is not 500; the engine puts the name in "(NAME)" at the end of its text.
STATUS = {
    401: "REQUIRED_PASSWORD",
    403: "UNKNOWN_USER WRONG_PASSWORD AUTHENTICATION_FAILED SET_NON_GRANTED_ROLE ACCESS_DENIED",
    400: "BAD_ARGUMENTS CANNOT_COMPILE_REGEXP CANNOT_PARSE_TEXT CANNOT_PARSE_ESCAPE_SEQUENCE CANNOT_PARSE_QUOTED_STRING "
    "CANNOT_PARSE_DATE CANNOT_PARSE_DATETIME CANNOT_PARSE_NUMBER CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING CANNOT_PARSE_IPV4 "
    "CANNOT_PARSE_IPV6 CANNOT_PARSE_INPUT_ASSERTION_FAILED CANNOT_PARSE_UUID DUPLICATE_COLUMN ILLEGAL_COLUMN "
    "UNKNOWN_ELEMENT_IN_AST UNKNOWN_TYPE_OF_AST_NODE THERE_IS_NO_COLUMN TOO_DEEP_AST TOO_BIG_AST UNEXPECTED_AST_STRUCTURE "
    "SYNTAX_ERROR INCORRECT_DATA TYPE_MISMATCH VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE",
    404: "UNKNOWN_TABLE UNKNOWN_FUNCTION UNKNOWN_IDENTIFIER UNKNOWN_TYPE UNKNOWN_STORAGE UNKNOWN_DATABASE UNKNOWN_SETTING "
    "UNKNOWN_DIRECTION_OF_SORTING UNKNOWN_AGGREGATE_FUNCTION UNKNOWN_FORMAT UNKNOWN_DATABASE_ENGINE UNKNOWN_TYPE_OF_QUERY UNKNOWN_ROLE",
    413: "QUERY_IS_TOO_LARGE",
    501: "NOT_IMPLEMENTED",
    503: "SOCKET_TIMEOUT CANNOT_OPEN_FILE CANNOT_SCHEDULE_TASK",
    411: "HTTP_LENGTH_REQUIRED",
    408: "TIMEOUT_EXCEEDED",
    415: "UNSUPPORTED_MEDIA_TYPE",
}
STATUS = {name: code for code, names in STATUS.items() for name in names.split()}
# URL parameters that are no settings
RESERVED = {
    "query",
    "database",
    "default_format",
    "compress",
    "decompress",
    "user",
    "password",
    "quota_key",
    "session_id",
    "session_timeout",
    "session_check",
    "query_id",
    "wait_end_of_query",
    "buffer_size",
    "role",
    "client_protocol_version",
    "stacktrace",
    "enable_http_compression",
    "send_progress_in_http_headers",
    "http_write_exception_in_output_format",
}
INSERT = re.compile(rb"^\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*INSERT\s+INTO\b", re.I | re.S)
FORMAT = re.compile(rb"\bFORMAT\s+([A-Za-z_][A-Za-z0-9_]*)\s*(?:;|\s|$)", re.I)
QUOTED = re.compile(rb"'(?:\\.|''|[^'\\])*'|`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\])*\"|--[^\n]*|/\*.*?\*/", re.S)
CT = {
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
    "JSON": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8; header=absent",
}


class ChError(Exception):
    def __init__(self, code, name, text):
        super().__init__(f"Code: {code}. DB::Exception: {text}. ({name}) (version {VERSION} (official build))")


FAULT_KINDS = ("error", "drop", "error_after", "drop_after", "hidden", "delay")
FAULT_NAMES = {
    "209": "SOCKET_TIMEOUT",
    "241": "MEMORY_LIMIT_EXCEEDED",
    "242": "TABLE_IS_READ_ONLY",
    "252": "TOO_MANY_PARTS",
    "60": "UNKNOWN_TABLE",
    "159": "TIMEOUT_EXCEEDED",
    "202": "TOO_MANY_SIMULTANEOUS_QUERIES",
    "999": "KEEPER_EXCEPTION",
}


class Hidden(ChError):
    """An error that is answered with status 200."""


def lit(v):
    return "'" + v.replace("\\", "\\\\").replace("'", "\\'") + "'"


def ident(v):
    return "`" + v.replace("\\", "\\\\").replace("`", "\\`") + "`"


def blank(q):
    """The query with quoted text and comments blanked out, same length, for finding keywords."""
    return QUOTED.sub(lambda m: b" " * len(m.group()), q)


def hash128(b):
    h = CityHash128(b)
    return struct.pack("<QQ", (h >> 64) & (2**64 - 1), h & (2**64 - 1))


def compress_blocks(data):
    out = bytearray()
    for i in range(0, len(data), MIB):
        raw = data[i : i + MIB]
        c = lz4.block.compress(raw, store_size=False)
        blk = b"\x82" + struct.pack("<II", len(c) + 9, len(raw)) + c
        out += hash128(blk) + blk
    return bytes(out)


def decompress_blocks(chunks):
    buf = bytearray()
    for c in chunks:
        buf += c
        while len(buf) >= 25:
            method, csize, rsize = buf[16], *struct.unpack_from("<II", buf, 17)
            if csize < 9 or csize > 1 << 30 or rsize > 1 << 30:
                raise ChError(271, "CANNOT_DECOMPRESS", "Too large size_compressed_without_checksum")
            if len(buf) < 16 + csize:
                break
            blk = bytes(buf[16 : 16 + csize])
            if hash128(blk) != bytes(buf[:16]):
                raise ChError(40, "CHECKSUM_DOESNT_MATCH", "Checksum doesn't match: corrupted data")
            del buf[: 16 + csize]
            if method == 0x82:
                yield lz4.block.decompress(blk[9:], uncompressed_size=rsize)
            elif method == 0x90:
                import zstandard

                yield zstandard.ZstdDecompressor().decompress(blk[9:], max_output_size=rsize)
            elif method == 0x02:
                yield blk[9:]
            else:
                raise ChError(89, "UNKNOWN_COMPRESSION_METHOD", f"Unknown codec family code: {method}")
    if buf:
        raise ChError(33, "CANNOT_READ_ALL_DATA", "Cannot read all data: truncated compressed block")


def inflate(chunks, encoding):
    if encoding in ("gzip", "x-gzip", "deflate"):
        d = zlib.decompressobj(31 if "gzip" in encoding else 15)
        for c in chunks:
            yield d.decompress(c)
        yield d.flush()
    elif encoding == "zstd":
        import zstandard

        d = zstandard.ZstdDecompressor().decompressobj()
        for c in chunks:
            yield d.decompress(c)
    elif encoding == "lz4":
        import lz4.frame

        d = lz4.frame.LZ4FrameDecompressor()
        for c in chunks:
            yield d.decompress(c)
    else:
        raise ChError(415, "UNSUPPORTED_MEDIA_TYPE", f"Unknown Content-Encoding {encoding}")


class Engine:
    def __init__(self, path):
        self.path = path
        self.keep = chdb.connect(path)  # holds the engine open
        self.sessions, self.lock = {}, threading.Lock()

    def open(self):
        return chdb.connect(self.path)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "ClickHouse", ""
    wbufsize = 1 << 16

    def log_message(self, fmt, *a):
        if ARGS.verbose:
            sys.stderr.write("%s %s\n" % (self.log_date_time_string(), fmt % a))

    # ---- request body -------------------------------------------------
    def raw_chunks(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            while True:
                line = self.rfile.readline(1024)
                if not line:
                    raise ConnectionError("eof in chunked body")
                n = int(line.split(b";")[0].strip() or b"0", 16)
                if n == 0:
                    while self.rfile.readline(65537) not in (b"\r\n", b"\n", b""):
                        pass
                    break
                while n:
                    b = self.rfile.read(min(n, MIB))
                    if not b:
                        raise ConnectionError("eof in chunked body")
                    n -= len(b)
                    yield b
                self.rfile.readline(3)
        else:
            n = int(self.headers.get("Content-Length") or 0)
            while n:
                b = self.rfile.read(min(n, MIB))
                if not b:
                    raise ConnectionError("eof in body")
                n -= len(b)
                yield b
        self.body_done = True

    def drain(self):
        try:
            for _ in self.chunks:
                pass
        except Exception:
            self.close_connection = True

    # ---- answers ------------------------------------------------------
    def answer(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("X-ClickHouse-Server-Display-Name", "chdb-test")
        self.send_header("X-ClickHouse-Query-Id", self.query_id)
        self.send_header("X-ClickHouse-Timezone", "UTC")
        for k, v in headers:
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Keep-Alive", "timeout=30")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def fail(self, exc):
        text = str(exc)
        m = re.search(r"Code: (\d+)\.", text)
        if m:
            text = text[m.start() :]
        code = int(m.group(1)) if m else 1001
        names = re.findall(r"\(([A-Z][A-Z0-9_]+)\)", text)
        status = 200 if isinstance(exc, Hidden) else next((STATUS[n] for n in reversed(names) if n in STATUS), 500)
        if not m:
            text = f"Code: 1001. DB::Exception: {type(exc).__name__}: {text}. (STD_EXCEPTION)"
        if "(version" not in text:
            text += f" (version {VERSION} (official build))"
        if not self.body_done:
            self.drain()
        self.answer(
            status,
            (text + "\n").encode(),
            [("Content-Type", "text/plain; charset=UTF-8"), ("X-ClickHouse-Exception-Code", str(code))],
        )

    # ---- methods ------------------------------------------------------
    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.handle_any(readonly=True)

    def do_POST(self):
        self.handle_any(readonly=False)

    do_PUT = do_POST

    def auth(self, p):
        user, pw = p.get("user"), p.get("password", "")
        a = self.headers.get("Authorization", "")
        if self.headers.get("X-ClickHouse-User") is not None or self.headers.get("X-ClickHouse-Key") is not None:
            user, pw = self.headers.get("X-ClickHouse-User", "default"), self.headers.get("X-ClickHouse-Key", "")
        elif a.lower().startswith("basic "):
            user, _, pw = base64.b64decode(a[6:]).decode().partition(":")
        user = user or "default"
        if USERS.get(user) != pw:
            raise ChError(
                516,
                "AUTHENTICATION_FAILED",
                f"{user}: Authentication failed: password is incorrect, or there is no user with such name",
            )

    def handle_any(self, readonly):
        u = urlsplit(self.path)
        p = dict(parse_qsl(u.query, keep_blank_values=True))
        self.query_id = p.get("query_id") or str(uuid.uuid4())
        self.body_done = False
        self.chunks = self.raw_chunks()
        try:
            if u.path in ("/ping", "/replicas_status"):
                self.drain()
                return self.answer(200, b"Ok.\n", [("Content-Type", "text/html; charset=UTF-8")])
            if u.path == "/_fault" and ARGS.faults:
                self.drain()
                self.auth(p)
                with FLOCK:
                    if p.get("clear"):
                        FAULTS.clear()
                    elif p.get("kind") not in FAULT_KINDS:
                        raise ChError(36, "BAD_ARGUMENTS", f"Unknown kind of fault: {p.get('kind')}")
                    elif int(p.get("count", 1)) > 0:
                        FAULTS.append(
                            {
                                "kind": p["kind"],
                                "count": int(p.get("count", 1)),
                                "match": p.get("match", ""),
                                "code": p.get("code", "209"),
                            }
                        )
                    body = json.dumps(FAULTS).encode()
                return self.answer(200, body)
            if not p.get("query") and readonly and u.path == "/":
                return self.answer(200, b"Ok.\n", [("Content-Type", "text/html; charset=UTF-8")])
            self.auth(p)
            self.run(p, readonly)
        except (ConnectionError, BrokenPipeError):
            self.close_connection = True
        except Exception as e:
            try:
                self.fail(e)
            except (ConnectionError, BrokenPipeError):
                self.close_connection = True

    def fault(self, query, when):
        with FLOCK:
            for f in FAULTS:
                if f["match"].encode() in query and (f["kind"].endswith("_after")) == (when == "after"):
                    f["count"] -= 1
                    if f["count"] <= 0:
                        FAULTS.remove(f)
                    return f
        return None

    def apply_fault(self, f):
        if f is None:
            return
        kind, code = f["kind"], f["code"]
        if kind == "delay":
            time.sleep(int(code) / 1000)
        elif kind.startswith("drop"):
            raise ConnectionError("fault")
        elif kind == "hidden":
            raise Hidden(int(code), FAULT_NAMES.get(code, "INJECTED"), "injected fault")
        else:
            raise ChError(int(code), FAULT_NAMES.get(code, "INJECTED"), "injected fault")

    def run(self, p, readonly):
        chunks = self.chunks
        enc = self.headers.get("Content-Encoding", "").lower()
        if enc:
            chunks = inflate(chunks, enc)
        if p.get("decompress") in ("1", "true"):
            chunks = decompress_blocks(chunks)
        ctype = self.headers.get("Content-Type", "")
        if ctype.lower().startswith("multipart/form-data"):
            # the clickhouse crate sends a query that has param_* parameters as form fields
            msg = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
                b"Content-Type: " + ctype.encode() + b"\r\n\r\n" + b"".join(chunks)
            )
            for part in msg.iter_parts():
                name = part.get_param("name", header="content-disposition")
                p[name] = part.get_payload(decode=True).decode()
            chunks = ()
        chunks = iter(chunks)
        q = p.get("query", "").encode()
        head = b""
        if INSERT.match(q) is None or not FORMAT.search(blank(q)):
            # the query (or the rest of it) is in the body: "query" and body are one text
            limit = 256 * 1024
            while True:
                m = INSERT.match(q + head)
                if m and FORMAT.search(blank(q + b"\n" + head if q else head)):
                    break
                c = next(chunks, None)
                if c is None:
                    break
                head += c
                if len(head) > limit and INSERT.match(q or head):
                    break
            full = (q + b"\n" + head) if q and head else (q or head)
        else:
            full = q
        if not full.strip():
            raise ChError(62, "SYNTAX_ERROR", "Empty query")
        settings = {k: v for k, v in p.items() if k not in RESERVED and not k.startswith("param_")}
        params = {k[6:]: v for k, v in p.items() if k.startswith("param_")}
        self.apply_fault(self.fault(full, "before"))
        sid = p.get("session_id")
        conn = None
        if sid:
            with ENGINE.lock:
                if sid not in ENGINE.sessions:
                    ENGINE.sessions[sid] = (ENGINE.open(), threading.Lock())
                conn, slock = ENGINE.sessions[sid]
            if not slock.acquire(blocking=False):
                raise ChError(373, "SESSION_IS_LOCKED", f"Session {sid} is locked by a concurrent client")
        else:
            conn = ENGINE.open()
        try:
            self.execute(conn, p, full, chunks, settings, params, readonly)
        finally:
            if sid:
                slock.release()
            else:
                conn.close()

    def execute(self, conn, p, full, chunks, settings, params, readonly):
        db = p.get("database") or self.headers.get("X-ClickHouse-Database")
        if db:
            conn.query(f"USE {ident(db)}")
        if settings:
            conn.query("SET " + ", ".join(f"{ident(k)} = {lit(v)}" for k, v in settings.items()))
        if readonly:
            conn.query("SET readonly = 2")
        t0 = time.perf_counter()
        fmt_out = p.get("default_format") or self.headers.get("X-ClickHouse-Format") or "TabSeparated"
        b = blank(full)
        m = FORMAT.search(b) if INSERT.match(full) else None
        if m and not re.search(rb"\bSELECT\b", b[: m.start()], re.I):
            if readonly:
                raise ChError(164, "READONLY", "default: Cannot execute query in readonly mode")
            fmt = m.group(1).decode()
            rest = full[m.end(1) :]
            rest = re.sub(rb"^[ \t]*;?[ \t]*\r?\n?", b"", rest, count=1)
            # Not Connection.send_insert(): in chdb-core 26.9.0 it reports success when the table itself rejects the
            # rows (TOO_MANY_PARTS, a constraint, too many partitions, a failing materialized view).  INFILE reports them.
            base = full[: m.start()].decode().strip()
            k = re.search(r"\bSETTINGS\b", blank(base.encode()).decode(errors="replace"), re.I)
            into, tail = (base[: k.start()].rstrip(), base[k.start() :]) if k else (base, "")
            path = os.path.join(ARGS.tmp, f"body-{threading.get_ident()}")
            try:
                size = 0
                with open(path, "wb") as f:
                    size += f.write(rest)
                    for c in chunks:
                        size += f.write(c)
                r = conn.query(f"{into} FROM INFILE {lit(path)} COMPRESSION 'none' {tail} FORMAT {fmt}", "TabSeparated")
            except RuntimeError as e:
                t = re.sub(
                    r"^(Code: \d+\. DB::Exception: )(?=Code: )", "", str(e).replace(f": (in file/uri {path})", "")
                )
                raise RuntimeError(t) from None
            finally:
                if os.path.exists(path):
                    os.remove(path)
            written = r.rows_read()
            self.apply_fault(self.fault(full, "after"))
            s = {
                "read_rows": str(written),
                "read_bytes": str(size),
                "written_rows": str(written),
                "written_bytes": str(size),
                "total_rows_to_read": "0",
                "result_rows": str(written),
                "result_bytes": str(size),
                "elapsed_ns": str(int((time.perf_counter() - t0) * 1e9)),
            }
            return self.answer(
                200,
                b"",
                [
                    ("Content-Type", "text/plain; charset=UTF-8"),
                    ("X-ClickHouse-Summary", json.dumps(s, separators=(",", ":"))),
                ],
            )
        for c in chunks:  # the rest of the body belongs to the query text
            full += c
        m = FORMAT.search(blank(full))
        if m:
            fmt_out = m.group(1).decode()
        r = conn.query(full.decode(), fmt_out, params=params or None)
        out = (r.bytes() or b"") if r is not None else b""
        self.apply_fault(self.fault(full, "after"))
        rows = r.rows_read() if r is not None and hasattr(r, "rows_read") else 0
        s = {
            "read_rows": str(rows),
            "read_bytes": "0",
            "written_rows": "0",
            "written_bytes": "0",
            "total_rows_to_read": "0",
            "result_rows": "0",
            "result_bytes": str(len(out)),
            "elapsed_ns": str(int((time.perf_counter() - t0) * 1e9)),
        }
        h = [
            ("Content-Type", CT.get(fmt_out, "application/octet-stream")),
            ("X-ClickHouse-Format", fmt_out),
            ("X-ClickHouse-Summary", json.dumps(s, separators=(",", ":"))),
        ]
        if p.get("compress") in ("1", "true"):
            out = compress_blocks(out)
        elif p.get("enable_http_compression") in ("1", "true") and "gzip" in self.headers.get("Accept-Encoding", ""):
            z = zlib.compressobj(3, zlib.DEFLATED, 31)
            out = z.compress(out) + z.flush()
            h.append(("Content-Encoding", "gzip"))
        self.answer(200, out, h)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    global ARGS, USERS, FAULTS, FLOCK, ENGINE, VERSION
    ap = argparse.ArgumentParser()
    ap.add_argument("--path", required=True)
    ap.add_argument(
        "--tmp", required=True, help="where the body of an insert is kept while it runs; emptied at the start"
    )
    ap.add_argument("--host", default="127.0.0.1")
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--user", action="append", default=[])
    ap.add_argument("--faults", action="store_true")
    ap.add_argument("--verbose", action="store_true")
    ARGS = ap.parse_args()
    USERS = dict(u.split(":", 1) for u in ARGS.user) or {"default": ""}
    FAULTS, FLOCK = [], threading.Lock()
    shutil.rmtree(ARGS.tmp, ignore_errors=True)  # what a killed server left behind
    os.makedirs(ARGS.tmp)
    srv = Server((ARGS.host, ARGS.port), Handler)  # before the engine: a taken port is known at once
    ENGINE = Engine(ARGS.path)
    VERSION = str(ENGINE.keep.query("SELECT version()", "TabSeparated")).strip()
    print(f"ready on {ARGS.host}:{srv.server_address[1]} engine {VERSION}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=srv.shutdown).start())
    srv.serve_forever()
    ENGINE.keep.close()
    shutil.rmtree(ARGS.tmp, ignore_errors=True)


main()

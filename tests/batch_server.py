"""A loopback server that takes batch jobs in the forms of two services, and can go wrong as they do."""

from __future__ import annotations

import email.message
import json
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from batch_lines import anthropic_line, openai_line

__all__ = ["BatchServer", "ServerJob", "asked_text"]

MOST_OPENAI, MOST_OPENAI_BYTES = 50_000, 200_000_000
MOST_ANTHROPIC, MOST_ANTHROPIC_BYTES = 100_000, 256_000_000


def asked_text(body: Mapping[str, Any]) -> str:
    """All that a call says to its model."""
    return json.dumps([body.get(name) for name in ("system", "instructions", "messages", "input")])


@dataclass
class ServerJob:
    """A job as the service has it; ``fate`` is how it ends: complete, expired, cancelled, failed:CODE."""

    job_id: str
    style: str
    calls: list[tuple[str, Mapping[str, Any]]]
    metadata: Mapping[str, str] = field(default_factory=dict)
    endpoint: str = ""
    created: float = field(default_factory=time.time)
    fate: str = "complete"
    over: bool = False
    lines: list[Mapping[str, Any]] = field(default_factory=list)


class BatchServer:
    """Speaks ``/v1/files``, ``/v1/batches`` and ``/v1/messages/batches``.

    A job ends when it is created, or with ``finishes_at_once = False`` when ``finish`` is called.
    ``fate_of`` decides over each call (text, how often it was asked before): ok, expired, canceled,
    http:STATUS, missing, garbage. ``job_fates`` are those of the next jobs. ``troubles`` are met by the next
    requests whose method and path begin as given: ``status:N`` refuses, ``lost`` does the work and drops
    the connection, ``cut`` breaks off in the middle of the body. ``choices_of`` decides how many choices
    come, from how many were asked for, and how often before. ``garble`` makes of the bytes of results what is
    sent instead; ``refusal`` is what refusals say.
    """

    def __init__(self) -> None:
        self.finishes_at_once = True
        self.fate_of: Callable[[str, int], str] = lambda _text, _before: "ok"
        self.choices_of: Callable[[int, int], int] = lambda n, _before: n
        self.answer_of: Callable[[str], str] = lambda _text: "A"
        self.garble: Callable[[bytes], bytes] = lambda results: results
        self.refusal = "refused on purpose"
        self.job_fates: deque[str] = deque()
        self.troubles: deque[tuple[str, str]] = deque()
        self.jobs: dict[str, ServerJob] = {}
        self.files: dict[str, bytes] = {}
        self.answered: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.log: list[str] = []
        self.keys: set[str] = set()
        self.most_calls: int | None = None
        self._random = random.Random(7)
        self._lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def finish(self) -> None:
        """End every job that is still running."""
        with self._lock:
            for job in self.jobs.values():
                self._finish(job)

    # what happens to jobs

    def add_job(self, job: ServerJob) -> None:
        job.fate = self.job_fates.popleft() if self.job_fates else "complete"
        self.jobs[job.job_id] = job
        if self.finishes_at_once:
            self._finish(job)

    def _finish(self, job: ServerJob) -> None:
        if job.over:
            return
        job.over = True
        if not job.fate.startswith("failed:"):
            job.lines = [line for custom_id, body in job.calls if (line := self._run(job, custom_id, body))]
            self._random.shuffle(job.lines)

    def _run(self, job: ServerJob, custom_id: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        text = asked_text(body)
        fate = self.fate_of(text, self.asked[text])
        n = self.choices_of(int(body.get("n") or 1), self.asked[text])
        self.asked[text] += 1
        if job.fate == "cancelled":
            fate = "canceled"
        if fate == "ok":
            self.answered[text] += n
        if fate == "missing":
            return None
        make = anthropic_line if job.style == "anthropic" else openai_line
        return {"custom_id": custom_id, **make(fate, {**body, "n": n}, self.answer_of(text))}

    # requests

    def respond(self, method: str, target: str, headers: email.message.Message, body: bytes) -> tuple[int, bytes]:
        with self._lock:
            url = urlsplit(target)
            self.log.append(f"{method} {url.path}")
            self.keys |= {value for name in ("authorization", "x-api-key") if (value := headers.get(name))}
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            if url.path.startswith("/v1/messages/batches"):
                return self._anthropic(method, url.path.removeprefix("/v1/messages/batches"), query, body)
            if url.path.startswith("/v1/files"):
                return self._files(method, url.path.removeprefix("/v1/files"), headers, body)
            if url.path.startswith("/v1/batches"):
                return self._openai(method, url.path.removeprefix("/v1/batches"), query, body)
            return 404, b'{"error": {"message": "no such path"}}'

    def _files(self, method: str, path: str, headers: email.message.Message, body: bytes) -> tuple[int, bytes]:
        if method == "POST":
            parts = BytesParser(policy=HTTP).parsebytes(
                b"Content-Type: " + headers["content-type"].encode() + b"\r\n\r\n" + body
            )
            content = next(p.get_payload(decode=True) for p in parts.iter_parts() if p.get_filename())
            assert isinstance(content, bytes)
            if len(content) > MOST_OPENAI_BYTES:
                return _refusal(413, "too large")
            file_id = f"file-{len(self.files)}"
            self.files[file_id] = content
            return _json(
                {
                    "id": file_id,
                    "object": "file",
                    "bytes": len(content),
                    "created_at": int(time.time()),
                    "filename": "b.jsonl",
                    "purpose": "batch",
                    "status": "processed",
                }
            )
        content = self.files.get(path.split("/")[1])
        return _refusal(404, "no such file") if content is None else (200, content)

    def _openai(self, method: str, path: str, query: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        if method == "POST" and not path:
            return self._create_openai(json.loads(body))
        if not path:
            newest_first = [job for job in reversed(self.jobs.values()) if job.style == "openai"]
            return _json(_page([self._openai_job(job) for job in newest_first], query, "after"))
        job = self.jobs.get(path.split("/")[1])
        if job is None:
            return _refusal(404, "no such batch")
        if path.endswith("/cancel"):
            job.fate = "cancelled"
            self._finish(job)
        return _json(self._openai_job(job))

    def _create_openai(self, asked: Mapping[str, Any]) -> tuple[int, bytes]:
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        if len(lines) > (self.most_calls or MOST_OPENAI):
            return _refusal(400, "too many requests in the file")
        assert all(line["method"] == "POST" and line["url"] == asked["endpoint"] for line in lines)
        calls = [(line["custom_id"], line["body"]) for line in lines]
        assert len(dict(calls)) == len(calls)
        assert asked["completion_window"] == "24h"
        job = ServerJob(f"batch_{len(self.jobs)}", "openai", calls, asked.get("metadata") or {}, asked["endpoint"])
        self.add_job(job)
        return _json({**self._openai_job(job), "status": "validating"})

    def _openai_job(self, job: ServerJob) -> Mapping[str, Any]:
        bad = [line for line in job.lines if line.get("error") or line["response"]["status_code"] != 200]
        good = [line for line in job.lines if line not in bad]
        shown: dict[str, Any] = {
            "id": job.job_id,
            "object": "batch",
            "endpoint": job.endpoint,
            "completion_window": "24h",
            "input_file_id": "file-0",
            "created_at": int(job.created),
            "metadata": job.metadata,
            "status": "in_progress",
            "request_counts": {"total": len(job.calls), "completed": 0, "failed": 0},
        }
        if not job.over:
            return shown
        if job.fate.startswith("failed:"):
            code = job.fate.removeprefix("failed:")
            errors = {"object": "list", "data": [{"code": code, "message": f"{code} happened", "line": None}]}
            return {**shown, "status": "failed", "errors": errors, "request_counts": None}
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                file_id = f"file-{name}-{job.job_id}"
                self.files.setdefault(file_id, self.garble("".join(_raw_line(line) for line in lines).encode()))
                shown[name] = file_id
        counts = {"total": len(job.calls), "completed": len(good), "failed": len(job.calls) - len(good)}
        return {**shown, "status": "completed" if job.fate == "complete" else job.fate, "request_counts": counts}

    def _anthropic(self, method: str, path: str, query: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        if method == "POST" and not path:
            return self._create_anthropic(body)
        if not path:
            newest_first = [job for job in reversed(self.jobs.values()) if job.style == "anthropic"]
            return _json(_page([self._anthropic_job(job) for job in newest_first], query, "after_id"))
        job = self.jobs.get(path.split("/")[1])
        if job is None:
            return _refusal(404, "no such batch")
        if path.endswith("/cancel"):
            job.fate = "cancelled"
            self._finish(job)
        if path.endswith("/results"):
            return 200, self.garble("".join(_raw_line(line) for line in job.lines).encode())
        return _json(self._anthropic_job(job))

    def _create_anthropic(self, body: bytes) -> tuple[int, bytes]:
        requests = json.loads(body)["requests"]
        if len(requests) > (self.most_calls or MOST_ANTHROPIC) or len(body) > MOST_ANTHROPIC_BYTES:
            return _refusal(413, "too large")
        calls = [(request["custom_id"], request["params"]) for request in requests]
        assert len(dict(calls)) == len(calls)
        job = ServerJob(f"msgbatch_{len(self.jobs)}", "anthropic", calls)
        self.add_job(job)
        return _json({**self._anthropic_job(job), "processing_status": "in_progress", "results_url": None})

    def _anthropic_job(self, job: ServerJob) -> Mapping[str, Any]:
        kinds = Counter(line["result"]["type"] for line in job.lines)
        counts = {name: kinds[name] for name in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": job.job_id,
            "type": "message_batch",
            "created_at": _stamp(job.created),
            "expires_at": _stamp(job.created + 86_400),
            "archived_at": None,
            "cancel_initiated_at": None,
            "ended_at": _stamp(time.time()) if job.over else None,
            "processing_status": "ended" if job.over else "in_progress",
            "request_counts": {**counts, "processing": 0 if job.over else len(job.calls)},
            "results_url": f"{self.url}/v1/messages/batches/{job.job_id}/results" if job.over else None,
        }

    def trouble_for(self, method: str, target: str) -> str | None:
        with self._lock:
            if self.troubles and f"{method} {target}".startswith(self.troubles[0][0]):
                return self.troubles.popleft()[1]
        return None


def _page(entries: list[Mapping[str, Any]], query: Mapping[str, str], cursor: str) -> Mapping[str, Any]:
    start = 0
    if cursor in query:
        start = 1 + [entry["id"] for entry in entries].index(query[cursor])
    limit = int(query.get("limit", 20))
    shown = entries[start : start + limit]
    ends = {"first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None}
    return {"object": "list", "data": shown, "has_more": start + limit < len(entries), **ends}


def _stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _raw_line(line: Mapping[str, Any]) -> str:
    """Unescaped, as services may write it: with characters in it that Unicode counts as line ends."""
    return json.dumps(line, ensure_ascii=False) + "\n"


def _json(value: Mapping[str, Any]) -> tuple[int, bytes]:
    return 200, json.dumps(value).encode()


def _refusal(status: int, message: str) -> tuple[int, bytes]:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
    return status, json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def _handler_of(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def _serve(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            trouble = server.trouble_for(method, self.path)
            if trouble and trouble.startswith("status:"):
                status, sent = _refusal(int(trouble.removeprefix("status:")), server.refusal)
            else:
                status, sent = server.respond(method, self.path, self.headers, body)
            if trouble == "lost":
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent[: len(sent) // 2] if trouble == "cut" else sent)
            self.close_connection = trouble == "cut"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler

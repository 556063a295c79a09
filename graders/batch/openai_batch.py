"""Batch jobs of OpenAI: a file of calls goes up, a file of results and a file of errors come down."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from graders.batch.batch_service import BatchState, BatchStatus, SoughtJob
from graders.batch.calls import BatchCall, BatchLimits
from graders.batch.job_replies import (
    NO_CALL,
    NOT_BILLED,
    STRAY_LINE,
    JobReplies,
    count_at,
    mapping_at,
    text_at,
    told_reason,
)
from graders.client import Request
from graders.dispatch.http_errors import http_call_error
from graders.dispatch.service import CallError, CallErrorKind, Reply
from graders.grader import Grader
from graders.providers.openai_chat import build_chat_body, read_chat
from graders.providers.openai_client import addresses, check_openai, find_key
from graders.providers.openai_form import first_form
from graders.providers.openai_responses import build_responses_body, read_responses

__all__ = ["OpenAIBatch", "open_openai_batch"]

LIMITS = BatchLimits(requests=50_000, bytes=200_000_000)
LABEL_KEY = "autorater_job"
PAGE = 100
TRANSFER_SECONDS = 600.0
"""A file of this size may take longer than one call may."""

_STATUS: Mapping[str, BatchStatus] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_WHOLE_FAILURES: Mapping[str, CallErrorKind] = {
    # More tokens wait in the queue than the account may have there.
    "token_limit_exceeded": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "billing_hard_limit_reached": "quota_exhausted",
    "insufficient_quota": "quota_exhausted",
    "server_error": "server_error",
    "internal_error": "server_error",
}
_NOT_RUN = ("batch_expired", "batch_cancelled", "batch_canceled")


class OpenAIBatch:
    """One model's jobs with OpenAI, or with a service that takes jobs as OpenAI does."""

    def __init__(self, grader: Grader) -> None:
        import openai

        self._grader = grader
        self._form = first_form(grader)
        self._responses = grader.capabilities.api == "responses"
        self._path: Literal["/v1/responses", "/v1/chat/completions"] = (
            "/v1/responses" if self._responses else "/v1/chat/completions"
        )
        address = addresses(grader)[0]
        key = find_key(grader, address)
        self._replies = JobReplies(openai, key)
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=address,
            max_retries=0,
            timeout=max(grader.endpoint.timeout_seconds, TRANSFER_SECONDS),
        )
        if grader.endpoint.base_urls:
            # The SDK takes these from the environment; they are no other service's business.
            self._client.organization = self._client.project = None

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self._grader.model} at {self._client.base_url.host}"

    @property
    def limits(self) -> BatchLimits:
        """Most calls and bytes of a file."""
        return LIMITS

    def choices_per_call(self, request: Request) -> int:
        """As many as one call may have."""
        return self._form.choices(request)

    def build_body(self, request: Request) -> Mapping[str, Any]:
        """What the same call made at once would send."""
        if self._responses:
            return build_responses_body(request, self._form)
        return build_chat_body(request, self._form, request.repeats)

    def submit(self, calls: Sequence[BatchCall], label: str) -> str:
        """Send the file, then the job that names it."""
        with self._replies.errors_named(), tempfile.TemporaryFile() as file:
            for call in calls:
                file.write(self._encode(call))
            file.seek(0)
            sent = self._client.files.with_raw_response.create(file=(f"{label}.jsonl", file), purpose="batch")
            job = self._client.batches.with_raw_response.create(
                input_file_id=text_at(self._replies.parse_object(sent.content), "id"),
                endpoint=self._path,
                completion_window="24h",
                metadata={LABEL_KEY: label},
            )
            return text_at(self._replies.parse_object(job.content), "id")

    def find(self, sought: SoughtJob) -> str | None:
        """The job that carries the label."""
        for job in self._newest_first():
            if _created_at(job) < sought.since:
                return None
            if mapping_at(job, "metadata").get(LABEL_KEY) == sought.label:
                return text_at(job, "id")
        return None

    def state(self, job_id: str) -> BatchState:
        """How far a job is."""
        job = self._retrieve(job_id)
        counts = mapping_at(job, "request_counts")
        status = _STATUS.get(text_at(job, "status"), "in_progress")
        return BatchState(
            status=status,
            n_calls=count_at(counts, "total") or None,
            n_done=count_at(counts, "completed"),
            n_failed=count_at(counts, "failed"),
            failure=_whole_failure(job) if status == "failed" else None,
        )

    def collect(self, job_id: str, requests: Mapping[str, Request]) -> Iterator[tuple[str, Reply | CallError]]:
        """The lines of both files of a job."""
        job = self._retrieve(job_id)
        for name in ("output_file_id", "error_file_id"):
            if job.get(name):
                for line in self._replies.parse_lines(partial(self._fetch, text_at(job, name))):
                    custom_id = line.get("custom_id") if line is not None else None
                    if line is not None and isinstance(custom_id, str) and custom_id in requests:
                        yield custom_id, self._read(line, requests[custom_id])
                    else:
                        yield NO_CALL, STRAY_LINE

    def cancel(self, job_id: str) -> None:
        """End a job early."""
        with self._replies.errors_named():
            self._client.batches.with_raw_response.cancel(job_id)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def _read(self, line: Mapping[str, Any], request: Request) -> Reply | CallError:
        response, error = mapping_at(line, "response"), mapping_at(line, "error")
        if not response:
            told = told_reason(error, "no response")
            if error.get("code") in _NOT_RUN:
                return CallError("timeout", told, usage=NOT_BILLED)
            return CallError("server_error", told)
        status = response.get("status_code")
        if status != 200:
            return http_call_error(status if isinstance(status, int) else 500, response.get("body"), {})
        try:
            return self._read_body(response.get("body"), request)
        except CallError as refused:
            return refused

    def _read_body(self, body: object, request: Request) -> Reply:
        read = read_responses if self._responses else read_chat
        return Reply(read(body, request, self._form, request.repeats, {}))

    def _encode(self, call: BatchCall) -> bytes:
        line = {"custom_id": call.custom_id, "method": "POST", "url": self._path, "body": dict(call.body)}
        return json.dumps(line, ensure_ascii=True).encode("ascii") + b"\n"

    def _retrieve(self, job_id: str) -> Mapping[str, Any]:
        with self._replies.errors_named():
            return self._replies.parse_object(self._client.batches.with_raw_response.retrieve(job_id).content)

    def _newest_first(self) -> Iterator[Mapping[str, Any]]:
        after: dict[str, Any] = {}
        while True:
            with self._replies.errors_named():
                sent = self._client.batches.with_raw_response.list(limit=PAGE, **after)
                page = self._replies.parse_object(sent.content)
            jobs = [job for job in page.get("data") or [] if isinstance(job, dict)]
            yield from jobs
            if not jobs or not page.get("has_more"):
                return
            after = {"after": text_at(jobs[-1], "id")}

    def _fetch(self, file_id: str) -> Generator[bytes]:
        with self._replies.errors_named(), self._client.files.with_streaming_response.content(file_id) as response:
            yield from response.iter_bytes()


def _whole_failure(job: Mapping[str, Any]) -> CallError:
    errors = mapping_at(job, "errors").get("data")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    kind = _WHOLE_FAILURES.get(str(first.get("code")), "bad_request")
    return CallError(kind, told_reason(first, "no reason given"), usage=NOT_BILLED)


def _created_at(job: Mapping[str, Any]) -> datetime:
    seconds = job.get("created_at")
    return datetime.fromtimestamp(seconds if isinstance(seconds, int | float) else 0, UTC)


def open_openai_batch(grader: Grader) -> OpenAIBatch:
    """The service that takes a grader's jobs.

    Raises
    ------
    MissingDependencyError
        If its package is not installed.
    ServiceError
        If its key is missing.
    """
    check_openai(grader)
    return OpenAIBatch(grader)

"""Batch jobs of Anthropic: one request brings all calls, their results come as one stream, in any order."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Any

from graders.batch.batch_service import BatchState, SoughtJob, StrangeJobError
from graders.batch.calls import BatchCall, BatchLimits
from graders.batch.job_replies import NO_CALL, NOT_BILLED, STRAY_LINE, JobReplies, count_at, mapping_at, text_at
from graders.client import Request
from graders.dispatch.http_errors import http_call_error
from graders.dispatch.service import CallError, Reply
from graders.grader import Grader
from graders.providers.anthropic_client import addresses, check_anthropic, find_key
from graders.providers.anthropic_messages import build_messages_body, read_message

__all__ = ["AnthropicBatch", "open_anthropic_batch"]

LIMITS = BatchLimits(requests=100_000, bytes=256_000_000)
PAGE = 100
TRANSFER_SECONDS = 600.0
"""A request of this size may take longer than one call may."""

_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What a call's error would have had for a status, had it been made at once."""


class AnthropicBatch:
    """One model's jobs with Anthropic."""

    def __init__(self, grader: Grader) -> None:
        import anthropic
        import httpx2

        self._response_type = httpx2.Response
        self._grader = grader
        address = addresses(grader)[0]
        key = find_key(grader, address)
        self._replies = JobReplies(anthropic, key)
        self._client = anthropic.Anthropic(
            # An empty one makes a header that may not be sent.
            api_key=key or "none",
            base_url=address,
            max_retries=0,
            timeout=max(grader.endpoint.timeout_seconds, TRANSFER_SECONDS),
        )

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self._grader.model} at {self._client.base_url.host}"

    @property
    def limits(self) -> BatchLimits:
        """Most calls and bytes of a request."""
        return LIMITS

    def choices_per_call(self, request: Request) -> int:  # noqa: ARG002 - of the protocol
        """One: a message has no alternatives."""
        return 1

    def build_body(self, request: Request) -> Mapping[str, Any]:
        """What the same call made at once would send."""
        return build_messages_body(request, self._grader)

    def submit(self, calls: Sequence[BatchCall], label: str) -> str:  # noqa: ARG002 - of the protocol
        """Send all calls in one request; the label goes along in their ids."""
        entries = [{"custom_id": call.custom_id, "params": dict(call.body)} for call in calls]
        # Written here, so that the size is the one that was measured.
        content = json.dumps({"requests": entries}, separators=(",", ":")).encode()
        with self._replies.errors_named():
            sent = self._client.post("/v1/messages/batches", cast_to=self._response_type, content=content)
            return text_at(self._replies.parse_object(sent.content), "id")

    def find(self, sought: SoughtJob) -> str | None:
        """The job whose results bear the label, or else an unfinished one of its size.

        A job has no name, and its ids are not shown before it is over.
        """
        unfinished = None
        for job in self._newest_first():
            if _created_at(job) < sought.since:
                break
            if text_at(job, "id") in sought.taken or _count_calls(job) != sought.n_calls:
                continue
            if not _is_over(job):
                unfinished = text_at(job, "id")
            elif job.get("results_url") and self._bears(text_at(job, "id"), sought.label):
                return text_at(job, "id")
        return unfinished

    def state(self, job_id: str) -> BatchState:
        """How far a job is; expired and cancelled calls are told apart in its results."""
        job = self._retrieve(job_id)
        counts = mapping_at(job, "request_counts")
        return BatchState(
            status="ended" if _is_over(job) else "in_progress",
            n_calls=_count_calls(job),
            n_done=count_at(counts, "succeeded"),
            n_failed=sum(count_at(counts, name) for name in ("errored", "canceled", "expired")),
        )

    def collect(self, job_id: str, requests: Mapping[str, Request]) -> Iterator[tuple[str, Reply | CallError]]:
        """The lines of a job's results; ``StrangeJobError`` where the service knows no such job."""
        n_ours = n_others = 0
        for line in self._results(job_id):
            custom_id = line.get("custom_id") if line is not None else None
            if line is not None and isinstance(custom_id, str) and custom_id in requests:
                n_ours += 1
                yield custom_id, self._read(line, requests[custom_id])
            else:
                n_others += isinstance(custom_id, str)
                yield NO_CALL, STRAY_LINE
        if n_others and not n_ours:
            raise StrangeJobError(job_id)

    def cancel(self, job_id: str) -> None:
        """End a job early."""
        with self._replies.errors_named():
            self._client.messages.batches.with_raw_response.cancel(job_id)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def _read(self, line: Mapping[str, Any], request: Request) -> Reply | CallError:
        result = mapping_at(line, "result")
        kind = result.get("type")
        if kind in ("expired", "canceled"):
            return CallError("timeout", f"{kind} before it was answered", usage=NOT_BILLED)
        if kind != "succeeded":
            body = mapping_at(result, "error")
            name = str(mapping_at(body, "error").get("type") or body.get("type"))
            return http_call_error(_STATUS_OF.get(name, 500), body, {})
        try:
            return self._read_message(result.get("message"), request)
        except CallError as refused:
            return refused

    def _read_message(self, body: object, request: Request) -> Reply:
        return read_message(body, request, self._grader, {})

    def _bears(self, job_id: str, label: str) -> bool:
        with closing(self._results(job_id)) as results:
            first = next((line for line in results if line is not None), None)
        return first is not None and str(first.get("custom_id")).startswith(f"{label}-")

    def _retrieve(self, job_id: str) -> Mapping[str, Any]:
        with self._replies.errors_named():
            sent = self._client.messages.batches.with_raw_response.retrieve(job_id)
            return self._replies.parse_object(sent.http_response.content)

    def _newest_first(self) -> Iterator[Mapping[str, Any]]:
        after: dict[str, Any] = {}
        while True:
            with self._replies.errors_named():
                sent = self._client.messages.batches.with_raw_response.list(limit=PAGE, **after)
                page = self._replies.parse_object(sent.http_response.content)
            jobs = [job for job in page.get("data") or [] if isinstance(job, dict)]
            yield from jobs
            if not jobs or not page.get("has_more"):
                return
            after = {"after_id": text_at(jobs[-1], "id")}

    def _results(self, job_id: str) -> Generator[Mapping[str, Any] | None]:
        yield from self._replies.parse_lines(partial(self._fetch, job_id))

    def _fetch(self, job_id: str) -> Generator[bytes]:
        with (
            self._replies.errors_named(),
            self._client.messages.batches.with_streaming_response.results(job_id) as response,
        ):
            yield from response.iter_bytes()


def _is_over(job: Mapping[str, Any]) -> bool:
    return job.get("processing_status") == "ended"


def _count_calls(job: Mapping[str, Any]) -> int:
    return sum(count for count in mapping_at(job, "request_counts").values() if isinstance(count, int))


def _created_at(job: Mapping[str, Any]) -> datetime:
    """When a job was made; what cannot be read counts as just now, so that the job is not passed over."""
    try:
        return datetime.fromisoformat(str(job.get("created_at")))
    except ValueError:
        return datetime.now(UTC)


def open_anthropic_batch(grader: Grader) -> AnthropicBatch:
    """The service that takes a grader's jobs.

    Raises
    ------
    MissingDependencyError
        If its package is not installed.
    ServiceError
        If its key is missing.
    """
    check_anthropic(grader)
    return AnthropicBatch(grader)

"""Tables of the work that several workers share, on a server: who is at it, and who has claimed what.

Times are seconds since 1970 by the server's clock; those of the workers' machines are never compared.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, String, Table

from experiments.store.tables import metadata

__all__ = ["claims", "work_sessions", "worker_shares", "workers"]

_Text = String().with_variant(String(collation="C"), "postgresql")

# The time in which at least one worker is at a run, and the limit of cost that holds for all of them.
work_sessions = Table(
    "work_sessions",
    metadata,
    Column("session_id", _Text, primary_key=True),
    Column("run_id", _Text, nullable=False, index=True),
    Column("begun_at", Float, nullable=False),
    Column("max_cost", Float),
    Column("paid_before", Float),
    Column("uncertain_before", Float),
)
# A process at work. Its claims are good until ``expires_at``, or until somebody has noted ``lost_at`` after that.
workers = Table(
    "workers",
    metadata,
    Column("worker_id", _Text, primary_key=True),
    Column("session_id", _Text, nullable=False, index=True),
    Column("run_id", _Text, nullable=False),
    Column("name", _Text, nullable=False),
    Column("machine", _Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("joined_at", Float, nullable=False),
    Column("beat_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("lost_at", Float),
    Column("ended_at", Float),
    Column("allotted", Float, nullable=False),
    Column("spent", Float, nullable=False),
    Column("uncertain", Float, nullable=False),
)
worker_shares = Table(
    "worker_shares",
    metadata,
    Column("worker_id", _Text, primary_key=True),
    Column("grader_id", _Text, primary_key=True),
    Column("n_delivered", Integer, nullable=False),
    Column("n_failed", Integer, nullable=False),
)
# An item content that a worker asks a grader about; without a worker, one that failed for good in that session.
claims = Table(
    "claims",
    metadata,
    Column("grader_id", _Text, primary_key=True),
    Column("item_digest", _Text, primary_key=True),
    Column("worker_id", _Text, index=True),
    Column("failed_in", _Text),
)

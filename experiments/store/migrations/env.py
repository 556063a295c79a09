"""Runs revisions in the transaction of who asks for them, which also commits."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

"""Tells open web pages that something changed; the double counts."""

told: list[tuple[str, str | None]] = []


def mark_dirty_all(*, reason: str | None = None) -> None:
    told.append(("*", reason))


def mark_dirty_for_context(context_id: str, *, reason: str | None = None) -> None:
    told.append((context_id, reason))

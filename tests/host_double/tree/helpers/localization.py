"""Times as the web page shows them; the double is in UTC."""

from datetime import UTC, datetime


class Localization:
    _instance = None

    @classmethod
    def get(cls, *args, **kwargs):
        cls._instance = cls._instance or cls(*args, **kwargs)
        return cls._instance

    def __init__(self, timezone: str | None = None):
        self.timezone = timezone or "UTC"

    def get_timezone(self) -> str:
        return self.timezone

    def serialize_datetime(self, dt: datetime | None) -> str | None:
        if dt is None:
            return None
        return (dt if dt.tzinfo else dt.replace(tzinfo=UTC)).astimezone(UTC).isoformat()

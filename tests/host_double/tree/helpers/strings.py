"""Text helpers."""

import re

from helpers import files


def sanitize_string(s: str, encoding: str = "utf-8") -> str:
    """Lone surrogates become "?"."""
    text = s if isinstance(s, str) else f"{s}"
    return text.encode(encoding, errors="replace").decode(encoding, errors="replace")


def truncate_text(text: str, length: int, at_end: bool = True, replacement: str = "...") -> str:
    if len(text) <= length:
        return text
    return text[:length] + replacement if at_end else replacement + text[len(text) - length :]


def truncate_text_by_ratio(
    text: str, threshold: int, replacement: str = "...", ratio: float = 0.5
) -> str:
    limit = int(threshold)
    if limit == 0 or len(text) <= limit:
        return text
    room = limit - len(replacement)
    if room <= 0:
        return replacement[:limit]
    head = int(room * min(1.0, max(0.0, float(ratio))))
    tail = room - head
    return text[:head] + replacement + (text[-tail:] if tail else "")


def replace_file_includes(text: str, placeholder_pattern: str = r"§§include\(([^)]+)\)") -> str:
    def content(match: re.Match) -> str:
        try:
            return files.read_file(files.fix_dev_path(match[1]))
        except Exception:  # unreadable: the placeholder stays, as in the host
            return match[0]

    return re.sub(placeholder_pattern, content, text) if text else text

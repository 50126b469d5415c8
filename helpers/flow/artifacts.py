"""The files that a packet names, as they are now."""

from __future__ import annotations

from ..records.artifacts import Facts, artifact_facts, check_artifact
from ..records.folder import HandoverFolder
from ..text.quote import one_line
from ..values.packet import HandoverPacket

_WORDS = {
    "changed": "changed since it was recorded",
    "gone": "does not exist",
    "outside": "lies outside the project and is not compared",
    "unrecorded": "is no readable plain file and is not compared",
}
_MOST_NAMES = 5


class Files:
    """The files of one project, each looked at once."""

    def __init__(self, folder: HandoverFolder) -> None:
        self._root = folder.root
        self._facts: dict[str, Facts] = {}

    def facts(self, path: str) -> Facts:
        if path not in self._facts:
            self._facts[path] = artifact_facts(self._root, path)
        return self._facts[path]

    def hash_and_size(self, path: str) -> tuple[str, int | None]:
        """sha256 and bytes of a file, ("", None) where there is none."""
        facts = self.facts(path)
        return facts.sha256, facts.size

    def status(self, packet: HandoverPacket) -> dict[str, str]:
        """How each artifact is now, by path: unchanged, changed, gone, outside, unrecorded."""
        status: dict[str, str] = {}
        for item in packet.artifacts:
            status[item.path] = check_artifact(self._root, item, self.facts(item.path))
        return status

    def warnings(self, packet: HandoverPacket) -> list[str]:
        """What the sender should know of the files it names, a line for each way in which they are
        not as it may think."""
        named: dict[str, list[str]] = {word: [] for word in _WORDS}
        for path, status in self.status(packet).items():
            if "://" in path:
                continue
            word = self.facts(path).missing if status == "unrecorded" else status
            if word in named:
                named[word].append(one_line(path, 80))
        lines = []
        for word, paths in named.items():
            if not paths:
                continue
            shown = ", ".join(paths[:_MOST_NAMES])
            if len(paths) > _MOST_NAMES:
                shown += f" and {len(paths) - _MOST_NAMES} more"
            lines.append(f"artifact {shown}: {_WORDS[word]}")
        return lines

"""hooks.py as the host calls it: it installs only what is absent, says what it did, and never raises in install."""

import sys
import zipfile
from pathlib import Path

import pytest

ABSENT = "handover-test-package"


@pytest.fixture
def tree(host_tree):
    """A host whose requirements name one package that nobody has."""
    host_tree.write(
        "usr/plugins/software_orchestrator/requirements.txt",
        f"# ours\npyyaml>=6.0.2\n{ABSENT}>=1.0\n",
    )
    return host_tree


def wheel(folder: Path) -> None:
    """The smallest package that pip installs."""
    name = ABSENT.replace("-", "_")
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {ABSENT}\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{info}/RECORD", "")


def told(host) -> list[str]:
    return [item["message"] for item in host.notifications()]


def test_install_brings_nothing_when_nothing_is_absent(host_tree):
    host_tree.write("usr/plugins/software_orchestrator/requirements.txt", "pyyaml>=6.0.2\n")
    with host_tree.enter() as host:
        assert host.hook("install").startswith("Ready")
        assert [item["type"] for item in host.notifications()] == ["success"]


def test_install_brings_what_is_absent_and_tells_each_step(tree, tmp_path, monkeypatch, capfd):
    wheel(tmp_path)
    for name, value in {
        "NO_INDEX": "1",
        "FIND_LINKS": str(tmp_path),
        "TARGET": str(tmp_path / "packages"),
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    with tree.enter() as host:
        assert f"installed {ABSENT}>=1.0" in host.hook("install")
        assert [item["type"] for item in host.notifications()] == ["progress", "success"]
    assert "Software Orchestrator: pip:" in capfd.readouterr().out


def test_an_index_that_cannot_be_reached_is_said_with_what_to_do_and_nothing_is_raised(
    tree, monkeypatch
):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with tree.enter() as host:
        text = host.hook("install")
        assert "index cannot be reached" in text
        assert "execute.py" in text
        assert f"pip install {ABSENT}" in text
        assert host.notifications()[-1]["type"] == "warning"


def test_a_python_without_pip_is_said(tree, tmp_path, monkeypatch):
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho "$0: No module named pip"; exit 1\n', encoding="utf-8")
    script.chmod(0o755)
    with tree.enter() as host:
        monkeypatch.setattr(sys, "executable", str(script))
        assert "has no pip" in host.hook("install")


@pytest.mark.parametrize("broken", ["requirements", "notification"])
def test_install_never_raises_whatever_is_broken(tree, broken, monkeypatch):
    with tree.enter() as host:
        if broken == "requirements":
            (tree.plugin / "requirements.txt").unlink()
        else:
            monkeypatch.setenv("PIP_NO_INDEX", "1")
            monkeypatch.setattr(
                "helpers.notification.NotificationManager.send_notification", lambda **_: 1 / 0
            )
        assert isinstance(host.hook("install"), str)


def test_install_forgets_our_modules_and_no_others(host_tree):
    with host_tree.enter() as host:
        import usr.plugins.software_orchestrator.helpers.values.roster as before

        host.hook("install")
        assert not [
            name for name in sys.modules if name.startswith("usr.plugins.software_orchestrator.")
        ]
        import usr.plugins.software_orchestrator.helpers.values.roster as after

        assert after is not before
        assert "helpers.plugins" in sys.modules


def test_uninstall_leaves_the_briefings_and_says_where(host_tree):
    with host_tree.enter() as host:
        kept = host.project("shop") / ".a0proj/handover"
        kept.mkdir(parents=True)
        (kept / "frontend-designer-hero-2026-06-05.md").write_text("## kept\n", encoding="utf-8")
        host.project("empty")
        assert str(kept.parents[1]) in host.hook("uninstall")
        assert (kept / "frontend-designer-hero-2026-06-05.md").exists()
        assert "empty" not in told(host)[-1]


def test_the_host_deletes_the_plugin_and_not_the_briefings(host_tree):
    with host_tree.enter() as host:
        from helpers import plugins

        kept = host.project("shop") / ".a0proj/handover/x.md"
        kept.parent.mkdir(parents=True)
        kept.write_text("kept", encoding="utf-8")
        plugins.uninstall_plugin("software_orchestrator")
        assert not host_tree.plugin.exists()
        assert kept.read_text(encoding="utf-8") == "kept"


def test_saved_settings_are_typed_and_wrong_ones_are_not_saved(host_tree):
    with host_tree.enter():
        from helpers import plugins

        saved = host_tree.plugin / "config.json"
        plugins.save_plugin_config(
            "software_orchestrator", "", "", {"max_context_tokens": "2500", "git_ignore": ""}
        )
        assert saved.read_text(encoding="utf-8") == '{"max_context_tokens": 2500}'
        with pytest.raises(Exception, match="max_handover_depth"):
            plugins.save_plugin_config("software_orchestrator", "", "", {"max_handover_depth": 0})
        with pytest.raises(Exception, match="line 1"):
            plugins.save_plugin_config("software_orchestrator", "", "", {"roster": "a: [b"})
        assert saved.read_text(encoding="utf-8") == '{"max_context_tokens": 2500}'


def test_a_message_shown_as_html_is_escaped(host_tree):
    with host_tree.enter() as host:
        host.project("shop", title="shop")
        (host_tree.root / "usr/projects/<b>/.a0proj/handover").mkdir(parents=True)
        (host_tree.root / "usr/projects/<b>/.a0proj/project.json").write_text(
            '{"title": "<b>"}', encoding="utf-8"
        )
        host.hook("uninstall")
        assert "<b>" not in told(host)[-1]
        assert "&lt;b&gt;" in told(host)[-1]


def test_the_defaults_for_the_settings_page_hold_the_roster_as_text(host_tree):
    with host_tree.enter():
        from helpers import plugins

        defaults = plugins.get_default_plugin_config("software_orchestrator")
        assert defaults["max_context_tokens"] == 3000
        assert defaults["roster"].startswith("a0_software_orchestrator:\n")

"""Every command of the page on the command line is run, in the page's order, in one folder."""

import importlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from linrank.cli import COMMANDS, cli

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```bash\n(.*?)```", (ROOT / "docs" / "cli.md").read_text(), re.DOTALL)


def commands() -> list[str]:
    """Lines of shell; a block with a here-document is one."""
    found = [[block] if "<<EOF" in block else block.splitlines() for block in BLOCKS]
    return [command for block in found for command in block if command.strip()]


def test_the_page_shows_every_command():
    assert set(re.findall(r"(?:^|\| )linrank (\w+)", "\n".join(commands()), re.MULTILINE)) == set(COMMANDS)


def test_commands_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in commands():
        if not command.startswith("linrank ") or "|" in command:
            _in_shell(command, tmp_path)
            continue
        words = shlex.split(command)
        result = CliRunner().invoke(cli, words[1:])  # in this process: start-up is paid once
        assert result.exit_code == 0, (command, result.stderr)
        if "--json" in words:
            json.loads(result.stdout)
    assert (tmp_path / "scores.txt").read_text().count("\n") == 5
    assert not (tmp_path / "state.npz").exists()


def _in_shell(command: str, folder: Path) -> None:
    """The rest (here-documents, pipes) by a real shell, with `linrank` as a function."""
    program = f"linrank() {{ {shlex.quote(sys.executable)} -c 'from linrank.cli import main; main()' \"$@\"; }}\n"
    done = subprocess.run(["bash", "-c", program + command], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (command, done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_commands_named_elsewhere_exist(page):
    text = (ROOT / page).read_text()
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL))
    shown = re.findall(r"`linrank ([a-z]+)([^`\n]*)`", text)
    for name, rest in shown + re.findall(r"(?:^|&& |\| )linrank ([a-z]+)([^\n]*)", blocks, re.MULTILINE):
        assert name in COMMANDS, f"{page}: linrank {name}"
        assert _flags(rest) <= known_flags(name), f"{page}: linrank {name}{rest}"


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_help_name_options_that_exist(name):
    command = getattr(importlib.import_module(f"linrank.cli.{name}"), name)
    for rest in re.findall(rf"linrank {name} (.*)", command.help or ""):
        assert _flags(rest) <= known_flags(name), rest


def _flags(text: str) -> set[str]:
    return set(re.findall(r"(?<=\s)(--[a-z0-9-]+|-[a-z])(?=\s|$)", text.split("|")[0].split("#")[0].split(">")[0]))


def known_flags(name: str) -> set[str]:
    command = getattr(importlib.import_module(f"linrank.cli.{name}"), name)
    flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    return flags | {"--help", "--debug"}

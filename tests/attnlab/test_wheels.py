"""Both wheels as they are built: attention alone in one, the lab whole in the other."""

import zipfile
from collections.abc import Iterator
from contextlib import chdir
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from hatchling.build import build_wheel

from tests.bare import ROOT

HANGS_ON = (".gitignore", "README.md", "LICENSE", "LICENSE-content", "CHANGELOG.md")
PROJECTS = {"attnbook": ROOT, "attnlab": ROOT / "src" / "attnlab"}
NOT_READERS = ("test", "node_modules", "package.json", "package-lock.json", "biome.json", ".toml")


@pytest.fixture(scope="module", params=PROJECTS)
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    folder = tmp_path_factory.mktemp("wheel")
    with chdir(PROJECTS[request.param]):
        path = folder / build_wheel(str(folder))
    with zipfile.ZipFile(path) as opened:
        yield request.param, opened


def files(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if ".dist-info/" not in name}


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_string(wheel.read(name).decode())


def test_it_holds_its_package_and_nothing_for_makers(wheel) -> None:
    name, opened = wheel
    held = files(opened)
    assert {one.split("/")[0] for one in held} == {name}
    assert [one for one in held for part in NOT_READERS if part in one.split("/")[-1]] == []
    folder = ROOT / "src" / name
    modules = {f"{name}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.py")}
    written = {one for one in modules if "node_modules" not in one}
    assert {one for one in held if one.endswith(".py")} == written
    if name == "attnbook":
        assert {Path(one).suffix for one in held} <= {".py", ".typed"}
    else:
        assert {"attnlab/LICENSE", "attnlab/LICENSE-content"} <= held
        assert {
            "attnlab/widgets/chunks/core.js",
            "attnlab/models/captions/captions.js",
        } <= held


def test_attention_needs_torch_and_numpy_and_the_lab_needs_attention(wheel) -> None:
    name, opened = wheel
    wanted = [one for one in metadata(opened).get_all("Requires-Dist", []) if "extra ==" not in one]
    names = {one.split(">")[0].split("=")[0] for one in wanted}
    if name == "attnbook":
        assert names == {"torch", "numpy"}
    else:
        assert "attnbook" in names
        assert f"attnbook=={metadata(opened)['Version']}" in wanted

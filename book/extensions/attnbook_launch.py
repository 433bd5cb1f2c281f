"""A lecture's copy for students in the menus at the top of its page, in Colab and to download.

``make kit`` writes these copies. The site carries them where the kit was built before the book;
the one in Colab is that of the last release, on the branch ``kit``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
STUDENTS = ROOT / "_build" / "kit" / "students"
FOLDER = "_static/students"
TEXT = "student copy"


def copies(students: Path = STUDENTS, notebooks: Path = ROOT / "notebooks") -> dict[str, Path]:
    """Return each lecture's copy by its name, but none that is older than the lecture."""
    found = {path.stem: path for path in sorted(students.glob("[0-9]*.ipynb"))}
    source = {stem: notebooks / path.name for stem, path in found.items()}
    return {
        stem: path
        for stem, path in found.items()
        if source[stem].exists() and path.stat().st_mtime >= source[stem].stat().st_mtime
    }


def carry(app: Sphinx) -> None:
    """Put the copies into the site."""
    for path in copies().values():
        folder = Path(app.outdir) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)


def link(url: str, tooltip: str, icon: str, text: str = TEXT) -> dict[str, str]:
    return {"type": "link", "url": url, "text": text, "tooltip": tooltip, "icon": icon}


def offer(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Add a lecture's copy to the menus that it belongs in."""
    folder, _, stem = pagename.rpartition("/")
    if folder != "notebooks" or not stem[:1].isdigit():
        return
    groups = {group.get("label"): group for group in context.get("header_buttons", [])}
    if menu := groups.get("launch-buttons"):
        for button in list(menu["buttons"]):
            if "colab.research" in button.get("url", ""):
                url = button["url"].partition("/blob/")[0] + f"/blob/kit/students/{stem}.ipynb"
                tooltip = "Open the copy without solutions in Colab"
                menu["buttons"].append(link(url, tooltip, button["icon"], f"Colab, {TEXT}"))
    if (menu := groups.get("download-buttons")) and stem in copies():
        url = f"{context['pathto'](FOLDER, 1)}/{stem}.ipynb"
        menu["buttons"].append(link(url, "Download the copy without solutions", "fas fa-file"))


def setup(app: Sphinx) -> dict:
    app.connect("builder-inited", carry)
    app.connect("html-page-context", offer, priority=800)  # after the theme's own buttons
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

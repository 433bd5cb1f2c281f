"""Write questions as a QTI package that Canvas imports, a quiz for each lecture or exam.

The version is QTI 1.2, in which Canvas exports its own quizzes: its kinds of question, points and
the margins of numbers have their place there. Version 2.1 has no agreed one for them.

Canvas has no question of several numbers: each becomes a question of its own, under the whole text.
Canvas sets formulae from \\(…\\), as Moodle does.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

from teaching.kit.answers import margin, shares, stated
from teaching.kit.marked import page
from teaching.kit.moodle import feedback, ident, name, scheme, wanted
from teaching.kit.packed import zipped

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
MANIFEST = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
META = "http://canvas.instructure.com/xsd/cccv1p0"
BESIDE = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
Entry = dict[str, Any]


def package(quizzes: dict[str, list[Entry]], name: str, seed: int) -> bytes:
    """Return a zip file of quizzes, each a list of questions under its title."""
    files: dict[str, bytes] = {}
    manifest = ET.Element("manifest", identifier=name, xmlns=MANIFEST)
    metadata = ET.SubElement(manifest, "metadata")
    said(metadata, "schema", "IMS Content")
    said(metadata, "schemaversion", "1.1.3")
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    for number, (title, entries) in enumerate(quizzes.items(), 1):
        key = f"{name}-{number}"
        items = [item for entry in entries for item in questions(entry, seed)]
        paths = f"{key}/{key}.xml", f"{key}/assessment_meta.xml"
        files[paths[0]] = written(assessment(key, title, items))
        files[paths[1]] = written(about(key, title, entries))
        quiz = ET.SubElement(resources, "resource", identifier=key, type="imsqti_xmlv1p2")
        ET.SubElement(quiz, "file", href=paths[0])
        ET.SubElement(quiz, "dependency", identifierref=f"{key}-meta")
        beside = {"identifier": f"{key}-meta", "type": BESIDE, "href": paths[1]}
        ET.SubElement(ET.SubElement(resources, "resource", beside), "file", href=paths[1])
    files["imsmanifest.xml"] = written(manifest)
    return zipped(files)


def assessment(key: str, title: str, items: list[ET.Element]) -> ET.Element:
    root = ET.Element("questestinterop", xmlns=QTI)
    quiz = ET.SubElement(root, "assessment", ident=key, title=title)
    ET.SubElement(quiz, "section", ident="root_section").extend(items)
    return root


def about(key: str, title: str, entries: list[Entry]) -> ET.Element:
    """Return how a quiz is given: an exam once, unpublished, and without telling."""
    exam = all(entry["kind"] == "exam" for entry in entries)
    root = ET.Element("quiz", identifier=key, xmlns=META)
    for label, value in {
        "title": title,
        "shuffle_answers": "false",
        "scoring_policy": "keep_highest",
        "hide_results": "always" if exam else "",
        "quiz_type": "assignment" if exam else "practice_quiz",
        "points_possible": f"{sum(entry['points'] for entry in entries):g}",
        "show_correct_answers": str(not exam).lower(),
        "allowed_attempts": "1" if exam else "-1",
        "available": "false",
    }.items():
        said(root, label, value)
    return root


def questions(entry: Entry, seed: int) -> list[ET.Element]:
    """Return a question; one for each number that it asks for."""
    key = f"q-{ident(entry, seed)}"
    asked, told = page(entry["text"]), feedback(entry)
    if entry["type"] == "choice":
        return [choice(item(key, name(entry), entry["points"]), entry, asked, told)]
    if entry["type"] == "text":
        told = page(entry["solution"]) + scheme(entry) + told
        return [essay(item(key, name(entry), entry["points"]), asked, told)]
    points = shares(entry)
    found = []
    for n, answer in enumerate(entry["answers"], 1):
        which = f", number {n} of {len(points)}" if len(points) > 1 else ""
        one = item(f"{key}-{n}", name(entry) + which, points[n - 1])
        found.append(number(one, answer, asked + wanted(answer), told))
    return found


def choice(one: ET.Element, entry: Entry, asked: str, told: str) -> ET.Element:
    several = entry["multiple"]
    kind(one, "multiple_answers_question" if several else "multiple_choice_question")
    shown = presented(one, asked)
    cardinality = "Multiple" if several else "Single"
    answers = ET.SubElement(shown, "response_lid", ident="response1", rcardinality=cardinality)
    rows = ET.SubElement(answers, "render_choice")
    keys = {f"choice_{n}": option for n, option in enumerate(entry["options"], 1)}
    for key, option in keys.items():
        material(ET.SubElement(rows, "response_label", ident=key), page(option["text"]))
    process = processed(one)
    for key in keys:
        respond(process, equal(key), f"{key}_fb")
    if several:  # all that are right, and no other
        wanted = ET.Element("and")
        for key, option in keys.items():
            parent = wanted if option["right"] else ET.SubElement(wanted, "not")
            parent.append(equal(key))
        score(process, wanted)
    else:
        score(process, *(equal(key) for key, option in keys.items() if option["right"]))
    notes(one, {"general_fb": told, **{f"{key}_fb": page(o["why"]) for key, o in keys.items()}})
    return one


def number(one: ET.Element, answer: Entry, asked: str, told: str) -> ET.Element:
    kind(one, "numerical_question")
    typed(presented(one, asked), "Decimal")
    value, within = Decimal(stated(answer)), Decimal(margin(answer))
    exact, between = equal(str(value)), ET.Element("and")
    for tag, end in ("vargte", value - within), ("varlte", value + within):
        ET.SubElement(between, tag, respident="response1").text = f"{end:f}"
    either = ET.Element("or")
    either.extend([exact, between])
    score(processed(one), either)
    notes(one, {"general_fb": told})
    return one


def essay(one: ET.Element, asked: str, told: str) -> ET.Element:
    kind(one, "essay_question")
    typed(presented(one, asked), "")
    process = processed(one)
    condition = ET.SubElement(process, "respcondition", {"continue": "No"})
    ET.SubElement(ET.SubElement(condition, "conditionvar"), "other")
    notes(one, {"general_fb": told})
    return one


# ---- the parts of an item ----------------------------------------------------------------------


def item(key: str, title: str, points: float) -> ET.Element:
    one = ET.Element("item", ident=key, title=title)
    fields = ET.SubElement(ET.SubElement(one, "itemmetadata"), "qtimetadata")
    for label, value in ("question_type", ""), ("points_possible", f"{points:g}"):
        field = ET.SubElement(fields, "qtimetadatafield")
        said(field, "fieldlabel", label)
        said(field, "fieldentry", value)
    return one


def kind(one: ET.Element, name: str) -> None:
    entry = one.find(".//fieldentry")
    assert entry is not None
    entry.text = name


def presented(one: ET.Element, asked: str) -> ET.Element:
    shown = ET.SubElement(one, "presentation")
    material(shown, asked)
    return shown


def typed(shown: ET.Element, fibtype: str) -> None:
    answers = ET.SubElement(shown, "response_str", ident="response1", rcardinality="Single")
    field = ET.SubElement(answers, "render_fib", {"fibtype": fibtype} if fibtype else {})
    ET.SubElement(field, "response_label", ident="answer1", rshuffle="No")


def processed(one: ET.Element) -> ET.Element:
    """Add how an answer is judged; what is told of every answer comes first."""
    process = ET.SubElement(one, "resprocessing")
    scale = {"maxvalue": "100", "minvalue": "0", "varname": "SCORE", "vartype": "Decimal"}
    ET.SubElement(ET.SubElement(process, "outcomes"), "decvar", scale)
    respond(process, ET.Element("other"), "general_fb")
    return process


def respond(process: ET.Element, when: ET.Element, note: str) -> None:
    condition = ET.SubElement(process, "respcondition", {"continue": "Yes"})
    ET.SubElement(condition, "conditionvar").append(when)
    ET.SubElement(condition, "displayfeedback", feedbacktype="Response", linkrefid=note)


def score(process: ET.Element, *when: ET.Element) -> None:
    condition = ET.SubElement(process, "respcondition", {"continue": "No"})
    ET.SubElement(condition, "conditionvar").extend(when)
    ET.SubElement(condition, "setvar", action="Set", varname="SCORE").text = "100"


def equal(value: str) -> ET.Element:
    one = ET.Element("varequal", respident="response1")
    one.text = value
    return one


def notes(one: ET.Element, told: dict[str, str]) -> None:
    for key, words in told.items():
        note = ET.SubElement(one, "itemfeedback", ident=key)
        material(ET.SubElement(note, "flow_mat"), words)


def material(parent: ET.Element, words: str) -> None:
    one = ET.SubElement(ET.SubElement(parent, "material"), "mattext", texttype="text/html")
    one.text = words


def said(parent: ET.Element, name: str, words: str) -> None:
    ET.SubElement(parent, name).text = words


def written(root: ET.Element) -> bytes:
    ET.indent(root, " ")
    return ET.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"

"""Predict, then look: every box of every page; by keyboard, on paper, without JavaScript."""

import json

import pytest
from site_checks import complaints

from devkit import ROOT, slides
from devkit.chapters import chapters
from devkit.predict import boxes

PAGE = "book/03_attention.html"
SEEN = """() => [...document.querySelectorAll(".attn-closed")]
  .filter((part) => !part.closest("details.attn-evidence:not([open])"))
  .map((part) => part.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))"""
# Answers every box, a wrong choice or number where there is one, and says what it shows then.
ANSWER = """() => [...document.querySelectorAll(".attn-answer")].map((box) => {
  const { box: name, right } = box.dataset;
  const closed = [...document.querySelectorAll(`.attn-closed[data-box="${name}"]`)];
  const before = closed.map((part) => part.open);
  const choices = [...box.querySelectorAll(".attn-choices button")];
  const own = choices.find((_, n) => n + 1 !== Number(right));
  const texts = choices.map((choice) => choice.textContent.trim());
  if (own) own.click();
  else {
    box.querySelector("input").value = "12,5 %";
    box.querySelector("form button").click();
  }
  const status = box.querySelector("[role=status]");
  return { name, before, after: closed.map((part) => part.open), status: status.textContent,
    own: own ? own.textContent.trim() : "12,5 %", why: status.children.length > 1,
    measured: own ? choices[right - 1].textContent.trim() : box.dataset.number, texts };
})"""
STATES = """() => [...document.querySelectorAll(".attn-answer [role=status]")]
  .map((status) => status.textContent)"""


def seen_now(page) -> list[bool]:
    """Of each output that is closed at first, whether one sees it once the page is drawn."""
    page.wait_for_timeout(60)
    return page.evaluate(SEEN)


def test_every_box_opens_what_it_asks_about_and_keeps_the_answer(visit, server):
    with visit(server) as shown:
        page, asked = shown.page, 0
        for name in chapters():
            notebook = json.loads((ROOT / "book" / f"{name}.ipynb").read_text("utf-8"))
            page.goto(f"{server}book/{name}.html")
            assert not any(seen_now(page)), name
            answers = page.evaluate(ANSWER)
            assert len(answers) == len(boxes(notebook))
            for box, seen in zip(boxes(notebook), answers, strict=True):
                assert seen["name"] == f"{name}/{box.cell}"
                assert seen["before"] and not any(seen["before"]) and all(seen["after"]), seen
                assert seen["own"] in seen["status"] and seen["measured"] in seen["status"], seen
                assert len(seen["texts"]) == len(box.choices)
                assert not page.locator(".attn-answer button :is(a, button)").count()
                assert seen["why"] == bool(box.why and box.why[1]), seen
                asked += 1
            assert all(seen_now(page)), name
            before = page.evaluate(STATES)
            page.reload()
            assert all(seen_now(page)) and all(before), name
            after = page.evaluate(STATES)
            assert list(map(shortened, after)) == list(map(shortened, before))
            assert not any("\\(" in status for status in after), f"{name}: a formula is not set"
        assert asked >= 4 * len(chapters()) and not shown.faults


def shortened(status: str) -> str:
    """What is said before the explanation, whose formulas may not be set yet."""
    return status.split("Measured")[0]


def test_the_keyboard_answers_and_takes_it_back(visit, server):
    with visit(server) as shown:
        page = shown.page
        page.goto(server + PAGE)
        box = page.locator(".attn-answer").first
        box.locator("button").nth(1).focus()
        page.keyboard.press("Enter")
        status = box.get_by_role("status")
        assert status.inner_text().startswith("As you expected: ate")
        assert box.locator("[aria-pressed=true]").count() == 1
        box.locator("button").nth(0).press("Enter")  # the first answer stands
        assert status.inner_text().startswith("As you expected: ate")
        box.get_by_role("button", name="Answer again").press("Space")
        assert status.inner_text() == "" and not any(seen_now(page))
        box.get_by_role("button", name="Show without a guess").press("Space")
        assert seen_now(page)[0] and status.inner_text() == ""
        page.reload()
        assert not any(seen_now(page))
        page.locator(".attn-closed > summary").first.press("Enter")
        assert seen_now(page)[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("2/5", "Near enough: you expected 2/5, measured is 0.40."),
        ("39 %", "Near enough"),
        ("0,41", "Near enough"),
        ("0", "You expected 0. Measured: 0.40."),
        ("much", ""),
        ("", ""),
    ],
)
def test_a_number_is_read_as_people_write_it(visit, server, typed, said):
    with visit(server) as shown:
        page = shown.page
        page.goto(server + PAGE)
        box = page.locator(".attn-answer:has(input)")
        box.locator("input").fill(typed)
        box.locator("input").press("Enter")
        assert box.get_by_role("status").inner_text().startswith(said)
        assert any(seen_now(page)) == bool(said)


def test_the_switch_opens_everything_and_is_remembered(visit, base):
    with visit(base) as shown:
        page = shown.page
        page.goto(base + PAGE)
        switch = page.get_by_role("switch", name="open all answers")
        switch.check()
        assert all(seen_now(page))
        page.goto(base + "book/01_cues.html")
        assert switch.is_checked() and all(seen_now(page))
        switch.uncheck()
        assert not any(seen_now(page))
        page.reload()
        assert not switch.is_checked() and not any(seen_now(page))


def test_without_javascript_all_is_open_and_nothing_can_be_pressed(visit, server):
    with visit(server, java_script_enabled=False) as shown:
        shown.page.goto(server + PAGE)
        assert all(seen_now(shown.page))
        for what in (".attn-all", ".attn-ask", ".attn-answer form", ".attn-closed > summary"):
            assert not shown.page.locator(what).first.is_visible()


def test_on_paper_all_is_open(visit, server):
    with visit(server) as shown:
        shown.page.goto(server + PAGE)
        assert not any(seen_now(shown.page))
        shown.page.emulate_media(media="print")
        assert all(seen_now(shown.page))
        assert shown.page.locator(".attn-choices button").first.is_visible()
        assert not shown.page.locator(".attn-closed > summary").first.is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_choices_are_large_enough_and_readable(visit, server, theme):
    with visit(server, width=390, theme=theme, has_touch=True) as shown:
        page = shown.page
        page.goto(server + PAGE)
        for answered in (False, True):
            targets = ".attn-answer :is(button, input):visible, .attn-all label"
            for target in page.locator(targets).all():
                assert target.bounding_box()["height"] >= 44
            assert complaints(page) == []
            if not answered:
                page.evaluate(ANSWER)


def test_a_slide_opens_its_answer_and_forgets(visit, site, tmp_path):
    (path,) = slides.write(site, tmp_path, ["book/03_attention"])
    with visit(tmp_path.as_uri()) as shown:
        page = shown.page
        for _ in range(2):
            page.goto(path.as_uri())
            assert not any(seen_now(page))
            assert all(seen["why"] and all(seen["after"]) for seen in page.evaluate(ANSWER))
        assert not page.locator(".shown .attn-reason").count()
        assert not shown.faults

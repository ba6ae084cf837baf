"""Markup for `page.py`: elements and tables, in the way of the HTML kit of the program (crates/onefold-cli/src/html).

Values get into a page only through `escape`; finished markup is of the type `Html`.
"""

import base64
import hashlib
import unicodedata
from pathlib import Path

# The look is that of the reports, from the one style sheet there is.
STYLE_FILE = Path(__file__).parents[1] / "crates" / "onefold-cli" / "src" / "html" / "style.css"
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
VOID = ("meta",)
KINDS = {"#": "number", "~": "words detail"}


class Html(str):
    """Finished markup."""


def escape(value):
    if isinstance(value, Html):
        return value
    return Html("".join(ENTITIES.get(character) or visible(character) for character in str(value)))


def visible(character):
    """Characters that cannot be seen, or that reorder what is seen, are shown by name."""
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp") and character not in "\u200c\u200d"
    return f"⟨U+{ord(character):04X}⟩" if hidden else character


def el(tag, *children, **attributes):
    """An element. `class_` is written class, `stroke_width` stroke-width."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value is not None
    )
    end = "" if tag in VOID else f"</{tag}>"
    return Html(f"<{tag}{written}>{''.join(map(escape, children))}{end}")


def table(caption, columns, rows):
    """`columns`: headings; # before one: numbers; ~ before one: details, left out in narrow windows."""
    kinds = [KINDS.get(name[0], "words") for name in columns]
    heads = [el("th", name.lstrip("#~"), scope="col", class_=kind) for name, kind in zip(columns, kinds)]
    body = [
        el("tr", el("th", row[0], scope="row"), *(el("td", cell, class_=kind) for cell, kind in zip(row[1:], kinds[1:])))
        for row in rows
    ]
    made = el("table", el("caption", caption), el("thead", el("tr", *heads)), el("tbody", *(Html(line + "\n") for line in body)))
    return el("div", made, class_="scroll", tabindex=0, role="region", aria_label=caption)


def document(title, header, sections, footer):
    """A whole page; `sections`: (id, heading, content)."""
    style = STYLE_FILE.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = el(
        "head", el("meta", charset="utf-8"), el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"), el("meta", name="referrer", content="no-referrer"),
        el("title", title), el("style", Html(style)),
    )
    contents = [el("li", el("a", heading, href=f"#{name}")) for name, heading, _ in sections]
    parts = [
        Html("\n" + el("section", el("h2", heading, id=name), content, aria_labelledby=name))
        for name, heading, content in sections
    ]
    body = el(
        "body", el("a", "Skip to the plots", class_="skip", href="#main"), el("header", header),
        el("nav", el("ol", *contents), aria_label="Contents"), el("main", *parts, id="main"), el("footer", footer),
    )
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"

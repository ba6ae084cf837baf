#!/usr/bin/env python3
"""Make `docs/bench.html` from all records: plots, and the numbers of each in a table below it. No script, no network.

    page.py [--out FILE]

In: the JSON files of `records/`. The plots of costs, answers and stages show the newest record of each name; speed shows all.
The same records give the same bytes.
"""

import argparse
import sys
from pathlib import Path

import plot
import record
from experiment import HOLDS, UNMEASURED, proven
from markup import Html, document, el, table

OUT = Path(__file__).parents[1] / "docs" / "bench.html"
GROUP_TONES = ("first", "second", "third", "quiet")
# Stages in the order of the pipeline, gathered so that four colours tell them apart.
STAGE_PARTS = (
    ("read (with words and shingles)", "first", ("read", "extract", "normalize", "shingle")),
    ("learn, fingerprint", "third", ("learn", "fingerprint")), ("join, verify", "second", ("join", "verify")),
    ("rank, cluster", "quiet", ("rank", "cluster")),
)
REST = ("the rest: start, writing the result", "track")
REFUSED = 8


# --- what the plots show --------------------------------------------------------------------------------------


def newest(records):
    """The newest record of each name; `records` are oldest first."""
    return list({each["name"]: each for each in records}.values())


def own_row(group):
    return next(row for row in group["rows"] if row["name"] == "onefold")


def groups_with(found, same_words):
    """Groups with the wanted words, or all if there are none."""
    return [group for group in found["groups"] if group["same_words"] == same_words] or found["groups"]


def rivals(group):
    return [row for row in group["rows"] if row["name"] != "onefold" and "failed" not in row]


def contested(records):
    return [each for each in records if any(map(rivals, each["groups"]))]


def whole(found):
    return f"{found['name']}, {found['date']}"


def collection(group):
    return group.get("case") or f"{group['documents']:,} documents"


def number(value, form="{:,}"):
    return "–" if value is None else form.format(value)


def share(value):
    return number(value, "{:.3f}")


def seconds(value):
    return number(value, "{:,.2f}" if value is not None and value < 10 else "{:,.1f}")


def times(value):
    return f"{value:,.1f} ×" if value < 100 else f"{value:,.0f} ×"


# --- sections -------------------------------------------------------------------------------------------------


def cpu_section(records):
    parts = [el("p", "CPU seconds of each tool, user and system, as multiples of what onefold needs for the same documents in "
                     "the same run. The scale is logarithmic: each line across is ten times the one before. onefold is at 1.")]
    drawn = [(found, *cost_rows(found)) for found in contested(records)]
    # One scale for all, so that bars may be compared across plots.
    values = [value for _, rows, _, _ in drawn for _, _, value, _ in rows]
    for found, rows, lines, entries in drawn:
        axis = plot.Axis.powers("CPU seconds ÷ onefold’s", values)
        title = f"{whole(found)}: CPU time as a multiple of onefold’s"
        said = "; ".join(f"{name} {remark}" for name, remark, _, _ in rows)
        parts.append(plot.figure(f"cpu-{found['name']}", title, said, entries, plot.bars(axis, rows)))
        parts.append(table(f"{whole(found)}: what each tool spends", (
            "tool", "#documents", "#CPU s", "#÷ onefold", "#wall s", "#÷ onefold", "#peak MB", "~settings"), lines))
        parts += failures(found)
    return Html("".join(parts))


def cost_rows(found):
    """Bars, lines of the table and legend of a record."""
    rows, lines, entries = [], [], []
    groups = [group for group in groups_with(found, False) if rivals(group)]
    for at, group in enumerate(groups):
        own, tone = own_row(group), GROUP_TONES[at % len(GROUP_TONES)]
        entries.append((collection(group), tone, "bar"))
        lines.append(cost_line(own, own, group))
        for row in rivals(group):
            ratio = row["cpu_seconds"] / own["cpu_seconds"]
            rows.append((row["name"], times(ratio), ratio, tone))
            lines.append(cost_line(row, own, group))
    return rows, lines, entries


def cost_line(row, own, group):
    ratios = [number(row[key] / own[key] if own[key] else None, "{:,.2f}") for key in ("cpu_seconds", "wall_seconds")]
    return (
        row["name"], number(group["documents"]), seconds(row["cpu_seconds"]), ratios[0], seconds(row["wall_seconds"]), ratios[1],
        number(row["peak_mb"], "{:,.0f}"), row["settings"] or "–",
    )


def failures(found):
    failed = [f"{row['name']} ({row['failed']})" for group in found["groups"] for row in group["rows"] if "failed" in row]
    return [el("p", "Without a result: " + ", ".join(dict.fromkeys(failed)) + ".", class_="note")] if failed else []


def answers_section(records):
    parts = [el("p", "Precision: of the pairs that a tool calls duplicates, how many reach the threshold. Recall: of the pairs "
                     "that reach it, how many the tool finds. Pairs are scored against onefold’s, computed exactly; those of "
                     "onefold are checked by brute force, with another program in another language.")]
    for found in contested(records):
        rows, lines = [], []
        check = found["truth_check"]
        if check:
            name = f"onefold, {check['documents_drawn']:,} documents by brute force"
            answer_row(rows, lines, name, {kind: proven(check, kind) for kind in ("precision", "recall")}, {})
        groups = [group for group in groups_with(found, True) if rivals(group)]
        for group in groups:
            lines.append(("onefold (the measure)", number(group["documents"]), number(own_row(group)["pairs"]), "–", "–",
                          number(own_row(group)["removable"])))
            for row in rivals(group):
                answer_row(rows, lines, row["name"], row, group)
        axis = plot.Axis.shares("share of the pairs")
        same = groups[0]["same_words"]
        title = f"{whole(found)}: precision and recall, " + ("the same words for all" if same else "each tool with its own words")
        entries = [("precision", "first", "circle"), ("recall", "second", "square")]
        said = "; ".join(f"{name}: {remark}" for name, remark, _ in rows)
        parts.append(plot.figure(f"answers-{found['name']}", title, said, entries, plot.dots(axis, rows)))
        if not same:
            parts.append(el("p", "Here each tool cut words by its own rule, which alone moves many pairs across the threshold: "
                                 "these figures say less about how well a tool searches than those of the same words.", class_="note"))
        parts.append(table(f"{whole(found)}: what each tool finds", (
            "tool", "#documents", "#pairs", "#precision", "#recall", "#removable"), lines))
    return Html("".join(parts))


def answer_row(rows, lines, name, row, group):
    figures = [row.get("precision"), row.get("recall")]
    kinds = (("circle", "first"), ("square", "second"))
    marks = [(value, *kind) for value, kind in zip(figures, kinds) if value is not None]
    # The circle lies on the square where they meet, and both are seen.
    rows.append((name, f"{share(figures[0])}, {share(figures[1])}", marks[::-1]))
    lines.append((name, number(group.get("documents")), number(row.get("pairs")), *map(share, figures), number(row.get("removable"))))


def speed_section(records):
    rows = []
    for found in records:
        for group in groups_with(found, False):
            own = own_row(group)
            if own["cpu_seconds"] and own["exit_code"] != REFUSED:
                rows.append((found["name"], collection(group), found, group, own))
    rows.sort(key=lambda row: (row[0], row[1], row[2]["date"]))
    if not rows:
        return el("p", "No record yet.")
    speeds = [group["megabytes"] / own["cpu_seconds"] for *_, group, own in rows]
    drawn = [
        (f"{name}: {what}", f"{found['date']}, {speed:,.1f}", speed, "first") for (name, what, found, _, _), speed in zip(rows, speeds)
    ]
    lines = [
        (f"{name}: {what}", found["date"], f"{speed:,.1f}", number(group["megabytes"]), seconds(own["cpu_seconds"]),
         seconds(own["wall_seconds"]), number(own["peak_mb"], "{:,.0f}"), number(group["documents"]), found["onefold"])
        for (name, what, found, group, own), speed in zip(rows, speeds)
    ]
    title = "onefold: MB of input for each CPU second, all records"
    axis = plot.Axis.counting("MB (10⁶ bytes) per CPU second", speeds)
    return Html(
        el("p", "Every record of onefold, the dates of one collection below one another. Between machines, or between a busy and "
                "an idle one, only ratios of one run may be compared; runs that were refused are left out.")
        + plot.figure("speed", title, "; ".join(f"{name}, {remark}" for name, remark, _, _ in drawn), [], plot.bars(axis, drawn))
        + table(title, ("collection", "#date", "#MB per CPU s", "#MB", "#CPU s", "#wall s", "#peak MB", "#documents", "~program"), lines)
    )


def stages_section(records):
    timed = [
        (f"{found['name']}: {collection(group)}", found["date"], own_row(group))
        for found in records for group in groups_with(found, False) if own_row(group)["stages"]
    ]
    if not timed:
        return el("p", "No record holds the times of the stages yet.")
    rows = [(name, f"{date}, {seconds(own['wall_seconds'])} s", stage_shares(own)) for name, date, own in timed]
    order = [stage for _, _, stages in STAGE_PARTS for stage in stages]
    measured = dict.fromkeys(stage for _, _, own in timed for stage in own["stages"])
    known = [stage for stage in order if stage in measured] + [stage for stage in measured if stage not in order]
    lines = [
        (name, date, *(number(own["stages"].get(stage), "{:,.3f}") for stage in known), f"{rest_seconds(own):,.3f}", f"{own['wall_seconds']:,.3f}")
        for name, date, own in timed
    ]
    title = "onefold: share of the stages in the wall time"
    entries = [(name, tone, "bar") for name, tone, _ in STAGE_PARTS] + [(*REST, "bar")]
    said = "; ".join(f"{name}: " + ", ".join(part[2] for part in parts) for name, _, parts in rows)
    return Html(
        plot.figure("stages", title, said, entries, plot.stacks(plot.Axis.shares("share of the wall time"), rows))
        + table("onefold: wall seconds of the stages", ("collection", "#date", *(f"#{stage}" for stage in known), "#the rest", "#all"), lines)
    )


def rest_seconds(own):
    return max(0.0, own["wall_seconds"] - sum(own["stages"].values()))


def stage_shares(own):
    parts = [(name, tone, sum(own["stages"].get(stage, 0) for stage in stages)) for name, tone, stages in STAGE_PARTS]
    # A stage that this list does not know counts to the rest rather than to nothing.
    parts.append((*REST, rest_seconds(own) + sum(own["stages"].values()) - sum(spent for _, _, spent in parts)))
    total = sum(spent for _, _, spent in parts)
    return [(spent / total, tone, f"{name} {spent / total:.0%}") for name, tone, spent in parts]


def expected_section(records):
    parts = []
    for found in records:
        if found["expectations"]:
            lines = [
                (el("code", judged["expected"]), record.found_text(judged) or "–", verdict(judged["verdict"]))
                for judged in found["expectations"]
            ]
            parts.append(table(f"{whole(found)}: {found['question']}", ("expected", "#found", "verdict"), lines))
    none = [whole(found) for found in records if not found["expectations"]]
    if none:
        parts.append(el("p", "Nothing was written down in advance for: " + "; ".join(none) + ".", class_="note"))
    return Html(el("p", "What the experiment files state before the run, and what the run found.") + "".join(parts))


def verdict(text):
    return text if text == HOLDS else el("b", text)


def records_section(records):
    return Html("".join(map(record_part, reversed(records))))


def record_part(found):
    stem = f"../bench/records/{found['date']}-{found['name']}"
    links = [el("a", "text", href=f"{stem}.md"), " and ", el("a", "JSON", href=f"{stem}.json")]
    corpus, check = found["corpus"], found["truth_check"]
    facts = [f"{found['onefold']} on {record.machine_text(found['machine'])}. "]
    if corpus:
        facts += [f"Corpus of {corpus['documents']:,} documents, sha256 ", el("code", corpus["sha256"]), ". "]
    notes = [*found["notes"], *([f"Check of the truth: {check['note']}"] if check and check.get("note") else [])]
    return Html(
        el("h3", whole(found)) + el("p", found["question"]) + el("p", *facts, "The record as ", *links, ".", class_="note")
        + "".join(el("p", *with_code(note), class_="note") for note in notes)
    )


def with_code(note):
    """The parts of a note; what stands between backticks is code."""
    return [el("code", part) if at % 2 else part for at, part in enumerate(note.split("`"))]


# --- the page -------------------------------------------------------------------------------------------------


def make(records):
    current = newest(records)
    # Newest first: what a reader looks for.
    current.sort(key=lambda found: (found["date"], found["name"]), reverse=True)
    header = Html(
        el("p", "onefold, the bench", class_="eyebrow") + el("h1", "What it costs to find duplicates, and who finds them")
        + el("p", "onefold finds every pair of documents above a threshold; most tools estimate. Here are both on the same "
                  "documents, run by one program, one after the other, on one machine.", class_="lede")
        + el("p", summary(current))
    )
    sections = [
        ("cpu", "CPU time beside other tools", cpu_section(current)), ("answers", "Precision and recall", answers_section(current)),
        ("speed", "onefold over the records", speed_section(records)), ("stages", "Where the time goes", stages_section(current)),
        ("expected", "Expected and found", expected_section(current)), ("records", "The records", records_section(records)),
    ]
    footer = el("p", "Made by bench/page.py from the files in bench/records; bench/README.md says what is measured and how to repeat it.")
    return document("onefold: the bench", header, sections, footer)


def summary(records):
    judged = [each["verdict"] for found in records for each in found["expectations"] or []]
    counts = (
        f"{judged.count(HOLDS)} of {len(judged)} expectations hold"
        + (f", {judged.count(UNMEASURED)} were not measured" if UNMEASURED in judged else "") + "."
        if judged else "No record with expectations yet."
    )
    return f"The newest record of each of {len(records)} experiments. {counts}"


def write(out=OUT):
    out.write_text(make(record.load_all()), "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="file to write (default docs/bench.html)")
    arguments = parser.parse_args()
    for each in record.load_all():
        if found := record.problems(each):
            sys.exit(f"{each.get('date')}-{each.get('name')}: {found[0]}")
    write(arguments.out)


if __name__ == "__main__":
    main()

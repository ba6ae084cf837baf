"""A dated record of one run: JSON, and the Markdown that is made from it. No names or paths of the machine, only its kind.

A figure that nobody measured is null, in records of earlier days too. `problems` says what the page would miss.

    record.py            makes the Markdown of every record of bench/records anew
"""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

DEFAULT_QUESTION = "How much CPU, time and memory does each tool spend on the same pages, and which pairs does it find?"

FOLDER = Path(__file__).with_name("records")
FORMAT = 1

COLUMNS = (
    ("tool", "name", str), ("settings", "settings", str), ("CPU s", "cpu_seconds", "{:.1f}".format),
    ("wall s", "wall_seconds", "{:.1f}".format), ("peak MB", "peak_mb", "{:,.0f}".format),
    ("MB per CPU s", "mb_per_cpu_second", "{:.1f}".format), ("pairs", "pairs", "{:,}".format),
    ("pairs listed", "pairs_listed", "{:,}".format), ("pair precision", "precision", "{:.3f}".format),
    ("pair recall", "recall", "{:.3f}".format), ("kept", "kept", "{:,}".format), ("removable", "removable", "{:,}".format),
    ("CPU ÷ onefold", "cpu_ratio", "{:.2f}".format), ("wall ÷ onefold", "wall_ratio", "{:.2f}".format),
    ("memory ÷ onefold", "memory_ratio", "{:.2f}".format), ("exit", "exit_code", str), ("answer", "answer", str),
)
ALWAYS = ("name", "settings", "cpu_seconds", "wall_seconds", "peak_mb")
# Said of onefold alone, so they stand below the table and not in it.
ONLY_OURS = ("pairs_listed", "kept", "exit_code")


def begin(name, experiment, question, settings, onefold):
    """A record without its results."""
    return {
        "format": FORMAT, "name": name, "experiment": experiment, "question": question, **circumstances(onefold),
        "settings": settings, "expectations": None, "notes": [],
    }


def name_of(path):
    """The name of a record without its date."""
    return re.sub(r"^\d{4}-\d\d-\d\d-", "", path.stem)


def write(result, path):
    """The record as `PATH.json`, and the Markdown beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    path.with_suffix(".md").write_text(markdown(result), "utf-8")


def load_all(folder=FOLDER):
    """All records of a folder, oldest first."""
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    return sorted(found, key=lambda record: (record["date"], record["name"]))


# --- what a record must have ----------------------------------------------------------------------------------

NUMBER = (int, float, type(None))
TEXT = (str, type(None))
RECORD_FIELDS = {
    "format": int, "name": str, "experiment": TEXT, "question": str, "date": str, "onefold": str, "machine": dict,
    "corpus": (dict, type(None)), "settings": dict, "groups": list, "truth_check": (dict, type(None)),
    "expectations": (list, type(None)), "notes": list,
}
MACHINE_FIELDS = {
    "processor": TEXT, "cores": NUMBER, "memory_gib": NUMBER, "system": TEXT, "python": TEXT, "load_before": NUMBER,
}
GROUP_FIELDS = {"same_words": bool, "documents": int, "bytes": NUMBER, "megabytes": (int, float), "rows": list}
ROW_FIELDS = {
    "name": str, "settings": TEXT, "command": TEXT, "exit_code": NUMBER, "cpu_seconds": (int, float),
    "cpu_user_seconds": NUMBER, "cpu_system_seconds": NUMBER, "wall_seconds": (int, float), "peak_mb": (int, float),
    "pairs": NUMBER, "precision": NUMBER, "recall": NUMBER, "removable": NUMBER,
}
OUR_FIELDS = {"stages": (dict, type(None))}
FAILED_FIELDS = {"name": str, "settings": TEXT, "failed": str}
VERDICT_FIELDS = {"expected": str, "left": NUMBER, "right": NUMBER, "verdict": str}


def problems(result):
    """What is wrong with a record; an empty list if nothing is."""
    found = wrong_fields("record", result, RECORD_FIELDS)
    if found:
        return found
    found += wrong_fields("machine", result["machine"], MACHINE_FIELDS)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]):
        found.append(f"date: {result['date']}")
    for at, group in enumerate(result["groups"]):
        found += group_problems(f"groups[{at}]", group)
    for at, judged in enumerate(result["expectations"] or []):
        found += wrong_fields(f"expectations[{at}]", judged, VERDICT_FIELDS)
    return found


def group_problems(where, group):
    found = wrong_fields(where, group, GROUP_FIELDS)
    if found:
        return found
    for row in group["rows"]:
        needed = FAILED_FIELDS if "failed" in row else ROW_FIELDS | (OUR_FIELDS if row.get("name") == "onefold" else {})
        found += wrong_fields(f"{where}.{row.get('name')}", row, needed)
        found += [f"{where}.{row['name']}.{key} is no share" for key in ("precision", "recall")
                  if isinstance(row.get(key), (int, float)) and not 0 <= row[key] <= 1]
        found += [f"{where}.{row['name']}.{key} is not above zero" for key in ("cpu_seconds", "wall_seconds")
                  if isinstance(row.get(key), (int, float)) and row[key] <= 0]
    if [row.get("name") for row in group["rows"]].count("onefold") != 1:
        found.append(f"{where} needs one row of onefold")
    return found


def wrong_fields(where, table, fields):
    missing = [f"{where}.{key} is missing" for key in fields if key not in table]
    return missing + [
        f"{where}.{key} is of the wrong type" for key, kind in fields.items()
        if key in table and (not isinstance(table[key], kind) or (isinstance(table[key], bool) and kind is not bool))
    ]


# --- circumstances --------------------------------------------------------------------------------------------


def circumstances(onefold):
    return {
        "date": datetime.date.today().isoformat(),
        "onefold": version_of(onefold),
        "machine": {
            "processor": processor(), "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
            "system": platform.system() + " " + platform.machine(), "python": platform.python_version(),
            # Above zero: others were at work, and wall seconds mean less.
            "load_before": round(os.getloadavg()[0], 2),
        },
    }


def version_of(onefold):
    shown = subprocess.run([onefold, "--version"], capture_output=True, text=True)
    return shown.stdout.strip().split("\n")[0] or "unknown"


def processor():
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else platform.machine()


# --- Markdown ---------------------------------------------------------------------------------------------------


def markdown(result):
    parts = [
        f"# {result['name']}, {result['date']}", result["question"], corpus_section(result["corpus"]), machine_section(result),
        *map(group_section, result["groups"]), reading_section(result["groups"]),
        rounds_section(result["groups"], result["settings"].get("counts", "least")), stages_section(result["groups"]),
        truth_section(result["truth_check"]), expectations_section(result["expectations"]), notes_section(result["notes"]),
        commands_section(result["groups"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def corpus_section(corpus):
    if not corpus:
        return "## Corpus\n\nOne collection for each case, by `bench/hard.py` or `bench/grow.py`."
    lines = [f"- {corpus['documents']:,} documents, {corpus['bytes'] / 1e6:,.1f} MB of JSONL", f"- sha256 `{corpus['sha256']}`"]
    if "meta" in corpus:
        versions = corpus["meta"]["packages"]
        used = corpus["meta"]["pages_per_package"]
        lines.append(
            f"- HTML pages of {len(used)} Debian documentation packages, by `bench/corpus.py`; pages of each package: "
            + ", ".join(f"{name} {versions[name]} ({pages:,})" for name, pages in used.items())
        )
    return "## Corpus\n\n" + "\n".join(lines)


def machine_section(result):
    return f"## Machine\n\n{machine_text(result['machine'])}. {result['onefold']}."


def machine_text(machine):
    shown = {
        "processor": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "system": "{}", "python": "Python {}",
        "load_before": "load before the run {}",
    }
    return ", ".join(form.format(machine[key]) for key, form in shown.items() if machine[key] is not None) or "an unknown machine"


def group_title(group):
    case = f"{group['case']}: " if group.get("case") else ""
    words = ", the same words for all" if group["same_words"] else ""
    return f"{case}{group['documents']:,} documents, {group['megabytes']:,} MB{words}"


def group_section(group):
    alone = len(group["rows"]) == 1
    columns = [
        column for column in COLUMNS
        if column[1] in ALWAYS or (alone or column[1] not in ONLY_OURS) and any(row.get(column[1]) is not None for row in group["rows"])
    ]
    heads = [head for head, _, _ in columns]
    lines = [heads, ["---"] * len(heads), *(cells(row, columns) for row in group["rows"])]
    return f"## {group_title(group)}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cells(row, columns):
    if "failed" in row:
        return [row["name"], row["settings"], row["failed"], *[""] * (len(columns) - 3)]
    return ["" if row.get(key) is None else show(row[key]).replace("|", "\\|") for _, key, show in columns]


def reading_section(groups):
    text = (
        "CPU s: user and system time of the program and all its children. Peak MB: resident, summed over its processes. "
        "MB: 10^6 bytes of the JSONL file."
    )
    if not any(len(group["rows"]) > 1 for group in groups):
        return text
    words = (
        "Where the words are not the same for all, each contender cuts them by its own rule, which alone puts many pairs on the "
        "other side of the threshold: to judge how well a tool searches, take precision and recall from a run with the same words."
    )
    return (
        f"{text} Pairs of the contenders are scored against onefold's (word 5-gram resemblance ≥ 0.8, computed exactly). {words} "
        "Removable: documents that go when one of each connected group stays; for onefold, what it removes, which never follows "
        "a chain."
    )


COUNTING = {"least": "the round that took least CPU counts", "middle": "the round that took the middle CPU time counts"}


def rounds_section(groups, counts):
    """What each round took, where there were several."""
    lines = []
    for group in groups:
        for row in group["rows"]:
            if row.get("rounds"):
                took = ", ".join(f"{cpu:.1f}" for cpu in row["rounds"]["cpu_seconds"])
                lines.append(f"- {group_title(group)}: {row['name']} {took}")
    text = f"All programs ran in turn, several times; {COUNTING[counts]}. CPU seconds of all:"
    return f"## Rounds\n\n{text}\n\n" + "\n".join(lines) if lines else ""


def stages_section(groups):
    lines = []
    for group in groups:
        row = next(row for row in group["rows"] if row["name"] == "onefold")
        if row.get("stages"):
            # In the order of the time they take: the manifest lists them by name.
            stages = sorted(row["stages"].items(), key=lambda item: -item[1])
            lines.append(f"- {group_title(group)}: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in stages))
    return "## Stages of onefold, wall seconds\n\n" + "\n".join(lines) if lines else ""


def truth_section(check):
    if not check:
        return ""
    verdict = "No difference." if not (check["missing"] or check["extra"] or check["wrong_resemblances"]) else "**It differs.**"
    return (
        f"## Check of the truth\n\n{check['documents_drawn']:,} documents drawn by chance were compared by brute force with all "
        f"documents that share a shingle ({check['pairs_sharing_a_shingle']:,} pairs, {check['pairs_expected']:,} of them at or "
        f"above the threshold): {check['missing']} missing, {check['extra']} extra, {check['wrong_resemblances']} with another "
        f"resemblance. {check.get('note') or verdict}"
    )


def expectations_section(expectations):
    if not expectations:
        return ""
    lines = ["| expected | found | verdict |", "| --- | --- | --- |"]
    lines += [f"| `{judged['expected']}` | {found_text(judged)} | {judged['verdict']} |" for judged in expectations]
    return "## Expected\n\n" + "\n".join(lines)


def found_text(judged):
    """What was found; both sides if neither is a plain number."""
    sides = [judged["left"]] if re.search(r"[=<>]\s*[\d_.]+$", judged["expected"]) else [judged["left"], judged["right"]]
    return " and ".join(f"{side:,.4g}" if side < 10_000 else f"{side:,.0f}" for side in sides if side is not None)


def notes_section(notes):
    return "## Notes\n\n" + "\n\n".join(notes) if notes else ""


def commands_section(groups):
    commands = list(dict.fromkeys(row["command"] for group in groups for row in group["rows"] if row.get("command")))
    return "## Commands\n\n" + "\n".join(f"    {command}" for command in commands) if commands else ""


if __name__ == "__main__":
    for each in load_all():
        write(each, FOLDER / f"{each['date']}-{each['name']}.json")

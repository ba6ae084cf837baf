"""A dated record of one comparison, as Markdown. No names or paths of the machine, only its kind."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

DEFAULT_QUESTION = "How much CPU, time and memory does each tool spend on the same pages, and which pairs does it find?"

COLUMNS = (
    ("tool", "name", str), ("settings", "settings", str), ("CPU s", "cpu_seconds", "{:.1f}".format),
    ("wall s", "wall_seconds", "{:.1f}".format), ("peak MB", "peak_mb", "{:,.0f}".format),
    ("MB per CPU s", "mb_per_cpu_second", "{:.1f}".format), ("pairs", "pairs", "{:,}".format),
    ("pair precision", "precision", "{:.3f}".format), ("pair recall", "recall", "{:.3f}".format),
    ("removable", "removable", "{:,}".format), ("CPU ÷ onefold", "cpu_ratio", "{:.1f}".format),
    ("wall ÷ onefold", "wall_ratio", "{:.1f}".format),
)


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


def markdown(result):
    parts = [
        f"# Comparison of {result['date']}: {result['corpus']['file']}", result["question"],
        corpus_section(result["corpus"], result["same_words"]), machine_section(result),
        *map(group_section, result["groups"]), reading_section(result["same_words"]),
    ]
    if "truth_check" in result:
        parts.append(truth_section(result["truth_check"]))
    return "\n\n".join(parts) + "\n"


def corpus_section(corpus, same_words):
    lines = [f"- {corpus['documents']:,} documents, {corpus['bytes'] / 1e6:,.1f} MB of JSONL", f"- sha256 `{corpus['sha256']}`"]
    if "meta" in corpus:
        versions = corpus["meta"]["packages"]
        used = corpus["meta"]["pages_per_package"]
        lines.append(
            f"- HTML pages of {len(used)} Debian documentation packages, by `bench/corpus.py`; pages of each package: "
            + ", ".join(f"{name} {versions[name]} ({pages:,})" for name, pages in used.items())
        )
    if same_words:
        lines.append("- rewritten by `bench/same_words.py`: onefold's tokens with spaces between, so that all tools see the same words")
    return "## Corpus\n\n" + "\n".join(lines)


def machine_section(result):
    machine = result["machine"]
    return (
        f"## Machine\n\n{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Python {machine['python']}; load before the run {machine['load_before']}. {result['onefold']}."
    )


def group_section(group):
    title = f"## {group['documents']:,} documents, {group['bytes'] / 1e6:,.1f} MB"
    heads = [head for head, _, _ in COLUMNS]
    lines = [heads, ["---"] * len(heads), *map(cells, group["rows"])]
    return title + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cells(row):
    if "failed" in row:
        return [row["name"], row["settings"], row["failed"], *[""] * (len(COLUMNS) - 3)]
    return ["" if row.get(key) is None else show(row[key]) for _, key, show in COLUMNS]


def reading_section(same_words):
    words = (
        "All tools see the same words." if same_words else
        "Each contender cuts words by its own rule, which alone puts many pairs on the other side of the threshold: to "
        "judge how well a tool searches, take precision and recall from a run with `--same-words`."
    )
    return (
        "CPU s: user and system time of the program and all its children. Peak MB: resident, summed over its processes. "
        "MB: 10^6 bytes of the JSONL file. Pairs of the contenders are scored against onefold's (word 5-gram resemblance "
        f"≥ 0.8, computed exactly). {words} Removable: documents that go when one of each connected group stays; for "
        "onefold, what it removes, which never follows a chain."
    )


def truth_section(check):
    verdict = "No difference." if not (check["missing"] or check["extra"] or check["wrong_resemblances"]) else "**It differs.**"
    return (
        f"## Check of the truth\n\n{check['documents_drawn']:,} documents drawn by chance were compared by brute force with all "
        f"documents that share a shingle ({check['pairs_sharing_a_shingle']:,} pairs, {check['pairs_expected']:,} of them at or "
        f"above the threshold): {check['missing']} missing, {check['extra']} extra, {check['wrong_resemblances']} with another "
        f"resemblance. {verdict}"
    )

#!/usr/bin/env python3
"""Run onefold and its contenders one after the other on one file, and write a dated record.

    compare.py INPUT.jsonl --onefold target/release/onefold --record bench/records/2026-11-15-50mb.md

Installs the contenders by name into virtualenvs under the cache folder. Measures CPU seconds, wall seconds and
peak memory of each program's whole process tree, and scores the contenders' pairs against onefold's.
"""

import argparse
import hashlib
import itertools
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import measure
import record
from contenders import BY_NAME, CHECK_REQUIREMENTS, SLOW_DOCUMENTS, Installer
from score import Truth, score

HERE = Path(__file__).parent
DEFAULT_CACHE = Path.home() / ".cache" / "onefold-bench"
ONEFOLD_GOOD_EXITS = (0, 3)  # 3: done, with flagged documents


class Collection:
    """An input file; reading its ids also warms the page cache, so that no program pays for a cold disk."""

    def __init__(self, path):
        self.path = Path(path)
        self.bytes = self.path.stat().st_size
        with open(self.path, encoding="utf-8") as lines:
            self.numbers = {json.loads(line)["id"]: number for number, line in enumerate(lines)}

    def head(self, documents, folder):
        """A collection of the first documents."""
        target = folder / f"first-{documents}.jsonl"
        with open(self.path, "rb") as lines, open(target, "wb") as out:
            out.writelines(itertools.islice(lines, documents))
        return Collection(target)

    def describe(self):
        meta = Path(f"{self.path}.meta.json")
        with open(self.path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found = {"file": self.path.name, "documents": len(self.numbers), "bytes": self.bytes, "sha256": digest}
        if meta.exists():
            found["meta"] = json.loads(meta.read_text("utf-8"))
            if found["meta"]["sha256"] != digest:
                sys.exit(f"{self.path} is not the file that its meta file describes: build it anew")
        return found


def run_onefold(arguments, collection, folder):
    """Run onefold; returns its row of the table and the truth."""
    out = folder / "onefold-result"
    options = shlex.split(arguments.onefold_options)
    command = [arguments.onefold, "scan", collection.path, "--out", out, "--format", "jsonl", *options]
    usage = measure.run(command, folder / "onefold.log", arguments.timeout)
    if usage.exit_code not in ONEFOLD_GOOD_EXITS:
        sys.exit(f"onefold ended with {usage.exit_code}:\n{tail(folder / 'onefold.log')}")
    truth = Truth(out / "pairs.jsonl", collection.numbers)
    row = measured_row("onefold", " ".join(options) or "defaults", usage, collection)
    row.update(pairs=truth.pair_count(), precision=1.0, recall=1.0, removable=removed_documents(out))
    return row, truth


def removed_documents(result):
    with open(result / "documents.jsonl", encoding="utf-8") as lines:
        return sum(not json.loads(line)["keep"] for line in lines)


def run_contender(contender, interpreter, collection, truth, folder, timeout):
    answer, log = folder / f"{contender.name}.pairs", folder / f"{contender.name}.log"
    usage = measure.run([interpreter, contender.script, collection.path, answer], log, timeout)
    if usage.exit_code != 0:
        return failed_row(contender, f"ended with {usage.exit_code}", tail(log))
    row = measured_row(contender.name, contender.settings, usage, collection)
    row.update(asdict(score(answer, truth, len(collection.numbers))))
    return row


def measured_row(name, settings, usage, collection):
    return {
        "name": name, "settings": settings, "cpu_seconds": round(usage.cpu_seconds, 3),
        "wall_seconds": round(usage.wall_seconds, 3), "peak_mb": round(usage.peak_bytes / 1e6, 1),
        "mb_per_cpu_second": round(collection.bytes / 1e6 / usage.cpu_seconds, 2),
    }


def failed_row(contender, reason, detail):
    # The detail may name folders of this machine: it goes to the screen, not into the record.
    print(f"{contender.name} {reason}:\n{detail}", file=sys.stderr)
    return {"name": contender.name, "settings": contender.settings, "failed": reason}


def tail(log):
    return log.read_text("utf-8", "replace")[-1500:]


def run_group(arguments, collection, contenders, installer, folder):
    """onefold, then each contender, on one collection."""
    own_row, truth = run_onefold(arguments, collection, folder)
    print(progress(own_row), file=sys.stderr)
    rows = [own_row]
    for contender in contenders:
        try:
            interpreter = installer.of(contender)
        except (OSError, subprocess.CalledProcessError) as error:
            rows.append(failed_row(contender, "not installed", getattr(error, "stderr", error)))
            continue
        rows.append(run_contender(contender, interpreter, collection, truth, folder, arguments.timeout))
        print(progress(rows[-1]), file=sys.stderr)
    for row in rows:
        if "cpu_seconds" in row:
            row["cpu_ratio"] = round(row["cpu_seconds"] / own_row["cpu_seconds"], 2)
            row["wall_ratio"] = round(row["wall_seconds"] / own_row["wall_seconds"], 2)
    return {"documents": len(collection.numbers), "bytes": collection.bytes, "rows": rows}


def progress(row):
    if "failed" in row:
        return f"{row['name']}: failed"
    return f"{row['name']}: {row['cpu_seconds']:.1f} CPU s, {row['wall_seconds']:.1f} s"


def check_truth(arguments, collection, installer, result):
    interpreter = installer.python_with(CHECK_REQUIREMENTS)
    command = [interpreter, HERE / "reference.py", collection.path, result / "pairs.jsonl",
               "--sample", str(arguments.check_truth)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit("the check of the truth failed")
    return json.loads(done.stdout)


def with_same_words(collection, installer, scratch):
    interpreter = installer.python_with(CHECK_REQUIREMENTS)
    target = scratch / "same-words.jsonl"
    subprocess.run([interpreter, HERE / "same_words.py", collection.path, target], check=True)
    return Collection(target)


def compare(arguments, scratch):
    installer = Installer(arguments.cache, arguments.python, arguments.newer_python)
    collection = Collection(arguments.input)
    described = collection.describe()
    if arguments.same_words:
        collection = with_same_words(collection, installer, scratch)
    chosen = [BY_NAME[name] for name in arguments.contenders]
    result = {"corpus": described, "same_words": arguments.same_words, "groups": []}
    groups = [
        (collection, [contender for contender in chosen if not contender.slow]),
        (None, [contender for contender in chosen if contender.slow]),
    ]
    for number, (documents, contenders) in enumerate(groups):
        if number and not contenders:
            continue
        folder = scratch / f"group-{number}"
        folder.mkdir()
        documents = documents or collection.head(SLOW_DOCUMENTS, folder)
        result["groups"].append(run_group(arguments, documents, contenders, installer, folder))
    if arguments.check_truth:
        result["truth_check"] = check_truth(arguments, collection, installer, scratch / "group-0" / "onefold-result")
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", type=Path, help="JSONL with id and text, as corpus.py writes it")
    parser.add_argument("--onefold", type=Path, required=True, help="the onefold program")
    parser.add_argument("--onefold-options", default="", help="more options for onefold scan, in one string")
    parser.add_argument("--contenders", type=parse_names, default=list(BY_NAME), help="names with commas; default all: "
                        + ",".join(BY_NAME) + "; 'none' runs onefold alone")
    parser.add_argument("--record", type=Path, help="Markdown file to write; a .json goes beside it")
    parser.add_argument("--question", default=record.DEFAULT_QUESTION, help="what the record wants to know")
    parser.add_argument("--check-truth", type=int, metavar="N", help="check onefold's pairs of N documents by brute force")
    parser.add_argument("--same-words", action="store_true", help="rewrite the text so that all tools see the same words")
    parser.add_argument("--timeout", type=float, default=7200, help="seconds that one program may take (default 7200)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder for virtualenvs and scratch files")
    parser.add_argument("--python", default="python3.11", help="interpreter for the contenders")
    parser.add_argument("--newer-python", default="python3.12", help="interpreter for text-dedup")
    parser.add_argument("--keep-scratch", action="store_true", help="leave results, answers and logs in the cache")
    return parser.parse_args()


def parse_names(text):
    names = [] if text == "none" else text.split(",")
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join(BY_NAME)}")
    return names


def main():
    arguments = parse_arguments()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=arguments.cache))
    try:
        result = {
            "question": arguments.question, **record.circumstances(arguments.onefold), **compare(arguments, scratch),
        }
    finally:
        if arguments.keep_scratch:
            print(f"scratch files: {scratch}", file=sys.stderr)
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    page = record.markdown(result)
    if arguments.record:
        arguments.record.parent.mkdir(parents=True, exist_ok=True)
        arguments.record.write_text(page, "utf-8")
        arguments.record.with_suffix(".json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(page)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Run onefold and its contenders one after the other on one file, and write a dated record.

    compare.py INPUT.jsonl --onefold target/release/onefold --record bench/records/2026-11-15-50mb.md

Installs the contenders by name into virtualenvs under the cache folder. Measures CPU seconds, wall seconds and
peak memory of each program's whole process tree, and scores the contenders' pairs against onefold's.
`run.py EXPERIMENT` does the same for an experiment file, and judges what it expects.
"""

import argparse
import contextlib
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
from experiment import WORDS
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
    """Run onefold; returns its row of the table and the truth, which is always that of the exact method."""
    row = good_row(arguments, collection, folder)
    found = pairs_of(arguments.onefold, folder / "onefold-result", collection)
    if arguments.method == "exact":
        # The others are scored against onefold's pairs; how right these are, --check-truth says.
        row.update(pairs=found.pair_count(), precision=1.0, recall=1.0)
        return row, found
    exact = folder / "exact"
    exact.mkdir()
    good_row(arguments, collection, exact, "exact")
    truth = pairs_of(arguments.onefold, exact / "onefold-result", collection)
    row.update(asdict(truth.score(found)), removable=row["removable"])
    return row, truth


def pairs_of(onefold, result, collection):
    """All pairs of a result."""
    with open(result / "pairs.jsonl", "wb") as pairs:
        subprocess.run([onefold, "pairs", result], stdout=pairs, check=True)
    return Truth(result / "pairs.jsonl", collection.numbers)


def good_row(arguments, collection, folder, method=None):
    """Run onefold, which must end well; returns its row of the table."""
    method = method or arguments.method
    options = arguments.onefold_options if method == "exact" else f"{arguments.onefold_options} --method {method}"
    row = scan_row(arguments.onefold, options, collection, folder, arguments.timeout)
    if row["exit_code"] not in ONEFOLD_GOOD_EXITS:
        sys.exit(f"onefold ended with {row['exit_code']}:\n{tail(folder / 'onefold.log')}")
    return row


def scan_row(onefold, options, collection, folder, timeout):
    """Run onefold, whatever the end; returns its row of the table."""
    out, options = folder / "onefold-result", shlex.split(options)
    command = [onefold, "scan", collection.path, "--out", out, *options]
    usage = measure.run(command, folder / "onefold.log", timeout)
    row = measured_row("onefold", " ".join(options) or "defaults", command, usage, collection)
    if usage.exit_code in ONEFOLD_GOOD_EXITS:
        run = json.loads((out / "run.json").read_text("utf-8"))
        counts = run["counts"]
        row.update(pairs_listed=counts["pairs"], kept=counts["kept"], removable=counts["removed"], stages=run["timings"])
    return row


def run_contender(contender, interpreter, collection, truth, folder, timeout):
    answer, log = folder / f"{contender.name}.pairs", folder / f"{contender.name}.log"
    command = [interpreter, contender.script, collection.path, answer]
    usage = measure.run(command, log, timeout)
    if usage.exit_code != 0:
        return failed_row(contender, f"ended with {usage.exit_code}", tail(log))
    row = measured_row(contender.name, contender.settings, command, usage, collection)
    row.update(asdict(score(answer, truth, len(collection.numbers))))
    return row


def measured_row(name, settings, command, usage, collection):
    return {
        "name": name, "settings": settings, "command": shown_command(command), "exit_code": usage.exit_code,
        "cpu_seconds": round(usage.cpu_seconds, 3), "cpu_user_seconds": round(usage.user_seconds, 3),
        "cpu_system_seconds": round(usage.system_seconds, 3),
        "wall_seconds": round(usage.wall_seconds, 3), "peak_mb": round(usage.peak_bytes / 1e6, 1),
        "mb_per_cpu_second": round(collection.bytes / 1e6 / usage.cpu_seconds, 2),
    }


def shown_command(command):
    """The command line without folders of this machine."""
    return shlex.join(part.name if isinstance(part, Path) else part for part in command)


def failed_row(contender, reason, detail):
    # The detail may name folders of this machine: it goes to the screen, not into the record.
    print(f"{contender.name} {reason}:\n{detail}", file=sys.stderr)
    return {"name": contender.name, "settings": contender.settings, "failed": reason}


def tail(log):
    return log.read_text("utf-8", "replace")[-1500:]


def run_group(arguments, collection, contenders, installer, folder, same_words):
    """onefold, then each contender, on one collection; in several rounds, where costs are asked for."""
    rounds = 1 if same_words else arguments.rounds
    own_row, truth = run_onefold(arguments, collection, folder)
    print(progress(own_row), file=sys.stderr)
    all_rows, interpreters = [[own_row]], {}
    for contender in contenders:
        try:
            interpreters[contender.name] = installer.of(contender)
        except (OSError, subprocess.CalledProcessError) as error:
            all_rows.append([failed_row(contender, "not installed", getattr(error, "stderr", error))])
            continue
        all_rows.append([run_contender(contender, interpreters[contender.name], collection, truth, folder, arguments.timeout)])
        print(progress(all_rows[-1][-1]), file=sys.stderr)
    for again in range(1, rounds):
        next_round = folder / f"round-{again + 1}"
        next_round.mkdir()
        row = good_row(arguments, collection, next_round)
        all_rows[0].append(own_row | row)
        print(progress(row), file=sys.stderr)
        for contender, rows in zip(contenders, all_rows[1:]):
            if "failed" not in rows[0]:
                interpreter = interpreters[contender.name]
                rows.append(run_contender(contender, interpreter, collection, truth, next_round, arguments.timeout))
                print(progress(rows[-1]), file=sys.stderr)
        shutil.rmtree(next_round)
    rows = [round_that_counts(rows) for rows in all_rows]
    for row in rows:
        if "cpu_seconds" in row:
            row["cpu_ratio"] = round(row["cpu_seconds"] / rows[0]["cpu_seconds"], 2)
            row["wall_ratio"] = round(row["wall_seconds"] / rows[0]["wall_seconds"], 2)
            row["memory_ratio"] = round(row["peak_mb"] / rows[0]["peak_mb"], 2)
    return group_of(collection, rows, same_words=same_words)


def round_that_counts(rows, counts="least"):
    """The row of the round that counts, by the CPU that it took: the least, or the middle one; what each took is noted."""
    done = [row for row in rows if "failed" not in row]
    if len(rows) == 1 or not done:
        return rows[0]
    by_cpu = sorted(done, key=lambda row: row["cpu_seconds"])
    chosen = by_cpu[0 if counts == "least" else (len(by_cpu) - 1) // 2]
    return chosen | {"rounds": {key: [row[key] for row in done] for key in ("cpu_seconds", "wall_seconds")}}


def group_of(collection, rows, **more):
    return {
        **more, "documents": len(collection.numbers), "bytes": collection.bytes,
        "megabytes": round(collection.bytes / 1e6, 1), "rows": rows,
    }


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
    result = {"corpus": collection.describe(), "groups": [], "truth_check": None}
    for same_words in WORDS[arguments.words]:
        folder = scratch / ("same-words" if same_words else "own-words")
        folder.mkdir()
        seen = with_same_words(collection, installer, folder) if same_words else collection
        result["groups"] += run_groups(arguments, seen, installer, folder, same_words)
        if arguments.check_truth and not result["truth_check"]:
            result["truth_check"] = check_truth(arguments, seen, installer, folder / "all" / "onefold-result")
    return result


def run_groups(arguments, collection, installer, folder, same_words):
    """All documents for the quick contenders; the first ones for the slow."""
    chosen = [BY_NAME[name] for name in arguments.contenders]
    slow = [contender for contender in chosen if contender.slow]
    (folder / "all").mkdir()
    quick = [contender for contender in chosen if not contender.slow]
    groups = [run_group(arguments, collection, quick, installer, folder / "all", same_words)]
    if slow:
        (folder / "first").mkdir()
        head = collection.head(SLOW_DOCUMENTS, folder / "first")
        groups.append(run_group(arguments, head, slow, installer, folder / "first", same_words))
    return groups


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", type=Path, help="JSONL with id and text, as corpus.py writes it")
    parser.add_argument("--onefold", type=Path, required=True, help="the onefold program")
    parser.add_argument("--method", default="exact", help="onefold's method; another than exact is scored against exact")
    parser.add_argument("--onefold-options", default="", help="more options for onefold scan, in one string")
    parser.add_argument("--contenders", type=parse_names, default=list(BY_NAME), help="names with commas; default all: "
                        + ",".join(BY_NAME) + "; 'none' runs onefold alone")
    parser.add_argument("--record", type=Path, help="Markdown file to write; the .json it is made from goes beside it")
    parser.add_argument("--question", default=record.DEFAULT_QUESTION, help="what the record wants to know")
    parser.add_argument("--check-truth", type=int, metavar="N", help="check onefold's pairs of N documents by brute force")
    parser.add_argument("--same-words", dest="words", action="store_const", const="same", default="own",
                        help="rewrite the text so that all tools see the same words")
    parser.add_argument("--rounds", type=int, default=1, help="times that all programs run, in turn; the best of each counts")
    add_machine_arguments(parser)
    return parser.parse_args()


def add_machine_arguments(parser):
    parser.add_argument("--timeout", type=float, default=7200, help="seconds that one program may take (default 7200)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder for virtualenvs and scratch files")
    parser.add_argument("--python", default="python3.11", help="interpreter for the contenders")
    parser.add_argument("--newer-python", default="python3.12", help="interpreter for text-dedup")
    parser.add_argument("--keep-scratch", action="store_true", help="leave results, answers and logs in the cache")


def parse_names(text):
    names = [] if text == "none" else text.split(",")
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join(BY_NAME)}")
    return names


def main():
    arguments = parse_arguments()
    name = record.name_of(arguments.record) if arguments.record else arguments.input.stem
    settings = {"threshold": None, "ngram_size": None, "words": arguments.words, "method": arguments.method,
                "options": arguments.onefold_options, "rounds": arguments.rounds}
    with scratch_folder(arguments) as scratch:
        result = record.begin(name, None, arguments.question, settings, arguments.onefold) | compare(arguments, scratch)
    if arguments.record:
        record.write(result, arguments.record.with_suffix(".json"))
    print(record.markdown(result))


@contextlib.contextmanager
def scratch_folder(arguments):
    arguments.cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=arguments.cache))
    try:
        yield scratch
    finally:
        if arguments.keep_scratch:
            print(f"scratch files: {scratch}", file=sys.stderr)
        else:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

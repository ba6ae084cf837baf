#!/usr/bin/env python3
"""Run an experiment of `experiments/`, write its dated record, and say whether what it expects holds.

    run.py small --onefold target/release/onefold

Exit code 1: something that was expected does not hold, or was not measured.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import compare
import experiment
import grow
import hard
import page
import record

CORPUS_PROGRAM = Path(__file__).with_name("corpus.py")


# The collection whose beginning is a lineage.
GROWN = "200MB"


def pages(size, arguments):
    """The collection of pages of Debian packages, made if it is not there."""
    target = arguments.cache / f"corpus-{size.lower().removesuffix('b')}.jsonl"
    if not target.exists():
        subprocess.run([sys.executable, CORPUS_PROGRAM, "--size", size, "--out", target, "--cache", arguments.cache], check=True)
    return target


def run_pages(found, arguments, scratch):
    """onefold and the contenders on pages of Debian packages."""
    arguments.input, arguments.contenders = pages(found.size, arguments), found.contenders
    arguments.onefold_options, arguments.words, arguments.check_truth = found.onefold_options, found.words, found.check_truth
    arguments.rounds, arguments.method = found.rounds, found.method
    return compare.compare(arguments, scratch)


def run_cases(found, arguments, scratch):
    """onefold alone on the collections of hard.py and grow.py: all of them in turn, several times, as the machine is not as fast at all times."""
    collections = [write_case(case, arguments, scratch) for case in found.cases]
    # What was just written would be on its way to the disk while runs use it.
    os.sync()
    rows = [[] for _ in found.cases]
    for number in range(found.rounds):
        for case, collection, of_case in zip(found.cases, collections, rows, strict=True):
            of_case.append(run_case(case, found, collection, arguments, scratch / f"{case.name}-round-{number + 1}"))
    groups = [group(*of_case, found.counts) for of_case in zip(found.cases, collections, rows, strict=True)]
    return {"corpus": None, "groups": groups, "truth_check": None}


def write_case(case, arguments, scratch):
    path = scratch / f"{case.name}.jsonl"
    if case.lineages:
        grow.write(pages(GROWN, arguments), arguments.cache / "lineages", case.lineages, path)
    else:
        hard.write(case.kind, case.documents, case.own, path)
    collection = compare.Collection(path)
    # A program that is started has had the memory of who starts it: ids, which only answers need, would count as its own.
    collection.numbers = range(len(collection.numbers))
    return collection


def run_case(case, found, collection, arguments, place):
    method = "" if found.method == "exact" else f"--method {found.method}"
    options = " ".join(filter(None, (found.onefold_options, method, case.options)))
    place.mkdir()
    row = compare.scan_row(arguments.onefold, options, collection, place, arguments.timeout)
    print(f"{case.name}: {compare.progress(row)}, exit {row['exit_code']}", file=sys.stderr)
    shutil.rmtree(place)
    # What nobody measured here is null.
    return {"pairs": None, "precision": None, "recall": None} | row


def group(case, collection, rows, counts):
    with open(collection.path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return compare.group_of(collection, [compare.round_that_counts(rows, counts)], case=case.name, same_words=False, sha256=digest)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("experiment", help="name of a file in experiments/, or the path of one")
    parser.add_argument("--onefold", type=Path, required=True, help="the onefold program")
    parser.add_argument("--records", type=Path, default=record.FOLDER, help="folder for the record (default bench/records, "
                        "and docs/bench.html is made anew)")
    compare.add_machine_arguments(parser)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        found = experiment.load(arguments.experiment)
    except experiment.ExperimentError as error:
        sys.exit(str(error))
    run = run_cases if found.cases else run_pages
    result = record.begin(found.name, found.name, found.question, found.settings, arguments.onefold)
    with compare.scratch_folder(arguments) as scratch:
        result |= run(found, arguments, scratch)
    result["expectations"] = experiment.verdicts(found.expected, result)
    path = arguments.records / f"{result['date']}-{found.name}.json"
    record.write(result, path)
    if arguments.records == record.FOLDER:
        page.write()
    print(record.markdown(result))
    print(f"record: {path}", file=sys.stderr)
    sys.exit(any(judged["verdict"] != experiment.HOLDS for judged in result["expectations"]))


if __name__ == "__main__":
    main()

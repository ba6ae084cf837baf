"""Grows a collection by whole lineages of mutated real text, so that time can be measured against size.

A lineage is the first part of the Debian corpus with its letters permuted: another permutation for each lineage. Words keep their
lengths and frequencies, pages their versions and shared passages, but no two lineages have words in common: twice as many lineages are
twice as many documents, pairs and clusters of exactly the same kind. Ids carry the number of the lineage.

    python3 bench/grow.py corpus-200m.jsonl FOLDER --lineages 64 --bytes 130e6
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import string

# Of a lineage: 64 of them are more than 8 GB.
BYTES = 130e6


def permutation(lineage: int) -> bytes:
    """A table for bytes.translate: lower and upper letters alike, everything else as it is."""
    letters = list(string.ascii_lowercase)
    if lineage:
        random.Random(lineage).shuffle(letters)
    lower, to = string.ascii_lowercase, "".join(letters)
    return bytes.maketrans((lower + lower.upper()).encode(), (to + to.upper()).encode())


def grow(corpus: pathlib.Path, folder: pathlib.Path, lineages: int, most: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows, taken = [], 0
    with corpus.open("rb") as lines:
        for line in lines:
            taken += len(line)
            if taken > most:
                break
            row = json.loads(line)
            rows.append((row["id"], row["text"].encode()))
    for lineage in range(lineages):
        target = folder / f"{lineage:03}.jsonl"
        if target.exists():
            continue
        table, partial = permutation(lineage), target.with_suffix(".new")
        with partial.open("w", encoding="utf-8") as out:
            for identity, text in rows:
                row = {"id": f"{lineage:03}/{identity}", "text": text.translate(table).decode()}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        partial.rename(target)


def write(corpus: pathlib.Path, folder: pathlib.Path, lineages: int, out: pathlib.Path) -> None:
    """So many lineages in one file; they are kept in the folder for the next time."""
    grow(corpus, folder, lineages, BYTES)
    with out.open("wb") as whole:
        for lineage in range(lineages):
            with (folder / f"{lineage:03}.jsonl").open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)
                # The collections should stay in the system's cache, not their parts.
                os.posix_fadvise(part.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lineages", type=int, default=64)
    parser.add_argument("--bytes", type=float, default=BYTES, help="of each lineage")
    arguments = parser.parse_args()
    grow(arguments.corpus, arguments.folder, arguments.lineages, arguments.bytes)


if __name__ == "__main__":
    main()

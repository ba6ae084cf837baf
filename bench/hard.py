#!/usr/bin/env python3
"""Writes collections that break quadratic tools: copies of one text, and one template with a few words of its own a document.

    hard.py identical N OUT.jsonl                 N times the same 30 words
    hard.py template N OWN OUT.jsonl [--words FILE]   300 words of boilerplate, then OWN words drawn for each document

The words come from a real text: the licence of the sample collection, or any file named with --words.
"""
import argparse
import json
import pathlib
import random
import re

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_WORDS = HERE.parent / "sample" / "policies.jsonl"


def vocabulary(path):
    words = re.findall(r"[a-z]+", path.read_text(errors="replace").lower())
    return words, sorted(set(words))


def identical(count, words):
    text = " ".join(words[:30])
    return (text for _ in range(count))


def template(count, own, words, distinct):
    boilerplate = " ".join(words[:300])
    draw = random.Random(42)
    return (boilerplate + " " + " ".join(draw.choices(distinct, k=own)) for _ in range(count))


def write(kind, count, own, out, words_path=DEFAULT_WORDS):
    words, distinct = vocabulary(words_path)
    texts = identical(count, words) if kind == "identical" else template(count, own, words, distinct)
    with out.open("w") as lines:
        for number, text in enumerate(texts):
            lines.write(json.dumps({"id": f"d{number:07}", "text": text}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["identical", "template"])
    parser.add_argument("count", type=int)
    parser.add_argument("own", type=int, nargs="?", default=0, help="with template: words of each document's own")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--words", type=pathlib.Path, default=DEFAULT_WORDS)
    args = parser.parse_args()
    write(args.kind, args.count, args.own, args.out, args.words)


if __name__ == "__main__":
    main()

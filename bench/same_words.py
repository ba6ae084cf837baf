"""Rewrite a collection so that every tool sees the same words.

    same_words.py INPUT.jsonl OUT.jsonl     (needs the packages regex and uniseg)

Tools disagree on what a word is: `std.string` is one by UAX #29 and two by most regular expressions. On pages
full of code that moves many pairs across the threshold and says nothing about how well a tool searches. Here
onefold's tokens are joined by single spaces, and what is neither letter nor digit in them becomes an x: even
`_` ends a word for some. (Words that only this makes equal are equal for every tool.)
"""

import json
import re
import sys

from reference import rows, tokens

NO_LETTER_OR_DIGIT = re.compile(r"[\W_]")


def main():
    source, target = sys.argv[1:]
    with open(target, "w", encoding="utf-8") as out:
        for row in rows(source):
            row["text"] = " ".join(NO_LETTER_OR_DIGIT.sub("x", token) for token in tokens(row["text"]))
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""An independent check of onefold's pairs: brute force, in Python, on the definition alone.

    reference.py INPUT.jsonl PAIRS.jsonl --sample N [--threshold 4/5]     (needs the packages regex and uniseg)

Draws N documents, computes their exact 5-word-shingle resemblance to every document that shares a shingle
with them, and compares with the rows of PAIRS.jsonl. Prints a JSON summary; exit 1 when anything differs.
"""

import argparse
import json
import random
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from fractions import Fraction
from functools import lru_cache

import regex
from score import Truth, accepted_rows
from uniseg.wordbreak import words as unicode_words

WIDTH = 5

# UAX #29 for ASCII: one of . : ' joins two letters, one of . , ; ' two digits.
ASCII_WORD = re.compile(r"\w+(?:(?:(?<=[a-z])[.:'](?=[a-z])|(?<=[0-9])[.,;'](?=[0-9]))\w+)*", re.ASCII)
# By script extensions, so that the long-vowel mark of Katakana, which Hiragana shares, counts too.
UNSPACED = regex.compile(
    r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]"
)
GRAPHEME = regex.compile(r"\X")
ALPHANUMERIC = regex.compile(r"[\p{Alphabetic}\p{N}]")


# --- the definition -----------------------------------------------------------------------------------------


def tokens(text):
    found = []
    # No word reaches over ASCII white space, so pieces may be cut one by one and remembered: words repeat.
    for piece in re.split(r"[ \t\n\r\f\v]+", text):
        if piece.isascii():
            found.extend(word for word in ASCII_WORD.findall(piece.lower()) if word.strip("_"))
        else:
            found.extend(piece_tokens(piece))
    return found


@lru_cache(maxsize=1 << 18)
def piece_tokens(piece):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", piece).casefold())
    parts = (part for word in unicode_words(folded) for part in graphemes_apart(word))
    return tuple(part for part in parts if ALPHANUMERIC.search(part))


def graphemes_apart(word):
    """Scripts without spaces: each grapheme is a token. What stands between them stays together."""
    if not UNSPACED.search(word):
        return [word]
    parts, run = [], ""
    for grapheme in GRAPHEME.findall(word):
        if UNSPACED.match(grapheme):
            parts += [run, grapheme]
            run = ""
        else:
            run += grapheme
    return [part for part in (*parts, run) if part]


def shingles(words):
    """The set of 5-word shingles; a shorter text is one shingle that only an equal text has."""
    if len(words) < WIDTH:
        return {("short", *words)} if words else set()
    return {tuple(words[i : i + WIDTH]) for i in range(len(words) - WIDTH + 1)}


# --- brute force --------------------------------------------------------------------------------------------


def rows(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def sampled_sets(path, count, sample):
    """Line number → shingle set of the drawn documents. A fixed seed: the same draw each time."""
    drawn = set(random.Random(1).sample(range(count), min(sample, count)))
    return {n: shingles(tokens(row["text"])) for n, row in enumerate(rows(path)) if n in drawn}


def resemblances(path, sets):
    """(drawn, other) → exact resemblance, for every pair that shares a shingle."""
    holders = defaultdict(list)
    for number, shingle_set in sets.items():
        for shingle in shingle_set:
            holders[shingle].append(number)
    found = {}
    for other, row in enumerate(rows(path)):
        shingle_set = shingles(tokens(row["text"]))
        shared = Counter(number for shingle in shingle_set for number in holders.get(shingle, ()))
        for number, common in shared.items():
            if number != other:
                union = len(sets[number]) + len(shingle_set) - common
                found[number, other] = Fraction(common, union)
    return found


def compare(path, pairs_path, sample, threshold):
    numbers = {row["id"]: number for number, row in enumerate(rows(path))}
    ids = list(numbers)
    truth = Truth(pairs_path, numbers)
    sets = sampled_sets(path, len(numbers), sample)
    exact = resemblances(path, sets)
    expected = {pair for pair, resemblance in exact.items() if resemblance >= threshold}
    answered = {(number, other) for number in sets for other in truth.partners(number)}
    wrong_values = [
        (first, second) for first, second, value in accepted_rows(pairs_path, numbers)
        if (pair := (first, second)) in exact and abs(float(exact[pair]) - value) > 1e-9
    ]
    named = lambda pairs: [[ids[a], ids[b], float(exact.get((a, b), 0))] for a, b in sorted(pairs)[:20]]
    return {
        "documents_drawn": len(sets), "pairs_sharing_a_shingle": len(exact), "pairs_expected": len(expected),
        "missing": len(expected - answered), "extra": len(answered - expected),
        "wrong_resemblances": len(wrong_values),
        "missing_examples": named(expected - answered), "extra_examples": named(answered - expected),
        "wrong_examples": named(wrong_values),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input")
    parser.add_argument("pairs")
    parser.add_argument("--sample", type=int, required=True)
    parser.add_argument("--threshold", type=Fraction, default=Fraction(4, 5))
    arguments = parser.parse_args()
    result = compare(arguments.input, arguments.pairs, arguments.sample, arguments.threshold)
    print(json.dumps(result, ensure_ascii=False, indent=1))
    sys.exit(any(result[key] for key in ("missing", "extra", "wrong_resemblances")))


if __name__ == "__main__":
    main()

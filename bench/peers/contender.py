"""What the contender scripts share: reading documents, word 5-grams, writing pairs.

Every script is called `p_NAME.py INPUT.jsonl OUT.pairs [N]`; N limits it to the first N documents.
A line of OUT.pairs is a group of documents that the tool calls duplicates of one another, as line numbers of
the input from 0: two numbers for a pair; tools that only give clusters write a whole cluster on a line, since
its pairs may be billions.
"""

import itertools
import json
import re
import sys

try:
    from orjson import loads  # as fast as can be had from Python: reading shall not slow a contender down
except ImportError:
    loads = json.loads

WORD = re.compile(r"[a-z0-9_\u0080-\U0010ffff]+")
THRESHOLD = 0.8


def arguments():
    """(input, output, limit or None) from the command line."""
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else None
    return sys.argv[1], sys.argv[2], limit


def texts(path, limit=None):
    with open(path, "rb") as lines:
        for line in itertools.islice(lines, limit):
            yield loads(line)["text"]


def shingles(text, width=5):
    words = WORD.findall(text.lower())
    if len(words) < width:
        return [" ".join(words)]
    return list({" ".join(words[i : i + width]) for i in range(len(words) - width + 1)})


def write_groups(path, groups):
    with open(path, "w") as out:
        for group in groups:
            out.write(" ".join(map(str, group)) + "\n")

"""Experiments: a question, a collection, contenders, settings, and what the answer is expected to be.

In: a TOML file of `experiments/`. Out: an `Experiment`, or an `ExperimentError` that names the file and the field.
Expectations are lines such as `ratio.cpu.gaoya >= 2`, judged against the JSON of a record:

    side OP side          OP: = != < <= > >=
    side                  NUMBER, PATH or NUMBER * PATH
    TOOL.FIELD            a figure of a tool: gaoya.recall, onefold.peak_mb
    ratio.KIND.TOOL       cpu, wall or memory of a tool as a multiple of onefold's on the same documents
    truth.FIELD           of the check by brute force: truth.missing
    CASE.FIELD            a figure of onefold in a named case: copies.kept, copies.stages.join
    CASE.TOOL.FIELD       a figure of any tool in a named case

Costs come from the pages as they are, answers (precision, recall, pairs) from the same words for all tools where a
record has both. onefold's own precision and recall come from the check by brute force, never from comparing it with itself.
"""

import operator
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from contenders import BY_NAME

FOLDER = Path(__file__).with_name("experiments")
# The contender scripts and the brute-force check are written for these.
CONTENDER_THRESHOLD, CONTENDER_NGRAM_SIZE = 0.8, 5
COUNTS = ("least", "middle")
WORDS = {"own": (False,), "same": (True,), "both": (False, True)}
CASE_KINDS = ("identical", "template", "lineages")
HOLDS, FAILS, UNMEASURED = "holds", "does not hold", "not measured"


class ExperimentError(Exception):
    pass


# --- experiments --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One of the collections of `hard.py`, or so many lineages of `grow.py`."""

    name: str
    kind: str
    documents: int = 0
    own: int = 0
    options: str = ""
    lineages: int = 0


@dataclass(frozen=True)
class Experiment:
    name: str
    question: str
    size: str | None  # of pages, by corpus.py
    cases: tuple  # of hard.py; one of the two is empty
    contenders: tuple
    threshold: float
    ngram_size: int
    words: str
    method: str  # of onefold; another than exact is scored against it
    options: str
    check_truth: int
    rounds: int  # of all programs in turn
    counts: str  # which of them, by the CPU that it took: least, or, in experiments with cases, middle
    expected: tuple = field(default=())

    @property
    def settings(self):
        return {"threshold": self.threshold, "ngram_size": self.ngram_size, "words": self.words, "method": self.method,
                "options": self.options, "rounds": self.rounds, "counts": self.counts}

    @property
    def onefold_options(self):
        return f"--threshold {self.threshold} --ngram-size {self.ngram_size} {self.options}".strip()


def load(name_or_path):
    """An experiment by name, or by the path of its file."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = FOLDER / f"{name_or_path}.toml"
    try:
        return parse(path.stem, path.read_text("utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise ExperimentError(f"{path}: no such experiment; there are {known}") from None
    except (ExperimentError, tomllib.TOMLDecodeError) as error:
        raise ExperimentError(f"{path}: {error}") from None


def parse(name, text):
    table = tomllib.loads(text)
    corpus, settings = take(table, "corpus", dict), take(table, "settings", dict)
    found = Experiment(
        name=name, question=take(table, "question", str), contenders=tuple(take(table, "contenders", list)),
        size=take(corpus, "size", str, None), cases=tuple(map(parse_case, take(corpus, "case", list, []))),
        threshold=float(take(settings, "threshold", (int, float))), ngram_size=take(settings, "ngram_size", int),
        words=take(settings, "words", str), method=take(settings, "method", str, "exact"), options=take(settings, "options", str, ""),
        check_truth=take(settings, "check_truth", int, 0), rounds=take(settings, "rounds", int, 1),
        counts=take(settings, "counts", str, "least"),
        expected=tuple(map(Expectation.parse, take(table, "expected", list))),
    )
    for left, where in ((table, "the file"), (corpus, "corpus"), (settings, "settings")):
        if left:
            raise ExperimentError(f"{where} has an unknown field: {', '.join(left)}")
    check(found)
    return found


def parse_case(table):
    case = Case(
        take(table, "name", str), take(table, "kind", str), take(table, "documents", int, 0), take(table, "own", int, 0),
        take(table, "options", str, ""), take(table, "lineages", int, 0),
    )
    if bool(case.lineages) != (case.kind == "lineages") or bool(case.documents) == bool(case.lineages):
        raise ExperimentError(f"case {case.name} needs lineages if that is its kind, and documents if not")
    if table:
        raise ExperimentError(f"case {case.name} has an unknown field: {', '.join(table)}")
    return case


REQUIRED = object()


def take(table, key, kind, default=REQUIRED):
    value = table.pop(key, default)
    if value is REQUIRED:
        raise ExperimentError(f"{key} is missing")
    if value is not default and (not isinstance(value, kind) or isinstance(value, bool)):
        raise ExperimentError(f"{key} is of the wrong type")
    return value


def check(found):
    unknown = [name for name in found.contenders if name not in BY_NAME]
    names = [case.name for case in found.cases]
    fixed = (found.threshold, found.ngram_size) == (CONTENDER_THRESHOLD, CONTENDER_NGRAM_SIZE)
    problems = [
        (unknown, f"contenders: {', '.join(map(str, unknown))} unknown; there are {', '.join(BY_NAME)}"),
        (bool(found.size) == bool(found.cases), "corpus needs a size of pages, or cases"),
        (found.cases and found.contenders, "contenders run on pages only"),
        (found.counts not in COUNTS, f"counts must be one of {', '.join(COUNTS)}"),
        (found.counts != "least" and not found.cases, "the middle round counts in experiments with cases only"),
        (found.words not in WORDS, f"words must be one of {', '.join(WORDS)}"),
        (len(set(names)) < len(names), "two cases have one name"),
        (set(names) & {"onefold", "ratio", "truth", *BY_NAME}, "a case has the name of something else"),
        (any(case.kind not in CASE_KINDS for case in found.cases), f"kind must be one of {', '.join(CASE_KINDS)}"),
        (found.method != "exact" and found.check_truth, "check_truth compares every pair: it is for method exact"),
        ((found.contenders or found.check_truth) and not fixed,
         f"contenders and check_truth know threshold {CONTENDER_THRESHOLD} and {CONTENDER_NGRAM_SIZE}-grams only"),
    ]
    for wrong, message in problems:
        if wrong:
            raise ExperimentError(message)


# --- expectations -------------------------------------------------------------------------------------------

OPERATORS = {
    "=": lambda a, b: abs(a - b) <= 1e-9, "!=": lambda a, b: abs(a - b) > 1e-9,
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}
NUMBER = r"\d[\d_]*(?:\.\d+)?"
PATH = r"[a-z][\w-]*(?:\.[\w-]+)+"
SIDE = re.compile(rf"(?:({NUMBER})\s*\*\s*)?({PATH})|({NUMBER})", re.ASCII)
RELATION = re.compile(r"(.+?)\s*(<=|>=|!=|=|<|>)\s*(.+)")
ANSWERS = {"pairs", "precision", "recall", "removable"}
RATIO_FIELDS = {"cpu": "cpu_seconds", "wall": "wall_seconds", "memory": "peak_mb"}


@dataclass(frozen=True)
class Expectation:
    text: str
    left: tuple  # factor, path or None
    operator: str
    right: tuple

    @classmethod
    def parse(cls, text):
        found = RELATION.fullmatch(text.strip()) if isinstance(text, str) else None
        if not found:
            raise ExperimentError(f"expected: {text!r} is not of the form `PATH >= NUMBER`")
        return cls(text.strip(), parse_side(found[1], text), found[2], parse_side(found[3], text))

    def judge(self, record):
        """What a record says of it: the two sides, and the verdict."""
        left, right = (side_value(record, *side) for side in (self.left, self.right))
        if left is None or right is None:
            verdict = UNMEASURED
        else:
            verdict = HOLDS if OPERATORS[self.operator](left, right) else FAILS
        return {"expected": self.text, "left": left, "right": right, "verdict": verdict}


def parse_side(side, text):
    found = SIDE.fullmatch(side.strip())
    if not found:
        raise ExperimentError(f"expected: {side!r} in {text!r} is neither a number nor a path")
    factor, path, number = found.groups()
    return (float(factor or 1), path) if path else (float(number), None)


def side_value(record, factor, path):
    if path is None:
        return factor
    value = lookup(record, path.split("."))
    return None if value is None else factor * value


def lookup(record, path):
    """The figure that a path names, or None."""
    if path[0] == "truth":
        return figure(record.get("truth_check"), path[1:])
    if path[0] == "ratio":
        return ratio(record, *path[1:]) if len(path) == 3 else None
    if path[0] == "onefold" and path[1] in ("precision", "recall"):
        return proven(record.get("truth_check"), path[1])
    groups = record["groups"]
    if path[0] in {group.get("case") for group in groups}:
        groups, path = [group for group in groups if group.get("case") == path[0]], path[1:]
        if len(path) == 1 or path[0] == "stages":
            path = ["onefold", *path]
    row, _ = find_row(groups, path[0], path[1] in ANSWERS)
    return figure(row, path[1:])


def figure(table, path):
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, (int, float)) and not isinstance(table, bool) else None


def find_row(groups, tool, same_words):
    """A tool's row and its group; from a group with the wanted words if there is one."""
    found = [(row, group) for group in groups for row in group["rows"] if row["name"] == tool]
    found.sort(key=lambda pair: bool(pair[1].get("same_words")) != same_words)
    return found[0] if found else (None, None)


def ratio(record, kind, tool):
    key = RATIO_FIELDS.get(kind)
    row, group = find_row(record["groups"], tool, False)
    if not key or not row:
        return None
    own = figure(next((other for other in group["rows"] if other["name"] == "onefold"), None), [key])
    value = figure(row, [key])
    return value / own if value is not None and own else None


def proven(check, kind):
    """onefold's own precision or recall on the documents that were compared by brute force."""
    if not check:
        return None
    right = check["pairs_expected"] - check["missing"]
    whole = right + check["extra"] if kind == "precision" else check["pairs_expected"]
    return right / whole if whole else None


def verdicts(expected, record):
    return [expectation.judge(record) for expectation in expected]

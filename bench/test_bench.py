#!/usr/bin/env python3
"""Tests of the bench itself: no network, no contenders, no onefold. Ends with a line of counts like that of `cargo test`."""

import copy
import json
import re
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

import compare
import experiment
import markup
import measure
import page
import plot
import record
import score

HOSTILE = "<script>alert('1')</script>&\"\u202e\x1b"


def row(name="onefold", **more):
    return {
        "name": name, "settings": "s", "command": None, "exit_code": 0, "cpu_seconds": 2.0, "cpu_user_seconds": 1.5,
        "cpu_system_seconds": 0.5, "wall_seconds": 1.0, "peak_mb": 100.0, "pairs": 10, "precision": 1.0, "recall": 1.0,
        "removable": 4, "stages": {"read": 0.5, "join": 0.25}, **more,
    }


def sample():
    """A record with every kind of thing: words of both kinds, a case, a failure, a contender that is cheaper."""
    own = [row(), row("gaoya", cpu_seconds=16.0, precision=0.9, recall=0.7), {"name": "spark", "settings": "s", "failed": "no Java"}]
    same = [row(), row("gaoya", cpu_seconds=12.0, precision=0.95, recall=0.8, pairs=9)]
    case = [row(kept=1, cpu_seconds=3.0), row("rensa", cpu_seconds=1.5)]
    groups = [
        {"same_words": words, "documents": 100, "bytes": 10**6, "megabytes": 1.0, "rows": rows, **more}
        for words, rows, more in ((False, own, {}), (True, same, {}), (False, case, {"case": "copies"}))
    ]
    check = {"documents_drawn": 5, "pairs_sharing_a_shingle": 9, "pairs_expected": 8, "missing": 2, "extra": 1, "wrong_resemblances": 0}
    machine = dict.fromkeys(record.MACHINE_FIELDS)
    return {
        "format": 1, "name": "sample", "experiment": None, "question": "?", "date": "2026-01-02", "onefold": "onefold 0.1.0",
        "machine": machine, "corpus": None, "settings": {}, "groups": groups, "truth_check": check, "expectations": None, "notes": [],
    }


class Scores(unittest.TestCase):
    def truth(self, *pairs):
        """Of documents a to f."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for first, second, resemblance in pairs:
                line = {"first_id": first, "second_id": second, "resemblance": resemblance, "accepted": True}
                file.write(json.dumps(line) + "\n")
            file.flush()
            return score.Truth(file.name, {name: number for number, name in enumerate("abcdef")})

    def test_another_method_is_scored_by_pairs_of_documents(self):
        # a = b, both near c; d near e.
        exact = self.truth(("a", "b", 1.0), ("a", "c", 0.9), ("d", "e", 0.8))
        self.assertEqual(exact.pair_count(), 4)
        found = exact.score(self.truth(("a", "b", 1.0), ("a", "c", 0.9)))
        self.assertEqual((found.pairs, found.precision, found.recall), (3, 1.0, 0.75))
        found = exact.score(self.truth(("a", "b", 1.0), ("e", "f", 0.7)))
        self.assertEqual((found.pairs, found.precision, found.recall), (2, 0.5, 0.25))
        self.assertIsNone(exact.score(self.truth()).precision)


class Records(unittest.TestCase):
    def test_every_record_has_what_the_page_needs(self):
        for each in record.load_all():
            self.assertEqual(record.problems(each), [], each["name"])

    def test_files_are_named_after_date_and_name_and_the_text_is_made_from_the_json(self):
        for path in record.FOLDER.iterdir():
            self.assertIn(path.suffix, (".json", ".md"))
            each = json.loads(path.with_suffix(".json").read_text("utf-8"))
            self.assertEqual(path.stem, f"{each['date']}-{each['name']}")
            text = path.with_suffix(".md").read_text("utf-8")
            self.assertTrue(text == record.markdown(each), f"{path.stem}.md is out of date: run python3 bench/record.py")

    def test_ratios_are_those_of_the_figures(self):
        for each in record.load_all():
            for group in each["groups"]:
                own = page.own_row(group)
                for other in page.rivals(group):
                    self.assertAlmostEqual(other["cpu_ratio"], other["cpu_seconds"] / own["cpu_seconds"], delta=0.01)
                    self.assertAlmostEqual(other["wall_ratio"], other["wall_seconds"] / own["wall_seconds"], delta=0.02)

    def test_problems_are_named(self):
        self.assertEqual(record.problems(sample()), [])
        for change, problem in (
            (lambda r: r.pop("machine"), "record.machine is missing"),
            (lambda r: r["groups"][0]["rows"][0].pop("stages"), "groups[0].onefold.stages is missing"),
            (lambda r: r["groups"][0]["rows"][1].update(cpu_seconds=None), "groups[0].gaoya.cpu_seconds is of the wrong type"),
            (lambda r: r["groups"][0]["rows"][1].update(recall=1.2), "groups[0].gaoya.recall is no share"),
            (lambda r: r["groups"][0]["rows"][0].update(wall_seconds=0), "groups[0].onefold.wall_seconds is not above zero"),
            (lambda r: r["groups"][1]["rows"].pop(0), "groups[1] needs one row of onefold"),
            (lambda r: r.update(date="today"), "date: today"),
        ):
            broken = sample()
            change(broken)
            self.assertEqual(record.problems(broken), [problem])

    def test_no_record_names_a_folder_of_a_machine(self):
        for path in record.FOLDER.iterdir():
            self.assertNotRegex(path.read_text("utf-8"), r"/(?:root|home|tmp|work)/")
        command = [Path("/home/me/onefold"), "scan", Path("/tmp/x y.jsonl"), "--threshold", "0.8"]
        self.assertEqual(compare.shown_command(command), "onefold scan 'x y.jsonl' --threshold 0.8")

    def test_write_gives_both_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "new", "2026-01-02-sample.json")
            record.write(sample(), path)
            self.assertEqual(record.load_all(path.parent), [sample()])
            self.assertIn("| gaoya |", path.with_suffix(".md").read_text("utf-8"))


class Experiments(unittest.TestCase):
    TEXT = (
        'question = "?"\ncontenders = ["gaoya"]\nexpected = ["gaoya.recall < 1"]\n[corpus]\nsize = "50MB"\n'
        '[settings]\nthreshold = 0.8\nngram_size = 5\nwords = "both"\n'
    )

    def test_all_parse(self):
        names = {path.stem for path in experiment.FOLDER.glob("*.toml")}
        self.assertLessEqual({"small", "1gb", "hard"}, names)
        for name in names:
            found = experiment.load(name)
            self.assertTrue(found.expected, name)
            # A path that no run could fill would be "not measured" for ever.
            tools = {"onefold", "ratio", "truth", *found.contenders, *(case.name for case in found.cases)}
            for expected in found.expected:
                for _, path in (expected.left, expected.right):
                    if path:
                        self.assertIn(path.split(".")[0], tools, expected.text)
                        self.assertIn(path.split(".")[-1] if path.startswith("ratio") else "onefold", {"onefold", *found.contenders})

    def test_an_experiment_becomes_options(self):
        found = experiment.parse("x", self.TEXT)
        self.assertEqual(found.onefold_options, "--threshold 0.8 --ngram-size 5")
        self.assertEqual(experiment.WORDS[found.words], (False, True))

    def test_mistakes_are_named(self):
        for old, new, message in (
            ('question = "?"', "", "question is missing"), ('"gaoya"]', '"gaoa"]', "gaoa unknown"),
            ("ngram_size = 5", "ngram_size = 4", "know threshold"), ('size = "50MB"', "", "a size of pages, or cases"),
            ('"both"', '"none"', "words must be"), ("[settings]", "[settings]\nthresh = 1", "unknown field: thresh"),
            ("recall < 1", "recall is 1", "not of the form"), ("threshold = 0.8", 'threshold = "0.8"', "wrong type"),
            ('"gaoya.recall < 1"', '"gaoya < 1"', "neither a number nor a path"),
            ("[settings]", '[settings]\ncounts = "most"', "counts must be"), ("[settings]", '[settings]\ncounts = "middle"', "with cases only"),
        ):
            with self.assertRaisesRegex(experiment.ExperimentError, re.escape(message)):
                experiment.parse("x", self.TEXT.replace(old, new))
        with self.assertRaisesRegex(experiment.ExperimentError, "there are 1gb"):
            experiment.load("no-such")

    def test_the_round_that_counts_is_the_cheapest_or_the_middle_one(self):
        rounds = [row(cpu_seconds=cpu, wall_seconds=cpu / 2) for cpu in (7.0, 2.0, 9.0, 3.0, 4.0)]
        for counts, cpu in (("least", 2.0), ("middle", 4.0)):
            chosen = compare.round_that_counts(rounds, counts)
            self.assertEqual((chosen["cpu_seconds"], chosen["wall_seconds"]), (cpu, cpu / 2))
            self.assertEqual(chosen["rounds"]["cpu_seconds"], [7.0, 2.0, 9.0, 3.0, 4.0])
            self.assertIn(counts, record.rounds_section([{"documents": 1, "megabytes": 1.0, "same_words": False, "rows": [chosen]}], counts))
        self.assertEqual(compare.round_that_counts(rounds[:2], "middle")["cpu_seconds"], 2.0)


class Expectations(unittest.TestCase):
    def verdict(self, text, found=None):
        return experiment.Expectation.parse(text).judge(found or sample())["verdict"]

    def test_figures_ratios_cases_and_factors(self):
        for text in (
            "ratio.cpu.gaoya = 8", "ratio.cpu.gaoya >= 8", "ratio.wall.gaoya <= 1", "ratio.memory.gaoya = 1", "copies.kept = 1",
            "copies.rensa.cpu_seconds < 2", "copies.stages.read = 0.5", "copies.cpu_seconds <= 2 * onefold.cpu_seconds",
            "gaoya.cpu_seconds >= 8 * onefold.cpu_seconds", "truth.missing != 0", "onefold.pairs < 1_000", "10 > gaoya.pairs",
        ):
            self.assertEqual(self.verdict(text), experiment.HOLDS, text)
        for text in ("ratio.cpu.gaoya > 8", "ratio.cpu.gaoya < 8", "copies.kept != 1", "truth.missing = 0", "onefold.cpu_seconds > 2"):
            self.assertEqual(self.verdict(text), experiment.FAILS, text)

    def test_costs_are_of_the_pages_and_answers_of_the_same_words(self):
        self.assertEqual(self.verdict("gaoya.cpu_seconds = 16"), experiment.HOLDS)
        self.assertEqual(self.verdict("gaoya.recall = 0.8"), experiment.HOLDS)

    def test_onefold_is_never_compared_with_itself(self):
        self.assertEqual(experiment.proven(sample()["truth_check"], "precision"), 6 / 7)
        self.assertEqual(self.verdict("onefold.recall = 0.75"), experiment.HOLDS)
        unchecked = sample() | {"truth_check": None}
        self.assertEqual(self.verdict("onefold.recall = 1", unchecked), experiment.UNMEASURED)

    def test_what_nobody_measured_does_not_hold(self):
        for text in ("spark.recall < 1", "ratio.cpu.spark >= 1", "ratio.cpu.datatrove >= 1", "ratio.heat.gaoya > 1",
                     "no-such.kept = 1", "gaoya.name = 1", "copies.stages.verify < 9"):
            self.assertEqual(self.verdict(text), experiment.UNMEASURED, text)

    def test_verdicts_fit_the_record(self):
        found = sample()
        found["expectations"] = experiment.verdicts([experiment.Expectation.parse("spark.recall < 1")], found)
        self.assertEqual(record.problems(found), [])


class Balance(HTMLParser):
    """Every element is closed in its order, and ids are not used twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag not in markup.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Page(unittest.TestCase):
    def check(self, text):
        balance = Balance(text)
        self.assertEqual(balance.open, [])
        self.assertEqual(len(balance.ids), len(set(balance.ids)))
        self.assertIsNone(re.search(r"(?i)<script|<link|<img|@import|url\(|https?:| style=| on[a-z]+=", text))
        return balance

    def test_the_committed_page_is_that_of_the_committed_records(self):
        made = page.make(record.load_all())
        self.assertTrue(page.OUT.read_text("utf-8") == made, "docs/bench.html is out of date: run python3 bench/page.py")
        for link in self.check(made).links:
            if not link.startswith("#"):
                self.assertTrue((page.OUT.parent / link).exists(), link)

    def test_a_record_of_everything_is_shown(self):
        found = sample()
        found["expectations"] = experiment.verdicts([experiment.Expectation.parse("ratio.cpu.gaoya > 9")], found)
        made = page.make([found])
        self.check(made)
        for part in ("8.0 ×", "0.5 ×", "0.950, 0.800", "spark (no Java)", "<b>does not hold</b>", "the rest", "0.857, 0.750", "0 of 1 expectations hold"):
            self.assertTrue(part in made, part)

    def test_values_cannot_add_markup(self):
        found = sample()
        found.update(question=HOSTILE, onefold=HOSTILE, name="x" + HOSTILE, notes=[HOSTILE])
        for group in found["groups"]:
            group["rows"][1].update(name=HOSTILE, settings=HOSTILE)
        found["groups"][0]["rows"][2].update(failed=HOSTILE)
        made = page.make([found])
        for part in ("<script", "\u202e", "\x1b"):
            self.assertFalse(part in made, part)
        self.assertEqual(Balance(made).open, [])

    def test_no_record_is_a_page_too(self):
        self.check(page.make([]))

    def test_the_newest_record_of_a_name_is_plotted_and_all_are_listed(self):
        newer = copy.deepcopy(sample()) | {"date": "2026-01-03"}
        made = page.make([sample(), newer])
        shown = ("2026-01-02: CPU time" in made, "2026-01-03: CPU time" in made, "<h3>sample, 2026-01-02</h3>" in made)
        self.assertEqual(shown, (False, True, True))

    def test_axes(self):
        axis = plot.Axis.powers("x", [2.7, 257])
        self.assertEqual((axis.ticks, axis.place(1), axis.place(1000)), ((1, 10, 100, 1000), 0, 1))
        self.assertEqual(plot.Axis.powers("x", [0.5, 1]).ticks, (0.1, 1))
        self.assertEqual(plot.Axis.powers("x", [1]).ticks, (1, 10))
        self.assertEqual(plot.Axis.counting("x", [77.3]).ticks, (0, 20, 40, 60, 80))
        for greatest in (0.3, 1, 9.99, 10, 101, 5e6):
            self.assertGreaterEqual(plot.Axis.counting("x", [greatest]).high, greatest)
            self.assertLessEqual(len(plot.Axis.counting("x", [greatest]).ticks), 6)


class Measure(unittest.TestCase):
    def test_cpu_is_user_and_system(self):
        with tempfile.TemporaryDirectory() as folder:
            usage = measure.run([sys.executable, "-c", "sum(range(10**6))"], Path(folder, "log"))
        self.assertEqual(usage.exit_code, 0)
        self.assertGreater(usage.user_seconds, 0)
        self.assertEqual(usage.cpu_seconds, usage.user_seconds + usage.system_seconds)


def main():
    result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    passed = result.testsRun - failed - skipped
    # scripts/test adds up such lines.
    print(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed; {skipped} ignored")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

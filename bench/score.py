"""Pairs as truth and as answer: precision, recall and removable documents, without listing all pairs.

Documents are line numbers of the input. Families of equal documents may hold thousands, so neither side is
ever expanded: the truth is families plus pairs of families, an answer is a list of groups.
"""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass


class DisjointSets:
    def __init__(self, count):
        self.parent = list(range(count))

    def find(self, item):
        parent = self.parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def union(self, one, other):
        one, other = self.find(one), self.find(other)
        if one != other:
            self.parent[max(one, other)] = min(one, other)

    def removable(self):
        """Documents that go when one of each set stays."""
        return sum(item != parent for item, parent in enumerate(self.parent))


class Truth:
    """All pairs that onefold accepted."""

    def __init__(self, pairs_path, numbers):
        """`numbers`: document id → line number."""
        equal, others = DisjointSets(len(numbers)), []
        for first, second, resemblance in accepted_rows(pairs_path, numbers):
            if resemblance == 1.0:
                equal.union(first, second)
            else:
                others.append((first, second))
        self.family = [equal.find(document) for document in range(len(numbers))]
        self.family_size = Counter(self.family)
        # A row between two families stands for all pairs between their members.
        self.near = {self._families(first, second) for first, second in others}

    def _families(self, first, second):
        one, other = self.family[first], self.family[second]
        return (one, other) if one < other else (other, one)

    def holds(self, first, second):
        one, other = self._families(first, second)
        return one == other or (one, other) in self.near

    def pair_count(self):
        size = self.family_size
        return sum(map(pairs_within, size.values())) + sum(size[a] * size[b] for a, b in self.near)

    def score(self, found):
        """How well the pairs of another run of onefold agree with these."""
        size, near = found.family_size, found.near
        members = defaultdict(list)
        for document, family in enumerate(found.family):
            members[family].append(document)
        inside = self.pairs_inside([family for family in members.values() if len(family) > 1])
        between = sum(size[a] * size[b] for a, b in near if self.holds(a, b))
        pairs, right, expected = found.pair_count(), inside + between, self.pair_count()
        return Score(pairs, right / pairs if pairs else None, right / expected if expected else None, 0)

    def partners(self, document):
        """All documents that make an accepted pair with this one. Slow; for checks of a few documents."""
        return {other for other in range(len(self.family)) if other != document and self.holds(document, other)}

    def pairs_inside(self, groups):
        """How many accepted pairs lie inside one of the disjoint groups."""
        held = defaultdict(Counter)  # family → group → members
        for number, group in enumerate(groups):
            for document in group:
                held[self.family[document]][number] += 1
        within = sum(pairs_within(n) for counts in held.values() for n in counts.values())
        between = sum(
            n * held[b][group] for a, b in self.near if a in held and b in held for group, n in held[a].items()
        )
        return within + between


def accepted_rows(pairs_path, numbers):
    with open(pairs_path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["accepted"]:
                yield numbers[row["first_id"]], numbers[row["second_id"]], row["resemblance"]


def pairs_within(count):
    return count * (count - 1) // 2


@dataclass
class Score:
    pairs: int
    precision: float | None
    recall: float | None
    removable: int


def score(answer_path, truth, documents):
    """Score an answer file: a line is a group of documents called duplicates (two numbers: a pair)."""
    sets, clusters, pairs, right = DisjointSets(documents), [], 0, 0
    with open(answer_path) as lines:
        for line in lines:
            group = list(map(int, line.split()))
            for document in group[1:]:
                sets.union(group[0], document)
            if len(group) == 2:
                pairs += 1
                right += truth.holds(*group)
            else:
                # Only tools that give clusters write longer lines, and their clusters are disjoint.
                clusters.append(group)
    pairs += sum(pairs_within(len(group)) for group in clusters)
    right += truth.pairs_inside(clusters)
    expected = truth.pair_count()
    return Score(pairs, right / pairs if pairs else None, right / expected if expected else None, sets.removable())

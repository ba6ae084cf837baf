"""rensa: MinHash in Rust, 128 values, 16 bands; a candidate counts when its estimate reaches the threshold."""

from itertools import islice

from contender import THRESHOLD, arguments, shingles, texts, write_groups
from rensa import RMinHash, RMinHashLSH

BATCH = 500  # documents whose shingles are held as Python strings at one time

path, out, limit = arguments()
sets = (shingles(text) for text in texts(path, limit))
sketches = []
while batch := list(islice(sets, BATCH)):
    sketches.extend(RMinHash.from_token_sets(batch, num_perm=128, seed=42))

index = RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
index.insert_many(sketches)
answers = index.query_all(sketches)
write_groups(out, (
    (i, j) for i, found in enumerate(answers) for j in found
    if j > i and sketches[i].jaccard(sketches[j]) >= THRESHOLD
))

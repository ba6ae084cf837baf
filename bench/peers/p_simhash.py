"""simhash: 64-bit SimHash of word 5-grams, pairs within 3 bits."""

import logging

from contender import arguments, shingles, texts, write_groups
from simhash import Simhash, SimhashIndex

logging.disable(logging.WARNING)  # it warns for every big bucket

path, out, limit = arguments()
hashes = [Simhash(shingles(text)) for text in texts(path, limit)]
index = SimhashIndex([(str(i), value) for i, value in enumerate(hashes)], k=3)
write_groups(out, (
    (i, j) for i, value in enumerate(hashes) for j in map(int, index.get_near_dups(value)) if j > i
))

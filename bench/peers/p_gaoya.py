"""gaoya: MinHash index in Rust, 16 bands of 8, its own word 5-grams; all documents inserted, then queried."""

import gaoya
from contender import THRESHOLD, arguments, texts, write_groups

path, out, limit = arguments()
documents = list(texts(path, limit))
index = gaoya.minhash.MinHashStringIndex(
    hash_size=32, jaccard_threshold=THRESHOLD, num_bands=16, band_size=8,
    analyzer="word", lowercase=True, ngram_range=(5, 5),
)
index.par_bulk_insert_docs(list(range(len(documents))), documents)
answers = index.par_bulk_query(documents, return_similarity=False)
write_groups(out, ((i, j) for i, found in enumerate(answers) for j in found if j > i))

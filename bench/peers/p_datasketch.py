"""datasketch: MinHash in NumPy, 128 values, LSH for the threshold; candidates checked by their estimate."""

from contender import THRESHOLD, arguments, shingles, texts, write_groups
from datasketch import LeanMinHash, MinHash, MinHashLSH


def sketch(text):
    minhash = MinHash(num_perm=128)
    minhash.update_batch([shingle.encode() for shingle in shingles(text)])
    return LeanMinHash(minhash)


path, out, limit = arguments()
sketches = [sketch(text) for text in texts(path, limit)]
index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
with index.insertion_session() as session:
    for i, minhash in enumerate(sketches):
        session.insert(i, minhash)
write_groups(out, (
    (i, j) for i, minhash in enumerate(sketches) for j in index.query(minhash)
    if j > i and minhash.jaccard(sketches[j]) >= THRESHOLD
))

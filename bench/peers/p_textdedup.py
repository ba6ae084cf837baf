"""text-dedup: MinHash in NumPy over Hugging Face datasets, 128 values, threshold 0.8; clusters, not checked."""

import os
import pickle
import shutil
import tempfile
from collections import defaultdict
from itertools import islice

from contender import THRESHOLD, arguments, write_groups

CONFIG = """
[input]
input_type = "local_files"
file_type = "json"
read_arguments = {{ path = "json", data_files = "{folder}/in.jsonl", split = "train", cache_dir = "{folder}/cache" }}
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = 128
ngram_size = 5
min_length = 1
threshold = {threshold}
[output]
output_dir = "{folder}/out"
save_clusters = true
[debug]
"""


def copy_head(source, target, limit):
    with open(source, "rb") as lines, open(target, "wb") as out:
        out.writelines(islice(lines, limit))


def clusters(path):
    """The tool maps document → cluster, with numbers as in the input."""
    with open(path, "rb") as file:
        cluster_of = pickle.load(file)
    members = defaultdict(list)
    for document, cluster in cluster_of.items():
        members[cluster].append(document)
    return [sorted(group) for group in members.values() if len(group) > 1]


def main():
    path, out, limit = arguments()
    folder = tempfile.mkdtemp(prefix="onefold-bench-textdedup-")
    # It caches what it has read and computed, across runs: each run gets a cache of its own.
    os.environ["HF_HOME"] = f"{folder}/home"
    os.environ["HF_HUB_OFFLINE"] = "1"
    from text_dedup.config.base import load_config_from_toml
    from text_dedup.minhash import main as deduplicate
    from pathlib import Path
    try:
        copy_head(path, f"{folder}/in.jsonl", limit)
        settings = Path(folder, "config.toml")
        settings.write_text(CONFIG.format(folder=folder, threshold=THRESHOLD))
        deduplicate(load_config_from_toml(settings))
        write_groups(out, clusters(f"{folder}/out/clusters.pickle"))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

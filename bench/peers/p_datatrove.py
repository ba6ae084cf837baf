"""datatrove: MinHash in four stages on disk, 16 bands of 8, word 5-grams; clusters, never checked."""

import json
import os
import shutil
import tempfile
from collections import defaultdict
from itertools import islice

from contender import arguments, write_groups
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig

CONFIG = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=16, hashes_per_bucket=8, n_grams=5)


def copy_numbered(source, target, limit):
    """The same documents with their line number as id, so that the clusters can be read back."""
    with open(source, "rb") as lines, open(target, "w") as out:
        for number, line in enumerate(islice(lines, limit)):
            out.write(json.dumps({"id": str(number), "text": json.loads(line)["text"]}) + "\n")


def run(folder, stage, *pipeline, tasks=1):
    LocalPipelineExecutor(pipeline=list(pipeline), tasks=tasks, workers=1, logging_dir=f"{folder}/log-{stage}").run()


def deduplicate(folder):
    reader = JsonlReader(f"{folder}/in", glob_pattern="*.jsonl")
    run(folder, "sign", reader, MinhashDedupSignature(f"{folder}/signatures", config=CONFIG, language="eng"))
    run(folder, "match", MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=CONFIG),
        tasks=CONFIG.num_buckets)
    run(folder, "cluster", MinhashDedupCluster(
        f"{folder}/buckets", f"{folder}/removed", config=CONFIG, save_cluster_id=True, save_cluster_size=True))
    run(folder, "filter", reader,
        MinhashDedupFilter(f"{folder}/removed", load_cluster_ids=True,
                           exclusion_writer=JsonlWriter(f"{folder}/out/dropped", compression=None)),
        JsonlWriter(f"{folder}/out/kept", compression=None))


def clusters(folder):
    members = defaultdict(list)
    for parent, _, names in os.walk(folder):
        for name in names:
            for line in open(os.path.join(parent, name), encoding="utf-8"):
                row = json.loads(line)
                cluster = row["metadata"].get("minhash_cluster_id", -1)
                if cluster != -1:
                    members[cluster].append(int(row["id"]))
    return [sorted(group) for group in members.values() if len(group) > 1]


if __name__ == "__main__":
    path, out, limit = arguments()
    folder = tempfile.mkdtemp(prefix="onefold-bench-datatrove-")
    try:
        os.mkdir(f"{folder}/in")
        copy_numbered(path, f"{folder}/in/documents.jsonl", limit)
        deduplicate(folder)
        write_groups(out, clusters(f"{folder}/out"))
    finally:
        shutil.rmtree(folder)

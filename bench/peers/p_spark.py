"""Spark MLlib: MinHashLSH with 16 tables, candidates checked by their exact distance over hashed 5-grams."""

import os
import sys

from contender import THRESHOLD, arguments, write_groups
from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, size

path, out, limit = arguments()
os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers need this script's packages
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "8g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "8")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")

documents = spark.read.json(path).select("text").rdd.zipWithIndex()
if limit is not None:
    documents = documents.filter(lambda row: row[1] < limit)
documents = documents.map(lambda row: (row[1], row[0][0])).toDF(["number", "text"])

words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"[^a-z0-9_\u0080-\uffff]+")
grams = NGram(n=5, inputCol="words", outputCol="grams")
sets = HashingTF(inputCol="grams", outputCol="set", numFeatures=1 << 22, binary=True)
shingled = grams.transform(words.transform(documents)).filter(size("grams") > 0)  # MinHash refuses empty sets
features = sets.transform(shingled).select("number", "set").repartition(8).cache()

model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=16, seed=1).fit(features)
pairs = (
    model.approxSimilarityJoin(features, features, 1 - THRESHOLD, "distance")
    .select(col("datasetA.number").alias("first"), col("datasetB.number").alias("second"))
    .filter("first < second")
    .collect()
)
write_groups(out, pairs)
spark.stop()

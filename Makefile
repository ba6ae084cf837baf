# demo: build and run the main job on the sample collection.   test: everything that must pass before a change lands.
.PHONY: demo test lint bench

demo:
	cargo run --release --quiet -- scan sample --out onefold-result --overwrite

test:
	scripts/test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# Needs the network for packages; see bench/README.md for what it measures.
bench:
	cargo build --release --quiet
	python3 bench/corpus.py --size 50MB --out ~/.cache/onefold-bench/corpus-50m.jsonl
	python3 bench/compare.py ~/.cache/onefold-bench/corpus-50m.jsonl --onefold target/release/onefold

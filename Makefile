# demo: build and run the main job on the sample collection.   test: everything that must pass before a change lands.
.PHONY: demo test lint bench

demo:
	cargo run --release --quiet -- scan sample --out onefold-result --overwrite

test:
	scripts/test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# Needs the network for packages; see bench/README.md for what it measures. EXPERIMENT: a file of bench/experiments.
EXPERIMENT ?= small
bench:
	cargo build --release --quiet
	python3 -B bench/run.py $(EXPERIMENT) --onefold target/release/onefold

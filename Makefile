# The common commands by name. Everything real happens in CMake and in tools/.
.PHONY: help demo check build dev fuzz bench bench-parquet bench-footer bench-avro bench-plan bench-deletes bench-rivals bench-stitch bench-scale golden format clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' Makefile

demo: ## build, then change one column of a wide table and print what it cost (FILE=x.parquet COLUMN=c [KEY=k], MODES=1)
	@tools/install-packages build
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target frazil_cli gen-wide
	@FILE='$(FILE)' COLUMN='$(COLUMN)' KEY='$(KEY)' MODES='$(MODES)' tools/demo

check: ## build and run every test
	tools/install-packages check
	tools/venv --optional
	cmake --preset release --log-level=WARNING >/dev/null
	cmake --build --preset release
	ctest --preset release

build: ## optimised build: build/release/bin/frazil
	tools/install-packages build
	cmake --preset release --log-level=WARNING >/dev/null
	cmake --build --preset release

dev: ## debug build with sanitizers and its tests
	tools/install-packages check
	cmake --preset dev --log-level=WARNING >/dev/null
	cmake --build --preset dev
	ctest --preset dev

fuzz: ## run every fuzz target for SECONDS_EACH (60) seconds
	tools/install-packages ci
	tools/fuzz-all

bench: build ## measure against other implementations
	tools/venv
	.venv/bin/python bench/run.py $(ARGS)

bench-parquet: build ## every kind of column against other Parquet libraries
	tools/venv
	.venv/bin/python bench/parquet.py $(ARGS)

bench-footer: build ## one column of ten thousand against other Parquet libraries
	tools/venv
	.venv/bin/python bench/footer.py $(ARGS)

bench-avro: build ## a manifest in Avro against fastavro
	tools/venv
	.venv/bin/python bench/avro.py $(ARGS)

bench-plan: build ## plans over a million data files against PyIceberg
	tools/venv
	.venv/bin/python bench/plan.py $(ARGS)

bench-deletes: build ## scans with deletes of each kind against without, PyIceberg and DuckDB
	tools/venv
	.venv/bin/python bench/deletes.py $(ARGS)

bench-rivals: build ## column updates against Lance, Paimon, Delta Lake, PyIceberg, DuckDB and others
	tools/venv
	tools/rivals
	.venv/bin/python bench/rivals/rivals.py $(ARGS)

bench-stitch: build ## reading column files against the same table compacted
	tools/venv
	.venv/bin/python bench/stitch.py $(ARGS)

bench-scale: build ## an update of one column on 10 000 data files of 1000 columns
	tools/venv
	.venv/bin/python bench/scale.py $(ARGS)

golden: build ## rewrite the expectations kept in the tree; read the diff
	tools/check-includes --graph > docs/internals/include-graph.txt
	tools/check-symbols --print build/release/libfrazil.so > tests/headers/symbols.txt
	for test in tests/cli/*.sh; do tests/cli/run --golden $$test; done

format: ## clang-format on every C file
	git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

clean: ## remove what was built
	rm -rf build

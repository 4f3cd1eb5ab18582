# `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := .venv-tools
PACKAGES := api capabilities models pipeline scripts workers clients/python
KILLS ?= 2000
MINUTES ?= 30
SECONDS ?= 60
ONLY ?=
# Planted faults, which the tests of the life cycle must notice, and kills amid long jobs.
FAULTS := tests/pipeline/lifecycle/test_faults.py tests/acceptance/test_audiobooks.py \
	tests/capabilities/transcription/test_transcription_route.py
PARTS ?= tests/faults $(FAULTS)
SITTING ?= inf
HOURS ?= 2
SEEDS ?= 10000
FIRST ?= 0
CRASH_POINTS ?= all
IMAGES ?= 10000
SOUNDS ?= 10000
SEED ?= 1
REQUESTS ?= 10
# The tests that docs/security.md names; tests/test_documents.py compares the lists.
HOSTILE := tests/security/test_hostile_requests.py tests/security/test_hostile_sheets.py tests/api/http/test_hostile_headers.py \
	tests/api/http/test_bodies.py tests/api/http/test_forms.py tests/api/work/test_files.py tests/api/accounts/test_keys.py \
	tests/workers/media/downloads/test_fetch_forbidden.py tests/workers/media/images/test_bombs.py \
	tests/workers/media/images/test_notes.py tests/workers/media/audio/test_decoding.py \
	tests/capabilities/index_check/sitemaps/test_sitemap_reading.py tests/security/test_hostile_backups.py tests/workers/webhooks \
	tests/pipeline/lifecycle/test_pauses.py tests/pipeline/lifecycle/test_priorities.py \
	tests/workers/engines/endpoints/test_endpoint_client.py \
	tests/api/webhooks/test_hostile_addresses.py tests/api/work/test_links_in_answers.py tests/api/accounts/test_limited_keys.py \
	tests/api/accounts/test_key_management.py tests/api/webhooks/test_webhook_routes.py \
	tests/api/jobs/test_jobs.py tests/api/dashboard/test_dashboard.py tests/api/dashboard/test_sign_in.py tests/api/dashboard/test_operator_pages.py \
	tests/api/dashboard/test_roles.py tests/api/dashboard/test_invitations.py \
	tests/api/dashboard/test_second_factor.py tests/api/dashboard/test_provider_sign_in.py tests/pipeline/factors/test_providers.py \
	tests/api/http/test_memory.py tests/api/http/test_connections.py tests/api/http/test_incoming.py \
	tests/pipeline/accounts/test_sessions.py tests/workers/models \
	tests/pipeline/settings/test_settings.py tests/pipeline/storage/test_artifacts.py tests/scripts/system/test_folders.py \
	tests/scripts/system/test_up.py tests/capabilities/transcription/engines/test_endpoint_transcripts.py \
	tests/capabilities/speech/engines/test_endpoint_speech.py tests/scripts/system/embedded/test_postgres.py tests/api/jobs/test_events.py tests/test_deploy.py \
	tests/scripts/imports/test_url_import.py tests/capabilities/blog/engines/metadata/llm/test_writer.py \
	tests/capabilities/blog/engines/metadata/extractive/test_extractive.py \
	tests/capabilities/alt_text/engines/test_second_looks.py tests/test_supply_chain.py
PYTEST_ARGS ?=
SBOM := $(TOOLS)/bin/uv export --frozen --no-config --quiet --format cyclonedx1.5 --no-default-groups

.DEFAULT_GOAL := help
.PHONY: help install install-test demo up test faults simulate ghost security soak lint format bench quality docs npm lock sbom audit licences release clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Pressroom needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) -V 2>&1`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml clients/python/pyproject.toml | $(BIN)/python
	@echo "Installing Pressroom and its packages into $(VENV): 1.6 GB, some minutes, only this once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e clients/python -e .
	@$(BIN)/python -m compileall -q $(PACKAGES)  # otherwise each process of the first start compiles its imports
	@touch $@

$(VENV)/installed-test: pyproject.toml | $(VENV)/installed
	@echo "Installing the tests' packages, such as torch and Playwright: some minutes more."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'  # first, or a larger build is installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e clients/python -e '.[test]'
	@touch $(VENV)/installed $@

install: $(VENV)/installed  ## make .venv with the pressroom command in it

install-test: $(VENV)/installed-test  ## the same, with the packages of tests and linters

demo: install  ## start everything, try each capability, keep serving (EXIT=1: stop)
	@$(BIN)/python -m scripts.demo $(if $(EXIT),--exit)

up: install  ## start everything on this machine
	@$(BIN)/pressroom up

# A file's tests stay in one process, which shares its systems; files with whole systems come first.
# A fixed hash seed gives sets, and requests made from them, the same order in each run.
# A process that dies is a failure and is not restarted: xdist might then wait for ever.
test: install-test  ## run the tests but storms, several files at a time (PYTEST_ARGS=-x; PYTEST_ARGS='-n 0 tests/api')
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --durations=20 $(PYTEST_ARGS)

faults: install-test  ## strike a whole system with faults for 80 minutes (SECONDS=15 MINUTES=3 KILLS=300: 20 minutes; ONLY=Redis)
	$(if $(GO_ON)$(filter command line,$(origin PARTS)),,rm -f out/faults-*.md)
	CRASH_POINTS=$(CRASH_POINTS) KILLS=$(KILLS) MINUTES=$(MINUTES) SECONDS=$(SECONDS) ONLY='$(ONLY)' SITTING=$(SITTING) GO_ON=$(GO_ON) $(BIN)/python -m pytest $(PARTS) -m '' -n 0 -s

ghost: install-test  ## test the connector of Ghost with a real one (once: 880 MB, three minutes)
	$(BIN)/python tests/ghost_site.py
	PRESSROOM_TESTS_NEED=ghost $(BIN)/python -m pytest -n 0 tests/capabilities/sites/test_ghost.py

simulate: install-test  ## interleave clients, workers and the sweep by seeds, on a virtual clock (SEEDS=10000 FIRST=0)
	PYTHONPATH=tests:tests/pipeline $(BIN)/python tests/simulation/simulate.py --first $(FIRST) --seeds $(SEEDS)

soak: install-test  ## run a whole system under mixed load; its memory and files may not grow (HOURS=2)
	HOURS=$(HOURS) $(BIN)/python -m pytest tests/faults/test_soak_of_a_system.py -n 0 -s

security: install-test  ## send mutated files and hostile input (IMAGES=1000 SOUNDS=1000 REQUESTS=1 SEED=2)
	IMAGES=$(IMAGES) SOUNDS=$(SOUNDS) SEED=$(SEED) $(BIN)/python -m pytest -n 2 --dist load tests/security/test_mutated_files.py
	$(BIN)/python docs/make_security.py
	$(BIN)/python -m pytest -n 2 --dist loadfile $(HOSTILE)
	PYTHONHASHSEED=$(SEED) REQUESTS=$(REQUESTS) SEED=$(SEED) $(BIN)/python -m pytest -n 2 --dist load tests/acceptance/test_openapi_holds.py
	$(MAKE) audit

lint: install-test  ## check style, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python requirements/licences.py

format: install-test  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install-test  ## measure against this machine's limits and other job queues
	$(BIN)/python -m benchmarks

quality: install-test  ## count errors in speech, transcripts, posts and alt texts (ARGS='speech --count 20')
	$(BIN)/python -m benchmarks.quality $(ARGS)

$(VENV)/installed-docs: pyproject.toml | $(VENV)/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e clients/python -e '.[docs]'
	@touch $(VENV)/installed $@

docs: $(VENV)/installed-docs  ## build the documents as a site in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

npm: install  ## build the npm package of the JavaScript client in clients/javascript (needs Node 20)
	@$(BIN)/python -m api.openapi.document > clients/javascript/openapi.json
	cd clients/javascript && npm ci --no-audit --no-fund && npm run build && npm pack

# Apart from .venv, which has users' packages: pinned by sums, as releases are.
$(TOOLS)/installed: requirements/tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/tools.txt
	@touch $@

lock: $(TOOLS)/installed  ## lock the packages of releases in uv.lock and requirements/ (UPGRADE=1: the newest)
	$(TOOLS)/bin/python requirements/lock.py $(if $(UPGRADE),--upgrade)

sbom: $(TOOLS)/installed install  ## list the packages of the images and of .venv as CycloneDX in out/sbom/
	@mkdir -p out/sbom
	$(SBOM) --extra search-console --extra tracing --output-file out/sbom/light.cdx.json
	$(SBOM) --extra search-console --extra tracing --extra blog --extra cjk --extra japanese --output-file out/sbom/full.cdx.json
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file out/sbom/installed.cdx.json $(BIN)/python

audit: $(TOOLS)/installed  ## look up known vulnerabilities (exit 3: the lookup failed; ARGS='--ignore-vuln ID')
	@$(TOOLS)/bin/python requirements/audit.py $(ARGS)

licences: install  ## check that docs/licences.md tells of every licence with conditions
	@$(BIN)/python requirements/licences.py

release: $(TOOLS)/installed install  ## cut, build and sign a version, offline verifiable (VERSION=1.0.0 KEY=~/release.pem)
	@$(BIN)/python requirements/release.py make $(VERSION) --key $(KEY)

clean:  ## delete .venv, builds and caches, but no data
	rm -rf $(VENV) $(TOOLS) out site build dist $(addprefix clients/javascript/,node_modules openapi.json src/schema.ts dist *.tgz LICENSE) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Thin on purpose: every target is `python tasks.py TARGET`, which also works where there is no make.
PYTHON ?= python3
TARGETS = book test notebooks serve unit nbval test-cpus lint widgets address pins newest bench experiments mutants clean help

.PHONY: $(TARGETS)
.DEFAULT_GOAL := help

$(TARGETS):
	@$(PYTHON) tasks.py $@

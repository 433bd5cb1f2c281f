# Thin on purpose: every target is `python tasks.py TARGET`, which also works where there is no make.
PYTHON ?= python3
TARGETS = book serve notebooks check plan kit test test-all lint unit nbval pages heavy test-cpus \
	mutants widgets experiments bench address pins newest clean help

.PHONY: $(TARGETS)
.DEFAULT_GOAL := help

# `make notebooks FORCE=05-self-attention`, or FORCE=all: execute whatever changed
# `make kit AT=https://github.com/OWNER/REPO/tree/BRANCH/FOLDER`: where the badges for Colab lead
$(TARGETS):
	@$(PYTHON) tasks.py $@ $(if $(FORCE),--force $(filter-out all,$(FORCE))) $(if $(AT),--at $(AT))

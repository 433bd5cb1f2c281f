# Thin on purpose: every target is `python tasks.py TARGET`, which also works where there is no make.
PYTHON ?= python3
TARGETS = book serve notebooks check plan pdf kit exam test test-all lint unit units nbval pages heavy \
	test-cpus mutants widgets experiments bench status address pins newest plain clean help

.PHONY: $(TARGETS)
.DEFAULT_GOAL := help

# `make notebooks FORCE=05-self-attention`, or FORCE=all: execute whatever changed
# `make kit AT=https://github.com/OWNER/REPO/tree/BRANCH/FOLDER`: where the badges for Colab lead
# `make kit PDF=1`: the slides as PDF, too, where there is a Chromium
# `make kit FOR=nbgrader LECTURES='5:1,2 13:2,3' TO=FOLDER`: exercises that nbgrader marks, or otter
# `make address AT=https://github.com/YOU/REPO`: whose book this is
# `make exam SEED=7 LECTURES=1,5-7 POINTS=60 BANK=FOLDER PRIVATE_ONLY=1`: your own questions alone
exam:
	@$(PYTHON) tasks.py $@ --seed='$(SEED)' --lectures='$(LECTURES)' --points='$(POINTS)' \
		$(if $(BANK),--bank='$(BANK)') $(if $(PRIVATE_ONLY),--private-only)

$(filter-out exam,$(TARGETS)):
	@$(PYTHON) tasks.py $@ $(if $(FORCE),--force $(filter-out all,$(FORCE))) \
		$(if $(AT),--at '$(AT)') $(if $(FROM),--from '$(FROM)') \
		$(if $(FOR),--for '$(FOR)') $(if $(TO),--to '$(TO)') $(if $(PDF),--pdf) \
		$(LECTURES)

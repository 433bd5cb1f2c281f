"""Translating many sentences, and the two BLEU scores by which a translator is compared."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnbook.decoding import Stepper, beam_search, greedy
from attnlab.language.batching import pad_batch
from attnlab.training.losses import sequence_loss, teacher_forced
from attnlab.training.metrics import Bleu, bleu, evaluating
from attnlab.translation.corpus import cleaned_source
from attnlab.translation.model import Translator
from attnlab.translation.moses import RULES, are_tokens, lowered_tokens
from attnlab.translation.pieces import Pieces
from attnlab.translation.recipe import Recipe
from attnlab.translation.team import Team

ROWS = 64  # sentences that are translated at once
# where sacrebleu has another choice than 13a; and by characters where words have no space between
# them and it has none, in Thai, Lao, Khmer and Burmese
TOKENIZERS = {
    **{"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"},
    **dict.fromkeys(("th", "lo", "km", "my"), "char"),
}
Example = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Scores:
    """Corpus BLEU, twice.

    ``cased`` is of the text as it stands, cut by sacrebleu as the language asks for (13a; see
    ``TOKENIZERS``), with its ``signature``; ``tokens`` of both texts in Moses's lower-cased tokens,
    as published for Multi30k, or None in a language whose rules ``moses`` has not.
    """

    cased: float
    tokens: float | None
    signature: str


def translate(
    model: Translator,
    pieces: Pieces,
    sentences: Sequence[str],
    recipe: Recipe,
    *,
    team: Team | None = None,
    beam: int | None = None,
) -> list[str]:
    """Translate every sentence, with ``recipe.beam`` hypotheses unless told; 1 is greedy.

    The processes of a team take turns; each gets all translations. An empty sentence has an empty
    translation.
    """
    team = Team(device=next(model.parameters()).device) if team is None else team
    beam = recipe.beam if beam is None else beam
    encoded = pieces.encode([cleaned_source(text, recipe.lower) for text in sentences])
    batches = _of_one_length(encoded)
    written: dict[int, str] = {}
    with evaluating(model):
        for batch in batches[team.rank :: team.world]:
            ids = [encoded[row] for row in batch]
            found = _search(model, ids, beam, recipe.length_penalty, team.device)
            written |= dict(zip(batch, map(pieces.decode, found), strict=True))
    everything = {row: text for part in team.gather(written) for row, text in part.items()}
    return [everything.get(row, "") for row in range(len(sentences))]


def _of_one_length(encoded: list[list[int]]) -> list[list[int]]:
    """Return rows in batches of one length: the longest translation is a matter of the length.

    So a translation depends on no other sentence, and nothing is padded.
    """
    rows = sorted((k for k, ids in enumerate(encoded) if ids), key=lambda k: len(encoded[k]))
    batches: list[list[int]] = []
    for row in rows:
        like = batches and len(encoded[batches[-1][0]]) == len(encoded[row])
        if not like or len(batches[-1]) == ROWS:
            batches.append([])
        batches[-1].append(row)
    return batches


def _search(
    model: Stepper[Any], ids: list[list[int]], beam: int, penalty: float, device: torch.device
) -> list[list[int]]:
    batch = pad_batch([(one, []) for one in ids]).to(device)
    source, lengths = batch.source, batch.source_lengths
    longest = 2 * int(source.shape[1]) + 20
    if beam == 1:
        return [one.tokens for one in greedy(model, source, lengths, max_length=longest)]
    found = beam_search(
        model, source, lengths, beam=beam, max_length=longest, length_penalty=penalty
    )
    return [some[0].tokens for some in found]


def score(
    translations: Sequence[str],
    references: Sequence[str],
    language: str,
    *,
    tokens: Sequence[str] | None = None,
) -> Scores:
    """Compute both BLEU scores; ``tokens`` is the reference in the release's own tokens.

    Without them they are made of ``references``, and text that is tokens already stays as it is.

    Raises: as ``bleu``; ValueError for ``tokens`` in a language whose rules are not there.
    """
    # a run on text that is tokens already is no mistake: no warning at each validation
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    plain = cased(translations, references, language)
    lowered = in_tokens(translations, language, references=references, tokens=tokens)
    return Scores(plain.score, None if lowered is None else lowered.score, plain.signature)


def cased(translations: Sequence[str], references: Sequence[str], language: str) -> Bleu:
    """Compute BLEU of text as it stands, cut by what sacrebleu takes for its language."""
    return bleu(translations, references, tokenize=TOKENIZERS.get(language, "13a"))


def in_tokens(
    translations: Sequence[str],
    language: str,
    *,
    references: Sequence[str] | None = None,
    tokens: Sequence[str] | None = None,
) -> Bleu | None:
    """Compute BLEU in Moses's tokens against ``tokens``, or those of ``references``.

    It is None for a language whose rules are not there. What is tokens already stays as it is:
    translations are what the ``references`` are, for the model has learnt their form.

    Raises: as ``score``.
    """
    if tokens is None and language not in RULES:
        return None
    plain = translations if references is None else references
    ready = are_tokens(plain)

    def lowered(text: Sequence[str]) -> Sequence[str]:
        return text if ready else [lowered_tokens(one, language) for one in text]

    wanted = lowered(plain) if tokens is None else tokens
    return bleu(lowered(translations), wanted, tokenize="none")


def mean_loss(model: Translator, examples: list[Example], team: Team) -> float:
    """Return −log p of a reference's piece, on average, without smoothing."""
    rows = sorted(range(len(examples)), key=lambda k: (len(examples[k][1]), len(examples[k][0])))
    batches = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    total = count = 0.0
    with evaluating(model):
        for rows in batches[team.rank :: team.world]:
            batch = pad_batch([examples[row] for row in rows]).to(team.device)
            n = int(batch.target_lengths.sum())
            loss = sequence_loss(teacher_forced(model, batch), batch.target_out)
            total, count = total + n * loss.item(), count + n
    total, count = team.agree([total, count])
    return total / count

"""How good a model is: two perplexities, BLEU, exact match, and alignments against gold.

A batch has the fields source, source_lengths, target_in, target_out and target_lengths, as
``attnlab.language`` makes them; token 0 is padding and is never scored. A link is a pair
(source position, target position), both counted from 0.
"""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.decoding import Stepper
from attnlab import _check
from attnlab.training.losses import PAD, check_batch, check_logits, teacher_forced

Link = tuple[int, int]


class Bleu(NamedTuple):
    """What ``bleu`` returns: the score from 0 to 100, and sacrebleu's signature of how."""

    score: float
    signature: str


class AlignmentAccuracy(NamedTuple):
    """What ``alignment_accuracy`` returns: shares from 0 to 1, and how many tokens they rest on."""

    overall: float
    by_class: dict[str, float]
    counts: dict[str, int]


@contextmanager
def evaluating(model: nn.Module) -> Generator[None]:
    """Put ``model`` in eval mode without gradients, and each of its parts back as it was."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode


def free_running(model: Stepper[Any], batch: Any) -> Tensor:
    """Return the logits of a model that is fed its own words: p(y_t | ŷ_<t, x).

    ŷ_0 is the reference's first input (bos), and ŷ_t = argmax_v p(v | ŷ_<t, x), the greedy
    choice. It goes on to the reference's length, past an end of sentence of its own, so that
    every token of the reference has its logits.

    Shapes: as ``teacher_forced``.
    Raises: TypeError for another kind of batch; else as the model.
    """
    check_batch(batch)
    state = model.start(batch.source, batch.source_lengths)
    tokens, steps = batch.target_in[:, 0], []
    for _ in range(batch.target_in.shape[1]):
        logits, state = model.step(tokens, state)  # (b, vocabulary)
        steps.append(logits)
        tokens = logits.argmax(dim=-1)
    return torch.stack(steps, dim=1)


def perplexity(
    model: nn.Module,
    batches: Iterable[Any],
    logits: Callable[[Any, Any], Tensor] = teacher_forced,
) -> float:
    """Compute how many words the model hesitates between, on average, at each reference token.

    perplexity = exp(−1/N Σ log p(y)), the sum and N over all N tokens of the reference in all
    batches (the end of the sentence is one, padding is not): a token counts the same in any
    batch. A model that finds all of V words equally likely has perplexity V.

    ``logits=teacher_forced`` asks for p(y_t | y_<t, x), the word after the reference's own
    beginning; ``logits=free_running`` for p(y_t | ŷ_<t, x), the reference's word at position t
    after the model's own greedy beginning. The second is far higher, for after one other word or
    one shift the reference is no longer the likely answer; the two must not be compared. Published
    free-running numbers often average over batches of the batch's mean, which gives short
    batches more weight.

    The model is evaluated in eval mode and put back as it was.

    Raises: ValueError where no batch holds a token, or the logits do not fit ``target_out``.
    """
    total, count = 0.0, 0
    with evaluating(model):
        for batch in batches:
            scores = logits(model, batch)
            check_logits(scores, batch.target_out)
            real = batch.target_out != PAD
            wide = torch.promote_types(scores.dtype, torch.float32)  # half precision is too coarse
            chances = scores[real].to(wide).log_softmax(dim=-1)  # (tokens, vocabulary)
            chosen = chances.gather(1, batch.target_out[real][:, None])
            total -= chosen.sum(dtype=torch.float64).item()
            count += chosen.numel()
    if count == 0:
        raise ValueError("batches must hold at least one token that is not padding: they hold none")
    return torch.tensor(total / count, dtype=torch.float64).exp().item()  # ∞, not OverflowError


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Bleu:
    """Compute corpus BLEU by sacrebleu: one score over all sentences, one reference for each.

    BLEU = 100 · min(1, exp(1 − r/h)) · (p_1 p_2 p_3 p_4)^¼, with h and r the lengths of all
    hypotheses and references, and p_n the share of the hypotheses' n-grams that occur in the
    reference, counted no more often than there. Where a p_n is 0, sacrebleu puts 1/2, 1/4, …
    for the count ("exp" smoothing). Hypotheses without four tokens in a row have no p_4, and 0.

    References without them are refused: by sacrebleu even equal hypotheses have 0 then, which
    reads as a verdict on these and is none.

    ``tokenize`` is sacrebleu's: "13a" (mteval-v13a, for plain text), "none" for text that is
    tokens between spaces already, "zh", "ja-mecab" and "ko-mecab" for Chinese, Japanese and
    Korean, "char", "intl". Scores compare only where signatures agree.

    Raises: TypeError for sentences that are not strings; ValueError for none, for more of one
    than of the other, another ``tokenize``, or references of at most three tokens each;
    ImportError where sacrebleu, or what ``tokenize`` needs, is not installed.
    Source: Papineni et al. (2002); Post (2018) for sacrebleu.
    """
    BLEU = _check.needed("sacrebleu.metrics", "bleu").BLEU
    _pairs("hypotheses", hypotheses, "references", references)
    for name, sentences in (("hypotheses", hypotheses), ("references", references)):
        wrong = next((one for one in sentences if not isinstance(one, str)), None)
        if wrong is not None:
            raise TypeError(f"{name} must be strings: there is a {type(wrong).__name__} among them")
    _check.one_of("tokenize", tokenize, list(BLEU.TOKENIZERS))
    try:
        metric = BLEU(tokenize=tokenize, lowercase=lowercase)
    except (ImportError, RuntimeError) as error:  # several lines, the last of which says what to do
        install = str(error).strip().splitlines()[-1].strip()
        raise ImportError(f"tokenize={tokenize!r} needs another package: {install}") from error
    counts = (len(metric.tokenizer(one).split()) for one in references)
    if not any(count >= 4 for count in counts):
        longest = max(len(metric.tokenizer(one).split()) for one in references)
        told = f"by tokenize={tokenize!r} the longest has {longest}"
        raise _check.wrong("references", "hold a sentence of at least 4 tokens", but=told)
    score = metric.corpus_score(hypotheses, [references]).score
    return Bleu(score, str(metric.get_signature()))


def exact_match(hypotheses: Sequence[Any], references: Sequence[Any]) -> float:
    """Compute the share of hypotheses that equal their reference from end to end.

    exact match = 1/N Σ_k [hypothesis k = reference k]; a sentence is a string, or a sequence or
    tensor of tokens.

    Raises: ValueError for no sentences, or for more of one than of the other; TypeError where a
    string would be compared with tokens, and for sets, which have no order.
    """
    _pairs("hypotheses", hypotheses, "references", references)
    return sum(map(_same, hypotheses, references)) / len(references)


def argmax_links(weights: Tensor) -> set[Link]:
    """Link each target token to the source token with the greatest weight, the first if equal.

    A target token whose weights are all 0 gets no link.

    Shapes: weights (n_t, n_s), of one sentence; returns pairs (source, target).
    Raises: ValueError for another shape, and for NaN or negative numbers, which are no weights.
    """
    weights = _weights(weights)
    came = tuple(weights.shape)
    if len(came) != 2 or came[1] == 0:
        raise ValueError(f"weights must have the shape (n_t, n_s), n_s ≥ 1: their shape is {came}")
    wrong = weights[~(weights >= 0)]  # NaN too
    if len(wrong):
        raise ValueError(f"weights must be numbers of at least 0: {wrong[0]} is among them")
    sources, heard = weights.argmax(dim=-1).tolist(), (weights > 0).any(dim=-1).tolist()
    return {(source, t) for t, source in enumerate(sources) if heard[t]}


def alignment_accuracy(
    weights: Iterable[Tensor],
    gold: Sequence[Collection[Link]],
    classes: Sequence[Sequence[str]] | None = None,
) -> AlignmentAccuracy:
    """Compute how often the greatest weight of a target token lies on a gold link.

    accuracy = 1/|T| Σ_(t ∈ T) [(argmax_s α_ts, t) ∈ gold], where T holds the target tokens that
    have a gold link; a token with several is right with any of them. ``classes`` names the
    word class of every target token, and the same share is then given for each class.

    Shapes: ``weights`` holds one (n_t, n_s) per sentence, or is a tensor (b, n_t, n_s); rows and
    columns beyond the sentence, such as padding, do no harm, for no gold link leads there.
    Raises: ValueError for sentences that differ in number, what are no weights or links, links
    outside the weights, fewer classes than linked tokens, or no gold link at all.
    """
    weights = list(weights)
    _pairs("weights", weights, "gold", gold)
    if classes is not None:
        _pairs("classes", classes, "gold", gold)
    right, seen = Counter[str](), Counter[str]()
    for k, (matrix, links) in enumerate(zip(map(_weights, weights), gold, strict=True)):
        found, links = argmax_links(matrix), _links("gold", k, links)
        _inside(k, links, tuple(matrix.shape))
        for t in sorted({t for _, t in links}):
            kind = "" if classes is None else _class_of(k, t, classes[k])
            seen[kind] += 1
            right[kind] += any((s, t) in found for s, target in links if target == t)
    if not seen:
        raise ValueError("gold must hold at least one link: it holds none")
    overall = right.total() / seen.total()
    if classes is None:
        return AlignmentAccuracy(overall, {}, {})
    return AlignmentAccuracy(overall, {c: right[c] / seen[c] for c in sorted(seen)}, dict(seen))


def alignment_error_rate(
    predicted: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]] | None = None,
) -> float:
    """Compute the alignment error rate of links A against sure links S and possible links P.

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), with each number summed over all sentences and
    S ⊆ P: what is sure is possible too, so ``possible`` need hold only the others. A sure link
    that is missed and a link that is not even possible are errors; a possible link is none,
    found or missed.

    Raises: ValueError for sentences that differ in number, what are no links, or none in A and S.
    Source: Och and Ney (2003), "A Systematic Comparison of Various Statistical Alignment Models".
    """
    possible = [()] * len(sure) if possible is None else possible
    _pairs("predicted", predicted, "sure", sure)
    _pairs("possible", possible, "sure", sure)
    agreed, size = 0, 0
    for k, (a, s, p) in enumerate(zip(predicted, sure, possible, strict=True)):
        a, s, p = _links("predicted", k, a), _links("sure", k, s), _links("possible", k, p)
        agreed += len(a & s) + len(a & (p | s))
        size += len(a) + len(s)
    if size == 0:
        raise ValueError("predicted or sure must hold at least one link: they hold none")
    return 1 - agreed / size


def _pairs(name: str, these: Sequence[Any], other: str, those: Sequence[Any]) -> None:
    for one, came in ((name, these), (other, those)):
        if isinstance(came, str | Mapping | Set):
            raise TypeError(f"{one} must be a list of sentences: it is a {type(came).__name__}")
    if len(these) != len(those) or len(these) == 0:
        raise ValueError(
            f"{name} and {other} must have the same number of sentences, at least 1: "
            f"they have {len(these)} and {len(those)}"
        )


def _same(hypothesis: Any, reference: Any) -> bool:
    if isinstance(hypothesis, str) != isinstance(reference, str):
        raise TypeError(
            f"hypotheses and references must both be strings or both be tokens: "
            f"{hypothesis!r} meets {reference!r}"
        )
    if any(isinstance(x, Mapping | Set) for x in (hypothesis, reference)):
        raise TypeError("hypotheses and references must have an order: there is a set among them")
    mine, wanted = (x.tolist() if hasattr(x, "tolist") else x for x in (hypothesis, reference))
    return mine == wanted if isinstance(mine, str) else list(mine) == list(wanted)


def _weights(came: Any) -> Tensor:
    try:
        return _check.tensor(came)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _check.wrong("weights", "be a tensor, an array or lists", but=str(error)) from error


def _links(name: str, sentence: int, links: Collection[Link]) -> set[Link]:
    """Return the links of one sentence as pairs of ints."""
    pairs = set()
    for link in links:
        try:
            s, t = _check.whole_numbers("a link", link)
        except (TypeError, ValueError):
            s = t = -1
        if s < 0 or t < 0:
            raise ValueError(
                f"{name} must hold links (source, target) of two positions, counted from 0: "
                f"sentence {sentence} has {link!r}"
            )
        pairs.add((s, t))
    return pairs


def _inside(sentence: int, links: Collection[Link], shape: tuple[int, ...]) -> None:
    for s, t in links:
        if not (0 <= t < shape[0] and 0 <= s < shape[1]):
            raise ValueError(
                f"gold must lie inside the weights: sentence {sentence} has the link "
                f"{(s, t)} (source, target) and weights of shape (n_t, n_s) = {shape}"
            )


def _class_of(sentence: int, token: int, names: Sequence[str]) -> str:
    if isinstance(names, str):
        raise TypeError(f"classes must hold lists of names: sentence {sentence} has a string")
    if token >= len(names):
        raise ValueError(
            f"classes must name every target token: sentence {sentence} has {len(names)} names "
            f"and a gold link at target position {token}"
        )
    return names[token]

"""The page's byte-pair encoding is that of tokenizers, whatever is typed."""

import random
from collections.abc import Callable

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import ByteLevel, TemplateProcessing

from attnlab.models import captions
from attnlab.translation.pieces import CONTROL, Pieces
from attnlab.widgets.applications.translator.pieces import PagePieces
from tests.attnlab.translation.small import naming
from tests.attnlab.widgets.joint import SEVERAL, joint, sentences, trained

# first and last letter: ASCII, Latin, combining, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai,
# spaces and marks, letters in circles, Japanese, Chinese, Korean, ligatures, emoji, flags, controls
SCRIPTS = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA),
    (0x620, 0x64A), (0x904, 0x963), (0xE01, 0xE5B), (0x2000, 0x206F), (0x2460, 0x24FF),
    (0x3041, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFB00, 0xFB06), (0x1F300, 0x1F64F),
    (0x1F1E6, 0x1F1FF), (0x00, 0x1F),
]  # fmt: skip
SPACES = [" ", "  ", "\t", "\n", "\x85", "\x1c", "\xa0", "\u2003", "\u3000", "\ufeff", ""]
ODD = [
    "", " ", "▁", "▁▁ ▁a", "<eos>", "the<eos>cat <pad>", "<b>cat</b> &amp; <script>",
    "👨‍👩‍👧‍👦 and 🇫🇷", "ΑΣ ΟΔΟΣ", "İstanbul ı", "cafe\u0301 café", "don't T-shirt’s -- '' x² ½",
    "$& $1 ^[a] \\w", "the " * 300, "a" * 400,
]  # fmt: skip


def typed(count: int) -> list[str]:
    """So many texts as nobody types them, the same in every run."""
    chance = random.Random(0)
    known = sentences()

    def word() -> str:
        low, high = chance.choice(SCRIPTS)
        letters = (chr(chance.randint(low, high)) for _ in range(chance.randint(1, 6)))
        start = chance.choice(known)[: chance.randint(0, 20)]
        return "".join(letters) + chance.choice(SPACES) + start

    return ["".join(word() for _ in range(chance.randint(1, 7))) for _ in range(count)]


CUT = """([page, table, texts, numbers]) => {
  const bytes = Uint8Array.from(table);
  const made = maths.tableOf(bytes, page);
  return [
    made.texts,
    texts.map((text) => {
      const tidy = maths.tidied(text);
      const { ids, count } = maths.cut(tidy, made, page);
      return [tidy, ids, count, maths.joinedPieces(ids, made, page)];
    }),
    numbers.map((ids) => maths.joinedPieces(ids, made, page)),
  ];
}"""


@pytest.fixture
def ask(maths) -> Callable:
    def asked(pieces: PagePieces, texts: list[str], numbers: list[list[int]]) -> list:
        return maths(CUT, [pieces.page, list(pieces.table), texts, numbers], "translator")

    return asked


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("name", SEVERAL)
def test_the_page_cuts_and_joins_as_tokenizers_does(ask, name: str, lower: bool) -> None:
    tokenizer = SEVERAL[name]()
    pieces = PagePieces(tokenizer, lower=lower)
    chance = random.Random(1)
    count = tokenizer.get_vocab_size()
    numbers = [[chance.randrange(count) for _ in range(7)] for _ in range(100)]
    texts = [*sentences(), *ODD, *typed(200)]
    named, cut, joined = ask(pieces, texts, numbers)
    assert named == [tokenizer.id_to_token(number) for number in range(count)]
    # the tokenizer itself, told only that the names of special tokens are a text too
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.encode_special_tokens = True
    for (tidy, ids, letters, text), given in zip(cut, texts, strict=True):
        assert tidy.split(" ") == (given_words(given) or [""])
        wanted = plain.encode(tidy.lower() if lower else tidy)
        assert ids == wanted.ids, tidy
        assert letters == len(wanted.ids) - name.endswith("an end")
        assert text == plain.decode(wanted.ids).strip()
    assert joined == [plain.decode(ids).strip() for ids in numbers]


@pytest.mark.parametrize("name", ["captions", "spaces carried"])
def test_the_names_of_control_tokens_are_text_in_the_page_as_in_python(ask, name: str) -> None:
    tokenizer = captions.load().tokenizer if name == "captions" else joint()
    texts = naming(*CONTROL)
    _, cut, _ = ask(PagePieces(tokenizer, lower=False), texts, [])
    ids = [ids for _, ids, _, _ in cut]
    assert not {0, 1, 2} & {one for row in ids for one in row}
    program = Pieces(Tokenizer.from_str(tokenizer.to_str()))
    assert program.encode(texts) == ids
    assert [program.decode(row) for row in ids] == [text for *_, text in cut]


def given_words(text: str) -> list[str]:
    return normalizers.NFC().normalize_str(" ".join(text.split())).split()


def test_the_table_is_two_bytes_a_number_and_a_text_read_with_single_spaces() -> None:
    pieces = PagePieces(joint(), lower=False)
    merges, count = pieces.page["merges"], pieces.page["count"]
    assert merges > 200
    assert len(pieces.table) == pieces.page["bytes"]
    assert len(pieces.table) <= 4 * merges + 14 * (count - merges) + 1_500  # and the tokenizer
    pieces = PagePieces(joint(), lower=True)
    assert pieces.sentence("sentence", " The\tcat\u3000e\u0301 ") == ["The cat é"]
    assert pieces.source(["THE CAT"]) == pieces.source(["the cat"])
    ids, names = pieces.source(["the cat <eos>"])
    assert 2 not in ids
    assert "".join(names).startswith("▁the▁cat")
    assert pieces.text([1, *pieces.source(["the cat"])[0], 2, 0]) == "the cat"


def test_pieces_whose_numbers_are_not_in_the_order_of_the_merges_are_all_told(ask) -> None:
    letters = {"<pad>": 0, "<bos>": 1, "<eos>": 2, "ab": 3, "a": 4, "b": 5, "abb": 6, "bb": 7}
    tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[("b", "b"), ("a", "b"), ("a", "bb")]))
    tokenizer.add_special_tokens(["<pad>", "<bos>", "<eos>"])
    named, [[_, ids, _, _], [_, other, _, _]], _ = ask(
        PagePieces(tokenizer, lower=False), ["abb", "ab"], []
    )
    assert named == list(letters)
    assert (ids, other) == ([6], [3])


def with_part(**parts) -> Tokenizer:
    tokenizer = Tokenizer.from_str(joint().to_str())
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer


def with_words(*words: str, special: bool = False) -> Tokenizer:
    tokenizer = Tokenizer.from_str(joint().to_str())
    (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(list(words))
    return tokenizer


def split(pattern: str, behaviour: str = "isolated") -> Tokenizer:
    return with_part(pre_tokenizer=pre_tokenizers.Split(Regex(pattern), behaviour))


REFUSED = [
    (lambda: Tokenizer(models.WordLevel({"a": 0})), "must be a BPE.*got WordLevel"),
    (lambda: trained(dropout=0.1), "must have no dropout"),
    (lambda: trained(byte_fallback=True), "must have no byte_fallback"),
    (lambda: trained(ignore_merges=True), "must have no ignore_merges"),
    (
        lambda: Tokenizer(models.BPE(vocab={"a": 0, "b": 7}, merges=[])),
        "at most 16,384 pieces from 0 on: got 2, the last of them 7",
    ),
    (lambda: with_words("cat's"), "special tokens of its vocabulary alone: got cat's"),
    (lambda: with_words("<de>", special=True), "of its vocabulary alone: got <de>"),
    (
        lambda: Tokenizer(models.BPE(vocab={"a": 0, "b": 1}, merges=[])),
        "begin with three special tokens: padding, beginning and end, got a, b",
    ),
    (lambda: with_part(normalizer=normalizers.NFKC()), "has no .*NFKC"),
    (lambda: with_part(normalizer=normalizers.Replace(Regex("a+"), "a")), "has no .*Regex"),
    (lambda: with_part(pre_tokenizer=pre_tokenizers.ByteLevel()), "has no .*ByteLevel"),
    (lambda: with_part(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first")), "has no"),
    (lambda: split("a", "merged_with_next"), "has no .*MergedWithNext"),
    *(
        (lambda pattern=pattern: split(pattern), "has no .*Split")
        for pattern in (r"^a", "a.b", r"\h", "a++", r"[a&&b]", r"[[a]b]", r"(a)", r"\p{Greek}")
    ),
    (lambda: with_part(decoder=decoders.ByteLevel()), "has no .*ByteLevel"),
    (lambda: with_part(post_processor=ByteLevel()), "has no .*ByteLevel"),
    (
        lambda: with_part(post_processor=TemplateProcessing(single="$A $A", special_tokens=[])),
        "has no .*TemplateProcessing",
    ),
]


def test_a_tokenizer_that_the_page_cannot_follow_is_refused() -> None:
    for make, words in REFUSED:
        with pytest.raises(ValueError, match=words):
            PagePieces(make(), lower=False)

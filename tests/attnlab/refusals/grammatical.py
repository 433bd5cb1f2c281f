"""The reader of the grammar: words that are none."""

from attnlab.language.grammar import judge
from tests.attnlab.refusals.rows import Calls, rows

CALLS: Calls = {
    f"language.grammar.judge.{name}": [
        (
            lambda call=call: call("the cat sleeps"),
            "words must be a list of words: it is 'the cat sleeps'",
            TypeError,
        ),
        (lambda call=call: call(None), "words must be a list of words: it is None", TypeError),
        (lambda call=call: call(5), "words must be a list of words: it is 5", TypeError),
        (lambda call=call: call(["the", 3]), "made of strings: 3 is a int", TypeError),
        (lambda call=call: call([["the"]]), "made of strings: ['the'] is a list", TypeError),
    ]
    for name, call in (("accepts", judge.accepts), ("why_not", judge.why_not))
}
ROWS = rows(CALLS)

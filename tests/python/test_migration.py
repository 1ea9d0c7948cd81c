"""The page on what differs from PyTorch says what is so: its examples are run."""

import doctest
from pathlib import Path

import facula
from facula import nn

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migration.md"


def test_the_examples_of_the_page():
    text = PAGE.read_text()
    # A closing fence would belong to the expected output.
    parser = doctest.DocTestParser()
    examples = parser.get_doctest(text.replace("```", "\n"), {"facula": facula, "nn": nn},
                                  "migration", str(PAGE), 0)  # fmt: skip
    assert len(examples.examples) > 25
    facula.manual_seed(0)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)

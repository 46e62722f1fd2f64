#!/usr/bin/env python3
"""Are lines counted and methods scored as `scores.py` and `run.py` say?"""

import types
import unittest

import numpy as np
import run
import scores


def three(x):
    """Documented, which does not count."""
    # Nor does this.
    import math
    for one in x:
        math.sqrt(
            one)
    return x


def nested():
    class Own:
        def value(self):
            return 1
    return Own


class Lines(unittest.TestCase):
    def test_statements_are_counted_not_lines_comments_or_what_is_returned(self):
        self.assertEqual(scores.statements(three), 3)
        self.assertEqual(scores.statements(nested), 2)


class Scores(unittest.TestCase):
    def test_errors_are_those_of_known_mistakes(self):
        self.assertEqual(scores.root_mean_square([1, 2, 3], np.array([2, 2, 5])), (5 / 3) ** 0.5)
        flat, half = np.ones(8), np.repeat([1.0, 0.0], 4)
        self.assertEqual(scores.area_between(half, flat), 50)
        self.assertEqual(scores.area_between(1.25 * flat, flat), 25)

    def test_intervals_that_are_too_narrow_hold_too_little(self):
        truth = np.random.default_rng(1).normal(size=100_000)
        job = types.SimpleNamespace()
        for half, share in [(1.96, 0.95), (0.98, 0.673)]:
            zero = np.zeros(truth.shape)
            found = run.score(job, (zero, zero - half, zero + half), truth)
            # Four standard deviations of a share of so many.
            self.assertLess(abs(found["inside"] - share), 0.006)
            self.assertAlmostEqual(found["width"], 2 * half, 12)

    def test_an_answer_without_interval_has_none(self):
        truth = np.arange(3.0)
        found = run.score(types.SimpleNamespace(scale=lambda truth: 100), truth + 1, truth)
        self.assertEqual(found, {"error": 100.0, "inside": None, "width": None})
        self.assertIn("failed", run.score(types.SimpleNamespace(), truth[:2], truth))
        self.assertIn("failed", run.score(types.SimpleNamespace(), truth * np.nan, truth))


class Tables(unittest.TestCase):
    def test_failures_are_told_beside_what_was_done(self):
        done = {"processor s": 1.0, "wall s": 2.0, "error": 3.0, "inside": 0.5, "width": 1.0}
        told = run.summary([done, {"failed": "ValueError: no"}])
        self.assertEqual(told["note"], "failed 1 of 2 times: ValueError: no")
        self.assertEqual((told["error"], told["inside"]), (3.0, 0.5))

    def test_errors_on_the_same_data_are_held_beside_each_other(self):
        rows = run.beside([{"errors": [1.0, 3.0, 1.0, None]}, {"errors": [2.0, 2.0, None, 9.0]}])
        self.assertEqual(rows[1]["quadrat nearer"], "1 of 2")

    def test_a_peer_that_is_absent_is_named(self):
        job = types.ModuleType("planted")
        job.METHODS = {"none": ("no-such-package", three)}
        run.sys.modules["planted"] = job
        told = run.row("planted", "none", None)
        self.assertEqual((told["lines"], told["note"]), (3, "no-such-package is not installed"))


if __name__ == "__main__":
    unittest.main()

"""What is measured of a method: lines of its code, error, and how often its intervals hold."""

import ast
import inspect
import textwrap

import numpy as np


def statements(function):
    """Statements in the body of a function, those within others too.

    Neither its documentation nor what it returns counts: a user would go on there.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    body = tree.body[0].body
    if ast.get_docstring(tree.body[0]) is not None:
        body = body[1:]
    found = [node for line in body for node in ast.walk(line) if isinstance(node, ast.stmt)]
    return sum(not isinstance(node, ast.Return) for node in found)


def root_mean_square(told, truth):
    """Root mean square error, in the units of the truth."""
    return float(np.sqrt(np.mean((np.asarray(told) - truth) ** 2)))


def area_between(told, truth):
    """The area between two densities, in percent of that below the truth.

    Both are told at equidistant places. A divergence would be infinite for what is zero anywhere.
    """
    return float(100 * np.sum(np.abs(np.asarray(told) - truth)) / np.sum(truth))


def held(lower, upper, truth):
    """The share of truths that lie between both ends, and the mean width."""
    lower, upper = np.asarray(lower), np.asarray(upper)
    return float(np.mean((lower <= truth) & (truth <= upper))), float(np.mean(upper - lower))

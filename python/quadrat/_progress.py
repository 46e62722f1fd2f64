"""How far long work is, for people."""

from __future__ import annotations

import contextlib
import sys

import numpy as np


@contextlib.contextmanager
def listener(progress):
    """What the work calls with ``(stage, done, total, best)`` some times a second, or `None`."""
    if callable(progress):
        yield progress
    elif progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise TypeError(f"progress is {type(progress).__name__}; give True, or what is called with "
                        "(stage, done, total, best)")
    elif progress:
        show = _bar() or _Line()
        try:
            yield show.event
        finally:
            show.close()
    else:
        yield None


def _bar():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm)


class _Bar:
    def __init__(self, tqdm):
        self._make, self._bar = tqdm, None

    def event(self, stage, done, total, best):
        # Work that ends before it tells anything leaves no empty bar behind.
        if self._bar is None:
            self._bar = self._make(total=total, unit="")
        self._bar.set_description(stage, refresh=False)
        if best is not None:
            self._bar.set_postfix(best=f"{best:.2f}", refresh=False)
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()

    def close(self):
        if self._bar is not None:
            self._bar.close()


class _Line:
    def __init__(self):
        self._was = ""

    def event(self, stage, done, total, best):
        line = f"{stage} {done}" + (f" of {total}" if total else "")
        line += f", best {best:.2f}" if best is not None else ""
        sys.stderr.write("\r" + line.ljust(len(self._was)))
        sys.stderr.flush()
        self._was = line

    def close(self):
        if self._was:
            sys.stderr.write("\r" + " " * len(self._was) + "\r")

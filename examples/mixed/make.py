#!/usr/bin/env python3
"""Simulates the readings of this example; needs nothing but Python 3 and gives the same tables every time.

usage: make.py

The truth: 6 + 3 sin(t / 4) + 0.15 t over t from 0 to 30. Every instrument adds normal noise of its own; the dear one tells
the value, the others only a part of it.
"""

import csv
import math
import random

EXACT = (3, 7, 14, 19, 24, 29)
INTERVALS, GRADES, CAPPED = 15, 25, 20
LIMITS = (4.0, 9.0)
THRESHOLDS = (4.0, 6.0, 8.0, 10.0)


def truth(t):
    return 6 + 3 * math.sin(t / 4) + 0.15 * t


def places(rng, n):
    return sorted(round(rng.uniform(0, 30), 1) for _ in range(n))


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    rng = random.Random(5)
    exact = [(t, round(truth(t) + rng.gauss(0, 0.1), 2)) for t in EXACT]
    write("exact.csv", ["t", "value"], exact)
    intervals = []
    for t in places(rng, INTERVALS):
        lower = 2 * math.floor((truth(t) + rng.gauss(0, 0.3)) / 2)   # steps of 2
        intervals.append((t, lower, lower + 2 if lower < 10 else ""))
    write("intervals.csv", ["t", "from", "to"], intervals)
    grades = []
    for t in places(rng, GRADES):
        seen = truth(t) + rng.gauss(0, 0.8)
        grades.append((t, 1 + sum(seen > threshold for threshold in THRESHOLDS)))
    write("grades.csv", ["t", "grade"], grades)
    low, high = LIMITS
    capped = [(t, round(min(high, max(low, truth(t) + rng.gauss(0, 0.4))), 2)) for t in places(rng, CAPPED)]
    write("capped.csv", ["t", "reading"], capped)
    write("truth.csv", ["t", "value"], [(k / 4, round(truth(k / 4), 4)) for k in range(121)])


main()

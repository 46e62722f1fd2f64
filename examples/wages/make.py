#!/usr/bin/env python3
"""Makes the tables from Wage.csv of the Python package ISLP 0.6.0: make.py Wage.csv"""

import csv
import sys

EDGES = [0, 30, 50, 70, 90, 110, 130, 150, 200]
QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99]

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    wages = sorted(float(row["wage"]) for row in csv.DictReader(file))
with open("wages.csv", "w", encoding="utf-8") as out:
    out.write("from,to,men\n")
    for lower, upper in zip(EDGES, EDGES[1:] + [None]):
        inside = [w for w in wages if lower <= w and (upper is None or w < upper)]
        out.write(f"{lower},{'' if upper is None else upper},{len(inside)}\n")
with open("truth.csv", "w", encoding="utf-8") as out:
    out.write("quantile,wage\n")
    for p in QUANTILES:
        out.write(f"{p},{wages[int(p * len(wages))]:.2f}\n")

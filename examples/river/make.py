#!/usr/bin/env python3
"""Makes the tables of this example from the table `env` of the data set `doubs`, written as CSV; needs nothing but Python 3.

usage: make.py DOUBS_ENV.csv      (columns dfs: 0.1 km, pho and amm: 0.01 mg/l; in the order of the stations)

Ammonium of every third station is taken out and put into truth.csv. A recorded 0 is below the smallest amount that the
table knows, 0.01 mg/l.
"""

import csv
import math
import sys


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def logarithm(hundredths):
    return "<-2" if hundredths == 0 else round(math.log10(hundredths / 100), 4)


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        stations = list(csv.DictReader(file))
    phosphate, ammonium, truth = [], [], []
    for number, row in enumerate(stations, start=1):
        # Station 7 stands at 26.8 km, above stations 5 and 6: a slip for 36.8.
        km = 36.8 if number == 7 else float(row["dfs"]) / 10
        phosphate.append((number, km, logarithm(float(row["pho"]))))
        amount = float(row["amm"])
        known = number % 3 != 2
        if known:
            ammonium.append((number, km, logarithm(amount)))
        elif amount > 0:
            truth.append((number, km, logarithm(amount)))
    write("phosphate.csv", ("station", "km", "log10_phosphate"), phosphate)
    write("ammonium.csv", ("station", "km", "log10_ammonium"), ammonium)
    write("truth.csv", ("station", "km", "log10_ammonium"), truth)


main()

#!/usr/bin/env python3
"""Makes the tables of this example from the dates of coal.csv; needs nothing but Python 3.

usage: make.py COAL.csv
"""

import csv
import sys

FIRST, LAST, WIDTH = 1851, 1963, 8


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        dates = [float(row["date"]) for row in csv.DictReader(file)]

    def counted(start, end):
        return sum(start <= date < end for date in dates)

    write("counts.csv", ["from", "to", "disasters"],
          [(a, a + WIDTH, counted(a, a + WIDTH)) for a in range(FIRST, LAST, WIDTH)])
    write("truth.csv", ["year", "disasters"], [(a + 0.5, counted(a, a + 1)) for a in range(FIRST, LAST)])


main()

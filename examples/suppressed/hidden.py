#!/usr/bin/env python3
"""How many deaths the model expects in the cells that say `<5`, beside how many there were.

usage: hidden.py COUNTIES.csv      (the table that the study writes)
"""

import csv
import math
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def below(limit, rate):
    """Mean of a Poisson count of this rate, given that it is below the limit."""
    chance = [rate**count / math.factorial(count) for count in range(limit)]
    return sum(count * p for count, p in enumerate(chance)) / sum(chance)


def main():
    predicted, published, truth = table(sys.argv[1]), table(FOLDER / "published.csv"), table(FOLDER / "truth.csv")
    hidden = [i for i, row in enumerate(published) if row["deaths"] == "<5"]
    # Births times the mean rate.
    rates = [float(predicted[i]["mean"]) * float(published[i]["births"]) for i in hidden]
    print(f"{len(hidden)} hidden cells: births times rate {sum(rates):.1f}, given fewer than five in each {sum(below(5, r) for r in rates):.1f}; "
          f"there were {sum(int(truth[i]['deaths']) for i in hidden)}")


if __name__ == "__main__":
    main()

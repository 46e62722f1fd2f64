#!/usr/bin/env python3
"""Simulates the people and surveys of this example; needs nothing but Python 3 and gives the same tables every time.

usage: make.py

5802 people. Age: normal, mean 48, sd 16, within 18 to 85. Income, thousand dollars a year: log-normal, median 72.7 at age 50
times exp(-((age - 50) / 40)^2), sd 0.77 in the logarithm. Month of joining: 12 u^(1.6 - 1.1 (age - 18) / 67), u uniform, so
the young joined early and the old late. A survey invites everybody who has joined by its month and is of the age and income asked for.
"""

import csv
import math
import random

PEOPLE = 5802
OLDEST, RICHEST, MONTHS = 85, 250, 12
FIELDS = ["survey", "age_from", "age_to", "income_from", "income_to", "joined_from", "joined_to", "replies"]
ASKED, LATER = 12, 8


def person(rng):
    while True:
        age = rng.gauss(48, 16)
        if 18 <= age < OLDEST:
            break
    income = rng.lognormvariate(math.log(72.7), 0.77) * math.exp(-(((age - 50) / 40) ** 2))
    return age, income, MONTHS * rng.random() ** (1.6 - 1.1 * (age - 18) / (OLDEST - 18))


def survey(rng, month):
    """An age band of 10 to 30 years; a third each ask for any income, for at least so much, for less than so much."""
    start = 5 * rng.randint(4, 13)
    age = start, min(OLDEST, start + 5 * rng.randint(2, 6))
    limit = 10 * rng.randint(3, 12)
    income = rng.choice([(0, RICHEST), (limit, RICHEST), (0, limit)])
    return age + income + (0, month)


def write(name, surveys, people, first):
    with open(name, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for number, box in enumerate(surveys, first):
            sides = list(zip(box[::2], box[1::2]))
            count = sum(all(low <= x < high for x, (low, high) in zip(one, sides)) for one in people)
            table.writerow([number, *box, count])


def main():
    rng = random.Random(5802)
    people = [person(rng) for _ in range(PEOPLE)]
    months = sorted(rng.randint(1, 10) for _ in range(ASKED)) + sorted(rng.randint(6, 12) for _ in range(LATER))
    surveys = [survey(rng, month) for month in months]
    write("surveys.csv", surveys[:ASKED], people, 1)
    write("truth.csv", surveys[ASKED:], people, ASKED + 1)
    with open("truth.csv", encoding="utf-8", newline="") as file:
        rows = [row[:-1] for row in csv.reader(file)]
    with open("planned.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()

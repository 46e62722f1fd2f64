#!/usr/bin/env python3
"""What a pass over points in partitions costs in the processes of a Dask cluster, and what follows
for more points and more workers.

A local cluster of two workers of one thread each fits counts of bags of pixels. Workers tell how
long they summed over each partition and added sums, in seconds of their processors, and how many
bytes that took and gave; the caller tells how long it took to send the state. See README.md.
"""

import argparse
import json
import math
import os
import statistics
import tempfile
import time
import warnings

import numpy as np

# What each pass takes on a machine with nothing else to do: a link of 10 Gbit/s, and what Dask
# takes to hand out a task and to learn that it is done.
BYTES_PER_SECOND = 1.25e9
TASK = 1e-3


def main():
    options = arguments()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        told = measured(options, os.path.join(folder, "book"))
    for name, value in told.items():
        print(f"{name}: {value if isinstance(value, int) else f'{value:.4g}'}")
    if options.passes:
        told["passes with gradients"], told["passes without"] = options.passes
    print(f"\n{options.all_points:g} points, passes with gradients and the whole fit\n\n"
          "| workers | partitions | longest worker, s | tree, s | broadcast, s | pass, s "
          "| without gradients, s | fit, hours |\n|---|---|---|---|---|---|---|---|")
    for workers in (1, 8, 64, 512):
        print(simulated(told, options.all_points, workers, options.partition))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bags", type=int, default=2100)
    parser.add_argument("--each", type=int, default=48, help="pixels of a bag")
    parser.add_argument("--covariates", type=int, default=18)
    parser.add_argument("--inducing", type=int, default=576)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--points", type=int, default=16, help="of every bag that come here")
    parser.add_argument("--stop", type=int, help="after so many passes, which are alike")
    parser.add_argument("--passes", type=int, nargs=2, metavar=("STEEP", "PLAIN"),
                        help="of a fit, with gradients and without, where it is stopped here")
    parser.add_argument("--all-points", type=float, default=1e9, help="what is simulated")
    parser.add_argument("--partition", type=float, default=1e6, help="points of a partition there")
    return parser.parse_args()


def country(options):
    """Pixels with covariates that are smooth in the plane, and counts of their bags."""
    random = np.random.default_rng(1)
    side = math.ceil(math.sqrt(options.bags))
    corner = np.stack(np.divmod(np.arange(options.bags), side))
    at = corner[:, :, None] + random.uniform(size=(2, options.bags, options.each))
    x, y = (own.ravel() for own in at / side)
    waves = random.normal(scale=6, size=(2, options.covariates))
    turns = random.uniform(0, 2 * np.pi, options.covariates)
    columns = {"x": x, "y": y}
    for k in range(options.covariates):
        rough = random.normal(scale=0.3, size=len(x))
        columns[f"c{k}"] = np.sin(waves[0, k] * x + waves[1, k] * y + turns[k]) + rough
    log_rate = np.sin(5 * x) * np.cos(4 * y) + 0.3 * columns.get("c0", 0)
    people = random.gamma(2.0, 10.0, len(x))
    key = np.repeat(np.arange(options.bags), options.each)
    means = np.bincount(key, 0.05 * people * np.exp(log_rate))
    rows = {"bag": np.arange(options.bags), "cases": random.poisson(means).astype(float)}
    return {**columns, "people": people, "bag": key}, rows


def cut(columns, options):
    ends = np.linspace(0, options.bags, options.partitions + 1).round().astype(int) * options.each
    return [{name: own[a:b] for name, own in columns.items()} for a, b in zip(ends, ends[1:])]


def watcher(distributed, book):
    """A plugin of workers that writes down what they do."""

    class Watch(distributed.WorkerPlugin):
        def setup(self, worker):
            import quadrat as qd
            sums, added = qd.dask._Part.sums, qd.dask._added

            def note(what):
                with open(book, "a", encoding="ascii") as file:
                    file.write(json.dumps(what) + "\n")

            def timed(part, outline, before, pass_):
                begun = time.process_time()
                found = sums(part, outline, before, pass_)
                note({"what": "part", "seconds": time.process_time() - begun,
                      "points": len(part.points), "bytes": len(found)})
                return found

            def adding(some):
                begun = time.process_time()
                found = added(some)
                note({"what": "add", "seconds": time.process_time() - begun,
                      "sums": len(some), "bytes": len(found)})
                return found

            qd.dask._Part.sums, qd.dask._added = timed, adding

    return Watch()


def measured(options, book):
    """Numbers of one fit."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    import distributed
    import quadrat as qd
    columns, rows = country(options)
    inputs = [name for name in columns if name not in ("people", "bag")]
    bags = qd.dask.Bags(cut(columns, options), rows, qd.Poisson("cases"), inputs=inputs, key="bag",
                        weight="people")
    kernel = f"matern32(x, y) + se({', '.join(inputs[2:])})" if inputs[2:] else "matern32(x, y)"
    sent, done = [], qd.dask._Cluster.sums

    def watched(self, outline, pass_):
        if options.stop is not None and len(sent) >= options.stop:
            raise InterruptedError
        begun = time.perf_counter()
        self.client.scatter(pass_, broadcast=True, hash=False)
        sent.append((len(outline), len(pass_), time.perf_counter() - begun))
        begun = time.perf_counter()
        found = done(self, outline, pass_)
        sent[-1] += (time.perf_counter() - begun, len(found))
        return found

    qd.dask._Cluster.sums = watched
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit=0,
    ) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(watcher(distributed, book))
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                print(qd.dask.fit(
                    qd.Model(kernel), bags, inducing=options.inducing, client=client,
                    hyperparameters="map", points=options.points).summary())
            except Exception:
                # The library tells an interrupt in its own words.
                if options.stop is None or len(sent) < options.stop:
                    raise
        seconds = time.perf_counter() - begun
    with open(book, encoding="ascii") as file:
        told = [json.loads(line) for line in file]
    parts = [one for one in told if one["what"] == "part"]
    adds = [one for one in told if one["what"] == "add"]
    # Passes with gradients give more sums.
    most = max(one["bytes"] for one in parts)
    steep = [one for one in parts if one["bytes"] == most]
    plain = [one for one in parts if one["bytes"] < most]
    of_point = lambda some: statistics.median(one["seconds"] / one["points"] for one in some)
    of_sum = [one["seconds"] / one["sums"] for one in adds if one["bytes"] == most]
    return {
        "points": len(columns["x"]), "inputs": len(inputs), "bags": options.bags,
        "inducing points": options.inducing, "partitions": options.partitions,
        "passes with gradients": len(steep) // options.partitions,
        "passes without": len(plain) // options.partitions,
        "seconds of the fit on the clock": seconds,
        "seconds of a pass on the clock, median": statistics.median(
            one[3] for one in sent if len(one) > 3),
        "processor seconds of a point, with gradients": of_point(steep),
        "processor seconds of a point, without": of_point(plain or steep),
        "bytes of what a fit begins with": sent[0][0],
        "bytes of the state": max(one[1] for one in sent),
        "bytes of sums": most, "bytes of sums without gradients":
        max((one["bytes"] for one in plain), default=most),
        "seconds to send the state to both, median": statistics.median(one[2] for one in sent),
        "processor seconds to add a sum, median": statistics.median(of_sum or [math.nan]),
    }


def simulated(told, points, workers, partition):
    """A line of the table: passes on so many workers, each of one thread."""
    parts = max(math.ceil(points / partition), workers)

    def of(kind, sums):
        # Whole partitions, of which some worker has one more than others.
        longest = math.ceil(parts / workers) * points / parts
        longest *= told[f"processor seconds of a point, {kind}"]
        # Eight sums are brought together and added at a time, levels after each other; those of a
        # level are shared among workers.
        tree, left = 0.0, parts
        each = told[sums] / BYTES_PER_SECOND
        each += told["processor seconds to add a sum, median"] * told[sums] / told["bytes of sums"]
        while left > 1:
            groups = math.ceil(left / 8)
            tree += math.ceil(groups / workers) * (min(left, 8) * each + TASK)
            left = groups
        # Dask hands a copy to every worker, one after the other, and a task for every partition.
        broadcast = workers * told["bytes of the state"] / BYTES_PER_SECOND + parts * TASK
        return longest, tree, broadcast

    steep = of("with gradients", "bytes of sums")
    plain = sum(of("without", "bytes of sums without gradients"))
    fit = told["passes with gradients"] * sum(steep) + told["passes without"] * plain
    longest, tree, broadcast = steep
    return (f"| {workers} | {parts} | {longest:.1f} | {tree:.2f} | {broadcast:.2f} "
            f"| {sum(steep):.1f} | {plain:.1f} | {fit / 3600:.1f} |")


if __name__ == "__main__":
    main()

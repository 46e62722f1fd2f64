"""Points in partitions, in this process and in those of a cluster."""

import faulthandler
import hashlib
import os
import pickle
import signal
import warnings

import numpy as np
import pytest

import quadrat as qd


def country(points=20, towns=36):
    """Points of towns along a line, and what was counted in each."""
    x = np.arange(towns * points) / points * (12 / towns)
    town = np.repeat([f"town {i}" for i in range(towns)], points)
    cells = {"x": x, "town": town, "people": np.full(towns * points, 200 / points)}
    middle = (np.arange(towns) + 0.5) * (12 / towns)
    rows = {"town": [f"town {i}" for i in range(towns)],
            "cases": np.round(200 * np.exp(0.6 * np.sin(middle)))}
    return cells, rows


def cut(cells, points, *at):
    """The cells in partitions of whole towns."""
    ends = [0, *(i * points for i in at), len(cells["x"])]
    return [{name: column[a:b] for name, column in cells.items()}
            for a, b in zip(ends[:-1], ends[1:])]


def bags(parts, rows):
    return qd.dask.Bags(parts, rows, qd.Poisson("cases"), inputs=["x"], key="town",
                        weight="people")


def fitted(parts, **how):
    """A model of the bags. Where ways to the same answer are looked at, one search is enough."""
    settings = {"inducing": 12, "hyperparameters": "map", "starts": 1, **how}
    return qd.dask.fit(qd.Model("se(x)"), parts, **settings)


def seen(post):
    found = post.predict(qd.point(x=np.linspace(0.5, 11.5, 12)), scale="response")
    return np.concatenate([found.mean, found.sd])


def test_partitions_give_the_answer_of_one_fit():
    cells, rows = country(towns=18)
    support = qd.bag(x=cells["x"], key=cells["town"], weight=cells["people"], aggregate="sum")
    model = qd.Model("se(x)").observe(support, qd.Poisson(rows["cases"]))
    searched = {"hyperparameters": "map", "starts": 1}
    averaged = {"hyperparameters": "auto", "starts": None}
    for how, *at in [(searched,), (searched, 1, 2, 3), (averaged, 4, 10)]:
        alone = model.fit(method="sparse", inducing=12, **how)
        post = fitted(bags(cut(cells, 20, *at), rows), **how)
        assert np.isclose(post.log_evidence, alone.log_evidence, rtol=1e-8)
        np.testing.assert_allclose(seen(post), seen(alone), rtol=1e-7)


def test_rows_in_another_order_are_found_by_their_key():
    cells, rows = country()
    turned = {name: list(column)[::-1] for name, column in rows.items()}
    first, second = (fitted(bags(cut(cells, 20, 9), own)) for own in (rows, turned))
    np.testing.assert_allclose(seen(first), seen(second), rtol=1e-12)


def test_some_points_of_every_bag_are_enough_to_begin_with(tmp_path):
    cells, rows = country(60)
    places = qd.point(x=np.linspace(0, 12, 13))
    parts = bags(cut(cells, 60, 11, 23), rows)
    with warnings.catch_warnings():
        # Few inducing points and passes: what is said of that is not looked at here.
        warnings.simplefilter("ignore")
        all_points = qd.dask.fit(qd.Model("se(x)"), parts, inducing=places, points=60)
        some = qd.dask.fit(qd.Model("se(x)"), parts, inducing=places, points=6)
    # The hyperparameters are those of other starts: the searches end near each other.
    np.testing.assert_allclose(seen(some), seen(all_points), rtol=0.02)
    some.save(tmp_path / "some.quadrat")
    np.testing.assert_array_equal(seen(qd.load(tmp_path / "some.quadrat")), seen(some))


def test_what_stands_behind_rows_is_not_told_of_the_points_that_stand_in(tmp_path):
    cells, rows = country()
    post = fitted(bags(cut(cells, 20, 9), rows))
    post.save(tmp_path / "towns.quadrat")
    for one in (post, qd.load(tmp_path / "towns.quadrat"), pickle.loads(pickle.dumps(post))):
        with pytest.raises(qd.DataError, match="partitions elsewhere"):
            one.rows()


def test_points_without_weight_stand_for_nothing():
    cells, rows = country(100)
    # People live in every twentieth cell alone: none of evenly chosen cells may have any.
    people = np.where(np.arange(len(cells["x"])) % 20 == 7, 40.0, 0.0)
    parts = bags(cut({**cells, "people": people}, 100, 17), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        post = qd.dask.fit(qd.Model("se(x)"), parts, inducing=12, points=10)
    right = np.exp(0.6 * np.sin([2.0, 6.0]))
    found = post.predict(qd.point(x=[2.0, 6.0]), scale="response").mean
    np.testing.assert_allclose(found, right, rtol=0.1)


def test_partitions_without_points_are_passed_over():
    cells, rows = country()
    empty = {name: column[:0] for name, column in cells.items()}
    first, second = cut(cells, 20, 18)
    post = fitted(bags([empty, first, empty, second], rows))
    alone = fitted(bags([first, second], rows))
    np.testing.assert_array_equal(seen(post), seen(alone))
    with pytest.raises(qd.DataError, match="'town 0' has points in the partitions 2 and 4"):
        qd.dask.fit(qd.Model("se(x)"), bags([empty, first, empty, first], rows))


def test_row_groups_are_streamed_as_if_all_points_were_held(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    cells, rows = country()
    half = len(cells["x"]) // 2
    for name, part in (("a", slice(0, half)), ("b", slice(half, None))):
        # Groups of 33 rows end within bags of 20.
        parquet.write_table(pa.table({name: own[part] for name, own in cells.items()}),
                            tmp_path / f"{name}.parquet", row_group_size=33)
    held = fitted(bags(str(tmp_path), rows))
    post = fitted(bags(str(tmp_path), rows), at_once=100)
    # As partitions that are cut in other ways.
    assert np.isclose(post.log_evidence, held.log_evidence, rtol=1e-8)
    np.testing.assert_allclose(seen(post), seen(held), rtol=1e-7)
    many = qd.dask._streamed.slices(tmp_path / "a.parquet", "town", 1)
    assert len(many) > 5 and [one.last for one in many[:-1]] == [one.first for one in many[1:]]
    towns = [set(one.read(["town"])["town"].to_pylist()) for one in many]
    assert sum(map(len, towns)) == len(set().union(*towns)) == 18
    with pytest.raises(qd.DataError, match="has no column \"city\""):
        qd.dask._streamed.slices(tmp_path / "a.parquet", "city", 1)
    with pytest.raises(qd.DataError, match="points have a dict"):
        qd.dask.fit(qd.Model("se(x)"), bags([cells], rows), at_once=10)
    with pytest.raises(qd.DataError, match="at_once is 0"):
        qd.dask.fit(qd.Model("se(x)"), bags(str(tmp_path), rows), at_once=0)
    with pytest.raises(qd.DataError, match="at_once is for one process"):
        qd.dask.fit(qd.Model("se(x)"), bags(str(tmp_path), rows), at_once=10, client=object())


def test_the_order_in_which_a_shuffle_brings_points_is_none():
    cells, rows = country()

    class Shuffled:
        """Partitions of whole towns as a Dask data frame has them, in some order of their rows."""

        def __init__(self, seed):
            self.seed = seed

        def to_delayed(self):
            random = np.random.default_rng(self.seed)
            for part in cut(cells, 20, 9, 25):
                order = random.permutation(len(part["x"]))
                yield {name: column[order] for name, column in part.items()}

    posts = [fitted(bags(Shuffled(seed), rows)) for seed in (1, 2)]
    assert posts[0].log_evidence == posts[1].log_evidence
    np.testing.assert_array_equal(seen(posts[0]), seen(posts[1]))


def test_what_is_wrong_is_named():
    cells, rows = country()
    model = qd.Model("se(x)")
    halves = cut(cells, 20, 18)
    both = [halves[0], {name: column[:10] for name, column in halves[0].items()}, halves[1]]
    with pytest.raises(qd.DataError, match="'town 0' has points in the partitions 1 and 2"):
        qd.dask.fit(model, bags(both, rows))
    with pytest.raises(qd.DataError, match="bag 'town 18' has no points"):
        qd.dask.fit(model, bags(halves[:1], rows))
    fewer = {name: list(column)[1:] for name, column in rows.items()}
    with pytest.raises(qd.DataError, match="the key 'town 0', of which there is no row"):
        qd.dask.fit(model, bags(halves, fewer))
    twice = {name: [*column, list(column)[0]] for name, column in rows.items()}
    with pytest.raises(qd.DataError, match="the key 'town 0' has two rows"):
        bags(halves, twice)
    with pytest.raises(qd.DataError, match="no column \"town\""):
        qd.dask.fit(model, bags([{"x": [1.0], "people": [1.0]}], rows))
    with pytest.raises(qd.DataError, match="give a model without rows"):
        qd.dask.fit(qd.Model("se(x)").observe(qd.point(x=[0.0]), value=[1.0]), bags(halves, rows))
    with pytest.raises(qd.DataError, match="client is int"):
        pytest.importorskip("distributed")
        qd.dask.fit(model, bags(halves, rows), client=3)
    with pytest.raises(qd.DataError, match="no file named .parquet"):
        qd.dask.fit(model, bags(os.path.dirname(__file__), rows))


def test_files_are_read_where_they_are(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow
    cells, rows = country()
    for number, part in enumerate(cut(cells, 20, 12, 24)):
        parquet.write_table(pyarrow.table(part), tmp_path / f"{number}.parquet")
    here = fitted(bags(cut(cells, 20, 12, 24), rows))
    read = fitted(bags(tmp_path, rows))
    np.testing.assert_array_equal(seen(here), seen(read))


@pytest.fixture
def ends():
    """A cluster that waits for ever ends the run, and tells where it waits."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.usefixtures("ends")
def test_a_cluster_gives_the_same_answer_whatever_its_workers():
    distributed = pytest.importorskip("distributed")
    cells, rows = country(towns=18)
    parts = bags(cut(cells, 20, 5, 12), rows)
    here = fitted(parts, hyperparameters="auto", starts=None)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        there = fitted(parts, hyperparameters="auto", starts=None, client=client)
    np.testing.assert_allclose(seen(there), seen(here), rtol=1e-8)
    here = fitted(parts)
    with distributed.Client(processes=False, dashboard_address=None) as threads:
        shared = fitted(parts, client=threads)
    np.testing.assert_allclose(seen(shared), seen(here), rtol=1e-8)


@pytest.mark.usefixtures("ends")
def test_a_worker_that_dies_within_its_work_of_a_pass_changes_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    cells, rows = country()
    parts = bags(cut(cells, 20, 6, 12, 18, 24, 30), rows)
    here = fitted(parts)
    book, mark = os.fspath(tmp_path / "book"), os.fspath(tmp_path / "mark")

    class Watch(distributed.WorkerPlugin):
        """Writes down who sums which part in which pass; the first to begin a tenth part has summed
        it and dies before it can say so."""

        def setup(self, worker):
            done, begun = qd.dask._Part.sums, []

            def sums(part, outline, before, pass_):
                def say(word):
                    with open(book, "a", encoding="ascii") as file:
                        name = hashlib.sha256(pass_).hexdigest()
                        file.write(f"{word} {name} {before} {os.getpid()}\n")

                begun.append(before)
                say("begun")
                found = done(part, outline, before, pass_)
                if len(begun) == 10:
                    try:
                        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                    except FileExistsError:
                        # The other one died already.
                        pass
                    else:
                        say("dies")
                        os.kill(os.getpid(), signal.SIGKILL)
                say("ended")
                return found

            qd.dask._Part.sums = sums

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(Watch())
        after = fitted(parts, client=client)
    np.testing.assert_allclose(seen(after), seen(here), rtol=1e-8)
    with open(book, encoding="ascii") as file:
        told = [line.split() for line in file]
    (at,) = [number for number, (word, *_) in enumerate(told) if word == "dies"]
    _, name, before, dead = told[at]
    # The pass had begun and was not over: not all of the six parts were summed.
    earlier = {tuple(line[1:3]) for line in told[:at] if line[0] == "ended"}
    assert sum(own[0] == name for own in earlier) < 6
    assert len({own[0] for own in earlier}) >= 2
    # Its work was done again in the same pass, by another process, and passes followed.
    again = [own for word, *own in told[at:] if word == "ended"]
    assert [name, before] in [own[:2] for own in again if own[2] != dead]
    assert all(own[2] != dead for own in again)
    assert len({own[0] for own in again}) > 3


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is told by Linux")
@pytest.mark.usefixtures("ends")
def test_memory_of_a_worker_grows_as_is_said_of_it(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow
    done, passes = qd.dask._Cluster.sums, []

    def few(self, outline, pass_):
        # Passes are alike: some are enough to see what they need.
        passes.append(pass_)
        if len(passes) > 3:
            raise InterruptedError
        return done(self, outline, pass_)

    def most():
        # What `getrusage` tells begins with that of the process that started this one.
        with open("/proc/self/status", encoding="utf-8") as file:
            return int(file.read().split("VmHWM:")[1].split()[0]) * 1024

    monkeypatch.setattr(qd.dask._Cluster, "sums", few)
    held, sizes = [], [60_000, 240_000]
    for size in sizes:
        passes.clear()
        cells, rows = country(40, size // 40)
        folder = tmp_path / str(size)
        folder.mkdir()
        for number, part in enumerate(cut(cells, 40, *range(500, size // 40, 500))):
            parquet.write_table(pyarrow.table(part), folder / f"{number:03}.parquet")
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster, distributed.Client(cluster) as client:
            with pytest.raises(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                qd.dask.fit(qd.Model("se(x)"), bags(folder, rows), inducing=100, points=4,
                            client=client)
            held += client.run(most).values()
        assert len(passes) > 3
    # A fifth for pages that the allocator keeps, and what it takes to read a partition.
    told = [qd.dask.need(size, 1, 100) for size in sizes]
    assert held[1] - held[0] < 1.2 * (told[1] - told[0]) + 10e6
    assert held[1] < 1.2 * told[1] + 10e6


@pytest.mark.usefixtures("ends")
def test_workers_without_room_are_refused_before_the_first_pass(monkeypatch):
    distributed = pytest.importorskip("distributed")
    cells, rows = country()
    parts = bags(cut(cells, 20, 18), rows)
    monkeypatch.setattr(qd.dask, "_POINT", 1e12)
    monkeypatch.setattr(qd.dask._Cluster, "sums", None)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        with pytest.raises(qd.DataError, match="MB for 720 points and 12 inducing points"):
            qd.dask.fit(qd.Model("se(x)"), parts, inducing=12, client=client)

"""Whatever holds numbers becomes a column; whatever does not is refused by the argument's name."""

import array
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import quadrat as qd
from optional import Stream, polars as pl, with_polars
from quadrat import _arrays, _quadrat

VALUE = np.array([1.0, 2.0, 4.0, 3.0, 1.0, 0.0])
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u1", ">f8", "<i4", ">i2", "O"]
# The same six numbers, laid out in every way.
LAYOUTS = {
    "plain": lambda v: v,
    "reversed twice": lambda v: v[::-1][::-1],
    "every other": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: np.ascontiguousarray(v[::-1])[::-1],
    "a column of C order": lambda v: np.stack([v, v + 1], axis=1)[:, 0],
    "a row of Fortran order": lambda v: np.asfortranarray(np.stack([v, v + 1]))[0],
    "read only": lambda v: _frozen(v),
    "a list": lambda v: v.tolist(),
    "a tuple": lambda v: tuple(v.tolist()),
    "no mask": lambda v: np.ma.masked_array(v),
    "pandas": lambda v: pd.Series(v, index=range(5, 11)),
    "unaligned": lambda v: np.frombuffer(b"x" + v.astype("f8").tobytes(), "f8", offset=1),
}


def _frozen(value):
    value = value.copy()
    value.flags.writeable = False
    return value


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_any_kind_are_the_same_numbers(dtype, layout):
    if (layout, dtype) in {("unaligned", "O")} or (layout == "pandas" and dtype.startswith(">")):
        pytest.skip("numpy or pandas has no such column")
    got = _arrays.column(LAYOUTS[layout](VALUE.astype(dtype)), "value")
    assert got.dtype == np.float64 and got.flags.c_contiguous
    np.testing.assert_array_equal(got, VALUE)


OTHERS = {
    "arrow": pa.array(VALUE),
    "chunks": pa.chunked_array([VALUE[:2], VALUE[2:]]),
    "array": array.array("d", VALUE),
    "bool": VALUE > 1,
    "Int64": pd.Series([1, 2, 4, 3, 1, 0], dtype="Int64"),
    "Float32": pd.Series(VALUE, dtype="Float32"),
    "pyarrow of pandas": pd.Series(VALUE, dtype="double[pyarrow]"),
    "categories": pd.Series(pd.Categorical([1.0, 2.0, 4.0, 3.0, 1.0, 0.0])),
    "range": range(6),
    **({} if pl is None else {"polars": pl.Series(VALUE)}),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_columns_of_other_libraries(kind):
    expected = {"bool": VALUE > 1, "range": np.arange(6.0)}.get(kind, VALUE)
    np.testing.assert_array_equal(_arrays.column(OTHERS[kind], "value"), expected)


def drawn(random):
    """A column of whole numbers that every dtype holds, and something that holds them."""
    value = random.integers(0, 100, size=random.integers(0, 40))
    dtype = str(random.choice(DTYPES))
    inner, order = int(random.integers(1, 4)), str(random.choice(["C", "F"]))
    step = int(random.choice([-3, -2, -1, 1, 2, 3]))
    # One of several columns of a wider array, of which it takes every so many rows, or backwards.
    wide = np.zeros((len(value) * abs(step), inner), dtype=dtype, order=order)
    at = int(random.integers(inner))
    column = wide[::step, at][:len(value)] if len(value) else wide[:, at]
    column[...] = value
    holders = [lambda: column, lambda: column.tolist(), lambda: np.ma.masked_array(column),
               lambda: pd.Series(column.tolist(), dtype="Int64"),
               lambda: pd.Series(column.astype("f8"), index=range(7, 7 + len(value))),
               lambda: pa.array(value.tolist(), pa.int16()),
               lambda: pa.chunked_array([column[:5].tolist(), column[5:].tolist()], pa.float64()),
               lambda: memoryview(np.ascontiguousarray(column.astype("f8")))]
    if pl is not None:
        holders.append(lambda: pl.Series(value.tolist(), dtype=pl.Int16))
    return value, holders[random.integers(len(holders))]()


@pytest.mark.parametrize("seed", range(200))
def test_columns_drawn_at_random_are_the_same_numbers(seed):
    value, column = drawn(np.random.default_rng(seed))
    got = _arrays.column(column, "value", rows=len(value))
    assert got.dtype == np.float64 and got.flags.c_contiguous
    np.testing.assert_array_equal(got, value)
    # What is handed on is a copy: to write there changes nothing that users hold.
    got[...] = -1
    np.testing.assert_array_equal(_arrays.column(column, "value"), value)
    if not len(value):
        return
    # The same numbers where the library reads them: the widths of boxes are exact.
    boxes = qd.box(x=(column, 2.0 * value + 1), aggregate="sum").place().made()
    np.testing.assert_array_equal(_arrays.received(boxes.size), value + 1.0)
    with pytest.raises(qd.DataError, match=f"value has {len(value)} rows?, and"):
        _arrays.column(column, "value", rows=len(value) + 1)
    hidden = np.ma.masked_array(value.astype("f8"), mask=np.arange(len(value)) == len(value) // 2)
    with pytest.raises(qd.DataError, match=f"first in row {len(value) // 2}"):
        _arrays.column(hidden, "value")


MISSING = {
    "masked": np.ma.masked_array([1.0, 2, 3], mask=[False, True, False]),
    "Int64": pd.Series([1, None, 3], dtype="Int64"),
    "arrow": pa.array([1.0, None, 3.0]),
    "None": [1.0, None, 3.0],
    "pandas": pd.Series([1.0, np.nan, 3.0]),
    **({} if pl is None else {"polars": pl.Series([1.0, None, 3.0])}),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_values_are_refused_with_their_row(kind):
    with pytest.raises(qd.DataError, match="value is missing in 1 row, first in row 1") as caught:
        _arrays.column(MISSING[kind], "value")
    assert [problem.row for problem in caught.value.problems] == [1]


def fails(part, support=None, likelihood=None, **given):
    support = support or qd.point(x=[0.0, 1, 2, 3])
    with pytest.raises(qd.DataError, match=part):
        qd.Model("se(x)").observe(support, likelihood, **given)


def test_messages_name_the_argument():
    fails("value has 3 rows, and the supports have 4", value=[1.0, 2, 3])
    fails("value has the shape", value=np.ones((4, 2)))
    fails("value holds dates", value=np.array(["2020-01-01"] * 4, dtype="M8[D]"))
    fails("value must be numbers, not", value=["a", "b", "c", "d"])
    fails("value must be numbers, not complex", value=np.ones(4, dtype=complex))
    fails("value is the name \"y\", and no data", value="y")
    fails("no column \"z\"; it has \"y\"", value="z", data={"y": [1, 2, 3, 4]})
    fails("variance has 2 rows", likelihood=qd.Gaussian([1.0, 2, 3, 4], [1.0, 1.0]))
    fails("the value of row 2 is NaN", value=[1.0, 2, np.nan, 4])
    fails("row 1 is -1", value=[1.0, 2, 3, 4], noise=[1, -1, 1, 1])
    fails("exposure must be numbers", likelihood=qd.Poisson([1, 2, 3, 4], exposure=["a"] * 4))
    fails("the support of row 1 is inf", qd.point(x=[0, np.inf]), value=[1.0, 2])
    fails("different numbers of rows", qd.point(x=[0, 1], y=[0]), value=[1.0, 2])
    fails("x \\(upper\\) is missing", qd.box(x=([0, 1], [1, None]), aggregate="sum"),
          value=[1.0, 2])
    fails("aggregate is missing", qd.box(x=([0, 1], [1, 2])), value=[1.0, 2])
    fails("zero width", qd.box(x=([0, 1], [1, 1]), aggregate="sum"), value=[1.0, 2])
    fails("side: 'up' is none", likelihood=qd.Censored([1.0, 2, 3, 4], ["up"] * 4))
    fails("region 0 is a Point", qd.region([{"type": "Point", "coordinates": [0, 0]}],
                                           aggregate="sum"), value=[1.0])
    fails("crosses itself", qd.region([{"type": "Polygon", "coordinates": [
        [[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}], aggregate="sum"), value=[1.0])
    fails("give either a likelihood or value")
    fails("no observations", qd.point(x=[]), value=[])
    fails("key has 1 rows", qd.bag(x=[0.0, 1], key=["a"], aggregate="sum"), value=[1.0])


def test_models_and_fits_name_what_is_wrong():
    with pytest.raises(qd.DataError, match="kernel: .*\n  se\\(x\n  "):
        qd.Model("se(x")
    with pytest.raises(qd.DataError, match="^mean: `maen` is none"):
        qd.Model("se(x)", mean="maen")
    with pytest.raises(qd.DataError, match="`strange`"):
        model = qd.Model("se(x)", hyperparameters={"strange": {"start": 1}})
        model.observe(qd.point(x=[0.0, 1, 2]), value=[1.0, 2, 3]).fit()
    with pytest.raises(qd.DataError, match="no setting 'stat'"):
        qd.Model("se(x)").set("se.variance", stat=1)
    with pytest.raises(qd.DataError, match="prior of `se.variance`"):
        qd.Model("se(x)").set("se.variance", prior="nromal(1, 2)")
    with pytest.raises(qd.DataError, match="no input named `x`"):
        qd.Model("se(x)").observe(qd.point(y=[0.0, 1, 2]), value=[1.0, 2, 3]).fit()
    with pytest.raises(qd.DataError, match="method is \"exat\""):
        qd.Model("se(x)").observe(qd.point(x=[0.0, 1, 2]), value=[1.0, 2, 3]).fit(method="exat")
    with pytest.raises(qd.DataError, match="seed is -1"):
        qd.Model("se(x)").fit(seed=-1)
    with pytest.raises(qd.DataError, match="starts is 1.5; it must be a whole number"):
        qd.Model("se(x)").fit(starts=1.5)
    with pytest.raises(TypeError, match="support is list"):
        qd.Model("se(x)").observe([1, 2], value=[1.0, 2])


FRAMES = with_polars({
    "dict": lambda columns: columns,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "numpy": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)),
}, "DataFrame")


@pytest.mark.parametrize("kind", FRAMES)
def test_names_of_columns_stand_for_columns(kind):
    columns = {"when": np.arange(5.0), "y": np.array([1.0, 3, 2, 5, 4])}
    plain = qd.Model("se(t)").observe(qd.point(t=columns["when"]), value=columns["y"]).fit()
    data = FRAMES[kind](columns)
    if kind == "numpy":
        data = {name: data[name] for name in data.dtype.names}
    post = qd.Model("se(t)").observe(qd.point(t="when"), value="y", data=data).fit()
    told = post.predict(qd.point(t="when"), data=data)
    np.testing.assert_array_equal(told.mean, plain.predict(qd.point(t=columns["when"])).mean)
    frame = told.to_frame()
    module = type(frame).__module__.partition(".")[0]
    assert module == (kind if kind in ("polars", "pyarrow") else "pandas")


def test_frames_of_other_libraries_come_back_as_their_own():
    narwhals, duckdb = pytest.importorskip("narwhals"), pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    columns = {"t": np.arange(5.0), "y": np.array([1.0, 3, 2, 5, 4])}
    frame = pd.DataFrame(columns)
    expected = qd.Model("se(t)").observe(qd.point(t="t"), value="y", data=frame).fit().predict(
        qd.point(t="t"), data=frame)
    with duckdb.connect() as base:
        base.register("frame", frame)
        kinds = {"duckdb": base.sql("select * from frame order by t"),
                 "narwhals": narwhals.from_native(pl.DataFrame(columns))}
        for kind, data in kinds.items():
            post = qd.Model("se(t)").observe(qd.point(t="t"), value="y", data=data).fit()
            told = post.predict(qd.point(t="t"), data=data)
            np.testing.assert_array_equal(told.mean, expected.mean)
            assert type(told.to_frame()).__module__.lstrip("_").startswith(kind)
            # A relation stays where its connection is: pickles have its rows.
            again = pickle.loads(pickle.dumps(told))
            np.testing.assert_array_equal(again.mean, expected.mean)
    with pytest.raises(qd.DataError, match="give data.collect()"):
        qd.Model("se(t)").observe(qd.point(t="t"), value="y", data=pl.DataFrame(columns).lazy())


def test_jobs_give_frames_of_the_kind_that_they_were_given():
    bands = {"from": [0.0, 20, 40], "to": [20.0, 40, 80], "people": [90.0, 88, 60]}
    for kind in FRAMES.keys() - {"dict", "numpy"}:
        told = qd.ungroup(FRAMES[kind](bands), lower="from", upper="to", count="people", draws=100)
        assert type(told.to_frame()).__module__.partition(".")[0] == kind
    pytest.importorskip("polars")
    areas = pl.DataFrame({"area": ["all", "a", "b"], "within": ["", "all", "all"],
                          "value": [102.0, 60, 36], "variance": [1.0, 2, 2]})
    told = qd.reconcile(areas, area="area", within="within", value="value", variance="variance")
    assert isinstance(told.to_frame(), pl.DataFrame)
    density = qd.Density("x", data=pl.DataFrame({"x": np.arange(30.0)}), draws=100)
    assert isinstance(density.to_frame(), pl.DataFrame)


def test_arrow_streams_go_in_and_come_out():
    data = Stream(pa.table({"t": [0.0, 1, 2, 3], "y": [1.0, 3, 2, 5]}))
    post = qd.Model("se(t)").observe(qd.point(t="t"), value="y", data=data).fit()
    told = post.predict(qd.point(t=[0.5, 1.5]))
    back = pa.table(told)
    assert back.column_names == ["t", "mean", "sd", "lower", "median", "upper"]
    np.testing.assert_array_equal(back["mean"].to_numpy(), told.mean)


def test_the_index_of_a_frame_is_kept():
    data = pd.DataFrame({"t": [0.0, 1, 2]}, index=["a", "b", "c"])
    post = qd.Model("se(t)").observe(qd.point(t="t"), value=[1.0, 2, 4], data=data).fit()
    assert list(post.predict(qd.point(t="t"), data=data).to_frame().index) == ["a", "b", "c"]


def test_every_likelihood_of_the_library_is_here():
    with pytest.raises(qd.DataError) as caught:
        _quadrat.Likelihood("none of them", {})
    known = set(str(caught.value).partition("there are: ")[2].split(", "))
    here = {getattr(qd, name).name for name in dir(qd)
            if isinstance(getattr(qd, name), type) and issubclass(getattr(qd, name), qd.Likelihood)}
    assert here - {""} == known and len(known) == 15

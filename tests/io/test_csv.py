"""Tables of text: pyarrow and the csv module give the same numbers, texts, missing values and errors."""

import io
import logging

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linrank import FileFormatError, LinrankError
from linrank.io import _cells, _csv, _texts, read

NUMBERS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(
        [
            *("", "NA", "N/A", "null", "NULL", "None", "nan", "NaN", "NAN", "-nan", "nan(1)", "inf", "-Infinity", "+1"),
            *(" 1", "1 ", "1_0", ".5", "5.", "1e5", "1e", "1e400", "1e-400", "0x10", "١", "９", "\t2", "-", "true"),
            *("1.00000000000000011102230246251565404236316680", "1,5", "1;5"),
        ]
    ),
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.sampled_from('ab"\n\r, ;é€0-'), max_size=6),
    st.sampled_from(
        ["7", "007", "-0", "+7", "-5", "9223372036854775808", "9223372036854775807", "", "NA", " 3", "1.0"]
    ),
)
SMALL = st.one_of(st.integers(0, 3).map(str), st.floats(0, 1).map(repr))


def quoted(cell: str, always: bool) -> str:
    """A cell as csv writes it."""
    return '"' + cell.replace('"', '""') + '"' if always or any(c in cell for c in ',"\r\n') else cell


@st.composite
def tables(draw):
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    header = draw(st.sampled_from([["label", "qid", "docid", "a", "b"], ["label", "a"], ["y", "a", "qid"], []]))
    kinds = {"qid": TEXTS, "docid": TEXTS, "a": draw(st.sampled_from([NUMBERS, SMALL])), "b": SMALL}
    n_rows, always = draw(st.integers(0, 6)), draw(st.booleans())
    rows = [[draw(kinds.get(name, SMALL)) for name in header or ["1", "2", "3"]] for _ in range(n_rows)]
    lines = [",".join(quoted(cell, always) for cell in row) for row in [*([header] if header else []), *rows]]
    lines = [line for text in lines for line in ([text, ""] if draw(st.integers(0, 9)) == 0 else [text])]
    text = bytearray((end.join(lines) + draw(st.sampled_from(["", end, end + end]))).encode())
    if text and draw(st.integers(0, 2)) == 0:
        for position, byte in draw(
            st.lists(st.tuples(st.integers(0, 999), st.sampled_from([*b'",\r\n 1a\x00\xff\xc3'])), max_size=3)
        ):
            text[position % len(text)] = byte
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + bytes(text)


def outcome(text, arrow, block, **options):
    """What reading gives, in comparable form."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv, "has_pyarrow", lambda: arrow)
        patch.setattr(_texts, "BLOCK_BYTES", block)
        patch.setattr(logging.getLogger("linrank"), "disabled", True)
        try:
            data = read(io.BytesIO(text), format="csv", **options)
        except LinrankError as error:
            what = "not UTF-8" if "codec can't decode" in str(error) else str(error)  # where, depends on the blocks
            return type(error).__name__, what
    qid = None if data.qid is None else (data.qid.dtype, data.qid.tolist())
    comments = None if data.comments is None else list(data.comments)
    weight = None if data.sample_weight is None else data.sample_weight.tobytes()
    nan = np.isnan(data.X)  # its sign is nobody's business
    y = None if data.y is None else data.y.tobytes()
    return data.feature_names, np.where(nan, 0, data.X).tobytes(), nan.tobytes(), y, qid, comments, weight


@given(
    text=tables(),
    block=st.sampled_from([7, 20, 1 << 20]),
    missing=st.sampled_from(["keep", "error", "zero", "mean"]),
    query=st.sampled_from([None, ""]),
)
@example(b'label,a\n1,5" disk\n2,"x\n', 1 << 20, "keep", "")
@example(b'label,a\n1,"2"3\n', 1 << 20, "keep", "")
@example(b'label,a\n1,""\n2,"\n"\n', 9, "keep", "")
@settings(max_examples=400)
def test_pyarrow_and_csv_agree(text, block, missing, query):
    expected = outcome(text, False, 1 << 20, missing=missing, query=query)
    for arrow, size in ((True, 1 << 20), (True, block), (False, block)):
        got = outcome(text, arrow, size, missing=missing, query=query)
        both_refuse = len(got) == len(expected) == 2  # of several defects, another one may be found first
        assert got == expected or both_refuse


@given(rows=st.integers(1, 8), at=st.integers(0, 7), cell=NUMBERS, block=st.sampled_from([7, 20, 1 << 20]))
@settings(max_examples=150)
def test_one_odd_cell_is_read_or_refused_alike(rows, at, cell, block):
    lines = ["1,7,0.5,2"] * rows
    lines[at % rows] = f"1,7,{quoted(cell, False)},2"
    text = ("label,qid,a,b\n" + "\n".join(lines)).encode()
    expected = outcome(text, False, 1 << 20, missing="error")
    assert outcome(text, True, 1 << 20, missing="error") == expected
    assert outcome(text, True, block, missing="error") == expected


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("block", [32, 1 << 20])
def test_lines_are_counted_over_blocks_and_quoted_line_breaks(arrow, block):
    rows = [f'{k % 3},{k // 4},"a, ""{k}""\nsecond line",{k}.5\n' for k in range(200)]
    text = "label,qid,docid,a\n" + "".join(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv, "has_pyarrow", lambda: arrow)
        patch.setattr(_texts, "BLOCK_BYTES", block)
        data = read(io.BytesIO(text.encode()), format="csv", n_jobs=2)
        assert data.X.ravel().tolist() == [k + 0.5 for k in range(200)]
        assert data.comments[150] == 'a, "150"\nsecond line'
        assert data.qid.dtype == np.int64
        for wrong, words in (
            ("x", "a number in column 'a', found 'x'"),
            ("1,2", "4 cells as in the first line, found 5"),
        ):
            with pytest.raises(FileFormatError, match=words) as caught:
                read(io.BytesIO(text.replace(",150.5\n", f",{wrong}\n").encode()), format="csv")
            assert caught.value.line == 1 + 2 * 151


def test_the_fast_way_is_taken():
    """Whole tables of plain cells never reach the csv module."""
    text = b"label,qid,a,b\n" + b"1,2,3.5,NA\n0,2,,nan\n" * 50
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cells, "plain_cells", None)
        data = read(io.BytesIO(text), format="csv", missing="keep")
    assert np.isnan(data.X[1]).all()
    assert data.n_rows == 100


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (b"a,b\n", True),
        (b'"a","b"\n', True),
        (b'"a ""x"" b",1\r\n"",2', True),
        (b'a"b,c\n', False),
        (b'"a"b,c\n', False),
        (b'"a\n', False),
        (b'""""\n', True),
        (b'a,"""",b\n', True),
        (b'"a" ,b\n', False),
    ],
)
def test_what_is_well_quoted(text, good):
    assert _cells.is_well_quoted(text, b",") is good


def test_a_byte_order_mark_within_a_table_is_a_cell(tmp_path):
    """pyarrow takes it off wherever a piece of the table begins."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"label,a,b\n\xef\xbb\xbf1,2,3\n0,4,5\n")
    with pytest.raises(LinrankError, match=r"line 2"):
        read(path, query="")

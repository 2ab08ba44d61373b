"""Features: every layout gives the same matrix, and a damaged file one clear error."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from safetensors.numpy import save_file

from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore_studies.baselines.clip_features import (
    Features,
    common_items,
    feature_items,
    feature_rows,
    read_features,
)

# halves are exact in every precision, so all formats must give exactly the same
ARRAYS = {
    "clip1": np.array([[0.5, 1.0, 2.0], [1.5, 3.0, 0.0]]),
    "clip.2": np.array([0.25, 0.0, 4.0]),
    "m/clip3": np.array([[8.0, 0.5, 0.5]]),
}
PLAIN = {name.replace("/", "_"): array for name, array in ARRAYS.items()}
MEAN = [[1.0, 2.0, 1.0], [0.25, 0.0, 4.0], [8.0, 0.5, 0.5]]
MAXIMUM = [[1.5, 3.0, 2.0], [0.25, 0.0, 4.0], [8.0, 0.5, 0.5]]


def as_npz(folder, arrays):
    np.savez(folder / "f.npz", **arrays)
    return folder / "f.npz"


def as_packed_npz(folder, arrays):
    np.savez_compressed(folder / "f.npz", **arrays)
    return folder / "f.npz"


def as_fortran_npz(folder, arrays):
    np.savez(folder / "f.npz", **{name: np.asfortranarray(own) for name, own in arrays.items()})
    return folder / "f.npz"


def as_h5(folder, arrays):
    with h5py.File(folder / "f.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return folder / "f.h5"


def as_safetensors_like_a_pickle(folder, arrays):
    """Its header is as long as 0x580 bytes, so that it begins with those of a pickle."""
    arrays = {name: np.ascontiguousarray(own) for name, own in arrays.items()}
    for length in range(0x580):
        save_file(arrays, folder / "f.bin", {"note": "x" * length})
        if (folder / "f.bin").read_bytes()[:2] == b"\x80\x05":
            return folder / "f.bin"
    raise AssertionError


def as_safetensors(folder, arrays):
    save_file({name: np.ascontiguousarray(own) for name, own in arrays.items()}, folder / "f.bin")
    return folder / "f.bin"


def as_folder(ending, save):
    def write(folder, arrays):
        place = folder / "items"
        place.mkdir()
        for name, array in arrays.items():
            save(place / f"{name}.{ending}", array)
        return place

    return write


def as_matrix(folder, arrays):
    rows = [np.mean(np.atleast_2d(array), axis=0) for array in arrays.values()]
    np.save(folder / "f.npy", np.array(rows))
    (folder / "f.ids.txt").write_text("".join(f"{name}\n" for name in arrays))
    return folder / "f.npy"


LAYOUTS = {
    "npz": (as_npz, ARRAYS),
    "compressed npz": (as_packed_npz, ARRAYS),
    "npz in Fortran's order": (as_fortran_npz, ARRAYS),
    "h5": (as_h5, ARRAYS),
    "safetensors": (as_safetensors, ARRAYS),
    "safetensors that begins as a pickle": (as_safetensors_like_a_pickle, ARRAYS),
    "npy per item": (as_folder("npy", np.save), PLAIN),
    "npz per item": (as_folder("npz", lambda path, array: np.savez(path, a=array)), PLAIN),
    "safetensors per item": (
        as_folder("safetensors", lambda path, array: save_file({"a": array}, path)),
        PLAIN,
    ),
    "npy with ids": (as_matrix, ARRAYS),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_one_matrix(tmp_path, layout, dtype):
    write, arrays = LAYOUTS[layout]
    path = write(tmp_path, {name: array.astype(dtype) for name, array in arrays.items()})
    assert sorted(feature_items(path)) == sorted(arrays)
    features = read_features(path, list(arrays))
    assert features.matrix.dtype == np.float32
    assert features.matrix.tolist() == MEAN
    if write is not as_matrix:
        assert read_features(path, list(arrays), pool="max").matrix.tolist() == MAXIMUM
    assert read_features(path, list(arrays)[::-1]).matrix.tolist() == MEAN[::-1]
    assert set(read_features(path).items) == set(arrays)


def test_bytes_in_another_order(tmp_path):
    np.savez(tmp_path / "f.npz", a=np.array([1.5, 2.0], dtype=">f4"))
    assert read_features(tmp_path / "f.npz").matrix.tolist() == [[1.5, 2.0]]


def test_frames_are_pooled_in_pieces(tmp_path, monkeypatch):
    frames = np.random.default_rng(1).random((57, 5))
    as_npz(tmp_path, {"a": frames})
    as_safetensors(tmp_path, {"a": frames})
    as_h5(tmp_path, {"a": frames})
    monkeypatch.setattr("reelscore_studies.baselines.array_files._PIECE", 20)  # four frames
    for name in ("f.npz", "f.bin", "f.h5"):
        mean = read_features(tmp_path / name).matrix
        assert np.allclose(mean, frames.mean(axis=0, keepdims=True), rtol=1e-7)
        highest = read_features(tmp_path / name, pool="max").matrix
        assert (highest == frames.max(axis=0).astype(np.float32)).all()


def test_a_matrix_in_single_precision_is_mapped(tmp_path):
    path = as_matrix(tmp_path, {name: np.ones(4, np.float32) for name in "abc"})
    np.save(path, np.ones((3, 4), np.float32))
    assert isinstance(read_features(path).matrix, np.memmap)
    assert isinstance(read_features(path, ["a", "b", "c"]).matrix, np.memmap)
    with pytest.raises(DataError, match="1 caption has no features"):
        read_features(path, ["a", "z"])


# Damaged files


def damaged_npz(change):
    def write(folder):
        arrays = {f"c{k}": np.ones(4) for k in range(3)}
        change(arrays)
        return as_npz(folder, arrays)

    return write


def damaged_matrix(matrix, ids="a\nb\n"):
    def write(folder):
        np.save(folder / "f.npy", matrix, allow_pickle=True)
        if ids is not None:
            (folder / "f.ids.txt").write_bytes(ids if isinstance(ids, bytes) else ids.encode())
        return folder / "f.npy"

    return write


def with_bytes(content, name="f.bin"):
    def write(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return write


def cut(write, arrays, share=0.6):
    def written(folder):
        path = write(folder, arrays)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        return path

    return written


def tensors(header, data=b""):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    return with_bytes(len(text).to_bytes(8, "little") + text + data)


def twice_in_a_zip(folder):
    path = as_npz(folder, {"a": np.ones(2)})
    with zipfile.ZipFile(path) as archive:
        content = archive.read("a.npy")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", content)
    return path


def in_a_folder(**files):
    def write(folder):
        place = folder / "items"
        place.mkdir()
        for name, content in files.items():
            name = name.replace("_", ".")
            if content is None:
                (place / name).mkdir()
            elif isinstance(content, bytes):
                (place / name).write_bytes(content)
            elif name.endswith("npz"):
                np.savez(place / name, *content)
            else:
                np.save(place / name, content[0])
        return place

    return write


def text_in_a_zip(folder):
    with zipfile.ZipFile(folder / "f.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    return folder / "f.npz"


def objects_in_a_zip(folder):
    np.savez(folder / "f.npz", a=np.array([{"x": 1}], dtype=object))
    return folder / "f.npz"


MALFORMED = {
    "another length": (
        damaged_npz(lambda a: a.update(c1=np.ones(2))),
        r"f.npz: item 'c1' has 2 numbers, the others 4 \(shape \(2,\)\). Extract it again or leave",
    ),
    "another length of frames": (
        damaged_npz(lambda a: a.update(c1=np.ones((7, 3)))),
        r"item 'c1' has 3 numbers, the others 4 \(shape \(7, 3\)\)",
    ),
    "NaN": (
        damaged_npz(lambda a: a["c2"].__setitem__(1, np.nan)),
        r"item 'c2' \(shape \(4,\)\) has a number that is NaN, infinite",
    ),
    "infinity in a frame": (
        damaged_npz(lambda a: a.update(c1=np.array([[1.0] * 4, [np.inf] * 4]))),
        r"item 'c1' \(shape \(2, 4\)\) has a number that is NaN, infinite",
    ),
    "beyond single precision": (
        damaged_npz(lambda a: a.update(c1=np.full(4, 1e39))),
        "beyond single precision",
    ),
    "empty array": (damaged_npz(lambda a: a.update(c0=np.ones(0))), "empty array, of shape"),
    "no frames": (
        damaged_npz(lambda a: a.update(c0=np.ones((0, 4)))),
        r"empty array, of shape \(0, 4\); expected \(d,\) or",
    ),
    "three dimensions": (
        damaged_npz(lambda a: a.update(c0=np.ones((2, 2, 4)))),
        r"shape \(2, 2, 4\); expected \(d,\) or \(frames, d\)",
    ),
    "a lone number": (
        damaged_npz(lambda a: a.update(c0=np.float64(3.0))),
        r"shape \(\); expected",
    ),
    "integers": (
        damaged_npz(lambda a: a.update(c0=np.ones(4, np.int64))),
        "type int64; expected float16, float32 or float64",
    ),
    "texts": (damaged_npz(lambda a: a.update(c0=np.array(["x"] * 4))), "values of type <U1"),
    "complex numbers": (damaged_npz(lambda a: a.update(c0=np.ones(4) * 1j)), "type complex128"),
    "pickled objects in npz": (objects_in_a_zip, "item 'a': holds pickled objects, which can run"),
    "pickled objects in npy": (
        damaged_matrix(np.array([[{}], [{}]], dtype=object)),
        "f.npy: holds pickled objects, which can run any code",
    ),
    "a pickle": (with_bytes(pickle.dumps({"a": [1.0]})), "is a pickle, which can run any code"),
    "no arrays": (lambda folder: as_npz(folder, {}), "f.npz: holds no features"),
    "twice in a zip": (twice_in_a_zip, "item 'a' is there twice"),
    "a text in a zip": (text_in_a_zip, "holds 'readme.txt'; expected arrays"),
    "cut-off zip": (cut(as_npz, {"a": np.ones(500)}), "cannot be read: File is not a zip file"),
    "cut-off safetensors": (
        cut(as_safetensors, {"a": np.ones(500)}),
        r"item 'a' is cut off: its shape \(500,\) needs 4,000 bytes",
    ),
    "cut-off h5": (cut(as_h5, {"a": np.ones(500)}), "f.h5: cannot be read: "),
    "cut-off npy": (
        cut(lambda folder, matrix: damaged_matrix(matrix)(folder), np.ones((2, 50))),
        "f.npy: is cut off: ",
    ),
    "no ids": (damaged_matrix(np.ones((2, 3)), None), "has no ids; expected f.ids.txt beside it"),
    "too few ids": (damaged_matrix(np.ones((2, 3)), "a\n"), "has 1 ids, f.npy 2 rows"),
    "ids twice": (damaged_matrix(np.ones((2, 3)), "a\na\n"), "item 'a' is there twice"),
    "blank id": (damaged_matrix(np.ones((2, 3)), "a\n \n"), "f.ids.txt:2: the item id is empty"),
    "ids in another encoding": (damaged_matrix(np.ones((2, 3)), b"a\n\xff\n"), "is not UTF-8"),
    "one dimension with ids": (damaged_matrix(np.ones(2)), r"shape \(2,\); expected \(items, d\)"),
    "no columns": (damaged_matrix(np.ones((2, 0))), r"shape \(2, 0\); expected \(items, d\)"),
    "integers with ids": (damaged_matrix(np.ones((2, 2), int)), "values of type int64"),
    "NaN with ids": (damaged_matrix(np.array([[1.0], [np.nan]])), r"item 'b' \(shape \(1,\)\)"),
    "plain text": (with_bytes(b"clip1 0.5 0.5\n"), "is in no known format of features"),
    "an empty file": (with_bytes(b""), "is in no known format of features"),
    "header that is no JSON": (tensors(b"{]"), "is not sound safetensors"),
    "header without shape": (tensors({"a": {"dtype": "F32"}}), "is not sound safetensors"),
    "short floats": (
        tensors({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"xx"),
        "values of type BF16; expected F16, F32 or F64",
    ),
    "offsets beyond the file": (
        tensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [9, 13]}}, b"xxxx"),
        "item 'a' is cut off",
    ),
    "id twice in safetensors": (
        tensors(b'{"a":{"dtype":"F32"},"a":{"dtype":"F32"}}'),
        "f.bin: item 'a' is there twice",
    ),
    "damaged header of npy": (with_bytes(b"\x93NUMPY\x01\x00\x05\x00{bad}"), "not a sound .npy"),
    "unknown version of npy": (with_bytes(b"\x93NUMPY\x09\x00"), "not a sound .npy"),
    "no file": (lambda folder: folder / "f.npz", "f.npz: cannot be read: No such file"),
    "an empty folder": (in_a_folder(), "holds no features"),
    "a strange file in a folder": (in_a_folder(a_txt=b"x"), "holds 'a.txt'; expected one .npy"),
    "a folder in a folder": (in_a_folder(a_npy=None), "holds 'a.npy'; expected one .npy"),
    "two arrays in a file of a folder": (
        in_a_folder(a_npz=[np.ones(2), np.ones(2)]),
        "a.npz: holds 2 arrays",
    ),
    "two files of an item": (
        in_a_folder(a_npz=[np.ones(2)], a_npy=[np.ones(2)]),
        "item 'a' is there twice",
    ),
}


@pytest.mark.parametrize("damage", MALFORMED)
def test_a_damaged_file_is_one_clear_error(tmp_path, damage):
    write, message = MALFORMED[damage]
    path = write(tmp_path)
    with pytest.raises(DataError, match=message) as error:
        read_features(path)
    if message == "holds no features":  # also where only the ids are asked for
        with pytest.raises(DataError, match=message):
            feature_items(path)
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)  # it names the file


def test_h5_needs_its_package(tmp_path, monkeypatch):
    path = as_h5(tmp_path, {"a": np.ones(2)})
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        MissingExtraError, match=r"reading \.h5 needs h5py.*install .reelscore\[files\]"
    ):
        read_features(path)


def test_unknown_pooling(tmp_path):
    with pytest.raises(UnknownNameError, match="Unknown pooling 'median'"):
        read_features(as_npz(tmp_path, {"a": np.ones(2)}), pool="median")


# Items with captions and items with features


def test_items_on_one_side():
    with pytest.raises(DataError, match=r"^12 captions have no features \(first: '0', '1', '2'\)"):
        common_items(map(str, range(13)), ["12"])
    with pytest.raises(DataError, match=r"^1 item of the features has no caption \(first: 'b'\)"):
        common_items(["a"], ["a", "b"])
    assert common_items(["a", "b", "c"], ["c", "x", "a"], missing="skip") == ["a", "c"]
    with pytest.raises(DataError, match="No item has both captions and features"):
        common_items(["a"], ["b"], missing="skip")


def test_many_items_are_compared_once_each():
    """With tens of thousands of items, a set made anew for each of them takes minutes."""

    class Counted(str):
        looked_up = 0

        def __hash__(self):
            Counted.looked_up += 1
            return super().__hash__()

    items = [Counted(k) for k in range(300)]
    assert common_items(items, items) == items
    assert Counted.looked_up <= 10 * len(items)


def test_wanted_items_are_checked(tmp_path):
    with pytest.raises(DataError, match="1 caption has no features"):
        read_features(as_npz(tmp_path, {"a": np.ones(2)}), ["a", "b"])
    with pytest.raises(DataError, match="1 caption has no features"):
        Features.of({"a": [1.0]}).take(["b"])


def test_rows_and_items_agree():
    with pytest.raises(DataError, match=r"2 items have features of shape \(1, 2\)"):
        Features(("a", "b"), np.ones((1, 2), np.float32))
    with pytest.raises(DataError, match="twice"):
        Features(("a", "a"), np.ones((2, 2), np.float32))
    rows = [part.shape for _, part in feature_rows(Features.of({key: [1.0] for key in "abc"}), 2)]
    assert rows == [(2, 1), (1, 1)]


# Memory

# The peak of this program alone: that of `resource` is at least what its parent had.
_READ = """
import re
from pathlib import Path
from reelscore_studies.baselines.clip_features import read_features

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

read_features({small!r})  # whatever the imports need
before = peak()
features = read_features({path!r})
print(peak() - before, features.matrix.nbytes)
"""


def peak_of_reading(path: Path, folder: Path) -> tuple[int, int]:
    small = as_npz(folder, {"a": np.ones(2)})
    script = _READ.format(path=str(path), small=str(small))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    extra, matrix = map(int, done.stdout.split())
    return extra, matrix


@pytest.mark.full
@pytest.mark.parametrize("name", ["f.bin", "f.npz", "f.h5", "f.npy"])
def test_memory_holds_the_pooled_matrix_and_little_more(tmp_path, name):
    draw = np.random.default_rng(0)
    if name == "f.npy":  # a gigabyte and a half in double precision
        matrix = np.lib.format.open_memmap(
            tmp_path / name, "w+", dtype=np.float64, shape=(50_000, 4_000)
        )
        for begin in range(0, 50_000, 5_000):
            matrix[begin : begin + 5_000] = draw.random((5_000, 4_000))
        matrix.flush()
        (tmp_path / "f.ids.txt").write_text("".join(f"{k}\n" for k in range(50_000)))
    else:  # 400 clips of 500 frames: 1.6 GB, pooled 3 MB
        frames = draw.random((500, 2_000), dtype=np.float32)
        arrays = {f"clip{k}": frames for k in range(400)}
        {"f.bin": as_safetensors, "f.npz": as_npz, "f.h5": as_h5}[name](tmp_path, arrays)
    folder = tmp_path / "small"
    folder.mkdir()
    extra, matrix = peak_of_reading(tmp_path / name, folder)
    assert matrix / 2 < extra <= matrix + 256 * 2**20

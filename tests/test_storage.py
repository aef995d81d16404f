from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft
from weft import storage
from weft.errors import ModelError

ARRAYS: storage.Arrays = {
    "weights": np.linspace(-1, 1, 50, dtype=np.float32),
    "starts": np.arange(20, dtype=np.uint32).reshape(4, 5),
    "empty": np.zeros((0, 3), dtype=np.int16),
    "scale": np.array([0.5]),
}
HEADER = {"task": "example", "labels": ["B-NP", "I-NP", "O"], "licence": "CC0-1.0"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.weft"
    storage.save(path, HEADER, ARRAYS)
    return path


def taken_apart(path: Path) -> tuple[dict[str, Any], bytes]:
    """The outer JSON of a model file and the bytes of its arrays."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def put_together(path: Path, outer: Any, arrays: bytes) -> None:
    text = json.dumps(outer).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + arrays)


def with_header(outer: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The outer JSON with changes to the header inside it, under a checksum that fits them."""
    text = json.dumps({**json.loads(outer["__metadata__"]["weft"]), **changes})
    return {**outer, "__metadata__": {"weft": text, "checksum": str(zlib.crc32(text.encode()))}}


def refused(path: Path, said: str = "") -> None:
    with pytest.raises(ModelError) as caught:
        storage.load(path)
    message = str(caught.value)
    assert path.name in message
    assert said in message
    assert "\n" not in message
    with pytest.raises(ModelError):
        weft.load(path)


def test_a_model_comes_back_as_it_was_saved(model: Path) -> None:
    header, arrays = storage.load(model)
    assert header == {**HEADER, "version": 1, "checksums": header["checksums"]}
    assert storage.read_header(model) == header
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_same_model_gives_the_same_bytes(model: Path) -> None:
    again = model.with_name("again.weft")
    storage.save(again, HEADER, dict(reversed(ARRAYS.items())))
    assert again.read_bytes() == model.read_bytes()


def test_arrays_of_every_type_and_shape_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    arrays = {
        f"{kind}{shape}": np.asarray(rng.integers(0, 2, shape)).astype(kind)
        for kind in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
        for shape in [(), (0,), (3,), (2, 3), (3, 0, 2)]
    }
    arrays["backwards"] = np.arange(6.0).reshape(2, 3).T[::-1]
    storage.save(tmp_path / "a.weft", {}, arrays)
    _, found = storage.load(tmp_path / "a.weft")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].ctypes.data % array.dtype.itemsize == 0


def test_any_safetensors_reader_can_read_a_model(model: Path) -> None:
    from safetensors import safe_open

    with safe_open(model, framework="numpy") as stored:
        assert set(stored.keys()) == set(ARRAYS)
        np.testing.assert_array_equal(stored.get_tensor("weights"), ARRAYS["weights"])


def test_arrays_are_private_copies_that_cannot_be_written(model: Path) -> None:
    _, arrays = storage.load(model)
    for array in arrays.values():
        base: Any = array
        while isinstance(base, np.ndarray):
            assert not isinstance(base, np.memmap)
            base = base.base
        assert base is None
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


OVERWRITTEN = """
import sys
from pathlib import Path
from weft import storage

path, weights = Path(sys.argv[1]), []
_, arrays = storage.load(path)
before = arrays["weights"].copy()
with path.open("r+b") as file:
    if sys.argv[2] == "cut":
        file.truncate(0)
    else:
        file.write(b"\\xff" * path.stat().st_size)
print((arrays["weights"] == before).all())
"""


@pytest.mark.parametrize("how", ["cut", "overwritten"])
def test_a_model_in_use_survives_its_file_being_changed_in_place(tmp_path: Path, how: str) -> None:
    """In a process of its own: reading a memory map of a file that was cut ends the process with a bus error."""
    path = tmp_path / "m.weft"
    storage.save(path, HEADER, {"weights": np.arange(100_000.0)})
    command = [sys.executable, "-c", OVERWRITTEN, str(path), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_model_cut_off_at_any_length_is_refused(model: Path) -> None:
    data = model.read_bytes()
    cut = model.with_name("cut.weft")
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        with pytest.raises(ModelError, match="truncated"):
            storage.load(cut)


def test_a_model_with_bytes_behind_its_end_is_refused(model: Path) -> None:
    model.write_bytes(model.read_bytes() + b"\0")
    refused(model, "1 bytes too long")


def test_a_changed_bit_anywhere_in_a_model_is_found(model: Path) -> None:
    """Only a blank that pads the JSON text may change into another blank: nothing is lost there."""
    data = bytearray(model.read_bytes())
    header, arrays = storage.load(model)
    for place in range(len(data)):
        for bit in (0, 5):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            path = model.with_name("damaged.weft")
            path.write_bytes(damaged)
            try:
                found_header, found = storage.load(path)
            except ModelError:
                continue
            assert found_header == header
            assert all(np.array_equal(found[name], array) for name, array in arrays.items())


def test_a_changed_array_is_named(model: Path) -> None:
    outer, arrays = taken_apart(model)
    first, _ = outer["weights"]["data_offsets"]
    put_together(model, outer, arrays[:first] + bytes([arrays[first] ^ 1]) + arrays[first + 1 :])
    refused(model, "array 'weights' does not match its checksum")


def test_a_header_that_was_changed_by_hand_is_refused(model: Path) -> None:
    outer, arrays = taken_apart(model)
    outer["__metadata__"]["weft"] = outer["__metadata__"]["weft"].replace("B-NP", "B-VP")
    put_together(model, outer, arrays)
    refused(model, "the header does not match its checksum")


def test_an_array_read_as_another_type_is_refused(model: Path) -> None:
    outer, arrays = taken_apart(model)
    outer["weights"]["dtype"] = "I32"
    put_together(model, outer, arrays)
    refused(model, "array 'weights' does not match its checksum")


@pytest.mark.parametrize(
    "change",
    [
        {"data_offsets": [0, 1 << 40]},
        {"data_offsets": [-200, 0]},
        {"data_offsets": [0, 199]},
        {"data_offsets": [100, 300]},
        {"data_offsets": [0]},
        {"data_offsets": "ab"},
        {"data_offsets": None},
        {"shape": [51]},
        {"shape": [-5, -10]},
        {"shape": [50.0]},
        {"shape": [1 << 62, 4], "data_offsets": [0, 1 << 66]},
        {"shape": [50] + [1] * 70},
        {"shape": [0, 1 << 70], "data_offsets": [0, 0]},
        {"shape": None},
        {"dtype": "F16"},
        {"dtype": ["F32"]},
        {"dtype": "O"},
    ],
)
def test_entries_that_cannot_be_are_refused(model: Path, change: dict[str, Any]) -> None:
    outer, arrays = taken_apart(model)
    outer["weights"] |= change
    put_together(model, outer, arrays)
    refused(model)


def test_arrays_that_overlap_are_refused(model: Path) -> None:
    outer, arrays = taken_apart(model)
    shared = dict(outer["weights"])
    outer = with_header({**outer, "again": shared}, checksums={**storage.read_header(model)["checksums"], "again": 0})
    put_together(model, outer, arrays)
    refused(model, "leaves a gap or overlaps another")


def test_arrays_outside_the_file_are_refused(model: Path) -> None:
    outer, arrays = taken_apart(model)
    last = max(entry["data_offsets"][1] for name, entry in outer.items() if name != "__metadata__")
    outer["far"] = {"dtype": "U8", "shape": [1000], "data_offsets": [last, last + 1000]}
    outer = with_header(outer, checksums={**storage.read_header(model)["checksums"], "far": 0})
    put_together(model, outer, arrays)
    refused(model, "truncated")


def test_arrays_that_were_added_or_taken_away_are_refused(model: Path) -> None:
    outer, arrays = taken_apart(model)
    del outer["empty"]
    put_together(model, outer, arrays)
    refused(model, "the header and the arrays do not match")


def test_a_newer_format_is_refused_with_the_advice_to_upgrade(model: Path) -> None:
    outer, arrays = taken_apart(model)
    newest = storage.VERSION
    put_together(model, with_header(outer, version=newest + 1), arrays)
    refused(model, f"newer version of Weft (format {newest + 1}, this one reads up to {newest}); upgrade Weft")


@pytest.mark.parametrize("version", [None, "1", 1.5, float("inf"), [1]])
def test_a_version_that_is_no_number_is_refused(model: Path, version: Any) -> None:
    outer, arrays = taken_apart(model)
    put_together(model, with_header(outer, version=version), arrays)
    refused(model, "gives no version")


@pytest.mark.parametrize(
    "outer",
    [
        [],
        {},
        "weft",
        None,
        {"__metadata__": None},
        {"__metadata__": []},
        {"__metadata__": {"weft": 1}},
        {"__metadata__": {"weft": "{"}},
        {"__metadata__": {"weft": "[]"}},
        {"__metadata__": {"weft": "{}"}},
        {"__metadata__": {"format": "pt"}},
    ],
)
def test_headers_of_another_kind_are_refused(tmp_path: Path, outer: Any) -> None:
    put_together(tmp_path / "other.weft", outer, b"")
    refused(tmp_path / "other.weft", "is not a Weft model")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a model file, or is truncated"),
        (b"\0", "truncated"),
        (b"\0" * 4096, "is not a model file"),
        (b"\xff" * 4096, "is not a model file"),  # a header of 2^64 bytes
        ((99 << 20).to_bytes(8, "little") + b"{}", "is not a model file"),
        (pickle.dumps({"weights": [1.0] * 100}, protocol=4), "is not a model file"),
        (pickle.dumps({"weights": [1.0] * 100}, protocol=0), "is not a model file"),
        (b"PK\x03\x04" + b"\0" * 100, "is not a model file"),
        (b"\x1f\x8b" + b"\0" * 100, "is not a model file"),
        (b"The ferry left before dawn.\n" * 9, "is not a model file"),
        ((8).to_bytes(8, "little") + b"\xff\xfe{}    ", "no readable header"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "no readable header"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "other.weft"
    path.write_bytes(data)
    refused(path, said)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, 300))
def test_random_files_are_refused(tmp_path: Path, data: bytes, length: int) -> None:
    path = tmp_path / "random.weft"
    for text in (data, length.to_bytes(8, "little") + data, len(data).to_bytes(8, "little") + data):
        path.write_bytes(text)
        with pytest.raises(ModelError):
            storage.load(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "is a folder; expected a model file")
    refused(tmp_path / "none.weft", "there is no model file")
    os.mkfifo(tmp_path / "pipe.weft")
    refused(tmp_path / "pipe.weft", "is a pipe or a device")


def test_a_file_that_may_not_be_read_is_refused(model: Path) -> None:
    model.chmod(0)
    if os.access(model, os.R_OK):
        pytest.skip("this user may read everything")
    refused(model, "cannot read")


class _Trap:
    """Writes a file when it is unpickled or printed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (os.mkdir, (str(self.path),))


def test_nothing_in_a_model_is_run(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    call = f"__import__('os').mkdir({str(trap)!r})"
    poison = pickle.dumps(_Trap(trap))
    header = {"task": call, "__class__": call, "__reduce__": [call], "name": f"{{{call}}}", "labels": [call]}
    model = tmp_path / "model.weft"
    storage.save(model, header, {call: np.frombuffer(poison, dtype=np.uint8), "../up": np.ones(2)})
    found, arrays = storage.load(model)
    assert found["task"] == call
    assert arrays[call].tobytes() == poison
    with pytest.raises(ModelError, match="names no components"):
        weft.load(model)
    for component in (call, {"task": call}, {"task": "os:mkdir"}, {"task": "chunker", "settings": {"templates": call}}):
        storage.save(model, {"components": [component]}, {})
        with pytest.raises(ModelError):
            weft.load(model)
    assert not trap.exists()
    model.write_bytes(poison)
    refused(model)
    assert not trap.exists()


def test_the_loading_path_holds_nothing_that_runs_text() -> None:
    source = Path(storage.__file__).read_text()
    for word in ("pickle", "eval(", "exec(", "marshal", "allow_pickle=True", "np.load(", "import_module"):
        assert word not in source


def test_a_save_that_fails_keeps_the_old_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="No space left on device"):
        storage.save(model, {"task": "another"}, ARRAYS)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_a_save_that_is_interrupted_leaves_nothing_behind(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        storage.save(model, {"task": "another"}, ARRAYS)
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_a_model_in_use_survives_being_replaced(model: Path) -> None:
    _, arrays = storage.load(model)
    storage.save(model, HEADER, {"weights": np.zeros(9)})
    np.testing.assert_array_equal(arrays["weights"], ARRAYS["weights"])
    assert len(storage.load(model)[1]["weights"]) == 9


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot write the model"):
        storage.save(tmp_path / "file" / "model.weft", HEADER, ARRAYS)
    (tmp_path / "folder.weft").mkdir()
    with pytest.raises(ModelError, match="cannot write the model"):
        storage.save(tmp_path / "folder.weft", HEADER, ARRAYS)


@pytest.mark.parametrize("kind", ["O", "c16", ">f8", "U3", "M8[s]"])
def test_arrays_that_a_model_cannot_hold_are_told(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ModelError, match="array 'odd' has type"):
        storage.save(tmp_path / "a.weft", {}, {"odd": np.zeros(2, dtype=kind)})
    assert not list(tmp_path.iterdir())


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    storage.save(tmp_path / "a" / "b" / "model.weft", HEADER, ARRAYS)
    assert storage.read_header(tmp_path / "a" / "b" / "model.weft")["task"] == "example"


@pytest.fixture
def worth_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "WORTH_PACKING", 0)


PACKED: storage.Arrays = {
    "rising": np.cumsum(np.ones(400, dtype=np.uint32) * 7, dtype=np.uint32),
    "few values": np.tile(np.array([[3, -3], [40, 0]], dtype=np.int16), (100, 1)),
    "noise": np.random.default_rng(1).integers(0, 2**62, 50, dtype=np.uint64),
    "nothing": np.zeros(0, dtype=np.int8),
}


@pytest.mark.usefixtures("worth_packing")
def test_packed_arrays_come_back_as_they_were_from_a_smaller_file(tmp_path: Path) -> None:
    for name, pack in (("plain", False), ("packed", True)):
        storage.save(tmp_path / name, HEADER, PACKED, pack)
        _, arrays = storage.load(tmp_path / name)
        for key, array in PACKED.items():
            assert arrays[key].dtype == array.dtype
            assert not arrays[key].flags.writeable
            np.testing.assert_array_equal(arrays[key], array)
    assert (tmp_path / "packed").stat().st_size < 0.6 * (tmp_path / "plain").stat().st_size
    assert set(storage.read_header(tmp_path / "packed")["packed"]) >= {"rising", "few values"}
    assert "noise" not in storage.read_header(tmp_path / "packed")["packed"]


@pytest.mark.usefixtures("worth_packing")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 2**32 - 1), max_size=40), st.booleans())
def test_any_array_survives_packing(tmp_path: Path, values: list[int], in_order: bool) -> None:
    array = np.array(sorted(values) if in_order else values, dtype=np.uint32)
    storage.save(tmp_path / "m", HEADER, {"a": array}, pack=True)
    np.testing.assert_array_equal(storage.load(tmp_path / "m")[1]["a"], array)


@pytest.mark.usefixtures("worth_packing")
@pytest.mark.parametrize(
    "change", [{"shape": [399]}, {"shape": [10**9]}, {"dtype": "X9"}, {"shape": ["4"]}, {"dtype": "U8"}]
)
def test_a_packed_array_that_is_not_what_its_entry_says_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "m"
    storage.save(path, HEADER, PACKED, pack=True)
    outer, arrays = taken_apart(path)
    header = json.loads(outer["__metadata__"]["weft"])
    header["packed"]["rising"] |= change
    put_together(path, with_header(outer, packed=header["packed"]), arrays)
    refused(path, "the packed array 'rising' is damaged")


def hostile(path: Path, packed: np.ndarray, entry: dict[str, Any]) -> None:
    """A model file with one packed array and an entry for it, under valid checksums."""
    storage.save(path, HEADER, {"a": packed})
    outer, arrays = taken_apart(path)
    put_together(path, with_header(outer, version=2, packed={"a": entry}), arrays)


def refused_in_little_memory(path: Path, said: str, most: int = 20_000_000) -> None:
    tracemalloc.start()
    try:
        refused(path, said)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_a_packed_array_that_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path) -> None:
    shrinker = zlib.compressobj(9)
    bomb = b"".join(shrinker.compress(bytes(1_000_000)) for _ in range(100)) + shrinker.flush()
    entry = {"dtype": "F32", "shape": [25_000_000], "rising": False}
    hostile(tmp_path / "m.weft", np.frombuffer(bomb, np.uint8), entry)
    refused_in_little_memory(tmp_path / "m.weft", "100,000,000 bytes")


@pytest.mark.parametrize(
    "shape", [[-4, -25], [10**30], [1] * 100_000, [0, 2**70], [True], [2.0], {"0": 100}, "100", [10**4000] * 30]
)
def test_shapes_of_packed_arrays_that_cannot_be_are_refused(tmp_path: Path, shape: Any) -> None:
    packed = np.frombuffer(zlib.compress(bytes(100)), np.uint8)
    hostile(tmp_path / "m.weft", packed, {"dtype": "U8", "shape": shape, "rising": False})
    refused_in_little_memory(tmp_path / "m.weft", "the packed array 'a' is damaged")


def test_many_arrays_that_together_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    packed = np.frombuffer(zlib.compress(bytes(1_000_000)), np.uint8)
    path = tmp_path / "m.weft"
    storage.save(path, HEADER, {str(i): packed for i in range(200)})
    outer, arrays = taken_apart(path)
    entry = {"dtype": "U8", "shape": [1_000_000], "rising": False}
    put_together(path, with_header(outer, version=2, packed=dict.fromkeys(map(str, range(200)), entry)), arrays)
    refused_in_little_memory(path, "200,000,000 bytes")


def test_an_array_that_a_reader_would_refuse_to_unpack_is_saved_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_ALLOWANCE", 1_000_000)
    path = tmp_path / "m.weft"
    storage.save(path, HEADER, {"a": np.zeros(1_000_000)}, pack=True)
    assert "packed" not in storage.read_header(path)
    _, arrays = storage.load(path)
    assert arrays["a"].shape == (1_000_000,)


def test_headers_that_are_too_long_or_too_deep_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.weft"
    with path.open("wb") as file:
        file.write((100 * 1024 * 1024).to_bytes(8, "little") + b"[[],[],")
        file.truncate(100 * 1024 * 1024 + 8)  # a hole: the file takes no space
    refused_in_little_memory(path, "longer than 33,554,432 bytes")
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    storage.save(path, {"settings": deep}, {})
    refused(path, "nested more than 64 levels deep")
    monkeypatch.setattr(storage, "_LONGEST_HEADER", 1000)
    with pytest.raises(ModelError, match="at most 1,000 can be read"):
        storage.save(path, {"words": "a" * 1000}, {})


@pytest.mark.parametrize(
    "slots", [np.array([-1]), np.array([3], np.uint32), np.array([0.0]), np.array([[0]], np.uint32)]
)
def test_sparse_weights_outside_their_table_are_refused(slots: np.ndarray) -> None:
    arrays = {"w.slots": slots, "w.weights": np.ones(slots.shape, np.int16), "w.step": np.array([1.0])}
    with pytest.raises(ModelError, match=r"w\.slots.*damaged"):
        storage.from_sparse("w", arrays, 3)


def test_a_table_of_weights_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ModelError, match="at most 1,073,741,824 are allowed"):
        storage.from_sparse("w", storage.to_sparse("w", np.ones(3)), 2**40)

"""Files of detections in the format of the MOT challenge."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import DataError, FormatError
from weft.formats.detections import read_mot, write_mot


def test_what_is_written_is_read_again(tmp_path):
    first = tmp_path / "a.mot"
    first.write_text(
        "frame,track,left,top,width,height\n2,-1,1,2,3,4,0.5,cup,1.5,-2\n1,7,1,2,3,4.25,0.25,pot\n\n# end\n"
    )
    found = read_mot(first)
    assert found.frames.tolist() == [1, 2]
    assert found.tracks.tolist() == [7, -1]
    assert found.kinds == ["pot", "cup"]
    assert np.isnan(found.velocities[0]).all()
    assert found.velocities[1].tolist() == [1.5, -2]
    write_mot(tmp_path / "b.mot", found)
    again = read_mot(tmp_path / "b.mot")
    assert again.kinds == found.kinds
    assert np.array_equal(again.boxes, found.boxes)
    assert np.array_equal(again.velocities, found.velocities, equal_nan=True)


def test_detections_of_the_challenge_have_one_kind_and_no_velocity(tmp_path):
    (tmp_path / "det.txt").write_text("1,-1,912,484,97,109,0.9,-1,-1,-1\n")
    found = read_mot(tmp_path / "det.txt")
    assert found.kinds == ["object"]
    assert np.isnan(found.velocities).all()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1,-1,1,2,3", "frame,track,left,top,width,height"),
        ("1,-1,1,2,x,4", "expected a number as width, found 'x'"),
        ("0,-1,1,2,3,4", "a frame counted from 1"),
        ("1,-1,1,2,0,4", "a width and a height above 0"),
        ("1,-1,1,2,nan,4", "a finite number as width"),
        ("1,-1,1,2,3,4,1,cup,a,b", "numbers as vx and vy"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, said):
    (tmp_path / "a.mot").write_text(f"1,-1,1,2,3,4\n{line}\n")
    with pytest.raises(FormatError, match=r"a.mot, line 2: expected") as caught:
        read_mot(tmp_path / "a.mot")
    assert said in str(caught.value)


def test_a_file_without_detections_is_an_error(tmp_path):
    (tmp_path / "a.mot").write_text("\n")
    with pytest.raises(DataError, match="no detections"):
        read_mot(tmp_path / "a.mot")

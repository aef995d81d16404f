"""Detections of objects in the frames of clips: the text format of the MOT challenge."""

from weft.formats.detections.mot import Detections, read_mot, write_mot

__all__ = ["Detections", "read_mot", "write_mot"]

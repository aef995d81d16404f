"""Meanings of words in what happens in videos: learned from clips with sentences, and used to compare both."""

from weft.tasks.grounding.clips import Clip, read_clip, read_clips
from weft.tasks.grounding.grounder import Grounder, GroundingSettings
from weft.tasks.grounding.sentences import Grammar, ParsedSentence

__all__ = ["Clip", "Grammar", "Grounder", "GroundingSettings", "ParsedSentence", "read_clip", "read_clips"]

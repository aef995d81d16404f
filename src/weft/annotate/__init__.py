"""Annotation by yes and no: taggers that propose more than they must, questions, decisions, and what they are worth."""

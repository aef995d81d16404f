"""Scores for dependency trees and graphs, phrase structure and word-internal structure."""

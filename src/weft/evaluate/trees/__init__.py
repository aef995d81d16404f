"""Scores of dependency trees and graphs, phrase structure and the inner structure of words."""

"""Linear models of dependency trees and graphs, and what they learn from."""

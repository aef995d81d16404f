"""Partial orders: closure and reduction, and the order that agrees best with pairwise preferences."""

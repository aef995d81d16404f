"""Events: triggers, types and arguments, found together by one search."""

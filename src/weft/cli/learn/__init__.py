"""Commands that learn models and lexicons."""

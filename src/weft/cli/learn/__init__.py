"""Commands that train models and lexicons."""

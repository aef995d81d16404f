"""Commands that apply models to text and show the result."""

"""The recipe of mturk-language-demographics."""

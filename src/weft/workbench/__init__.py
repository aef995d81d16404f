"""The workbench: people label items in a browser, a model proposes and learns from them, every answer is kept."""

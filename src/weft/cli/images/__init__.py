"""Commands for images and the sentences that describe them."""

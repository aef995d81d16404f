"""Name lists grown from raw text by induced context patterns (Talukdar et al. 2006)."""

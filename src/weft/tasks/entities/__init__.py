"""Named entity recognition: trained on labelled text, over a bitext, or by transfer from other languages."""

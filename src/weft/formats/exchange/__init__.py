"""What the formats of annotation tools share: regions and links of a text, JSON arrays as streams, UTF-16 offsets."""

"""The shared base of sequence labellers: chains over words, candidate lists, calibration, transduction."""

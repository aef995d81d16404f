"""The shared base of sequence labellers: chains over words, candidates, calibration, transduction."""

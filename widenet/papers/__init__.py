"""The papers' figures: a folder for each paper, a study for each figure."""

"""The papers' figures: a folder for each paper, a file for each figure; settings, curves and claims."""

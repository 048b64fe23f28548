"""Figures of `fine-grained`: how labels decide how fast a wide network trains and how well it predicts."""

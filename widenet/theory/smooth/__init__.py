"""Smooth functions as power series, and their complexities C_ε and C_s."""

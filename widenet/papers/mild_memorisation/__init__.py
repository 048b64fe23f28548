"""Figures of `mild-memorisation`: how few neurons memorise how many labels."""

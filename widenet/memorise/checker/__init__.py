"""The checker of certificates, which shares nothing with the code that makes them but the loader of data.

So its bounds on rounding, its hashes and the layout of a certificate are written here once more, on purpose:
names that are defined here and in the trainer, such as `gamma`, are two proofs of one thing.
"""

"""What keeps the documentation true: the house drawn from the imports, the API from the docstrings, blocks run."""

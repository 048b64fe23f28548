"""What keeps the documentation true: the house drawn from imports, the API from docstrings, blocks run."""
